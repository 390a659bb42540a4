// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/blocks/team_sums_kokkos.hpp"
#include "algorithms/polynomial_fit/common/kokkos.hpp"

/// A pass over the points, written once.
namespace league::kokkos::polynomial_fit {

/// A lane adds `tile` times `depth` packs of `width` points before their sums go into those of all.
template <class T>
constexpr Numbers numbers =
    blocks::by_kind({.tile = 1, .width = 16 / int{sizeof(T)}, .depth = 4, .sums = 1, .team = 256, .teams = 1},
                    {.tile = 4, .width = 64 / int{sizeof(T)}, .depth = 4, .sums = 64 / int{sizeof(T)}, .team = 1});

/// Lanes of a team, by the registers that they need.
inline constexpr int max_lanes = 512;

template <class T>
struct PointViews {
  static constexpr int pack = numbers<T>.width;
  explicit PointViews(const Points<T>& points)
      : x(points.x, static_cast<std::size_t>(points.count)),
        y(points.y, x.extent(0)),
        x_packs(blocks::packs<pack>(x)),
        y_packs(blocks::packs<pack>(y)),
        count(points.count) {}
  Vector<const T> x, y;
  blocks::Packs<const T, pack> x_packs, y_packs;
  std::int64_t count;
};

/// The sums of a lane: `Terms::add(x, y, sums)` adds those of a point to sums[n] of type `Terms::Value`.
template <class T, class Terms>
class PointSums {
 public:
  static constexpr int n = Terms::n, pack = numbers<T>.width, depth = numbers<T>.depth, tile = numbers<T>.tile,
                       wide = std::min(numbers<T>.sums, pack);
  using V = typename Terms::Value;

  /// Lane `lane` of `lanes`, of all teams.
  KOKKOS_FORCEINLINE_FUNCTION void add_all(const PointViews<T>& points, const Terms& terms, std::int64_t lane,
                                           std::int64_t lanes) {
    const std::int64_t packs = points.count / pack;
    const auto mine = blocks::share(lane, lanes, packs);
    std::int64_t p = mine.first;
    for (; p + (tile * depth - 1) * mine.stride < mine.end; p += tile * depth * mine.stride) {
      V sums[n][wide] = {};
      for (int t = 0; t < tile; ++t) add_packs<depth>(points, terms, p + t * depth * mine.stride, mine.stride, sums);
      flush(sums);
    }
    for (; p < mine.end; p += mine.stride) {
      V sums[n][wide] = {};
      add_packs<1>(points, terms, p, 0, sums);
      flush(sums);
    }
    for (std::int64_t i = packs * pack + lane; i < points.count; i += lanes) {
      V sums[n] = {};
      terms.add(points.x(i), points.y(i), sums);
      for (int s = 0; s < n; ++s) totals_[s][0] += static_cast<double>(sums[s]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void leave(double (&sums)[n]) const {
    for (int s = 0; s < n; ++s) {
      sums[s] = totals_[s][0];
      for (int k = 1; k < wide; ++k) sums[s] += totals_[s][k];
    }
  }

 private:
  using Pack = blocks::Pack<T, pack* int{sizeof(T)}>;
  /// Packs `first`, `first + stride`, ...: all loads first.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION static void add_packs(const PointViews<T>& points, const Terms& terms, std::int64_t first,
                                                    std::int64_t stride, V (&sums)[n][wide]) {
    Pack x[count], y[count];
    for (int d = 0; d < count; ++d)
      x[d] = points.x_packs(first + d * stride), y[d] = points.y_packs(first + d * stride);
    for (int group = 0; group < pack; group += wide)
      for (int k = 0; k < wide; ++k) {  // vectorised: all within is unrolled
        V own[n];
        for (int s = 0; s < n; ++s) own[s] = sums[s][k];
        add_points<0>(terms, x, y, group + k, own);
        for (int s = 0; s < n; ++s) sums[s][k] = own[s];
      }
  }
  template <int d, int count>
  KOKKOS_FORCEINLINE_FUNCTION static void add_points(const Terms& terms, const Pack (&x)[count], const Pack (&y)[count],
                                                     int at, V (&sums)[n]) {
    if constexpr (d < count) {
      terms.add(x[d].values[at], y[d].values[at], sums);
      add_points<d + 1>(terms, x, y, at, sums);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void flush(const V (&sums)[n][wide]) {
    for (int s = 0; s < n; ++s)
      for (int k = 0; k < wide; ++k) totals_[s][k] += static_cast<double>(sums[s][k]);
  }

  double totals_[n][wide] = {};
};

/// A method of class `Base` whose last team adds the sums of all.
template <class T, class Terms, class Base>
class PointShard : public Base {
 public:
  using Sums = blocks::TeamSums<Terms::n>;
  PointShard(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), memory_(*this, problem) {
    this->declare_zeroed(ticket_, "polynomial_fit/ticket", 1);
  }
  /// Automatic teams are no larger than the points allow, and as many as the device holds, fewer where a lane would
  /// have less than 8 points.
  Launch configure(Launch launch) override {
    LaunchLimits most = limits(this->queue());
    most.team_times_vector = std::min(most.team_times_vector, max_lanes);
    const std::int64_t points = this->rows().size();
    int team = std::min(numbers<T>.team, most.team_times_vector);
    while (team % 2 == 0 && team / 2 >= std::max<std::int64_t>(points, most.vector)) team /= 2;
    launch_ = resolve(launch, {0, team, 1}, most);
    require_scratch(Sums::bytes(lanes()), "team size " + std::to_string(launch_.team));
    const std::int64_t held = std::max(1, blocks::lanes_at_once(this->exec_, numbers<T>, max_lanes) / lanes());
    if (launch_.league == 0) launch_.league = league_of(std::min(held, ceil_div<std::int64_t>(points, lanes() * 8)));
    this->declare(partials_, "polynomial_fit/partials", std::int64_t{launch_.league} * Terms::n);
    return launch_;
  }

 protected:
  [[nodiscard]] int lanes() const { return launch_.team * launch_.vector; }
  [[nodiscard]] PointViews<T> points() const { return PointViews<T>(memory_.points()); }
  [[nodiscard]] auto policy(const Exec& exec) const {
    Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_lanes, 1>> policy(
        exec, launch_.league, launch_.team, launch_.vector);
    policy.set_scratch_size(Sums::level, Kokkos::PerTeam(Sums::bytes(lanes())));
    return light(policy);
  }
  Array<double> partials_;
  Array<unsigned> ticket_;

 private:
  PointMemory<T, Array> memory_;
  Launch launch_;
};

inline WrittenModel once() {
  return written_once<float, double>(model, []<class T>(Of<T>) { return blocks::named(numbers<T>); });
}

}  // namespace league::kokkos::polynomial_fit
