// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "algorithms/contract/registry.hpp"

namespace league {

namespace stencil {
class Oracle;
}

/// Damped Jacobi steps for the Laplace equation on a cube of n x n x n cells with zero boundary: in each step a cell
/// becomes 1/4 of itself plus 1/8 of its six neighbours.
class Stencil final : public Problem {
 public:
  static constexpr const char* algorithm = "stencil";

  explicit Stencil(const Making& making);
  ~Stencil() override;
  /// Planes [n x n].
  [[nodiscard]] std::int64_t extent() const override { return n; }
  [[nodiscard]] std::int64_t max_teams() const override { return n * n * n; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;
  /// The initial value of a cell by its global index, in [0, 1).
  template <class T>
  [[nodiscard]] T initial(std::int64_t cell) const;

  std::int64_t n;
  std::int64_t steps;
  std::uint64_t seed;
  Range planes{};      ///< local planes
  HostArray values{};  ///< [planes x n x n], initial

 private:
  mutable std::unique_ptr<const stencil::Oracle> oracle_;  ///< made by the first check
};

}  // namespace league
