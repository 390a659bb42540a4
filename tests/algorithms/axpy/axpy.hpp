// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/contract/registry.hpp"

namespace league {

/// sum[i] = 2 x[i] + y[i]; i in [0, n).
class Axpy final : public Problem {
 public:
  static constexpr const char* algorithm = "axpy";

  explicit Axpy(const Making& making) : Problem(making), n(making.parameters.integer("n")), seed(making.seed) {}
  [[nodiscard]] std::int64_t extent() const override { return n; }
  [[nodiscard]] Cost cost() const override { return {12.0 * static_cast<double>(n), 2.0 * static_cast<double>(n)}; }
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override {
    return {{"sum", HostArray(memory, Dtype::f32, {local.size()}), local}};
  }
  [[nodiscard]] Outputs inputs() const override { return {{"x", x, rows}, {"y", y, rows}}; }
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  const std::int64_t n;
  const std::uint64_t seed;
  Range rows{};        ///< that are here
  HostArray x{}, y{};  ///< [rows]
};

}  // namespace league
