// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <omp.h>

#include "algorithms/polynomial_fit/host/host.hpp"

// A thread takes one block of consecutive points, a vector of them at a time.
namespace league::openmp::polynomial_fit {
namespace {

using namespace league::polynomial_fit;

/// The sums of one thread lie on cache lines of their own.
template <int n>
constexpr int pitch = (n + 7) / 8 * 8;
constexpr int line = pitch<sums_per_step>;

template <int n>
void add_all(const double* partials, int threads, double* sums) {
  std::fill_n(sums, n, 0.0);
  for (int thread = 0; thread < threads; ++thread)
    for (int i = 0; i < n; ++i) sums[i] += partials[thread * pitch<n> + i];
}

template <class T>
void add_points(const Points<T>& points, const double* theta, int threads, double* partials, double* sums) {
  const auto cubic = Cubic<T>::of(theta);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int thread = 0; thread < threads; ++thread)
    std::ranges::copy(range_sums(points, cubic, piece(points.count, thread, threads)).values, partials + thread * line);
  add_all<sums_per_step>(partials, threads, sums);
}

template <class T>
void add_powers_of(const Points<T>& points, int threads, double* partials, double* sums) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int thread = 0; thread < threads; ++thread)
    std::ranges::copy(range_powers(points, piece(points.count, thread, threads)).values,
                      partials + thread * pitch<moment_sums>);
  add_all<moment_sums>(partials, threads, sums);
}

template <class T>
class Stepwise final : public HostShard {
 public:
  Stepwise(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    threads_ = threads(queue(), launch);
    declare(partials_, "polynomial_fit/partials", threads_ * line);
    return {threads_, 1, 1};
  }
  void accumulate() const override {
    queue().submit([points = memory_.points(), theta = theta_.data(), threads = threads_, partials = partials_.data(),
                    sums = sums_.data()] { add_points(points, theta, threads, partials, sums); });
  }

 private:
  HostPoints<T> memory_;
  host::Array<double> partials_;
  int threads_ = 1;
};

/// One thread's way through all steps. It keeps a theta of its own, which is the same for all threads: they add the
/// same sums in the same order. Partial sums are used in turn, so that a step has one barrier.
template <class T>
void take_all_steps(const Points<T>& points, const Rule& rule, const State& state, double* partials, int thread,
                    int threads) {
  const Range mine = piece(points.count, thread, threads);
  double theta[terms], sums[sums_per_step];
  std::copy_n(state.theta, terms, theta);
  std::int64_t taken = 0;
  const State own{theta, state.loss, &taken};
  for (std::int64_t step = 0; step < rule.steps; ++step) {
    double* of_step = partials + (step & 1) * threads * line;
    std::ranges::copy(range_sums(points, Cubic<T>::of(theta), mine).values, of_step + thread * line);
#pragma omp barrier
    add_all<sums_per_step>(of_step, threads, sums);
    for (int i = 0; i < terms; ++i) take_step(rule, own, sums, i);
    if (thread == 0) take_step(rule, own, sums, terms);
  }
  if (thread != 0) return;
  std::copy_n(theta, terms, state.theta);
  *state.taken = taken;
}

/// All steps in one parallel region.
template <class T>
class Persistent final : public HostShard {
 public:
  Persistent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard), memory_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    threads_ = threads(queue(), launch);
    declare(partials_, "polynomial_fit/partials", 2 * threads_ * line);
    return {threads_, 1, 1};
  }
  void accumulate() const override {
    queue().submit(
        [points = memory_.points(), rule = rule_, state = state(), partials = partials_.data(), threads = threads_] {
#pragma omp parallel num_threads(threads)
          take_all_steps(points, rule, state, partials, omp_get_thread_num(), omp_get_num_threads());
        });
  }
  void update() const override {}

 private:
  HostPoints<T> memory_;
  host::Array<double> partials_;
  int threads_ = 1;
};

template <class T>
class Moments final : public HostMoments {
 public:
  Moments(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : HostMoments(problem, context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    threads_ = threads(queue(), launch);
    declare(partials_, "polynomial_fit/partials", threads_ * pitch<moment_sums>);
    return {threads_, 1, 1};
  }
  void accumulate() const override {
    queue().submit([points = memory_.points(), threads = threads_, partials = partials_.data(), sums = sums_.data()] {
      add_powers_of(points, threads, partials, sums);
    });
  }

 private:
  HostPoints<T> memory_;
  host::Array<double> partials_;
  int threads_ = 1;
};

const RegisterSolve<PolynomialFit> stepwise{"stepwise", model, by_type<Stepwise>, {Execution::stream}};
const RegisterWholeSolve<PolynomialFit> persistent{"persistent", model, by_type<Persistent>};
const RegisterWholeSolve<PolynomialFit> moments{"moments", model, by_type<Moments>};

}  // namespace
}  // namespace league::openmp::polynomial_fit
