// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/sample/sample.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "algorithms/contract/budget.hpp"
#include "backends/communicator.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/memory_limit.hpp"
#include "bench/record/progress.hpp"
#include "bench/sample/draw.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

constexpr double largest_exponent = 24;              // of the elements of a problem: 2^24
constexpr std::int64_t default_bytes = 256LL << 20;  // that a case may take on a device
constexpr double operations_per_thread = 3e8;        // of a problem: about a second for the oracle
constexpr int tuples_per_problem = 6, max_host_devices = 8;
constexpr int max_futile_draws = 2000;

/// A variant that can be drawn.
struct Choice {
  const Algorithm* algorithm;
  const Method* method;
  const Variant* variant;
  std::vector<Execution> executions;  ///< that can run here
};

/// The variants that can run here, without peers: each of those would start a process.
std::vector<Choice> ready_variants(const Runtime& runtime) {
  std::vector<Choice> ready;
  for (const Variant& variant : registry().variants) {
    const Algorithm& algorithm = *registry().algorithm(variant.algorithm);
    const auto method = std::ranges::find(algorithm.methods, variant.method, &Method::name);
    if (variant.model.backend == "python" || method == algorithm.methods.end()) continue;
    Choice choice{&algorithm, &*method, &variant, {}};
    for (const Execution execution : variant.executions)
      if (availability(runtime, algorithm, *method, variant.model.name, execution).state == State::ready)
        choice.executions.push_back(execution);
    if (!choice.executions.empty()) ready.push_back(std::move(choice));
  }
  return ready;
}

struct Count {
  int ran = 0, failed = 0, refused = 0, ill_posed = 0;
};

/// The drawn problem has no solution: a descent diverges, a matrix is singular.
struct IllPosed {};

class RandomCheck {
 public:
  RandomCheck(const Options& options, Runtime& runtime, const InterruptWatch& interrupt)
      : options_(options),
        runtime_(runtime),
        interrupt_(interrupt),
        datasets_(options.data, runtime.host_memory()),
        filter_(options.benchmark.filter),
        budget_(options.device_memory_bytes.value_or(default_bytes)),
        choices_(ready_variants(runtime)),
        progress_(options.sample, 0) {
    for (const Choice& choice : choices_)
      if (algorithms_.empty() || algorithms_.back() != choice.algorithm) algorithms_.push_back(choice.algorithm);
    std::ranges::sort(algorithms_, {}, &Algorithm::name);
    algorithms_.erase(std::ranges::unique(algorithms_).begin(), algorithms_.end());
  }

  ExitCode run() {
    int futile = 0;
    for (std::uint64_t problem = 0; total_.ran < options_.sample; ++problem) {
      const int before = total_.ran;
      take_problem(problem);
      futile = total_.ran > before ? 0 : futile + 1;
      if (futile == max_futile_draws)
        throw BadInput("--sample: " + std::to_string(futile) + " draws in a row gave no case that runs here" +
                       (options_.benchmark.filter.empty() ? "" : " and matches --benchmark_filter"));
    }
    print_summary();
    return total_.failed > 0 ? ExitCode::failed : ExitCode::passed;
  }

 private:
  /// One problem, and a few of the tuples that work on it.
  void take_problem(std::uint64_t number) {
    Random random(options_.seed, number);
    const Algorithm& algorithm = *random.one_of<const Algorithm*>(algorithms_);
    std::vector<Choice> own;
    std::ranges::copy_if(choices_, std::back_inserter(own),
                         [&](const Choice& choice) { return choice.algorithm == &algorithm; });
    const Method& method = *random.one_of<Choice>(own).method;
    Case drawn{.algorithm = &algorithm, .dtype = random.one_of<Dtype>(method.dtypes)};
    drawn.parameters = draw_parameters(random, algorithm, largest_exponent);
    drawn.seed = static_cast<std::uint64_t>(1 + random.below(1000));
    if (algorithm.needs_dataset) use_generated_data(drawn);
    if (algorithm.between_shards) drawn.devices = static_cast<int>(2 + random.below(max_host_devices - 1));
    std::erase_if(own, [&](const Choice& choice) { return !solves(*choice.method, method.problem, drawn.dtype); });
    std::vector<Case> tuples;
    for (int i = 0; i < tuples_per_problem; ++i) add_tuple(random, drawn, random.one_of<Choice>(own), tuples);
    if (tuples.empty()) return;
    interrupt_.check();
    progress_.begin_comparison(tuples.front().comparison);
    if (const std::unique_ptr<Problem> problem = affordable_problem(tuples.front()))
      for (const Case& that : tuples) take(that, *problem);
  }

  static bool solves(const Method& method, const std::string& problem, Dtype dtype) {
    return method.problem == problem && std::ranges::find(method.dtypes, dtype) != method.dtypes.end();
  }

  static void use_generated_data(Case& that) {
    that.data = {.dataset = "generated",
                 .seed = that.seed,
                 .train = that.parameters.integer("train"),
                 .test = that.parameters.integer("test"),
                 .features = that.parameters.integer("features")};
  }

