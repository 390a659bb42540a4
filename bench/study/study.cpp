// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/study.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "backends/communicator.hpp"
#include "backends/model.hpp"
#include "bench/errors.hpp"
#include "bench/study/axes.hpp"
#include "bench/study/end_to_end.hpp"
#include "bench/study/expected.hpp"
#include "bench/study/memory_shares.hpp"
#include "bench/study/models.hpp"
#include "bench/study/nearest.hpp"
#include "bench/study/shapes.hpp"

namespace league::bench {
namespace {

/// The lists of a study make more cases than it may have.
struct TooManyCases {};
void require_few(std::size_t count) {
  if (count > max_cases) throw TooManyCases();
}

/// Each of `cases` once for every value.
template <class Values, class Set>
void multiply(std::vector<Case>& cases, const Values& values, const Set& set) {
  require_few(cases.size() * values.size());
  std::vector<Case> product;
  for (const Case& that : cases)
    for (const auto& value : values) set(product.emplace_back(that), value);
  cases = std::move(product);
}

/// The product of the cases with the engines; a case on one device needs none and stays as it is.
void multiply_communicators(std::vector<Case>& cases, const std::vector<std::string>& engines) {
  require_few(cases.size() * engines.size());
  std::vector<Case> product;
  for (const Case& that : cases) {
    if (that.devices == 1) product.push_back(that);
    for (const std::string& engine : engines)
      if (that.devices > 1) product.emplace_back(that).communicator = engine;
  }
  cases = std::move(product);
}

/// Each case on a host once for every number of threads.
void multiply_threads(std::vector<Case>& cases, const std::vector<std::int64_t>& counts) {
  require_few(cases.size() * counts.size());
  std::vector<Case> product;
  for (const Case& that : cases) {
    const bool on_host = device_kind(that) == DeviceKind::host;
    if (!on_host) product.push_back(that);
    for (const std::int64_t count : counts)
      if (on_host) product.emplace_back(that).threads = static_cast<int>(count);
  }
  cases = std::move(product);
}

/// All engines that there are, the default first.
std::vector<std::string> engines() {
  std::vector<std::string> names = engine_names();
  const auto first = std::ranges::find(names, Case{}.communicator);
  if (first != names.end()) std::rotate(names.begin(), first, first + 1);
  return names;
}

/// The product of the cases with the launches; a library chooses its own and stays one case.
void multiply_launches(std::vector<Case>& cases, const std::vector<WantedLaunch>& launches) {
  require_few(cases.size() * launches.size());
  const bool open = launches.front().source == LaunchSource::open;
  const std::vector<WantedLaunch> of_a_library{{{}, open ? LaunchSource::open : LaunchSource::automatic}};
  std::vector<Case> product;
  for (const Case& that : cases)
    for (const WantedLaunch& wanted : is_own(that.model) ? launches : of_a_library) {
      product.push_back(that);
      product.back().launch = wanted.launch;
      product.back().launch_source = wanted.source;
    }
  cases = std::move(product);
}

/// Resolves the data of a case: what the study sets, the rest from the dataset.
void resolve_data(Case& that, const Value* sizes, const Algorithm& algorithm, Datasets& datasets) {
  if (!algorithm.needs_dataset) return;
  that.data.seed = that.seed;
  that.data.train = that.parameters.integer("train");
  that.data.test = that.parameters.integer("test");
  that.data.features = that.parameters.integer("features");
  datasets.load(that.data);
  try {
    that.data = datasets.resolve(that.data);
  } catch (const BadInput& error) {
    if (sizes != nullptr) throw BadInput(sizes->place + ": `sizes` " + error.what());
    throw;
  }
  that.parameters.values["train"] = std::to_string(that.data.train);
  that.parameters.values["test"] = std::to_string(that.data.test);
  that.parameters.values["features"] = std::to_string(that.data.features);
}

bool wants_null_test(const Settings& settings) {
  const Value* value = find(settings.values, "null");
  return value == nullptr || value->truth("null");
}

/// `samples`: numbers, or "auto" with its two limits.
void multiply_samples(std::vector<Case>& cases, const Axes& axes) {
  const Value* samples = axes.find("samples");
  const auto* word = samples == nullptr ? nullptr : samples->get<std::string>();
  Precision limits;
  if (const Value* value = axes.find("max_noise"))
    limits.max_noise = value->real("max_noise", {.min = 0.001, .max = 1});
  if (const Value* value = axes.find("time_limit")) limits.time_limit_s = value->real("time_limit", above_zero);
  if (word == nullptr) {
    multiply(cases, axes.integers("samples", {Case{}.samples}, 1, 1'000'000),
             [](Case& that, std::int64_t n) { that.samples = static_cast<int>(n); });
    return;
  }
  if (*word != "auto") samples->refuse("samples", "takes a number or \"auto\", not '" + *word + "'");
  for (Case& that : cases) that.precision = limits;
}

/// `placements`: a number, or "auto" (0).
int read_placements(const Axes& axes) {
  const Value* value = axes.find("placements");
  const auto* word = value == nullptr ? nullptr : value->get<std::string>();
  if (value == nullptr || (word != nullptr && *word == "auto")) return 0;
  if (word != nullptr) value->refuse("placements", "takes a number or \"auto\", not '" + *word + "'");
  return static_cast<int>(value->integer("placements", 1, max_placements));
}

std::vector<Case> cases_of(const Settings& settings, const Runtime& runtime, Datasets& datasets,
                           std::vector<std::string>& notes) {
  const Algorithm& algorithm = *settings.algorithm;
  const Axes axes(settings);
  std::vector<Case> cases(1);
  cases[0].algorithm = &algorithm;
  cases[0].drawn = settings.drawn;
  if (const Value* value = axes.find("energy")) cases[0].energy = value->truth("energy");
  cases[0].end_to_end = read_end_to_end(axes);
  cases[0].placements = read_placements(axes);
  if (const Value* value = axes.find("expect")) cases[0].expected = read_expected(*value);
  multiply_samples(cases, axes);
  multiply(cases, axes.integers("seed", {1}, 0, std::numeric_limits<std::int64_t>::max()),
           [](Case& that, std::int64_t seed) { that.seed = static_cast<std::uint64_t>(seed); });
  if (algorithm.needs_dataset) {
    multiply(cases,
             axes.words("dataset", {"mnist", "mnist_t10k", "mnist_normalized", "mnist_rgb", "fashion_mnist", "cifar10",
                                    "generated", "normal"}),
             [](Case& that, auto& word) { that.data.dataset = word; });
    multiply(cases, axes.words("split", {"random", "file", "predefined"}),
             [](Case& that, auto& word) { that.data.split = word; });
    multiply(cases, axes.integers("split_seed", {42}, 0, std::numeric_limits<std::uint32_t>::max()),
             [](Case& that, std::int64_t seed) { that.data.split_seed = static_cast<std::uint64_t>(seed); });
  }
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.kind != Parameter::Kind::size)
      multiply(cases, axes.parameter(parameter),
               [&](Case& that, auto& value) { that.parameters.values[parameter.name] = value; });
  multiply(cases, axes.dtypes(), [](Case& that, Dtype dtype) { that.dtype = dtype; });
  multiply(cases, axes.sizes(), [](Case& that, const Point& point) {
    for (const auto& [name, value] : point) that.parameters.values[name] = std::to_string(value);
  });
  for (Case& that : cases) resolve_data(that, axes.find("sizes"), algorithm, datasets);
  const int ranks = runtime.ranks().place().size;
  multiply(cases, axes.integers("devices", {ranks}, 1, 4096), [ranks](Case& that, std::int64_t n) {
    that.devices = static_cast<int>(n);
    that.ranks = ranks;
  });
  multiply(cases, axes.variants(runtime, notes), [](Case& that, const Way& way) {
    that.method = way.method;
    that.model = way.model;
    that.execution = way.execution;
  });
  multiply_threads(cases, axes.integers("threads", {0}, 1, 4096));
  multiply_communicators(cases, axes.words("communicator", engines()));
  if (ranks > 1 && axes.find("communicator") == nullptr)
    for (Case& that : cases) that.communicator = default_communicator(that);
  multiply_launches(cases, axes.launches());
  for (Case& that : cases) {
    give_names(that);
    that.skip = known_skip_reason(runtime, that);
  }
  return cases;
}

/// As `cases_of`. @throws BadInput where they are too many
std::vector<Case> few_cases_of(const Settings& settings, const Runtime& runtime, Datasets& datasets, Study& study) {
  try {
    return cases_of(settings, runtime, datasets, study.notes);
  } catch (const TooManyCases&) {
    require_few(max_cases + 1, *find(settings.values, "algorithm"), "algorithm");
    throw;
  }
}

/// The cases of all shapes that a table draws, or of the table itself. @throws BadInput where they are too many
std::vector<Case> all_cases_of(const Settings& table, ShapeDraws& draws, const Runtime& runtime, Datasets& datasets,
                               Study& study) {
  std::vector<Case> all;
  for (const Settings& resolved : resolve_memory_shares(table, runtime))
    for (const Settings& settings : draws.draw(resolved)) {
      std::ranges::move(few_cases_of(settings, runtime, datasets, study), std::back_inserter(all));
      require_few(all.size(), *find(table.values, "algorithm"), "algorithm");
    }
  return all;
}

/// A requested execution, its place in the study, and whether a method has it.
struct Wanted {
  Execution execution;
  Value value;
  bool has_method;
};

/// @throws BadInput for an execution that no method has; one that only this build lacks is no error
void require_methods(const std::vector<Wanted>& wanted, const Study& study) {
  for (const Wanted& one : wanted) {
    const auto same = [&](const Wanted& other) { return other.execution == one.execution && other.has_method; };
    const bool there = std::ranges::any_of(study.comparisons, [&](const Comparison& comparison) {
      return std::ranges::find(comparison.cases, one.execution, &Case::execution) != comparison.cases.end();
    });
    if (!there && std::ranges::none_of(wanted, same))
      one.value.refuse("execution", "'" + std::string(name(one.execution)) +
                                        "' gives no case: no method of this study has it; leave it out, or name some "
                                        "that have (see `league list`)");
  }
}

}  // namespace

