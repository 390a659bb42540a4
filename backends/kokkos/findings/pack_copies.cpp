// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// A pack of `width` neighbouring floats, copied as a whole or element by element: each pack of a matrix and those of
// the rows above and below. With `selected`, rows outside the matrix are zeros; else only inner rows are computed.
namespace findings {
namespace {

constexpr bool on_host = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
constexpr int rows = on_host ? 1 << 10 : 1 << 15, columns = 1 << 10, threads = on_host ? 1 : 256;

template <int width>
struct alignas(4 * width) Pack {
  float values[width];
};

template <bool whole, int width>
KOKKOS_FORCEINLINE_FUNCTION Pack<width> load(const Pack<width>* from) {
  if constexpr (whole) {
    return *from;
  } else {
    Pack<width> pack;
    for (int k = 0; k < width; ++k) pack.values[k] = from->values[k];
    return pack;
  }
}

template <bool whole, bool selected, int width>
KOKKOS_FORCEINLINE_FUNCTION void sum_rows(const Pack<width>* from, Pack<width>* to, int y, std::int64_t at) {
  constexpr int line = columns / width;
  const Pack<width> centre = load<whole>(from + at);
  const Pack<width> above = !selected || y > 0 ? load<whole>(from + at - line) : Pack<width>{};
  const Pack<width> below = !selected || y + 1 < rows ? load<whole>(from + at + line) : Pack<width>{};
  Pack<width> sum;
  for (int k = 0; k < width; ++k) sum.values[k] = centre.values[k] + 0.5F * (above.values[k] + below.values[k]);
  to[at] = sum;
}

template <bool whole, bool selected, int width>
void pack_copies(benchmark::State& state) {
  constexpr int line = columns / width, outside = selected ? 0 : 1;
  const Floats values("values", std::size_t{rows} * columns), sums("sums", std::size_t{rows} * columns);
  const auto* from = reinterpret_cast<const Pack<width>*>(values.data());
  auto* to = reinterpret_cast<Pack<width>*>(sums.data());
  measure(state, 10, [&] {
    Kokkos::parallel_for(
        "pack_copies", Team(rows - 2 * outside, threads, 1), KOKKOS_LAMBDA(const Member& team) {
          const int y = team.league_rank() + outside;
          const std::int64_t first = std::int64_t{y} * line;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, line),
                               [&](int x) { sum_rows<whole, selected, width>(from, to, y, first + x); });
        });
  });
  state.SetBytesProcessed(state.iterations() * std::int64_t{rows} * columns * 2 * std::int64_t{sizeof(float)});
}

#define PACK_COPIES(width)                   \
  FINDING(pack_copies<true, false, width>);  \
  FINDING(pack_copies<false, false, width>); \
  FINDING(pack_copies<true, true, width>);   \
  FINDING(pack_copies<false, true, width>)

PACK_COPIES(1);
PACK_COPIES(4);
PACK_COPIES(16);

}  // namespace
}  // namespace findings
