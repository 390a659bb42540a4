// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "algorithms/contract/with_type.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league::stencil {
namespace {

constexpr std::int64_t max_sample_steps = std::int64_t{1} << 30;

/// One step with weights `centre` and `side` (neighbours) in a box of planes x rows x columns with zero boundary.
std::vector<double> step(const std::vector<double>& from, std::int64_t planes, std::int64_t rows, std::int64_t columns,
                         double centre, double side) {
  std::vector<double> to(from.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t line = 0; line < planes * rows; ++line)
    for (std::int64_t x = 0; x < columns; ++x) {
      const std::int64_t z = line / rows, y = line % rows, at = line * columns + x;
      const auto value = [&](bool inside, std::int64_t offset) {
        return inside ? from[static_cast<std::size_t>(at + offset)] : 0;
      };
      const double sum = value(x > 0, -1) + value(x + 1 < columns, 1) + value(y > 0, -columns) +
                         value(y + 1 < rows, columns) + value(z > 0, -rows * columns) +
                         value(z + 1 < planes, rows * columns);
      to[static_cast<std::size_t>(at)] = centre * value(true, 0) + side * sum;
    }
  return to;
}

struct LineSum {
  double sum, magnitude;
};
template <class T>
LineSum sum_of_line(const T* values, std::span<const double> weights) {
  double sum = 0, magnitude = 0;
#pragma omp simd reduction(+ : sum, magnitude)
  for (std::size_t x = 0; x < weights.size(); ++x) {
    const double term = weights[x] * static_cast<double>(values[x]);
    sum += term;
    magnitude += std::abs(term);
  }
  return {sum, magnitude};
}

}  // namespace

Oracle::Oracle(const Stencil& problem, Reduce& reduce, std::int64_t budget)
    : problem_(problem),
      n_(problem.n),
      bound_(with_type<float, double>(problem.dtype, []<class T>() { return epsilon_of<T>; }) *
             (4 * static_cast<double>(problem.steps) + 4)),
      underflow_(with_type<float, double>(
                     problem.dtype, []<class T>() { return static_cast<double>(std::numeric_limits<T>::min()); }) *
                 16 * static_cast<double>(problem.steps)),
      complete_(static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(n_) *
                    static_cast<double>(problem.steps) <=
                static_cast<double>(budget)) {
  if (complete_) {
    take_all_cells();
  } else {
    take_lines(reduce);
    take_sample();
  }
}

void Oracle::take_all_cells() {
  cells_.resize(static_cast<std::size_t>(n_ * n_ * n_));
  with_type<float, double>(problem_.dtype, [&]<class T>() {
    for (std::size_t i = 0; i < cells_.size(); ++i)
      cells_[i] = static_cast<double>(problem_.initial<T>(static_cast<std::int64_t>(i)));
  });
  for (std::int64_t s = 0; s < problem_.steps; ++s) cells_ = step(cells_, n_, n_, n_, 0.25, 0.125);
}

void Oracle::take_lines(Reduce& reduce) {
  for (int mode = 0; mode < modes; ++mode) {
    const double number = mode == 0 ? 1 : static_cast<double>(n_ / 2 + 1);
    const double angle = std::numbers::pi * number / static_cast<double>(n_ + 1);
    std::vector<double>& weights = weights_[static_cast<std::size_t>(mode)];
    for (std::int64_t x = 0; x < n_; ++x) weights.push_back(std::sin(angle * static_cast<double>(x + 1)));
    Lines& lines = lines_[static_cast<std::size_t>(mode)];
    lines.resize(static_cast<std::size_t>(n_ * n_));
    with_type<float, double>(problem_.dtype, [&]<class T>() {
      const std::span<const T> values = problem_.values.values<const T>();
#pragma omp parallel for schedule(static)
      for (std::int64_t line = 0; line < problem_.planes.size() * n_; ++line)
        lines[static_cast<std::size_t>(problem_.planes.begin * n_ + line)] =
            sum_of_line(&values[static_cast<std::size_t>(line * n_)], weights).sum;
    });
    reduce.sum(lines);
    const double centre = 0.25 + 0.25 * std::cos(angle);  // of the cell and its two neighbours along x
    for (std::int64_t s = 0; s < problem_.steps; ++s) lines = step(lines, n_, n_, 1, centre, 0.125);
  }
}

