// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/polynomial_fit/part.hpp"
#include "backends/host_array.hpp"

namespace league::polynomial_fit {

/// The memory of one shard on a host, and the steps that need no threads.
template <class T>
class HostPart : public FitPart<T, host::Array> {
 public:
  HostPart(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : FitPart<T, host::Array>(problem, context, shard, [&]<class U>(const char*, std::int64_t size) {
          return host::Array<U>(context.runtime.queue(shard.device), size);
        }) {}
  void begin() override {
    for (int i = 0; i < sums_a_step; ++i) begin_state(this->rule_, this->state(), i);
  }
  void update() override {
    for (int i = 0; i < sums_a_step; ++i) take_step(this->rule_, this->state(), this->sums_.data(), i);
  }
};

}  // namespace league::polynomial_fit
