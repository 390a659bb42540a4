// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "algorithms/contract/registry.hpp"

namespace league::distance_matrix {

struct Oracle;

/// distances[i][j] = |x_i - x_j|^2, or its root, over all pairs of n points; the rows i are split.
class DistanceMatrix final : public Problem {
 public:
  static constexpr const char* algorithm = "distance_matrix";
  /// `Output::form` of |x|^2 + |y|^2 - 2 x.y, whose error is relative to |x|^2 + |y|^2, not to the distance.
  static constexpr const char* expanded = "expanded";
  static constexpr const char* mirrored = "expanded, mirrored";  ///< the same, bitwise symmetric

  explicit DistanceMatrix(const Making& making);
  ~DistanceMatrix() override;
  [[nodiscard]] std::int64_t extent() const override { return n; }
  /// One per distance.
  [[nodiscard]] std::int64_t max_teams() const override { return n * n; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  [[nodiscard]] double method_operations(std::string_view method) const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  std::int64_t n, dimension;
  bool euclidean;
  std::uint64_t seed;
  Range rows{};        ///< local rows of the matrix
  HostArray points{};  ///< [n x dimension], each coordinate in [0, 1)

 private:
  mutable std::unique_ptr<const Oracle> oracle_;  ///< made by the first check
};

}  // namespace league::distance_matrix
