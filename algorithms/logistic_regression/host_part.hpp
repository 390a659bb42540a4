// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "algorithms/logistic_regression/newton_step.hpp"
#include "algorithms/logistic_regression/part.hpp"
#include "backends/host_array.hpp"

namespace league::logistic {

enum class Method { fused, unfused, newton };

struct NoBarrier {
  void operator()() const {}
};

/// What is the same in all methods on the threads of a host.
template <class T, Method method>
class HostPart : public LogisticPart<host::Array, T> {
 public:
  HostPart(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : LogisticPart<host::Array, T>(
            problem, context, shard,
            [&]<class V>(const char*, std::int64_t size) {
              return host::Array<V>(context.runtime.queue(shard.device), size);
            },
            extra_bytes(shard)),
        excess_(this->queue(), method == Method::unfused ? this->pitch_ : 0),
        scratch_(static_cast<std::size_t>(method == Method::newton ? newton_scratch(problem.features)
                                                                   : look_scratch(problem.features))) {}
  void begin() override { begin_state(alone(), this->features_, this->state()); }
  void update() override {
    if constexpr (method == Method::newton)
      newton_step(alone(), this->rule_, this->state(), scratch_.data());
    else
      descend(alone(), this->rule_, this->state(), scratch_.data());
  }

 protected:
  [[nodiscard]] bool stopped() const { return this->control_.data()[is_stopped] != 0; }
  host::Array<T> excess_;

 private:
  static Lanes<NoBarrier> alone() { return {0, 1, {}}; }
  static std::int64_t extra_bytes(const Shard& shard) {
    return method == Method::unfused ? shard.rows.size() * std::int64_t{sizeof(T)} : 0;
  }
  std::vector<double> scratch_;
};

}  // namespace league::logistic
