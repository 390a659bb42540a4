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

struct AsIs {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T value) const {
    return value;
  }
};

/// `tile`: features of a team, whose lanes share the sectors that they read.
inline constexpr Numbers of_lay_out = by_kind({.tile = 16, .team = 256}, {.tile = 64, .team = 1});

// A team takes `tile` features of a panel, a lane a pack of one feature: neighbouring lanes write neighbouring packs.
/// `widen(value)` of `from` [n x features], as panels.
template <class Panels, class T, class Wide, class Widen>
struct LayOut {
  kokkos::Vector<const T> from;
  int n, features, parts;  ///< parts: of the features, a team each
  Panels panels;
  Packs<Wide, Panels::width> to;
  Widen widen;

  KOKKOS_FUNCTION void operator()(const kokkos::Member& team) const {
    constexpr int width = Panels::width, packs = Panels::packs, at_once = of_lay_out.tile;
    const int panel = static_cast<int>(team.league_rank()) / parts;
    const int begin = static_cast<int>(team.league_rank()) % parts * at_once, left = panels.depth - begin;
    const std::int64_t first = panels.first(panel) + std::int64_t{begin} * packs;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, (left < at_once ? left : at_once) * packs), [&](int i) {
      const int feature = begin + i / packs, point = panel * Panels::points + i % packs * width;
      const int there = feature < features ? n - point : 0;
      const std::int64_t at = std::int64_t{point} * features + feature;
      fill_pack(to, first + i, [&](typename Panels::Pack& pack) {
        if (there >= width)
          for (int k = 0; k < width; ++k) pack.values[k] = widen(from(at + std::int64_t{k} * features));
        else
          for (int k = 0; k < width; ++k)
            pack.values[k] = k < there ? widen(from(at + std::int64_t{k} * features)) : Wide{0};
      });
    });
  }
};

/// Lays out `from` [n x features] as panels of `widen(value)`.
template <class Panels, class T, class Wide, class Widen = AsIs>
void lay_out(const kokkos::Exec& exec, const kokkos::Vector<const T>& from, int n, int features, const Panels& panels,
             const kokkos::Vector<Wide>& to, const Widen& widen = {}) {
  const int parts = ceil_div(panels.depth, of_lay_out.tile);
  const int team = std::min(of_lay_out.team, of_lay_out.tile * Panels::packs);
  Kokkos::parallel_for(
      "blocks/lay_out", kokkos::Team(exec, panels.panels * parts, team, 1),
      LayOut<Panels, T, Wide, Widen>{from, n, features, parts, panels, packs<Panels::width>(to), widen});
}

}  // namespace league::blocks
