// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "algorithms/stencil/stencil.hpp"

namespace league::stencil {

/// Expected cells in double. Within a budget of operations, every cell; above it, a sample of cells, and for every line
/// of cells along x two sums with the weights sin(angle (x + 1)), angle = pi mode / (n + 1): these are eigenvectors of
/// the step along x, so that the sums of all lines follow a stencil in y and z only.
///
/// Values are non-negative, so nothing cancels: a step has a relative error of at most six roundings, half an epsilon
/// each, plus that of earlier steps.
class Oracle {
 public:
  /// `budget`: maximum of cells times steps.
  Oracle(const Stencil& problem, Reduce& reduce, std::int64_t budget = std::int64_t{1} << 27);
  [[nodiscard]] Verdict judge(const Output& values) const;

 private:
  static constexpr int modes = 2;
  using Lines = std::vector<double>;  ///< [n x n], by z and y

  void take_all_cells();
  void take_lines(Reduce& reduce);
  void take_sample();
  [[nodiscard]] double cell_after_all_steps(std::int64_t cell) const;
  template <class T>
  [[nodiscard]] Verdict judge_cells(const Output& values) const;
  template <class T>
  [[nodiscard]] Verdict judge_sample(const Output& values) const;
  template <class T>
  [[nodiscard]] Verdict judge_lines(const Output& values) const;

  const Stencil& problem_;
  std::int64_t n_;
  double bound_;      ///< relative bound of a value
  double underflow_;  ///< absolute bound: a product or sum may become subnormal, or 0
  bool complete_;
  std::vector<double> cells_;                       ///< [n x n x n], if all cells are computed
  std::array<std::vector<double>, modes> weights_;  ///< [n], otherwise
  std::array<Lines, modes> lines_;
  std::vector<std::pair<std::int64_t, double>> sample_;  ///< cells and their expected values
};

}  // namespace league::stencil
