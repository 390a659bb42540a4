// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/once_per_team_kokkos.hpp"
#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/sum/common/shards.hpp"
#include "backends/kokkos/pass.hpp"

/// What the sums written once share: a lane's sum, the second stage, launches.
namespace league::kokkos::sum {

using namespace league::sum;

/// A team takes at least `tile` elements at a time, so that a host amortises its start. A pack is one access of a GPU's
/// lane, a cache line of a host; `depth` of them are in flight.
template <class V>
constexpr blocks::Numbers numbers =
    blocks::by_kind({.width = 16 / int{sizeof(V)}, .depth = 4, .team = 256},
                    {.tile = 1 << 15, .width = 64 / int{sizeof(V)}, .depth = 4, .team = 1});
/// Of the second stage.
constexpr blocks::Numbers finish_numbers = blocks::by_kind({.team = 1024}, {.team = 1});

template <class V>
using Value = Kokkos::View<V, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The values `get(first)` to `get(first + count - 1)`, added pairwise.
template <int count, class Get>
KOKKOS_INLINE_FUNCTION auto pairwise(const Get& get, int first = 0) {
  if constexpr (count == 1)
    return get(first);
  else
    return pairwise<count / 2>(get, first) + pairwise<count - count / 2>(get, first + count / 2);
}

/// Values and the same as packs.
template <class V>
class Elements {
 public:
  static constexpr int width = numbers<V>.width, depth = numbers<V>.depth;

  Elements(const V* values, std::int64_t count)
      : values_(values, static_cast<std::size_t>(count)), packs_(blocks::packs<width>(values_)) {}
  /// The sum of a lane's share of the `size` elements from `first` on, which is the first of a pack. Packs in flight
  /// are added in the values' own type (integers in 64 bits), all else in that of the total.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Total<V> sum(std::int64_t first, int size, int lane, int lanes) const {
    using Sum = std::conditional_t<std::is_integral_v<V>, std::int64_t, V>;
    const int packs = size / width;
    const std::int64_t first_pack = first / width;
    const auto mine = blocks::share(lane, lanes, packs);
    Total<V> sums[width] = {};
    int p = mine.first;
    for (; p + (depth - 1) * mine.stride < mine.end; p += depth * mine.stride) {
      blocks::Pack<V, width* int{sizeof(V)}> run[depth];
      for (int d = 0; d < depth; ++d) run[d] = packs_(first_pack + p + d * mine.stride);
      for (int k = 0; k < width; ++k)
        sums[k] += pairwise<depth>([&](int d) { return static_cast<Sum>(run[d].values[k]); });
    }
    for (; p < mine.end; p += mine.stride) {
      const auto pack = packs_(first_pack + p);
      for (int k = 0; k < width; ++k) sums[k] += pack.values[k];
    }
    for (int i = packs * width + lane; i < size; i += lanes) sums[0] += values_(first + i);
    for (int half = width / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
    return sums[0];
  }

 private:
  Vector<const V> values_;
  blocks::Packs<const V, width> packs_;
};

/// Chunks per team at a time.
template <class T>
int run_of(Chunks chunks) {
  return std::max(1, ceil_div(numbers<T>.tile, chunks.chunk));
}

/// Calls `body(chunk)` for all chunks of a team.
template <class Body>
KOKKOS_INLINE_FUNCTION void for_chunks(const Member& team, Chunks chunks, const Body& body) {
  const auto mine = blocks::share<std::int64_t>(team.league_rank(), team.league_size(), chunks.count);
  for (std::int64_t chunk = mine.first; chunk < mine.end; chunk += mine.stride) body(chunk);
}

// One team takes all partial sums.
template <class T>
void finish(const Pass& on, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  using V = Total<T>;
  const Elements<V> all(partials, count);
  const Value<V> result(sum);
  const int team_size = std::min({finish_team(count), finish_numbers.team, on.exec.concurrency()});
  Kokkos::parallel_for(
      "sum/finish", Team(on.exec, 1, team_size, 1), KOKKOS_LAMBDA(const Member& team) {
        const int lanes =
            team.team_size();  // a run-time value: with a constant the compiler unrolls, with fewer loads in flight
        V total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes), [&](int lane, V& mine) { mine += all.sum(0, count, lane, lanes); },
            total);
        blocks::once_per_team(team, [&] { result() = total; });
      });
}

template <class T>
Launch configure(Queue& queue, Launch launch, Chunks chunks) {
  const LaunchLimits most = limits(queue);
  launch = resolve(launch, {0, std::min(numbers<T>.team, most.team_times_vector), 1}, most);
  if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(chunks.count, run_of<T>(chunks)));
  return launch;
}

inline WrittenModel once() {
  return written_once<float, double, std::int32_t>(model, []<class T>(Of<T>) {
    NamedNumbers all = blocks::named(numbers<T>), second = blocks::named(finish_numbers, "finish");
    all.insert(all.end(), second.begin(), second.end());
    return all;
  });
}

}  // namespace league::kokkos::sum
