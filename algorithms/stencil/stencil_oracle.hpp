// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "algorithms/stencil/stencil.hpp"

namespace league::stencil {

/// What the cells should be, in double. Up to a budget of operations, every cell; above it, a sample of the cells, and
/// of every line of cells along x two sums with the weights sin(angle (x + 1)), angle = pi mode / (n + 1): they are
/// eigenvectors of the step along x, so that the sums of all lines follow a stencil in y and z alone.
///
/// Values are at least 0, nothing cancels: a step is off by six roundings of its result at most, half an epsilon each,
/// and those of earlier steps are carried on with it.
class Oracle {
 public:
  /// `budget`: cells times steps that are computed at most.
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
  double bound_;  ///< of a value, over the value
  bool complete_;
  std::vector<double> cells_;                       ///< [n x n x n], if complete
  std::array<std::vector<double>, modes> weights_;  ///< [n], if not
  std::array<Lines, modes> lines_;
  std::vector<std::pair<std::int64_t, double>> sample_;  ///< cells and what they should be
};

}  // namespace league::stencil
