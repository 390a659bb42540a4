// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "algorithms/registry.hpp"

namespace league {

/// The sum of x[0 ... n): of floating values in double, of 32-bit integers in 64 bits. The array is cut into chunks by
/// global index alone: they are the rows that are split over devices, and what fixes the order of additions.
class Sum final : public Problem {
 public:
  static constexpr const char* algorithm = "sum";
  /// Additions in float on the way of one value into a sum: of a few neighbours, before the rest is added in double.
  static constexpr int float_additions = 4;
  /// The form of results that were added in double in an order that nothing is known of.
  static constexpr const char* any_order = "any order";

  /// @throws std::invalid_argument naming the key and its limit
  explicit Sum(const Making& making);
  /// Chunks.
  [[nodiscard]] std::int64_t extent() const override { return (n + chunk - 1) / chunk; }
  [[nodiscard]] Cost cost() const override;
  /// `sum` [1]: f64, or i64 for i32.
  [[nodiscard]] Outputs make_outputs(std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs) const override;

  /// The elements of these chunks.
  [[nodiscard]] Range elements(Range chunks) const;
  /// How far from the sum a right result may lie.
  [[nodiscard]] double bound(const std::string& form) const;

  std::int64_t n;
  Dtype dtype;
  int chunk;    ///< elements of a chunk: whole packs, whole cache lines
  HostArray x;  ///< [n]

 private:
  struct Oracle {
    double value = 0, magnitudes = 0;
    std::int64_t exact = 0;  ///< of integers
  };
  const Oracle& oracle() const;
  mutable std::optional<Oracle> oracle_;  // of x as it is at the first check
};

namespace sum {

/// Elements of a chunk: 16 KiB times a power of two. What is still at work when the first chunks run out grows with the
/// chunk, the partial sums to add at the end with their number; near 2 sqrt(bytes) neither is much.
int chunk_elements(std::int64_t n, Dtype dtype);

}  // namespace sum
}  // namespace league
