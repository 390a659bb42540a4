// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "algorithms/softmax_regression/mma/gradient.hpp"
#include "algorithms/softmax_regression/mma/narrow.hpp"

/// The forms of the `mma` kernel, and which one a shape takes.
namespace league::softmax_regression {

/// How a team takes its share of a step: `slots` squares of features per subgroup, which is alone with its rows; 0: all
/// subgroups together.
template <class Unit, int slots>
struct MmaForm {
  using Tile = NarrowTile<Unit, slots>;
  static constexpr int threads = Tile::threads;
  template <class Group>
  LEAGUE_FUNCTION static double take(const Group& group, const MmaWork<Unit>& work, std::int64_t step, int team,
                                     int teams, void* scratch) {
    return take_narrow_share<Unit, slots>(group, work, step, team, teams, scratch);
  }
  static int max_round(int /*classes*/) { return Tile::max_round; }
  static int scratch_bytes(int /*classes*/) { return NarrowScratch<Tile>::bytes; }
};
template <class Unit>
struct MmaForm<Unit, 0> {
  using Tile = MmaTile<Unit>;
  static constexpr int threads = Tile::threads;
  template <class Group>
  LEAGUE_FUNCTION static double take(const Group& group, const MmaWork<Unit>& work, std::int64_t step, int team,
                                     int teams, void* scratch) {
    return take_share(group, work, step, team, teams, scratch);
  }
  static int max_round(int classes) { return Tile::max_round(classes); }
  static int scratch_bytes(int classes) { return MmaScratch<Tile>::bytes(classes); }
};
/// Calls `body(std::integral_constant<int, slots>)` with the form for rows of `across` squares.
template <class Unit, class Body>
auto with_form(int classes, int across, const Body& body) {
  if constexpr (has_narrow<Unit>)
    if (turns(classes) == 1) {
      if (across == 1) return body(std::integral_constant<int, 1>{});
      if (across == 2) return body(std::integral_constant<int, 2>{});
      if (across <= 4) return body(std::integral_constant<int, 4>{});
    }
  return body(std::integral_constant<int, 0>{});
}

}  // namespace league::softmax_regression
