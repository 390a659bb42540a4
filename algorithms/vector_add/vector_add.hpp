// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/registry.hpp"

namespace league {

/// sum[i] = a[i] + b[i], or, as the problem `fill`, index[i] = i; i in [0, n).
class VectorAdd final : public Problem {
 public:
  static constexpr const char* algorithm = "vector_add";
  enum class Memory { device, unified, unified_prefetch, streamed };

  explicit VectorAdd(const Making& making);
  [[nodiscard]] std::int64_t extent() const override { return n; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] Outputs make_outputs(std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs) const override;

  /// @throws Unsupported when the study asks for another memory strategy than `device`, or a shard's arrays do not fit
  void require_device_memory(const Context& context) const;

  std::int64_t n;
  Dtype dtype;
  bool fill;
  Memory memory;   ///< where the arrays live, and what is timed
  HostArray a, b;  ///< [n]; empty for fill
};

/// @throws Unsupported when managed memory would take more than half of the device's free memory
void require_managed(const Context& context, const Shard& shard, std::int64_t bytes);

}  // namespace league
