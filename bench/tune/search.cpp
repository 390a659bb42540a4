// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune/search.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>
#include <utility>

#include "bench/errors.hpp"
#include "bench/measure/check.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/interval.hpp"
#include "bench/measure/memory_limit.hpp"

namespace league::bench {
namespace {

constexpr double max_slowdown = 1.5;  // times the best so far
constexpr int first_samples = 3;      // samples per candidate before the final
constexpr std::size_t finalists = 4, bases_of_leagues = 3, bases_of_tiles = 2;

class Search {
 public:
  Search(Trial& trial, const Grid& grid, const Budget& budget, int samples)
      : trial_(trial), grid_(grid), budget_(budget), samples_(samples) {}

  Searched run() {
    look({});
    if (!found_.passed()) return std::move(found_);
    watch_ = Stopwatch();
    for (const Launch& launch : grid_.teams) look(launch);
    look_around(bases_of_leagues, &Launch::league, [this](const Candidate&) { return grid_.leagues; });
    look_around(bases_of_tiles, &Launch::tile, [](const Candidate& base) { return tiles_around(base.effective.tile); });
    run_final();
    choose();
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_spent() const {
    return !all().empty() && (tried_ > budget_.candidates || watch_.seconds() > budget_.seconds);
  }

  /// Tries a launch, unless its effective launch was tried before.
  void look(const Launch& requested) {
    if (is_spent()) return;
    Candidate candidate{.requested = requested};
    const bool ran = attempt(candidate, [&] {
      candidate.effective = trial_.configure(requested);
      if (is_known(candidate.effective)) return;
      candidate.verdict = trial_.check();
      if (is_right(candidate)) take_looks(candidate);
    });
    if (ran && is_known(candidate.effective)) return;
    if (candidate.status != Status::skipped) ++tried_;
    all().push_back(std::move(candidate));
  }

  /// Varies one part of the launch of the fastest few.
  template <class Values>
  void look_around(std::size_t count, int Launch::* part, const Values& values) {
    for (const std::size_t base : fastest(count)) {
      Launch launch = all()[base].requested;
      for (const int value : values(all()[base])) {
        launch.*part = value;
        look(launch);
      }
    }
  }

  [[nodiscard]] bool is_known(const Launch& effective) const {
    return std::ranges::any_of(found_.candidates, [&](const Candidate& other) {
      return other.status != Status::skipped && other.effective == effective;
    });
  }

  static bool is_right(Candidate& candidate) {
    if (candidate.verdict.passed()) return true;
    candidate.status = Status::failed;
    candidate.reason = "wrong: " + fault_of(candidate.verdict);
    candidate.samples.clear();
    return false;
  }

  void take_looks(Candidate& candidate) {
    std::vector<double>& samples = candidate.samples;
    samples.push_back(trial_.sample());
    const auto count = static_cast<std::size_t>(samples_for(first_samples, samples[0]));
    const auto is_too_slow = [&] {  // more than one: a single slow sample may be an outlier
      return samples.size() > 1 && *std::ranges::min_element(samples) > max_slowdown * best_so_far_;
    };
    while (samples.size() < count && !is_too_slow()) samples.push_back(trial_.sample());
    best_so_far_ = std::min(best_so_far_, median(samples));
  }

  /// Runs a step of one candidate; an exception becomes its result. @returns whether it passed
  template <class Step>
  static bool attempt(Candidate& candidate, const Step& step) {
    try {
      step();
      return true;
    } catch (const Interrupted&) {
      throw;
    } catch (const Unsupported& refusal) {
      candidate.status = Status::skipped;
      candidate.reason = refusal.what();
    } catch (const std::bad_alloc& error) {
      candidate.status = Status::skipped;
      candidate.reason = out_of_host_memory(error);
    } catch (const std::exception& error) {
      candidate.status = Status::failed;
      candidate.reason = error.what();
    }
    candidate.samples.clear();
    return false;
  }

  /// Numbers of those that passed and are not too slow, the fastest first.
  [[nodiscard]] std::vector<std::size_t> fastest(std::size_t count) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < found_.candidates.size(); ++i)
      if (const Candidate& one = found_.candidates[i];
          one.status == Status::passed && median(one.samples) <= max_slowdown * best_so_far_)
        order.push_back(i);
    std::ranges::sort(order, {}, [this](std::size_t i) { return std::pair(median(found_.candidates[i].samples), i); });
    order.resize(std::min(order.size(), count));
    return order;
  }

  /// Full samples of the fastest few and of the automatic launch, in turn, each round in another order.
  void run_final() {
    final_ = fastest(finalists);
    if (std::ranges::find(final_, 0U) == final_.end()) final_.push_back(0);
    const int rounds = samples_for(samples_, best_so_far_);
    for (const std::size_t i : final_) all()[i].samples.clear();
    std::vector<std::size_t> order = final_;
    std::mt19937 random(1);
    for (int round = 0; round < rounds; ++round) {
      std::ranges::shuffle(order, random);
      for (const std::size_t i : order) {
        Candidate& candidate = all()[i];
        if (candidate.status != Status::passed) continue;
        attempt(candidate, [&] {
          trial_.configure(candidate.requested);
          candidate.samples.push_back(trial_.sample());
        });
      }
    }
    std::erase_if(final_, [this](std::size_t i) { return all()[i].status != Status::passed; });
  }

  /// The finalist with the lowest median that passes the check again and is faster than the automatic launch.
  void choose() {
    if (!passes_again(0)) return;
    const Interval automatic = median_interval(all()[0].samples);
    std::ranges::sort(final_, {}, [this](std::size_t i) { return std::pair(median(all()[i].samples), i); });
    for (const std::size_t i : final_) {
      if (i == 0 || median_interval(all()[i].samples).high >= automatic.low || !passes_again(i)) continue;
      found_.best = i;
      return;
    }
  }

  bool passes_again(std::size_t i) {
    Candidate& candidate = all()[i];
    if (candidate.status != Status::passed) return false;
    const bool ran = attempt(candidate, [&] {
      trial_.configure(candidate.requested);
      candidate.verdict = trial_.check();
    });
    return ran && is_right(candidate);
  }

  std::vector<Candidate>& all() { return found_.candidates; }
  [[nodiscard]] const std::vector<Candidate>& all() const { return found_.candidates; }

  Trial& trial_;
  const Grid& grid_;
  const Budget& budget_;
  int samples_;
  Searched found_;
  std::vector<std::size_t> final_;
  int tried_ = 0;
  double best_so_far_ = std::numeric_limits<double>::infinity();
  Stopwatch watch_;
};

}  // namespace

Budget read_budget(const std::string& text) {
  const bool timed = text.ends_with('s');
  const char* end = text.data() + text.size() - (timed ? 1 : 0);
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1)
    throw BadInput("--budget " + text + ": takes a number of candidates, as 64, or of seconds, as 90s");
  if (timed) return {.candidates = std::numeric_limits<int>::max(), .seconds = static_cast<double>(number)};
  return {.candidates = number};
}

Searched search(Trial& trial, const Grid& grid, const Budget& budget, int samples) {
  return Search(trial, grid, budget, samples).run();
}

}  // namespace league::bench
