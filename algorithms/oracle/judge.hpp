// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "algorithms/contract/problem.hpp"

namespace league {

/// The expected value, and its error bound.
struct Expected {
  double value;
  double bound;
};

/// Machine epsilon, the distance from 1 to the next value; 0 for integers, which are exact.
template <class T>
inline constexpr double epsilon_of =
    std::is_floating_point_v<T> ? static_cast<double>(std::numeric_limits<T>::epsilon()) : 0.0;

/// With all significant digits.
inline std::string all_digits(double value) {
  std::array<char, 32> text{};
  std::to_chars(text.data(), text.data() + text.size(), value);
  return text.data();
}

/// "[7]", or "[2][3][1]" in an array of rows: the global index of a value.
inline std::string place_in(std::span<const std::int64_t> shape, std::int64_t index) {
  std::string text;
  for (std::size_t axis = shape.size(); axis > 1; --axis) {
    text = "[" + std::to_string(index % shape[axis - 1]) + "]" + text;
    index /= shape[axis - 1];
  }
  return "[" + std::to_string(index) + "]" + text;
}

/// Compares every value with `expected(index)`, in parallel; NaN never passes. `what` names the array in the message,
/// where `values` begin at index `first`. `shape`: of the array, for the index in the message.
template <class T, class Expect>
Verdict judge_values(const std::string& what, std::span<const T> values, const Expect& expected, std::int64_t first = 0,
                     std::span<const std::int64_t> shape = {}) {
  const auto size = static_cast<std::int64_t>(values.size());
  double worst = 0;
  std::int64_t first_wrong = size;
#pragma omp parallel for schedule(static) reduction(max : worst) reduction(min : first_wrong)
  for (std::int64_t i = 0; i < size; ++i) {
    const Expected wanted = expected(first + i);
    const double error = std::abs(static_cast<double>(values[static_cast<std::size_t>(i)]) - wanted.value);
    if (wanted.bound > 0 && std::isfinite(error)) worst = std::max(worst, error / wanted.bound);
    if (!(error <= wanted.bound)) first_wrong = std::min(first_wrong, i);
  }
  Verdict verdict{.rows_checked = size, .worst = worst};
  if (first_wrong < size) {
    const Expected wanted = expected(first + first_wrong);
    verdict.fail(what + place_in(shape, first + first_wrong) + " is " +
                 all_digits(static_cast<double>(values[static_cast<std::size_t>(first_wrong)])) + ", expected " +
                 all_digits(wanted.value) + " within " + all_digits(wanted.bound));
  }
  return verdict;
}

/// The same for the rows of a split array; `expected(index)` takes the global index of the value.
template <class T, class Expect>
Verdict judge_rows(const Output& output, const Expect& expected) {
  return judge_values(output.name, output.values.values<T>(), expected, output.rows.begin * output.values.row_size(),
                      output.values.shape());
}

}  // namespace league
