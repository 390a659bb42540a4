// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/packs_kokkos.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// Points feature by feature, as a register tile reads them: panels of `points` neighbouring points, each
/// [depth][points / width] packs. Features are padded to whole steps and points to whole panels, by zeros.
template <class T, int points_, int width_>
struct PointPanels {
  static constexpr int points = points_, width = width_, packs = points / width;
  static_assert(points % width == 0);
  using Pack = blocks::Pack<T, width* int{sizeof(T)}>;

  int panels = 0, depth = 0;

  PointPanels() = default;
  PointPanels(std::int64_t n, std::int64_t features, int step)
      : panels(static_cast<int>(ceil_div<std::int64_t>(n, points))),
        depth(static_cast<int>(ceil_div<std::int64_t>(features, step)) * step) {}
  /// Values in all.
  [[nodiscard]] std::int64_t size() const { return std::int64_t{panels} * points * depth; }
  /// The first pack of a panel; pack p of feature f is f * packs + p further.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int64_t first(int panel) const {
    return std::int64_t{panel} * depth * packs;
  }
};

/// `tile`: features of a team, whose lanes share the sectors that they read.
inline constexpr Numbers of_lay_out = by_kind({.tile = 16, .team = 256}, {.tile = 64, .team = 1});

// A team takes `tile` features of a panel, a lane a pack of one feature: neighbouring lanes write neighbouring packs.
/// Lays out `from` [n x features] as panels.
template <class Panels, class T>
void lay_out(const kokkos::Exec& exec, const kokkos::Vector<const T>& from, int n, int features, const Panels& panels,
             const kokkos::Vector<T>& to) {
  constexpr int width = Panels::width, packs = Panels::packs, at_once = of_lay_out.tile;
  const auto out = blocks::packs<width>(to);
  const int parts = ceil_div(panels.depth, at_once);
  Kokkos::parallel_for(
      "blocks/lay_out", kokkos::Team(exec, panels.panels * parts, std::min(of_lay_out.team, at_once * packs), 1),
      KOKKOS_LAMBDA(const kokkos::Member& team) {
        const int panel = static_cast<int>(team.league_rank()) / parts;
        const int begin = static_cast<int>(team.league_rank()) % parts * at_once, left = panels.depth - begin;
        const std::int64_t first = panels.first(panel) + std::int64_t{begin} * packs;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, (left < at_once ? left : at_once) * packs), [&](int i) {
          const int feature = begin + i / packs, point = panel * Panels::points + i % packs * width;
          typename Panels::Pack pack;
          for (int k = 0; k < width; ++k) {
            const bool counts = feature < features && point + k < n;
            pack.values[k] = counts ? from(std::int64_t{point + k} * features + feature) : T{0};
          }
          out(first + i) = pack;
        });
      });
}

}  // namespace league::blocks
