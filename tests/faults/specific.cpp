// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>
#include <utility>

#include "algorithms/contract/with_type.hpp"
#include "tests/faults/faults.hpp"

namespace league::faults {
namespace {

/// Moves one sum away from the exact one by twice its bound, which is half an epsilon of the magnitudes of its terms.
template <class T>
void move_one(std::span<T> sums, std::span<const T> a, std::span<const T> b) {
  const std::size_t middle = sums.size() / 2;
  const double exact = static_cast<double>(a[middle]) + static_cast<double>(b[middle]);
  const T twice_the_bound = std::numeric_limits<T>::epsilon() * (std::abs(a[middle]) + std::abs(b[middle]));
  sums[middle] += static_cast<double>(sums[middle]) < exact ? -twice_the_bound : twice_the_bound;
}

std::unique_ptr<Prepared> off_by_twice_the_bound(const Site& site) {
  const Outputs inputs = site.problem.inputs();
  if (site.variant.algorithm != "vector_add" || inputs.empty()) means_nothing("for sums of vector_add");
  return std::make_unique<Edited>(site.prepare(), site.context.outputs, [inputs](Outputs& outputs) {
    HostArray& sums = outputs.at(0).values;
    with_type<float, double>(sums.dtype(), [&]<class T>() {
      move_one<T>(sums.values<T>(), inputs.at(0).values.values<const T>(), inputs.at(1).values.values<const T>());
    });
  });
}

/// Swaps the first two neighbours that are equally far from the same row; the lower index belongs first.
void swap_first_tie(Outputs& outputs) {
  enum Output : std::size_t { labels, neighbours, distances };
  const auto far = outputs.at(distances).values.values<const double>();
  const auto indices = outputs.at(neighbours).values.values<std::int64_t>();
  const auto k = static_cast<std::size_t>(outputs.at(neighbours).values.row_size());
  for (std::size_t i = 0; i + 1 < indices.size(); ++i)
    if ((i + 1) % k != 0 && far[i] == far[i + 1]) return std::swap(indices[i], indices[i + 1]);
}

std::unique_ptr<Prepared> swapped_tie(const Site& site) {
  if (site.variant.algorithm != "knn") means_nothing("for neighbours of knn");
  return std::make_unique<Edited>(site.prepare(), site.context.outputs, swap_first_tie);
}

}  // namespace

std::vector<Fault> specific_faults() {
  return {{"twice_the_bound", off_by_twice_the_bound}, {"swapped_tie", swapped_tie}};
}

}  // namespace league::faults
