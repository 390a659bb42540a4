// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <omp.h>

#include "algorithms/linear_regression/host_part.hpp"

// A thread takes one block of consecutive rows, a vector of them at a time; for `atomic`, row by row.
namespace league::openmp::linear_regression {
namespace {

using namespace league::linear_regression;

/// Sums of all threads, one after another; a cache line and more apart.
constexpr int gap = 16;

template <class T>
class Atomic final : public HostPart<T> {
 public:
  Atomic(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostPart<T>(problem, context, shard, problem.features, shard.rows.size() * std::int64_t{sizeof(T)}),
        errors_(this->queue(), this->rows().size()) {}
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    return {threads_, 1, 1};
  }
  void accumulate() override {
    const Columns<T> data = this->data();
    const double* theta = this->theta_.data();
    double* sums = this->sums_.data();
    T* errors = errors_.data();
    std::fill_n(sums, data.features + 2, 0.0);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < data.rows; ++i) errors[i] = error_of(data, theta, i);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < data.rows; ++i)
      add_to_all(data, errors[i], i, [&](int at, double term) {
#pragma omp atomic
        sums[at] += term;
      });
  }

 private:
  host::Array<T> errors_;
  int threads_ = 1;
};

/// `fused` adds each thread's sums atomically, `block_reduce` leaves them side by side and adds them in order.
template <class T, int width, bool atomic>
class Fused final : public HostPart<T> {
 public:
  Fused(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostPart<T>(problem, context, shard, width) {}
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    partials_.assign(static_cast<std::size_t>(threads_) * (terms<width> + gap), 0);
    return {threads_, 1, 1};
  }
  void accumulate() override {
    const Columns<T> data = this->data();
    const Line<T, width> line = line_of<T, width>(this->theta_.data(), data.features);
    double* sums = this->sums_.data();
    std::fill_n(sums, terms<width>, 0.0);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (int thread = 0; thread < threads_; ++thread) {
      const auto mine = range_sums(data, line, piece(data.rows, thread, threads_));
      for (int i = 0; i < terms<width>; ++i) {
        if constexpr (atomic) {
#pragma omp atomic
          sums[i] += mine.values[i];
        } else {
          partial(thread)[i] = mine.values[i];
        }
      }
    }
    for (int thread = 0; !atomic && thread < threads_; ++thread)
      for (int i = 0; i < terms<width>; ++i) sums[i] += partial(thread)[i];
  }

 private:
  [[nodiscard]] double* partial(int thread) {
    return &partials_[static_cast<std::size_t>(thread) * (terms<width> + gap)];
  }
  std::vector<double> partials_;
  int threads_ = 1;
};

/// All steps in one parallel region. Each thread keeps a theta of its own, which is the same for all: they add the same
/// sums in the same order. Partial sums are used in turn, so that a step has one barrier.
template <class T, int width>
class Persistent final : public HostPart<T> {
 public:
  Persistent(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostPart<T>(problem, context, shard, width) {
    require_one_device(context);
  }
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    partials_.assign(2 * static_cast<std::size_t>(threads_) * (terms<width> + gap), 0);
    return {threads_, 1, 1};
  }
  void accumulate() override {
#pragma omp parallel num_threads(threads_)
    run(omp_get_thread_num(), omp_get_num_threads());
  }
  void update() override {}

 private:
  void run(int thread, int threads) {
    const Columns<T> data = this->data();
    const Range rows = piece(data.rows, thread, threads);
    double theta[LinearRegression::most_features + 1];
    std::copy_n(this->theta_.data(), data.features + 1, theta);
    std::int64_t taken = 0;
    State own{theta, this->loss_.data(), &taken};
    for (std::int64_t step = 0; step < this->rule_.steps; ++step) {
      const auto mine = range_sums(data, line_of<T, width>(theta, data.features), rows);
      double* partial = &partials_[static_cast<std::size_t>((step & 1) * threads * (terms<width> + gap))];
      std::ranges::copy(mine.values, partial + thread * (terms<width> + gap));
#pragma omp barrier
      Sums<double, terms<width>> all;
      for (int other = 0; other < threads; ++other)
        for (int i = 0; i < terms<width>; ++i) all.values[i] += partial[other * (terms<width> + gap) + i];
      for (int i = 0; i <= data.features; ++i) take_step(this->rule_, own, all.values, i);
      if (thread == 0) take_step(this->rule_, own, all.values, data.features + 1);
    }
    if (thread != 0) return;
    std::copy_n(theta, data.features + 1, this->theta_.data());
    *this->taken_.data() = taken;
  }
  std::vector<double> partials_;
  int threads_ = 1;
};

template <class T>
class Direct final : public HostDirect<T> {
 public:
  using HostDirect<T>::HostDirect;
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    partials_.resize(static_cast<std::size_t>(threads_) * (this->gram_.sums() + gap));
    return {threads_, 1, 1};
  }
  void accumulate() override {
    const int size = this->gram_.sums();
    std::ranges::fill(partials_, 0.0);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (int thread = 0; thread < threads_; ++thread)
      range_products(this->data(), this->gram_, piece(this->rows().size(), thread, threads_),
                     &partials_[static_cast<std::size_t>(thread) * (size + gap)]);
    for (int i = 0; i < size; ++i) {
      double sum = 0;
      for (int thread = 0; thread < threads_; ++thread)
        sum += partials_[static_cast<std::size_t>(thread) * (size + gap) + i];
      this->sums_.data()[i] = sum;
    }
  }

 private:
  std::vector<double> partials_;
  int threads_ = 1;
};

template <class Make>
std::unique_ptr<Prepared> prepare_width(const LinearRegression& problem, const Make& make) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return with_width(problem.features, [&]<int width>() { return make.template operator()<T, width>(); });
  });
}

template <bool atomic>
std::unique_ptr<Prepared> prepare_fused(const LinearRegression& problem, const Context& context) {
  return prepare_width(problem, [&]<class T, int width>() {
    return solve<Fused<T, width, atomic>>(problem, context, problem.steps, Execution::stepwise);
  });
}
std::unique_ptr<Prepared> prepare_persistent(const LinearRegression& problem, const Context& context) {
  return prepare_width(problem, [&]<class T, int width>() {
    return solve<Persistent<T, width>>(problem, context, 1, Execution::stepwise);
  });
}
template <template <class> class P>
std::unique_ptr<Prepared> prepare(const LinearRegression& problem, const Context& context, std::int64_t steps) {
  return with_type<float, double>(problem.dtype,
                                  [&]<class T>() { return solve<P<T>>(problem, context, steps, Execution::stepwise); });
}
std::unique_ptr<Prepared> prepare_atomic(const LinearRegression& problem, const Context& context) {
  return prepare<Atomic>(problem, context, problem.steps);
}
std::unique_ptr<Prepared> prepare_direct(const LinearRegression& problem, const Context& context) {
  return prepare<Direct>(problem, context, 1);
}

const Register<LinearRegression> atomic{"atomic", openmp::model, prepare_atomic};
const Register<LinearRegression> fused{"fused", openmp::model, prepare_fused<true>};
const Register<LinearRegression> block_reduce{"block_reduce", openmp::model, prepare_fused<false>};
const Register<LinearRegression> persistent{"persistent", openmp::model, prepare_persistent};
const Register<LinearRegression> normal_equations{"normal_equations", openmp::model, prepare_direct};

}  // namespace
}  // namespace league::openmp::linear_regression
