// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune/tune.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "bench/build_info.hpp"
#include "bench/cli/execute.hpp"
#include "bench/cli/preflight.hpp"
#include "bench/files.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/peers/peers.hpp"
#include "bench/ranks/places.hpp"
#include "bench/record/folder.hpp"
#include "bench/record/progress.hpp"
#include "bench/record/report_lines.hpp"
#include "bench/study/models.hpp"
#include "bench/tune/variant.hpp"

namespace league::bench {
namespace {

/// The variants that can be tuned, each once: without the launches of the study, with all threads, without libraries.
Study own_variants(Study study) {
  for (Comparison& comparison : study.comparisons) {
    std::vector<Case> variants;
    for (Case& that : comparison.cases) {
      that.launch = {};
      that.launch_source = LaunchSource::automatic;
      give_names(that);
      const bool known = std::ranges::find(variants, that.name, &Case::name) != variants.end();
      if (that.skip.empty() && that.threads == 0 && is_own(that.model) && !known) variants.push_back(std::move(that));
    }
    comparison.cases = std::move(variants);
  }
  std::erase_if(study.comparisons, [](const Comparison& comparison) { return comparison.cases.empty(); });
  if (study.comparisons.empty()) throw BadInput("nothing to tune: no own kernel of the study runs here");
  return study;
}

std::string budget_text(const Budget& budget) {
  if (budget.seconds < INFINITY) return std::to_string(static_cast<int>(budget.seconds)) + " s per variant";
  return std::to_string(budget.candidates) + " candidates per variant";
}

int count_variants(const Study& study) {
  std::size_t count = 0;
  for (const Comparison& comparison : study.comparisons) count += comparison.cases.size();
  return static_cast<int>(count);
}

/// A study being tuned: comparison after comparison into the records and the tuned files.
class Tuner {
 public:
  Tuner(const Options& options, Runtime& runtime, Datasets& datasets, const InterruptWatch& interrupt,
        const Study& study)
      : options_(options),
        runtime_(runtime),
        datasets_(datasets),
        interrupt_(interrupt),
        study_(study),
        progress_(count_variants(study), 0) {
    const Json places = places_of(runtime);
    const std::vector<std::string> found = preflight(runtime, places);
    for (const std::string& sentence : found) std::cerr << "league: preflight: " << sentence << "\n";
    context_ = make_context(runtime, study.title, found, places);
    for (const Comparison& comparison : study.comparisons)
      for (const Case& that : comparison.cases) open_file(device_kind(that));
  }

  ExitCode run() {
    const std::optional<std::int64_t>& memory = options_.device_memory_bytes;
    const Json settings{{"tuning", true},
                        {"budget", budget_text(options_.budget)},
                        {"device_memory_bytes", memory ? Json(*memory) : Json()}};
    const RecordFolder folder(options_.tune_records, make_manifest(study_, runtime_, datasets_, settings), study_,
                              options_.resume);
    context_["league"]["run_id"] = folder.run_id();
    make_folder(options_.tuned);
    bool interrupted = false;
    try {
      for (std::size_t number = 0; number < study_.comparisons.size(); ++number) {
        const Comparison& comparison = study_.comparisons[number];
        if (std::optional<Json> before = folder.find(number)) {  // then the tuned file has its launches
          for (std::size_t i = 0; i < comparison.cases.size(); ++i) progress_.finish_case("", true, true);
          records_.push_back(*std::move(before));
          continue;
        }
        const Stopwatch watch;
        const std::vector<TunedVariant> variants = tune_comparison(comparison);
        records_.push_back(tuning_record(context_, comparison.name, variants, watch.seconds()));
        folder.write(number, comparison.name, records_.back());
      }
    } catch (const Interrupted&) {
      interrupted = true;
    }
    if (!records_.empty())
      for (const auto& [kind, path] : files_) std::cout << "launches in " << path.string() << "\n";
    return interrupted ? ExitCode::interrupted : exit_code(records_);
  }

 private:
  /// Opens the tuned file, so that a broken one is found before anything is measured.
  void open_file(DeviceKind kind) {
    if (files_.contains(kind)) return;
    const DeviceInfo& device = runtime_.info({kind, 0});
    const auto [entry, added] = files_.emplace(kind, options_.tuned / tuned_file_name(device));
    TunedFile::read(entry->second, device);
  }

  std::vector<TunedVariant> tune_comparison(const Comparison& comparison) {
    progress_.begin_comparison(comparison.name);
    interrupt_.check();
    std::unique_ptr<Problem> problem;
    const auto shared_problem = [&]() -> const Problem& {
      if (!problem) problem = make_problem(comparison.cases.front(), runtime_, datasets_);
      return *problem;
    };
    std::vector<TunedVariant> variants;
    std::map<DeviceKind, std::vector<TunedEntry>> entries;
    for (const Case& that : comparison.cases) {
      variants.push_back(tune_variant(that, shared_problem, runtime_, options_, [&](const Launch& launch) {
        interrupt_.check();
        progress_.doing("tries " + label(launch) + " of", that.name);
      }));
      if (variants.back().is_sound()) entries[device_kind(that)].push_back(variants.back().entry);
      progress_.finish_case(variants.back().line(), true, false);
    }
    for (auto& [kind, found] : entries)
      TunedFile::update(files_.at(kind), runtime_.info({kind, 0}), provenance(kind), std::move(found));
    return variants;
  }

  /// The provenance of the entries, as in the records.
  [[nodiscard]] TunedSearch provenance(DeviceKind kind) const {
    const Json& league = context_.at("league");
    TunedSearch search{league.at("launch_id").get<std::string>(), {}};
    const auto add = [&](const std::string& key, const std::string& value) {
      if (!value.empty()) search.facts.emplace_back(key, value);
    };
    add("date", context_.at("date").get<std::string>());
    add("study", study_.title);
    add("samples", std::to_string(study_.comparisons.front().cases.front().samples));
    add("budget", budget_text(options_.budget));
    add("preset", build_info::preset);
    add("git", build_info::git);
    add("compiler", build_info::compiler);
    add("kokkos", build_info::kokkos_version);
    for (const std::string& name : runtime_.backends())
      if (const Backend& backend = *runtime_.backend(name); kind == DeviceKind::gpu && !backend.devices().empty())
        add(name, backend.version());
    return search;
  }

  const Options& options_;
  Runtime& runtime_;
  Datasets& datasets_;
  const InterruptWatch& interrupt_;
  const Study& study_;
  Progress progress_;
  Json context_;
  std::map<DeviceKind, std::filesystem::path> files_;
  std::vector<Json> records_;
};

}  // namespace

ExitCode tune(const Options& options, Runtime& runtime, const InterruptWatch& interrupt) {
  enter_peers({.python = {}, .root = options.peers.root});  // a study that names them is tuned without them
  Datasets datasets(options.data, runtime.host_memory());
  const Study study = own_variants(asked_study(options, runtime, datasets));
  return Tuner(options, runtime, datasets, interrupt, study).run();
}

}  // namespace league::bench