  void add_tuple(Random& random, Case that, const Choice& choice, std::vector<Case>& tuples) {
    const DeviceKind kind = choice.variant->model.device;
    const int here = kind == DeviceKind::host ? max_host_devices : max_devices(runtime_, kind);
    const int max = options_.devices ? std::min(*options_.devices, here) : here;
    that.method = choice.method;
    that.model = choice.variant->model.name;
    if (choice.executions.size() > 1) that.execution = random.one_of<Execution>(choice.executions);
    if (random.chance(0.5) && !that.algorithm->between_shards) that.devices = static_cast<int>(1 + random.below(max));
    if (that.devices > 1) that.communicator = random.one_of<std::string>(engine_names(kind));
    if (is_own(that.model)) that.launch = draw_launch(random, kind);
    that.launch_source = that.launch == Launch{} ? LaunchSource::automatic : LaunchSource::given;
    give_names(that);
    if (filter_.matches(that.name) && names_.insert(that.name).second) tuples.push_back(std::move(that));
  }

  /// Null if the sizes are invalid, or the problem takes too much memory or time to check.
  std::unique_ptr<Problem> affordable_problem(const Case& that) {
    ++problems_;
    try {
      auto problem = make_problem(that, runtime_, datasets_);
      const Cost cost = problem->cost();
      const bool fits = cost.bytes <= static_cast<double>(budget_) / 2 &&
                        cost.operations <= operations_per_thread * runtime_.host_threads();
      if (fits) return problem;
    } catch (const std::invalid_argument&) {  // as k above the number of rows
    } catch (const std::bad_alloc&) {
    }
    ++out_of_bounds_;
    return nullptr;
  }

  void take(const Case& that, const Problem& problem) {
    if (total_.ran == options_.sample) return;
    interrupt_.check();
    progress_.doing("checks", that.name);
    Count& count = counts_[{that.algorithm->name, method_label(that), that.model}];
    try {
      const std::string wrong = wrong_result(that, problem);
      ++count.ran, ++total_.ran;
      progress_.finish_case(wrong.empty() ? "" : "FAILED  " + that.name + ": " + wrong, true, false);
      if (!wrong.empty()) ++count.failed, ++total_.failed;
    } catch (const Unsupported&) {
      ++count.refused, ++total_.refused;
    } catch (const IllPosed&) {
      ++total_.ill_posed;
    }
  }

  /// What is wrong with the results of a case, computed twice; empty if nothing is. @throws Unsupported, IllPosed
  std::string wrong_result(const Case& that, const Problem& problem) {
    try {
      PreparedCase prepared_case(that, problem, runtime_, budget_);
      Stages stages;
      for (const char* when : {"", "the second time: "}) {
        const Verdict verdict = check_fresh(prepared_case, stages).verdict;
        if (verdict.ill_posed) throw IllPosed();
        if (!verdict.passed()) return when + fault_of(verdict);
      }
      return {};
    } catch (const Unsupported&) {
      throw;
    } catch (const std::bad_alloc& error) {
      throw Unsupported(out_of_host_memory(error));
    } catch (const std::invalid_argument&) {
      throw IllPosed();
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  void print_summary() const {
    std::cout << std::left << std::setw(20) << "algorithm" << std::setw(18) << "method" << std::setw(16) << "model"
              << std::right << std::setw(8) << "ran" << std::setw(8) << "FAILED" << std::setw(9) << "refused"
              << "\n";
    for (const auto& [variant, count] : counts_)
      std::cout << std::left << std::setw(20) << std::get<0>(variant) << std::setw(18) << std::get<1>(variant)
                << std::setw(16) << std::get<2>(variant) << std::right << std::setw(8) << count.ran << std::setw(8)
                << count.failed << std::setw(9) << count.refused << "\n";
    std::cout << "seed " << options_.seed << ": " << total_.ran << " cases of " << problems_ - out_of_bounds_
              << " problems ran, " << total_.failed << " FAILED; " << total_.refused << " were refused by name, "
              << total_.ill_posed << " had an ill-posed problem, " << out_of_bounds_
              << " problems lay outside the bounds of " << readable_bytes(budget_) << " and the oracle's time\n";
  }

  const Options& options_;
  Runtime& runtime_;
  const InterruptWatch& interrupt_;
  Datasets datasets_;
  NameFilter filter_;
  std::int64_t budget_;
  std::vector<Choice> choices_;
  std::vector<const Algorithm*> algorithms_;
  Progress progress_;
  std::set<std::string> names_;  ///< of all that was drawn: each case once
  std::map<std::tuple<std::string, std::string, std::string>, Count> counts_;
  Count total_;
  int problems_ = 0, out_of_bounds_ = 0;
};

}  // namespace

ExitCode sample_cases(const Options& options, Runtime& runtime, const InterruptWatch& interrupt) {
  return RandomCheck(options, runtime, interrupt).run();
}

}  // namespace league::bench
