// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/contract/registry.hpp"
#include "backends/pass.hpp"

namespace league {

template <class P, class... Ts>
struct OnePass;

/// sum[i] = a[i] + b[i], or, as the problem `fill`, index[i] = i; i in [0, n).
class VectorAdd final : public Problem {
 public:
  static constexpr const char* algorithm = "vector_add";

  explicit VectorAdd(const Making& making);
  [[nodiscard]] std::int64_t extent() const override { return n; }
  [[nodiscard]] Cost cost() const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  std::int64_t n;
  bool fill;
  Placement placement;    ///< where the arrays are, and what is timed
  bool streaming_stores;  ///< of native code on hosts
  std::uint64_t seed;
  Range rows{};        ///< local rows
  HostArray a{}, b{};  ///< [rows]; empty for fill
};

/// Registration of a kernel.
using OneVectorPass = OnePass<VectorAdd, float, double, std::int32_t>;

}  // namespace league
