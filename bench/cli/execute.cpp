// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/execute.hpp"

#include <algorithm>
#include <iostream>

#include "bench/cli/preview.hpp"
#include "bench/cli/run.hpp"
#include "bench/files.hpp"
#include "bench/measure/null_test.hpp"
#include "bench/peers/peers.hpp"
#include "bench/printable.hpp"
#include "bench/ranks/together.hpp"
#include "bench/record/manifest.hpp"
#include "bench/study/models.hpp"
#include "bench/study/nearest.hpp"
#include "bench/study/toml_text.hpp"
#include "bench/try/own.hpp"
#include "bench/try/peaks.hpp"

namespace league::bench {
namespace {

/// --devices beyond what this machine has is an error. A study may ask for more: its rows are skipped.
void require_devices(const Options& options, const Runtime& runtime, const Study& study) {
  if (!options.devices) return;
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases) {
      const bool ready = availability(runtime, that).state == State::ready;
      if (ready && lacks_devices(runtime, that))
        throw BadInput("--devices " + std::to_string(*options.devices) + ": " + that.skip);
    }
}

/// Leaves the comparisons that --comparison names. @throws BadInput for one that the study lacks
void keep_named(Study& study, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return;
  std::vector<std::string> names;
  for (const Comparison& comparison : study.comparisons) names.push_back(comparison.name);
  for (const std::string& name : wanted)
    if (std::ranges::find(names, name) == names.end())
      throw BadInput("--comparison " + name + ": the study has no such comparison; the nearest is '" +
                     nearest(name, names) + "'. `league run STUDY --dry-run --benchmark_format=json` lists all");
  std::erase_if(study.comparisons, [&](const Comparison& comparison) {
    return std::ranges::find(wanted, comparison.name) == wanted.end();
  });
}

/// The cases that --benchmark_filter and --benchmark_repetitions ask for.
Study narrowed(Study study, const BenchmarkFlags& flags) {
  const NameFilter filter(flags.filter);
  for (Comparison& comparison : study.comparisons) {
    std::erase_if(comparison.cases, [&](const Case& that) { return !filter.matches(that.name); });
    for (Case& that : comparison.cases)
      if (flags.repetitions > 0) {
        that.samples = flags.repetitions;
        that.precision.reset();
      }
  }
  drop_lone_null_tests(study);
  std::erase_if(study.comparisons, [](const Comparison& comparison) { return comparison.cases.empty(); });
  return study;
}

/// @throws BadInput before the run where a file could not be written after it
void require_writable(const std::string& option, const std::filesystem::path& file) {
  if (const std::string why = file.empty() ? "" : unwritable(file); !why.empty())
    throw BadInput(option + " '" + file.string() + "': cannot be written: " + why);
}

/// @throws BadInput where a rank would run something else than rank 0
void require_one_run(const Runtime& runtime, Json manifest) {
  for (const char* key : {"host_name", "devices", "environment"}) manifest.erase(key);  // these may differ
  const Json first = Json::parse(runtime.ranks().texts(text_of(manifest)).front());
  if (const std::string found = difference(first, manifest); !found.empty())
    throw BadInput("not what rank 0 runs: " + found);
}

}  // namespace

Study asked_study(const Options& options, const Runtime& runtime, Datasets& datasets) {
  Study study = read_study(options.study, options.assignments, runtime, datasets);
  if (!options.own.files.empty()) {
    add_own_cases(study, options.own, runtime);
    add_peaks(study, runtime, datasets);
  }
  for (const std::string& note : study.notes) std::cerr << "league: " << printable(note) << "\n";
  if (options.command == Options::Command::run)
    choose_launches(study, options.launch, options.tuned, runtime, std::cerr);
  if (study.comparisons.empty())
    throw BadInput("--launch explicit: no case of '" + options.study.string() + "' has `launches`");
  if (options.command == Options::Command::run) add_null_tests(study);
  keep_named(study, options.comparisons);
  study = narrowed(std::move(study), options.benchmark);
  require_devices(options, runtime, study);
  if (study.comparisons.empty())
    throw BadInput("no case of the study matches --benchmark_filter=" + options.benchmark.filter);
  return study;
}

ExitCode execute(const Options& options, Runtime& runtime, const InterruptWatch& interrupt) {
  require_writable("--benchmark_out", options.benchmark.out);
  require_writable("--trace-steps", options.trace_steps);
  Json peers = enter_peers(options.peers);
  if (!options.own.files.empty()) peers["own"] = enter_own(options.own, options.peers, runtime);
  Datasets datasets(options.data, runtime.host_memory(), !options.print_study);
  Study study;
  together(runtime.ranks(), [&] { study = asked_study(options, runtime, datasets); });
  if (!runtime.ranks().place().alone()) {
    if (options.dry_run || options.print_study || options.benchmark.list_tests || !options.profile.empty() ||
        !options.trace_steps.empty())
      throw BadInput(
          "--dry-run, --print-study, --benchmark_list_tests, --profile and --trace-steps take one process, without a "
          "launcher");
    together(runtime.ranks(), [&] { require_one_run(runtime, manifest(options, study, runtime, datasets, peers)); });
  }
  if (options.print_study) {
    std::cout << toml_text(read_settings(options.study, options.assignments));
    return ExitCode::passed;
  }
  if (options.benchmark.list_tests) return list_cases(study, std::cout);
  if (!options.profile.empty()) return profile(study, options.profile, runtime, datasets, options.device_memory_bytes);
  if (!options.trace_steps.empty())
    return trace_steps(study, options.trace_steps, runtime, datasets, options.device_memory_bytes);
  if (options.dry_run)
    return preview(study, runtime, datasets, std::cout, options.device_memory_bytes, options.benchmark.format);
  return run_study(options, runtime, datasets, interrupt, study, peers);
}

}  // namespace league::bench
