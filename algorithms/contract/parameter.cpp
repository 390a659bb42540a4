// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/parameter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace league {

std::string shortest(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number + 0.0).ptr;  // no minus before a zero
  return {text.data(), end};
}

bool Interval::contains(double number) const {
  const bool above = open_min ? number > min : number >= min;
  const bool below = open_max ? number < max : number <= max;
  return std::isfinite(number) && above && below;
}

std::string Interval::words() const {
  std::string words = "a finite number";
  if (has_min()) words += (open_min ? " above " : " from ") + shortest(min);
  if (has_min() && !has_max() && !open_min) words += " on";
  if (has_min() && has_max() && (open_min || open_max)) words += " and";
  if (has_max()) words += (open_max ? " below " : has_min() && !open_min ? " to " : " up to ") + shortest(max);
  return words;
}

void Parameter::require_bounds(const Parameters& values) const {
  const auto found = values.values.find(name);
  if (found == values.values.end()) return;
  const std::string is = name + " = " + found->second + ": takes ";
  if (kind == Kind::choice) {
    std::string words;
    for (const std::string& choice : choices) words += (words.empty() ? "" : ", ") + choice;
    return require(std::ranges::find(choices, found->second) != choices.end(), is + "one of " + words);
  }
  if (kind == Kind::real) return require(interval.contains(values.real(name)), is + interval.words());
  const std::int64_t value = values.integer(name);
  require(min <= value && value <= max, is + std::to_string(min) + " to " + std::to_string(max));
}

std::vector<Parameter> with_dataset_sizes(std::vector<Parameter> own) {
  std::vector<Parameter> all;
  for (const auto& [name, what] :
       {std::pair{"train", "training rows"}, {"test", "rows to classify"}, {"features", "values per row"}})
    all.push_back({.name = name,
                   .kind = Parameter::Kind::size,
                   .default_value = "0",
                   .min = 0,
                   .description = std::string(what) + "; 0: as in the dataset"});
  std::ranges::move(own, std::back_inserter(all));
  return all;
}

}  // namespace league
