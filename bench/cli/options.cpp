// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <iostream>
#include <limits>

#include "bench/errors.hpp"
#include "bench/peers/peers.hpp"

namespace league::bench {
namespace {

/// Values as CLI11 reads them, before they go into `Options`.
struct Raw {
  std::vector<std::string> assignments;
  std::optional<int> league, team, vector;
  std::optional<std::string> device_memory;
  std::optional<std::uint64_t> seed;
  std::string budget = "64";
};

/// Bytes of a unit, as "GiB", "g" or ""; 0 if there is no such unit.
std::int64_t unit_bytes(std::string unit) {
  static const std::string prefixes = "kmgtpe";
  std::ranges::transform(unit, unit.begin(), [](unsigned char letter) { return std::tolower(letter); });
  if (unit.ends_with('b')) unit.pop_back();
  if (unit.empty()) return 1;
  const std::size_t power = prefixes.find(unit.front());
  if (power == std::string::npos || (unit.size() > 1 && unit.substr(1) != "i")) return 0;
  std::int64_t bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) bytes *= unit.size() > 1 ? 1024 : 1000;
  return bytes;
}

/// "11GiB", "2GB", "512". (CLI11's own conversion wraps around, and takes 010 for 8.) @throws BadInput
std::int64_t read_bytes(const std::string& option, const std::string& text) {
  std::int64_t number = 0, bytes = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::int64_t unit = unit_bytes({stop, text.data() + text.size()});
  if (error == std::errc::result_out_of_range || __builtin_mul_overflow(number, unit, &bytes))
    throw BadInput(option + " " + text + ": is beyond the largest number of bytes, " +
                   std::to_string(std::numeric_limits<std::int64_t>::max()));
  if (error != std::errc{} || bytes < 1)
    throw BadInput(option + " " + text + ": takes a positive whole number of bytes, as 11GiB or 2GB");
  return bytes;
}

/// What CLI11 checks numbers of devices, teams, threads and lanes with. (Its PositiveNumber names a limit of 309
/// digits.)
const CLI::Range positive(1, std::numeric_limits<int>::max());

void describe_peers(CLI::App& command, Options& options) {
  command.add_option("--python", options.peers.python, "an interpreter: its libraries are peers, as NumPy and PyTorch");
  command.add_option("--peers", options.peers.root, "the project's folder, where the peers lie")->needs("--python");
}

void describe_list(CLI::App& app, Options& options) {
  CLI::App* list = app.add_subcommand("list", "Show algorithms, methods and models, and what of them runs here");
  list->add_flag("--json", options.json, "as JSON");
  describe_peers(*list, options);
  list->callback([&options] { options.command = Options::Command::list; });
}

/// Options that `run` and `tune` share.
void describe_study(CLI::App& command, Options& options, Raw& raw) {
  command.add_option("STUDY", options.study, "a TOML file, as in configs/");
  command.add_option("--set", raw.assignments, "[ALGORITHM.]KEY=VALUE: overrides a key of the study")
      ->allow_extra_args(false);
  command
      .add_option("--comparison", options.comparisons, "only this comparison of the study, by name; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--data", options.data,
                     "folder of the data files: in DIR/mnist, in DIR/fashion-mnist, or in DIR itself; those are "
                     "Fashion-MNIST's if its name has 'fashion' in it, else MNIST's (default: LEAGUE_DATA, then data/, "
                     "then Debian's package)");
  command.add_option("--devices", options.devices, "number of devices")->check(positive);
  command.add_option("--device-memory", raw.device_memory,
                     "budget of a device, as 11GiB (default: 9/10 of what is free)");
  command.add_option("--tuned", options.tuned, "folder of the tuned launches (default: tuned, beside the study)");
}

void describe_run(CLI::App& app, Options& options, Raw& raw) {
  static const std::map<std::string, LaunchChoice> choices{
      {"auto", LaunchChoice::automatic}, {"tuned", LaunchChoice::tuned}, {"explicit", LaunchChoice::given}};
  CLI::App* run = app.add_subcommand("run", "Check and time the cases of a study");
  describe_study(*run, options, raw);
  run->add_option("--launch", options.launch,
                  "of cases whose launch the study leaves open: auto; tuned (default), where `league tune` found one "
                  "for all of a comparison; explicit: they do not run")
      ->transform(CLI::CheckedTransformer(choices).description("auto|tuned|explicit"));
  run->add_option("--league", raw.league, "league size (teams) of every launch")->check(positive);
  run->add_option("--team", raw.team, "team size (threads) of every launch")->check(positive);
  run->add_option("--vector", raw.vector, "vector length (lanes) of every launch")->check(positive);
  run->add_option("--records", options.records, "folder of the records, one file per comparison")
      ->capture_default_str();
  run->add_option("--save-results", options.save_results, "folder for the outputs of every case, as NumPy files");
  run->add_option("--save-inputs", options.save_inputs, "folder for the inputs of every case, as NumPy files");
  run->add_flag("--resume", options.resume, "go on with an interrupted run in the same folder of records");
  run->add_flag("--mpi", options.mpi, "start MPI also where no launcher (mpirun, srun) has started this process");
  run->add_flag("--dry-run", options.dry_run,
                "print the cases, their memory and an estimate of the time; also as JSON");
  run->add_flag("--print-study", options.print_study, "print the study as TOML, with its defaults and --set in place");
  describe_peers(*run, options);
  run->add_option("--profile", options.profile, "run this case once, for a profiler; it may replay kernels");
  run->add_option("--trace-steps", options.trace_steps,
                  "run the only case once and write what each device does to this file, for SimGrid");
  run->add_option("--sample", options.sample,
                  "instead of a study: check so many cases of random shapes, types, launches and devices")
      ->check(positive);
  run->add_option("--seed", raw.seed, "of --sample (default: 1), or of the study, as --set seed=N");
  run->footer("Google Benchmark's options: --benchmark_filter, _list_tests, _repetitions, _format, _out.");
  run->callback([&options] { options.command = Options::Command::run; });
}

void describe_tune(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* tune = app.add_subcommand("tune", "Find the best launches of a study's variants, for later runs");
  describe_study(*tune, options, raw);
  tune->add_option("--budget", raw.budget,
                   "of each variant: candidates beside the automatic launch, as 64, or time, as 90s")
      ->capture_default_str();
  tune->add_option("--records", options.tune_records, "folder of the records of all candidates")->capture_default_str();
  tune->add_flag("--resume", options.resume, "go on with an interrupted search in the same folder of records");
  tune->footer(
      "Every variant gets the same search: team and vector in powers of two, then league and tile for the best.\n"
      "Every candidate is checked. The result goes to TUNED/<device>.toml; what is there of other problems stays.\n"
      "Google Benchmark's options: --benchmark_filter, --benchmark_repetitions (samples of the last few candidates).");
  tune->callback([&options] { options.command = Options::Command::tune; });
}

void describe_try(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* own = app.add_subcommand("try", "Check and time kernels of your own beside all others");
  own->add_option("FILE", options.own.files, "kernels: .cu (CUDA), .cpp (Kokkos), .py (Python)");
  own->add_option("--as", options.own.algorithm, "the algorithm that they solve");
  own->add_option("--study", options.study, "a TOML file (default: configs/try/ALGORITHM.toml)");
  own->add_option("--set", raw.assignments, "KEY=VALUE: overrides a key of the study")->allow_extra_args(false);
  own->add_option("--data", options.data, "folder of the data files, as for `run`");
  own->add_option("--limit", options.own.limit_s, "seconds that one call of your function may take")
      ->check(positive)
      ->capture_default_str();
  own->add_flag("--sanitize", options.own.sanitize,
                "first run them under compute-sanitizer, or AddressSanitizer and ThreadSanitizer on a host");
  own->add_flag("--isolate", options.own.isolate,
                "run them without network and home folder, as far as the system allows it, and say what it does not");
  own->add_flag("!--no-compile", options.own.compile, "take the programs that an earlier `league try` has compiled");
  own->add_option("--records", options.records, "folder of the records (default: try/records in the build folder)");
  own->add_flag("--dry-run", options.dry_run, "compile them, print the cases and an estimate of the time");
  describe_peers(*own, options);
  own->add_option("--template", options.template_of, "print a naive kernel of this algorithm to begin with");
  own->add_option("--model", options.template_model, "of --template: cuda, kokkos or python")
      ->check(CLI::IsMember({"cuda", "kokkos", "python"}))
      ->capture_default_str();
  own->callback([&options] {
    options.command = options.template_of.empty() ? Options::Command::run : Options::Command::show_template;
  });
}

/// Fills in what `try` leaves open.
void complete_own(Options& options) {
  OwnOptions& own = options.own;
  own.root = options.peers.root.empty() ? project_root() : options.peers.root;
  if (own.files.empty()) throw BadInput("try: name a FILE, or --template ALGORITHM");
  if (own.algorithm.empty()) throw BadInput("try: --as says which algorithm " + own.files.front().string() + " solves");
  if (options.tuned.empty()) options.tuned = own.root / "configs/tuned";
  if (options.study.empty()) options.study = own.root / "configs/try" / (own.algorithm + ".toml");
  if (options.records == Options().records) options.records = own_folder() / "records";
}

/// `run` takes either a study or --sample.
void require_study(const Options& options) {
  if (options.command == Options::Command::list || options.command == Options::Command::show_template) return;
  if (options.sample > 0 && !options.study.empty()) throw BadInput("--sample draws its own cases: leave STUDY out");
  if (options.sample == 0 && options.study.empty()) throw BadInput("STUDY is required (see league --help)");
}

/// The launch that --league, --team and --vector describe, as `launches` of a study.
void add_launch(const Raw& raw, std::vector<Assignment>& assignments) {
  Value launch{.place = "the command line", .content = Value::Table{}};
  auto& entries = std::get<Value::Table>(launch.content);
  const auto add = [&](const char* key, std::optional<int> value) {
    if (value) entries.push_back({key, {.place = "--" + std::string(key), .content = std::int64_t{*value}}});
  };
  add("league", raw.league);
  add("team", raw.team);
  add("vector", raw.vector);
  if (!entries.empty()) assignments.push_back({"launches", launch});
}

/// The seed of the draw that --sample makes, else the study's.
void add_seed(std::uint64_t seed, Options& options) {
  if (options.sample > 0)
    options.seed = seed;
  else if (seed > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw BadInput("--seed " + std::to_string(seed) + ": of a study it is at most " +
                   std::to_string(std::numeric_limits<std::int64_t>::max()));
  else
    options.assignments.push_back({"seed", {.place = "--seed", .content = static_cast<std::int64_t>(seed)}});
}

}  // namespace

Options read_options(int count, const char* const* arguments) {
  Options options;
  Raw raw;
  std::vector<std::string> words(arguments + 1, arguments + count);
  options.benchmark = take_benchmark_flags(words);
  std::ranges::reverse(words);  // CLI11 expects them in reverse

  CLI::App app("League: one algorithm, many programming models, checked and timed.", "league");
  app.require_subcommand(1);
  describe_list(app, options);
  describe_run(app, options, raw);
  describe_tune(app, options, raw);
  describe_try(app, options, raw);
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return {};
  } catch (const CLI::CallForAllHelp& help) {
    app.exit(help);
    return {};
  } catch (const CLI::ParseError& error) {
    throw BadInput(std::string(error.what()) + " (see league --help)");
  }
  if (app.got_subcommand("try") && options.command == Options::Command::run) complete_own(options);
  require_study(options);
  for (const std::string& text : raw.assignments) options.assignments.push_back(read_assignment(text));
  if (options.devices)
    options.assignments.push_back({"devices", {.place = "--devices", .content = std::int64_t{*options.devices}}});
  if (raw.seed) add_seed(*raw.seed, options);
  add_launch(raw, options.assignments);
  if (options.peers.root.empty()) options.peers.root = default_peers();
  options.budget = read_budget(raw.budget);
  if (options.tuned.empty()) options.tuned = options.study.parent_path() / "tuned";
  if (raw.device_memory) options.device_memory_bytes = read_bytes("--device-memory", *raw.device_memory);
  return options;
}

}  // namespace league::bench