bool lacks_devices(const Runtime& runtime, const Case& that) {
  return that.devices > max_devices(runtime, device_kind(that));
}

std::string known_skip_reason(const Runtime& runtime, const Case& that) {
  const Availability here = availability(runtime, that);
  if (here.state != State::ready) return here.reason;
  if (std::ranges::find(that.method->dtypes, that.dtype) == that.method->dtypes.end())
    return "this method has no " + std::string(name(that.dtype));
  if (that.ranks > 1 && model_facts(that.model) == nullptr) return "Python peers take part in runs of one process";
  if (that.devices % that.ranks != 0)
    return std::to_string(that.devices) + (that.devices == 1 ? " device" : " devices") + " for " +
           std::to_string(that.ranks) + " ranks: each takes as many";
  if (that.threads > runtime.host_threads())
    return "needs " + std::to_string(that.threads) + " threads, " + std::to_string(runtime.host_threads()) + " here";
  if (that.threads > 0 && that.launch_source == LaunchSource::tuned) return "launches are tuned with all threads";
  if (that.threads > 1 && that.model == "serial") return "takes one thread";
  if (!lacks_devices(runtime, that)) return {};
  const DeviceKind kind = device_kind(that);
  return "needs " + std::to_string(that.devices) + (kind == DeviceKind::gpu ? " GPUs, " : " host devices, at most ") +
         std::to_string(max_devices(runtime, kind)) + " here";
}

