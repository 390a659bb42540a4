// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace league::bench {
namespace {

/// Optimal string alignment distance. Source: Damerau 1964, restricted to one edit a place.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[to.size()];
}

}  // namespace

std::string nearest(std::string_view wrong, std::span<const std::string> names) {
  const auto found =
      std::ranges::min_element(names, {}, [&](const std::string& name) { return distance(wrong, name); });
  return found == names.end() ? std::string() : *found;
}

std::string suggestion(std::string_view wrong, std::span<const std::string> names) {
  if (names.empty()) return "there is none";
  return "did you mean '" + nearest(wrong, names) + "'? Known: " + joined(names);
}

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace league::bench