/// Corners of the local planes, and random cells within the budget.
void Oracle::take_sample() {
  const std::int64_t plane = n_ * n_, first = problem_.planes.begin * plane, size = problem_.planes.size() * plane;
  if (size == 0) return;
  const double side = std::min(2.0 * static_cast<double>(problem_.steps) + 1, static_cast<double>(n_));
  const double affordable =
      static_cast<double>(max_sample_steps) / (side * side * side) / static_cast<double>(problem_.steps);
  const auto count = static_cast<std::uint64_t>(std::clamp(affordable, 16.0, 256.0));
  for (const std::int64_t cell : {std::int64_t{0}, n_ - 1, plane - n_, plane - 1, size - plane, size - n_, size - 1})
    sample_.push_back({first + cell, 0});
  for (std::uint64_t i = 0; i < count; ++i)
    sample_.push_back(
        {first + static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(size), problem_.seed, 1, i)), 0});
#pragma omp parallel for schedule(dynamic)
  for (auto& [cell, value] : sample_) value = cell_after_all_steps(cell);
}

/// A cell's expected value, from the initial values that it depends on.
double Oracle::cell_after_all_steps(std::int64_t cell) const {
  const std::int64_t at[] = {cell / (n_ * n_), cell / n_ % n_, cell % n_};
  Range box[3];
  for (int axis = 0; axis < 3; ++axis)
    box[axis] = {std::max<std::int64_t>(0, at[axis] - problem_.steps), std::min(n_, at[axis] + problem_.steps + 1)};
  const std::int64_t rows = box[1].size(), columns = box[2].size();
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(box[0].size() * rows * columns));
  with_type<float, double>(problem_.dtype, [&]<class T>() {
    for (std::int64_t z = box[0].begin; z < box[0].end; ++z)
      for (std::int64_t y = box[1].begin; y < box[1].end; ++y)
        for (std::int64_t x = box[2].begin; x < box[2].end; ++x)
          values.push_back(static_cast<double>(problem_.initial<T>((z * n_ + y) * n_ + x)));
  });
  // If the box ends inside the cube, its outer cells become wrong step by step, but none that the result depends on.
  for (std::int64_t s = 0; s < problem_.steps; ++s) values = step(values, box[0].size(), rows, columns, 0.25, 0.125);
  return values[static_cast<std::size_t>(((at[0] - box[0].begin) * rows + at[1] - box[1].begin) * columns + at[2] -
                                         box[2].begin)];
}

Verdict Oracle::judge(const Output& values) const {
  return with_type<float, double>(problem_.dtype, [&]<class T>() {
    if (complete_) return judge_cells<T>(values);
    Verdict verdict = judge_lines<T>(values);
    const std::int64_t lines = verdict.rows_checked;
    verdict += judge_sample<T>(values);
    verdict.rows_checked = lines;
    return verdict;
  });
}

template <class T>
Verdict Oracle::judge_cells(const Output& values) const {
  return judge_rows<T>(values, [this](std::int64_t cell) {
    const double value = cells_[static_cast<std::size_t>(cell)];
    return Expected{value, bound_ * value + underflow_};
  });
}

template <class T>
Verdict Oracle::judge_sample(const Output& values) const {
  const std::int64_t first = values.rows.begin * n_ * n_;
  const std::span<const T> all = values.values.values<T>();
  Verdict verdict;
  for (const auto& [cell, value] : sample_) {
    const Expected expected{value, bound_ * value + underflow_};
    verdict += judge_values(
        values.name, all.subspan(static_cast<std::size_t>(cell - first), 1),
        [expected](std::int64_t) { return expected; }, cell, values.values.shape());
  }
  return verdict;
}

/// The bound of a sum: the bounds of its values times the weights' magnitudes, plus the rounding of a sum in double.
template <class T>
Verdict Oracle::judge_lines(const Output& values) const {
  const std::span<const T> all = values.values.values<T>();
  const std::int64_t first = values.rows.begin * n_, count = values.rows.size() * n_;
  const double roundings = static_cast<double>(4 * n_ + 8 * problem_.steps) * epsilon_of<double>;
  const std::int64_t shape[] = {n_, n_};
  Verdict verdict{.rows_checked = count};
  for (std::size_t mode = 0; mode < modes; ++mode) {
    std::vector<LineSum> sums(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
    for (std::int64_t line = 0; line < count; ++line)
      sums[static_cast<std::size_t>(line)] = sum_of_line(&all[static_cast<std::size_t>(line * n_)], weights_[mode]);
    std::vector<double> found(sums.size());
    std::ranges::transform(sums, found.begin(), &LineSum::sum);
    const Verdict lines = judge_values<double>(
        "the sum of a line of " + values.name, found,
        [&](std::int64_t line) {
          const double magnitude = sums[static_cast<std::size_t>(line - first)].magnitude;
          return Expected{lines_[mode][static_cast<std::size_t>(line)],
                          (bound_ + roundings) * magnitude + roundings * static_cast<double>(n_)};
        },
        first, shape);
    verdict.worst = std::max(verdict.worst, lines.worst);
    if (!lines.passed()) verdict.fail(lines.message);
  }
  return verdict;
}

}  // namespace league::stencil
