// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/sampling.hpp"

#include <benchmark/benchmark.h>

#include <map>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

/// Hands the manual times over, case by case.
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

}  // namespace

Sampler::Sampler() {
  std::string program = "league", shuffle = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), shuffle.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
}

Sampler::~Sampler() { benchmark::Shutdown(); }

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
    if (drawn[i].error.empty()) drawn[i].samples = collector.samples(draws[i].name);
  return drawn;
}

}  // namespace league::bench
