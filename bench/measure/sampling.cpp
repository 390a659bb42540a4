// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/sampling.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "bench/errors.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/stopping.hpp"

namespace league::bench {
namespace {

/// Collects the manual times of each case.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration)
        samples_[run.run_name.function_name].push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
  }
  std::vector<double> samples(const std::string& name) { return samples_[name]; }

 private:
  std::map<std::string, std::vector<double>> samples_;
};

/// Draws one sample for Google Benchmark; after an error or an interrupt, nothing more.
void draw_one(benchmark::State& state, const Draw& draw, std::string& error, bool& interrupted) {
  for ([[maybe_unused]] auto _ : state) {
    if (interrupted || !error.empty()) {
      state.SkipWithError("stopped");
      break;
    }
    try {
      state.SetIterationTime(draw.draw());
    } catch (const Interrupted&) {
      interrupted = true;
    } catch (const std::exception& failure) {
      error = failure.what();
    }
  }
}

constexpr std::int64_t no_more = -1;

/// Broadcasts rank 0's `next`.
std::int64_t broadcast_next(Ranks& ranks, std::int64_t next = no_more) {
  ranks.broadcast(std::as_writable_bytes(std::span(&next, 1)), 0);
  return next;
}

/// Draws what rank 0 draws. An error occurs on all ranks and ends the draws of the case there too.
std::vector<Drawn> follow(const std::vector<Draw>& draws, Ranks& ranks) {
  std::vector<Drawn> drawn(draws.size());
  for (std::int64_t next = broadcast_next(ranks); next != no_more; next = broadcast_next(ranks)) {
    Drawn& one = drawn[static_cast<std::size_t>(next)];
    try {
      one.samples.push_back(draws[static_cast<std::size_t>(next)].draw());
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& failure) {
      one.error = failure.what();
    }
  }
  return drawn;
}

/// Samples in batches the cases that have not failed and still lack samples, until `stopping` ends it.
std::vector<Drawn> sample_until(Sampler& sampler, const std::vector<Draw>& draws, Stopping& stopping) {
  std::vector<Drawn> all;
  for (const Draw& draw : draws) all.push_back({.samples = {}, .error = {}, .placements = draw.placements});
  const Stopwatch watch;
  for (int count = stopping.next(all, 0); count > 0; count = stopping.next(all, watch.seconds())) {
    std::vector<Draw> batch;
    std::vector<Drawn*> into;
    for (std::size_t i = 0; i < draws.size(); ++i) {
      const int missing = draws[i].samples - static_cast<int>(all[i].samples.size());
      if (missing <= 0 || !all[i].error.empty()) continue;
      batch.push_back({draws[i].name, std::min(missing, count), draws[i].draw});
      into.push_back(&all[i]);
    }
    const std::vector<Drawn> drawn = sampler.sample(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::ranges::copy(drawn[i].samples, std::back_inserter(into[i]->samples));
      into[i]->error = drawn[i].error;
    }
  }
  return all;
}

}  // namespace

/// Those after the first override variables of the environment (BENCHMARK_MIN_WARMUP_TIME), by which Google Benchmark
/// draws without end, keeps no samples, or writes a file. A version that lacks one ignores it.
Sampler::Sampler() {
  std::vector<std::string> words{"league",
                                 "--benchmark_enable_random_interleaving=true",
                                 "--benchmark_min_warmup_time=0",
                                 "--benchmark_display_aggregates_only=false",
                                 "--benchmark_report_aggregates_only=false",
                                 "--benchmark_dry_run=false",
                                 "--benchmark_perf_counters=",
                                 "--benchmark_out="};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  benchmark::Initialize(&count, arguments.data());
}

Sampler::~Sampler() { benchmark::Shutdown(); }

std::vector<Drawn> Sampler::sample(const std::vector<Draw>& draws, Ranks& ranks, Stopping& stopping) {
  if (ranks.place().alone()) return sample_until(*this, draws, stopping);
  if (!ranks.place().leads()) return follow(draws, ranks);
  std::vector<Draw> led = draws;
  for (std::size_t i = 0; i < led.size(); ++i)
    led[i].draw = [&ranks, &draws, next = static_cast<std::int64_t>(i)] {
      broadcast_next(ranks, next);
      return draws[static_cast<std::size_t>(next)].draw();
    };
  std::vector<Drawn> drawn = sample_until(*this, led, stopping);
  broadcast_next(ranks, no_more);
  return drawn;
}

std::vector<Drawn> Sampler::sample(const std::vector<Draw>& draws) {
  std::vector<Drawn> drawn(draws.size());
  bool interrupted = false;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    auto* registered = benchmark::RegisterBenchmark(
        draws[i].name.c_str(), [&draw = draws[i], &error = drawn[i].error, &interrupted](benchmark::State& state) {
          draw_one(state, draw, error, interrupted);
        });
    registered->UseManualTime()->Iterations(1)->Repetitions(draws[i].samples);
  }
  Collector collector;
  if (!draws.empty()) benchmark::RunSpecifiedBenchmarks(&collector, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (interrupted) throw Interrupted();
  for (std::size_t i = 0; i < draws.size(); ++i)
    if (drawn[i].error.empty()) {
      drawn[i].samples = collector.samples(draws[i].name);
      if (static_cast<int>(drawn[i].samples.size()) < draws[i].samples)
        drawn[i].error = "Google Benchmark has kept " + std::to_string(drawn[i].samples.size()) + " of " +
                         std::to_string(draws[i].samples) + " samples";
    }
  return drawn;
}

}  // namespace league::bench
