// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <omp.h>

#include "algorithms/linear_regression/host/host.hpp"

// A thread takes one block of consecutive rows, a vector of them at a time; for `atomic`, row by row.
namespace league::openmp::linear_regression {
namespace {

using namespace league::linear_regression;

/// Sums of all threads lie one after another; a cache line and more apart.
constexpr int gap = 16;
template <int width>
constexpr int pitch = terms<width> + gap;

template <class T>
void add_row_by_row(const Columns<T>& data, const double* theta, T* errors, int threads, double* sums) {
  std::fill_n(sums, data.features + 2, 0.0);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < data.rows; ++i) errors[i] = error_of(data, theta, i);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < data.rows; ++i)
    add_to_all(data, errors[i], i, [&](int at, double term) {
#pragma omp atomic
      sums[at] += term;
    });
}

template <class T>
class Atomic final : public HostShard {
 public:
  Atomic(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard, problem.features), rows_(*this, problem) {
    declare(errors_, "linear_regression/errors", rows().size());
  }
  Launch configure(Launch launch) override {
    threads_ = threads(queue(), launch);
    return {threads_, 1, 1};
  }
  void accumulate() const override {
    queue().submit([data = rows_.here(), theta = theta_.data(), errors = errors_.data(), threads = threads_,
                    sums = sums_.data()] { add_row_by_row(data, theta, errors, threads, sums); });
  }

 private:
  HostRows<T> rows_;
  host::Array<T> errors_;
  int threads_ = 1;
};

enum class Finish { atomic, in_order };

template <class T, int width, Finish finish>
void add_ranges(const Columns<T>& data, const double* theta, int threads, double* partials, double* sums) {
  const Line<T, width> line = line_of<T, width>(theta, data.features);
  std::fill_n(sums, terms<width>, 0.0);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int thread = 0; thread < threads; ++thread) {
    const auto mine = range_sums(data, line, piece(data.rows, thread, threads));
    for (int i = 0; i < terms<width>; ++i) {
      if constexpr (finish == Finish::atomic) {
#pragma omp atomic
        sums[i] += mine.values[i];
      } else {
        partials[thread * pitch<width> + i] = mine.values[i];
      }
    }
  }
  for (int thread = 0; finish == Finish::in_order && thread < threads; ++thread)
    for (int i = 0; i < terms<width>; ++i) sums[i] += partials[thread * pitch<width> + i];
}

/// `fused` adds each thread's sums atomically, `block_reduce` leaves them side by side and adds them in order.
template <class T, int width, Finish finish>
class Summed final : public HostShard {
 public:
  Summed(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard, width), rows_(*this, problem) {}
  Launch configure(Launch launch) override {
    threads_ = threads(queue(), launch);
    if (finish == Finish::in_order) declare(partials_, "linear_regression/partials", threads_ * pitch<width>);
    return {threads_, 1, 1};
  }
  void accumulate() const override {
    queue().submit([data = rows_.here(), theta = theta_.data(), threads = threads_, partials = partials_.data(),
                    sums = sums_.data()] { add_ranges<T, width, finish>(data, theta, threads, partials, sums); });
  }

 private:
  HostRows<T> rows_;
  host::Array<double> partials_;
  int threads_ = 1;
};
template <class T, int width>
using Fused = Summed<T, width, Finish::atomic>;
template <class T, int width>
using BlockReduce = Summed<T, width, Finish::in_order>;

/// One thread's way through all steps. It keeps a theta of its own, which is the same for all threads: they add the
/// same sums in the same order. Partial sums are used in turn, so that a step has one barrier.
template <class T, int width, bool segmented>
void take_all_steps(const Columns<T>& data, const Rule& rule, const State& state, double* partials, int thread,
                    int threads) {
  Rule of_sums = rule;
  if (segmented) of_sums.segments = 1, of_sums.scale[0] = 1;  // the sums are scaled
  double theta[LinearRegression::max_features + 1];
  std::copy_n(state.theta, data.features + 1, theta);
  std::int64_t taken = 0;
  const State own{theta, state.loss, &taken};
  for (std::int64_t step = 0; step < rule.steps; ++step) {
    const auto line = line_of<T, width>(theta, data.features);
    const auto own_sums = [&](Range rows, Place of) { return range_sums(data, line, piece(rows, of.team, of.teams)); };
    const Place place{thread, threads, 0, 1};
    const auto mine =
        segmented ? segment_sums<width>(rule, data.rows, place, own_sums) : own_sums({0, data.rows}, place);
    double* partial = partials + (step & 1) * threads * pitch<width>;
    std::ranges::copy(mine.values, partial + thread * pitch<width>);
#pragma omp barrier
    Sums<double, terms<width>> all;
    for (int other = 0; other < threads; ++other)
      for (int i = 0; i < terms<width>; ++i) all.values[i] += partial[other * pitch<width> + i];
    for (int i = 0; i <= data.features; ++i) take_step(of_sums, own, all.values, i);
    if (thread == 0) take_step(of_sums, own, all.values, data.features + 1);
  }
  if (thread != 0) return;
  std::copy_n(theta, data.features + 1, state.theta);
  *state.taken = taken;
}

