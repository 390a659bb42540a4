// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <omp.h>

#include "algorithms/polynomial_fit/host_part.hpp"

// A thread takes one block of consecutive points, a vector of them at a time.
namespace league::openmp::polynomial_fit {
namespace {

using namespace league::polynomial_fit;

/// The sums of one thread, on cache lines of their own.
struct alignas(64) Partial {
  double values[sums_a_step];
};
void add_all(std::span<const Partial> partials, double* sums) {
  std::fill_n(sums, sums_a_step, 0.0);
  for (const Partial& partial : partials)
    for (int i = 0; i < sums_a_step; ++i) sums[i] += partial.values[i];
}

template <class T>
class Stepwise final : public HostPart<T> {
 public:
  using HostPart<T>::HostPart;
  Launch configure(Launch launch) override {
    partials_.resize(static_cast<std::size_t>(openmp::threads(this->queue(), launch)));
    return {static_cast<int>(partials_.size()), 1, 1};
  }
  void accumulate() override {
    const Points<T> points = this->points();
    const auto cubic = Cubic<T>::of(this->theta_.data());
    const int threads = static_cast<int>(partials_.size());
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int thread = 0; thread < threads; ++thread)
      std::ranges::copy(range_sums(points, cubic, piece(points.count, thread, threads)).values,
                        partials_[static_cast<std::size_t>(thread)].values);
    add_all(partials_, this->sums_.data());
  }

 private:
  std::vector<Partial> partials_;
};

/// All steps in one parallel region. Each thread keeps a theta of its own, which is the same for all: they add the same
/// sums in the same order. Partial sums are used in turn, so that a step has one barrier.
template <class T>
class Persistent final : public HostPart<T> {
 public:
  Persistent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : HostPart<T>(problem, context, shard) {
    require_one_device(context);
  }
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    partials_.resize(2 * static_cast<std::size_t>(threads_));
    return {threads_, 1, 1};
  }
  void accumulate() override {
#pragma omp parallel num_threads(threads_)
    run(omp_get_thread_num(), omp_get_num_threads());
  }
  void update() override {}

 private:
  void run(int thread, int threads) {
    const Points<T> points = this->points();
    const Range mine = piece(points.count, thread, threads);
    double theta[terms], sums[sums_a_step];
    std::copy_n(this->theta_.data(), terms, theta);
    std::int64_t taken = 0;
    const State own{theta, this->loss_.data(), &taken};
    for (std::int64_t step = 0; step < this->rule_.steps; ++step) {
      const auto partials = std::span(partials_).subspan(static_cast<std::size_t>((step & 1) * threads_),
                                                         static_cast<std::size_t>(threads));
      std::ranges::copy(range_sums(points, Cubic<T>::of(theta), mine).values,
                        partials[static_cast<std::size_t>(thread)].values);
#pragma omp barrier
      add_all(partials, sums);
      for (int i = 0; i < terms; ++i) take_step(this->rule_, own, sums, i);
      if (thread == 0) take_step(this->rule_, own, sums, terms);
    }
    if (thread != 0) return;
    std::copy_n(theta, terms, this->theta_.data());
    *this->taken_.data() = taken;
  }
  std::vector<Partial> partials_;
  int threads_ = 1;
};

std::unique_ptr<Prepared> prepare_stepwise(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<Stepwise<T>>(problem, context, problem.steps, Execution::stepwise);
  });
}
std::unique_ptr<Prepared> prepare_persistent(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Persistent<T>>(problem, context, 1, Execution::stepwise); });
}

const Register<PolynomialFit> stepwise{"stepwise", openmp::model, prepare_stepwise};
const Register<PolynomialFit> persistent{"persistent", openmp::model, prepare_persistent};

}  // namespace
}  // namespace league::openmp::polynomial_fit
