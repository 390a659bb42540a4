// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>
#include <utility>

#include "tests/faults/faults.hpp"

namespace league::faults {
namespace {

enum Output : std::size_t { labels, neighbours, distances };

/// Swaps the first two neighbours that are equally far from the same row; the lower index belongs first.
void swap_first_tie(Outputs& outputs) {
  const auto far = outputs.at(distances).values.values<const double>();
  const auto indices = outputs.at(neighbours).values.values<std::int64_t>();
  const auto k = static_cast<std::size_t>(outputs.at(neighbours).values.row_size());
  for (std::size_t i = 0; i + 1 < indices.size(); ++i)
    if ((i + 1) % k != 0 && far[i] == far[i + 1]) return std::swap(indices[i], indices[i + 1]);
}

void forget_a_label(Outputs& outputs) {
  const auto values = outputs.at(labels).values.values<std::int32_t>();
  values[values.size() / 2] += 1;
}

void lose_a_distance(Outputs& outputs) {
  outputs.at(distances).values.values<double>().back() = std::numeric_limits<double>::quiet_NaN();
}

Fault edit(std::string name, std::string description, void (*change)(Outputs&)) {
  return {std::move(name), std::move(description),
          [change](const Variant& real, const Problem& problem, const Context& context) {
            return edited(real, problem, context, change);
          }};
}

}  // namespace

void plant_in_knn() {
  std::vector<Fault> faults = common_faults();
  faults.push_back(edit("swapped_tie", "two neighbours at the same distance are swapped", swap_first_tie));
  faults.push_back(edit("label", "one label is wrong", forget_a_label));
  faults.push_back(edit("nan", "one distance is not a number", lose_a_distance));
  plant("knn", "direct", faults);
}

}  // namespace league::faults
