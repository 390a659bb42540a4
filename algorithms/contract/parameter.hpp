// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/contract/making.hpp"

/// Parameters of a problem in a study.
namespace league {

/// The shortest text that reads back as the same number: "0.01", "1e-06", "2".
std::string shortest(double number);

/// Finite numbers from `min` to `max`; an open end is excluded.
struct Interval {
  double min = std::numeric_limits<double>::lowest(), max = std::numeric_limits<double>::max();
  bool open_min = false, open_max = false;
  [[nodiscard]] bool has_min() const { return min > Interval{}.min; }
  [[nodiscard]] bool has_max() const { return max < Interval{}.max; }
  [[nodiscard]] bool contains(double number) const;
  /// "a finite number above 0 and up to 100".
  [[nodiscard]] std::string words() const;
};
inline constexpr Interval above_zero{.min = 0, .open_min = true};
inline constexpr Interval from_zero{.min = 0};

/// A study key of one algorithm, beside those common to all.
struct Parameter {
  /// A `size` is a key of `sizes` and always part of the case's name.
  enum class Kind { size, integer, real, choice };
  std::string name;
  Kind kind = Kind::integer;
  std::string default_value;  ///< as written in a study
  std::int64_t min = 1;       ///< of a size or an integer
  std::int64_t max = std::int64_t{1} << 40;
  Interval interval{};  ///< of a real
  std::vector<std::string> choices{};
  std::string description{};
  bool is_length = false;  ///< a size that is the length of an array: a study may give a share of the memory

  /// @throws std::invalid_argument "k = 65: takes 1 to 64" for a value out of bounds or not among the choices
  void require_bounds(const Parameters& values) const;
};

/// The sizes of an algorithm that `needs_dataset`, followed by its own parameters.
std::vector<Parameter> with_dataset_sizes(std::vector<Parameter> own);

}  // namespace league
