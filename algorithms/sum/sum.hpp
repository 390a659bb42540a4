// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "algorithms/contract/registry.hpp"
#include "algorithms/sum/common/chunks.hpp"

namespace league {

/// The sum of x[0 ... n): of floating values in double, of 32-bit integers in 64 bits. The array is cut into chunks by
/// global index: these are the rows that are split over devices, and they determine the order of additions.
class Sum final : public Problem {
 public:
  static constexpr const char* algorithm = "sum";
  /// `Output::form` of results added in double in an unknown order.
  static constexpr const char* any_order = "any order";

  /// @throws std::invalid_argument naming the key and its limit
  explicit Sum(const Making& making);
  /// Chunks.
  [[nodiscard]] std::int64_t extent() const override { return (n + chunk - 1) / chunk; }
  [[nodiscard]] Cost cost() const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  /// `sum` [1]: f64, or i64 for i32.
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  /// The elements of these chunks.
  [[nodiscard]] Range elements(Range chunks) const;
  [[nodiscard]] sum::Chunks chunks(Range range) const { return {range.size(), elements(range).size(), chunk}; }
  /// The values of these elements. @pre they are in this process
  template <class T>
  [[nodiscard]] std::span<const T> values(Range chunks) const {
    const std::int64_t first = elements(local_).begin;
    return x.values<T>(elements(chunks).begin - first, elements(chunks).end - first);
  }
  /// The error bound of a result.
  [[nodiscard]] double bound(const std::string& form, Reduce& reduce) const;

  std::int64_t n;
  int chunk;      ///< elements per chunk: whole packs and cache lines
  HostArray x{};  ///< the elements of this process

 private:
  struct Oracle {
    double value = 0, magnitudes = 0;
    std::int64_t exact = 0;  ///< of integers
  };
  const Oracle& oracle(Reduce& reduce) const;
  std::uint64_t seed_;
  bool signed_;
  Range local_{};                         // chunks
  mutable std::optional<Oracle> oracle_;  // of x, computed at the first check
};

namespace sum {

/// Elements per chunk: 16 KiB times a power of two. Larger chunks have a longer tail, smaller ones more partial sums to
/// add at the end; both are small near 2 sqrt(bytes).
int chunk_elements(std::int64_t n, Dtype dtype);

}  // namespace sum
}  // namespace league