/// All steps in one parallel region.
template <class T, int width, bool segmented>
class Persistent final : public HostShard {
 public:
  Persistent(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard, width), rows_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    threads_ = threads(queue(), launch);
    declare(partials_, "linear_regression/partials", 2 * threads_ * pitch<width>);
    return {threads_, 1, 1};
  }
  void accumulate() const override {
    queue().submit(
        [data = rows_.here(), rule = rule_, state = state(), partials = partials_.data(), threads = threads_] {
#pragma omp parallel num_threads(threads)
          take_all_steps<T, width, segmented>(data, rule, state, partials, omp_get_thread_num(), omp_get_num_threads());
        });
  }
  void update() const override {}

 private:
  HostRows<T> rows_;
  host::Array<double> partials_;
  int threads_ = 1;
};

template <class T>
void add_products_of(const Columns<T>& data, const Gram& gram, int threads, double* partials, double* sums) {
  const int size = gram.sums();
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int thread = 0; thread < threads; ++thread) {
    double* mine = partials + static_cast<std::ptrdiff_t>(thread) * (size + gap);
    std::fill_n(mine, size, 0.0);
    range_products(data, gram, piece(data.rows, thread, threads), mine);
  }
  for (int i = 0; i < size; ++i) {
    double sum = 0;
    for (int thread = 0; thread < threads; ++thread)
      sum += partials[static_cast<std::ptrdiff_t>(thread) * (size + gap) + i];
    sums[i] = sum;
  }
}

/// The pass over the rows of a method `Finish`.
template <class T, class Finish>
class GramPass final : public Finish {
 public:
  GramPass(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Finish(problem, context, shard), gram_(problem.features), rows_(*this, problem) {}
  Launch configure(Launch launch) override {
    threads_ = threads(this->queue(), launch);
    this->declare(partials_, "linear_regression/partials", std::int64_t{threads_} * (gram_.sums() + gap));
    return {threads_, 1, 1};
  }
  void accumulate() const override {
    this->queue().submit([data = rows_.here(), gram = gram_, threads = threads_, partials = partials_.data(),
                          sums = this->sums_.data()] { add_products_of(data, gram, threads, partials, sums); });
  }

 private:
  const Gram gram_;
  HostRows<T> rows_;
  host::Array<double> partials_;
  int threads_ = 1;
};
template <class T>
using NormalEquations = GramPass<T, HostDirect>;
template <class T, int>
using Moments = GramPass<T, HostMoments>;

const RegisterSolve<LinearRegression> atomic{"atomic", model, by_type<Atomic>, {Execution::stream}};
const RegisterSolve<LinearRegression> fused{"fused", model, by_width<Fused>, {Execution::stream}};
const RegisterSolve<LinearRegression> block_reduce{"block_reduce", model, by_width<BlockReduce>, {Execution::stream}};
template <class T, int width>
using OneProblem = Persistent<T, width, false>;
template <class T, int width>
using Segmented = Persistent<T, width, true>;
const RegisterWholeSolve<LinearRegression> persistent{"persistent", model, by_width<OneProblem>};
const RegisterWholeSolve<LinearRegression> segments{"persistent_segments", model, by_width<Segmented>};
const RegisterWholeSolve<LinearRegression> normal_equations{"normal_equations", model, by_type<NormalEquations>};
const RegisterWholeSolve<LinearRegression> moments{"moments", model, by_moment_width<Moments>};

}  // namespace
}  // namespace league::openmp::linear_regression
