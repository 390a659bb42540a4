// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/portable.hpp"

namespace league::knn {

/// Weight of a neighbour at distance d: `eps` 1 / (d + 1e-5); `inverse` 1 / d, but if any is at 0, 1 for those at 0 and
/// 0 for the others; `uniform` 1.
enum class Votes { eps, inverse, uniform };

LEAGUE_FUNCTION double vote_of(Votes votes, double distance, double nearest) {
  if (votes == Votes::eps) return 1 / (distance + 1e-5);
  if (votes == Votes::inverse) return nearest > 0 ? 1 / distance : (distance > 0 ? 0 : 1);
  return 1;
}

/// The label with the most votes, the lowest of equal ones. Votes are added in the order of the neighbours, the same in
/// every model. Labels are arbitrary integers. `neighbours[i]`, `distances[i]`, `labels[row]`.
template <class Neighbours, class Distances, class Labels>
LEAGUE_FUNCTION std::int32_t winner(Votes votes, int k, const Neighbours& neighbours, const Distances& distances,
                                    const Labels& labels) {
  std::int32_t best = 0;
  double max_votes = -1;
  for (int i = 0; i < k; ++i) {
    const std::int32_t label = labels[neighbours[i]];
    bool is_new = true;
    for (int j = 0; j < i && is_new; ++j) is_new = labels[neighbours[j]] != label;
    if (!is_new) continue;
    double sum = 0;
    for (int j = 0; j < k; ++j)
      if (labels[neighbours[j]] == label) sum += vote_of(votes, distances[j], distances[0]);
    if (sum > max_votes || (sum == max_votes && label < best)) best = label, max_votes = sum;
  }
  return best;
}

}  // namespace league::knn