Study read_study(const std::filesystem::path& file, std::span<const Assignment> assignments, const Runtime& runtime,
                 Datasets& datasets) {
  Study study{.title = file.stem().string(), .comparisons = {}};
  std::set<std::string> names;
  std::map<std::string, std::size_t> numbers;  // of the comparisons
  std::vector<Wanted> wanted;
  ShapeDraws draws;
  for (const Settings& settings : read_settings(file, assignments)) {
    const bool null_test = wants_null_test(settings);
    if (const Value* value = find(settings.values, "execution"))
      for (const Execution execution : Axes(settings).executions())
        wanted.push_back({execution, *value, Axes(settings).has(execution)});
    for (Case& that : all_cases_of(settings, draws, runtime, datasets, study)) {
      const bool is_known = !names.insert(that.name).second;
      if (is_known && that.drawn) continue;  // by two tables
      if (is_known)
        throw BadInput(file.string() + ": two cases are named " + that.name +
                       ": a list repeats a value, or two [[cases]] overlap");
      const auto [number, is_new] = numbers.emplace(that.comparison, study.comparisons.size());
      if (is_new) study.comparisons.push_back({that.comparison, {}});
      Comparison& comparison = study.comparisons[number->second];
      if (!is_new && comparison.cases.front().precision != that.precision)
        throw BadInput(file.string() +
                       ": two [[cases]] with other `samples`, `max_noise` or `time_limit` have cases of " +
                       that.comparison + ": with `samples = \"auto\"` all cases of a comparison get as many");
      comparison.cases.push_back(std::move(that));
      comparison.null_test = comparison.null_test && null_test;
    }
    require_few(names.size(), *find(settings.values, "algorithm"), "algorithm");
  }
  require_methods(wanted, study);
  if (study.comparisons.empty())
    throw BadInput(file.string() +
                   ": no case: none of its methods has one of its models in this build (see `league list`)");
  std::ranges::sort(study.notes);
  study.notes.erase(std::ranges::unique(study.notes).begin(), study.notes.end());
  return study;
}

}  // namespace league::bench
