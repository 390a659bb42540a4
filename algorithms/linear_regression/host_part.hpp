// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/linear_regression/gram.hpp"
#include "algorithms/linear_regression/part.hpp"
#include "backends/host_array.hpp"

namespace league::linear_regression {

/// The memory of one shard on a host, and the steps that need no threads.
template <class T>
class HostPart : public RegressionPart<T, host::Array> {
 public:
  HostPart(const LinearRegression& problem, const Context& context, const Shard& shard, int width,
           std::int64_t extra = 0)
      : RegressionPart<T, host::Array>(
            problem, context, shard,
            [&]<class U>(const char*, std::int64_t size) {
              return host::Array<U>(context.runtime.queue(shard.device), size);
            },
            width, extra) {}
  void begin() override {
    for (int i = 0; i < this->rule_.features + 2; ++i)
      begin_state(this->rule_, this->state(), this->problem_.start_weight, this->problem_.start_bias, i);
  }
  void update() override {
    for (int i = 0; i < this->rule_.features + 2; ++i) take_step(this->rule_, this->state(), this->sums_.data(), i);
  }

 protected:
  template <int n>
  void leave(const Sums<double, n>& sums) {
    std::ranges::copy(sums.values, this->sums_.data());
  }
};

/// The normal equations on a host, but for the pass over the rows.
template <class T>
class HostDirect : public HostPart<T> {
 public:
  HostDirect(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostPart<T>(problem, context, shard, Gram(problem.features).sums() - 2), gram_(problem.features) {}
  void begin() override {}
  void update() override {
    std::vector<double> work(static_cast<std::size_t>(gram_.work()));
    solve_equations(gram_, this->problem_.rows, this->sums_.data(), work.data(), this->theta_.data(), 0, 1, [] {});
  }

 protected:
  Gram gram_;
};

}  // namespace league::linear_regression
