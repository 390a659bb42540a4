// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/ceilings/packs.hpp"
#include "algorithms/ceilings/passes.hpp"
#include "backends/kokkos/pass.hpp"

// A team takes a chunk of 16 KiB at a time, a lane every lanes-th pack of 16 bytes, four loads in flight before the
// four stores; for multiply_add, a lane takes one row of chains. On a host a pack is a cache line, and a lane takes
// enough rows at a time to saturate its vector units.
namespace league::kokkos::ceilings {
namespace {

using namespace league::ceilings;

constexpr int pack_bytes = on_gpu ? 16 : 64;
template <class T>
using Pack = blocks::Pack<T, pack_bytes>;
constexpr int packs = chunk_bytes / pack_bytes;  // per chunk
constexpr int at_once = on_gpu ? 4 : 1;
template <class T>
constexpr int rows_at_once = on_gpu ? 1 : host_rows<T>;

/// Consecutive chunks per team: on a host enough to amortise its start.
constexpr int run = on_gpu ? 1 : 64;

template <class Body>
KOKKOS_INLINE_FUNCTION void for_chunks(const Member& team, std::int64_t chunks, const Body& body) {
  for (std::int64_t first = std::int64_t{team.league_rank()} * run; first < chunks;
       first += std::int64_t{team.league_size()} * run)
    for (std::int64_t chunk = first; chunk < first + run && chunk < chunks; ++chunk) body(chunk);
}

template <class T>
void copy(const Pass& on, Vector<const T> a, Vector<T> out) {
  const Launch launch = on.launch;
  const std::int64_t chunks = on.size();
  Kokkos::parallel_for(
      "ceilings/copy", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const auto* from = reinterpret_cast<const Pack<T>*>(a.data()) + chunk * packs;
          auto* to = reinterpret_cast<Pack<T>*>(out.data()) + chunk * packs;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
              Pack<T> x[count];
              for (int k = 0; k < count; ++k) x[k] = from[p + k * lanes];
              for (int k = 0; k < count; ++k) to[p + k * lanes] = x[k];
            });
          });
        });
      });
}

/// A lane's share of the sum of a chunk.
template <class Terms, class T = typename Terms::Element>
KOKKOS_INLINE_FUNCTION ChunkSum<T> lane_sum(const Terms& terms, int lane, int lanes) {
  if constexpr (on_gpu) {
    ChunkSum<T> sum = 0;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count];
      for (int k = 0; k < count; ++k) x[k] = terms.template pack<Pack<T>>(p + k * lanes);
      for (int i = 0; i < Pack<T>::size; ++i)  // in this order nvcc has all loads of `dot` in flight
        for (int k = 0; k < count; ++k) sum += x[k].values[i];
    });
    return sum;
  } else {
    return chunk_sum(terms, lane, lanes);
  }
}

template <class Terms, class T = typename Terms::Element>
void sum_chunks(const Pass& on, const char* label, const Terms& terms, Vector<ChunkSum<T>> sums) {
  const Launch launch = on.launch;
  const std::int64_t chunks = on.size();
  Kokkos::parallel_for(
      label, on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const Terms of_chunk = terms.from(chunk * chunk_size<T>);
          ChunkSum<T> total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, lanes),
              [&](int lane, ChunkSum<T>& sum) { sum += lane_sum(of_chunk, lane, lanes); }, total);
          blocks::once_per_team(team, [&] { sums(chunk) = total; });
        });
      });
}

template <class T>
void read(const Pass& on, Vector<const T> a, Vector<ChunkSum<T>> sums) {
  sum_chunks(on, "ceilings/read", Elements<T>{a.data()}, sums);
}
template <class T>
void dot(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> sums) {
  sum_chunks(on, "ceilings/dot", Products<T>{a.data(), b.data()}, sums);
}

template <class T>
void write(const Pass& on, Vector<T> out) {
  const Launch launch = on.launch;
  const std::int64_t chunks = on.size(), first = on.rows.begin;
  Kokkos::parallel_for(
      "ceilings/write", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          auto* to = reinterpret_cast<Pack<T>*>(out.data()) + chunk * packs;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            Pack<T> value;
            for (T& element : value.values) element = written<T>(first + chunk);
            for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
              for (int k = 0; k < count; ++k) to[p + k * lanes] = value;
            });
          });
        });
      });
}

/// out = combine(a, b), pack by pack.
template <class T, class Combine>
void combine_chunks(const Pass& on, const char* label, Vector<const T> a, Vector<const T> b, Vector<T> out,
                    const Combine& combine) {
  const Launch launch = on.launch;
  const std::int64_t chunks = on.size();
  Kokkos::parallel_for(
      label, on.policy(), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const auto* from_a = reinterpret_cast<const Pack<T>*>(a.data()) + chunk * packs;
          const auto* from_b = reinterpret_cast<const Pack<T>*>(b.data()) + chunk * packs;
          auto* to = reinterpret_cast<Pack<T>*>(out.data()) + chunk * packs;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
              Pack<T> x[count], y[count];
              for (int k = 0; k < count; ++k) x[k] = from_a[p + k * lanes], y[k] = from_b[p + k * lanes];
              for (int k = 0; k < count; ++k) to[p + k * lanes] = combine(x[k], y[k]);
            });
          });
        });
      });
}
template <class T>
void add(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> out) {
  combine_chunks(on, "ceilings/add", a, b, out, Add());
}
template <class T>
void triad(const Pass& on, Vector<const T> a, Vector<const T> b, Vector<T> out) {
  combine_chunks(on, "ceilings/triad", a, b, out, Triad());
}

template <class T, int n>
KOKKOS_INLINE_FUNCTION void advance_lane(T (&x)[n], T factor, T even, T odd, int steps) {
  if constexpr (on_gpu)
    advance(x, factor, even, odd, steps);
  else
    advance_vectors(x, factor, even, odd, steps);
}

template <class T>
void multiply_add(const Pass& on, Vector<T> sums) {
  const Launch launch = on.launch;
  const auto factor = static_cast<T>(recurrence.factor), even = static_cast<T>(recurrence.even),
             odd = static_cast<T>(recurrence.odd);
  const int steps = recurrence.steps;
  const std::int64_t rows = on.size(), first = on.rows.begin;
  Kokkos::parallel_for(
      "ceilings/multiply_add", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        constexpr int group = rows_at_once<T>;
        const int lanes = launch.team * launch.vector;
        for (std::int64_t block = std::int64_t{team.league_rank()} * lanes; block * group < rows;
             block += std::int64_t{team.league_size()} * lanes)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            const std::int64_t row = (block + lane) * group;
            T x[group * chains];
            for (int k = 0; k < group * chains; ++k) x[k] = start<T>(first + row + k / chains, k % chains);
            advance_lane(x, factor, even, odd, steps);
            for (int k = 0; k < group && row + k < rows; ++k) sums(row + k) = row_sum(x + k * chains);
          });
      });
}

const BandwidthPass copied{
    "copy", model, {"a", "values"}, []<class T>(Of<T>) { return kernel("ceiling", copy<T>, {.per_team = run}); }};
// A team of `read` and `dot` ends in a reduction, which is faster in smaller teams.
const BandwidthPass was_read{"read", model, {"a", "sums"}, []<class T>(Of<T>) {
                               return kernel("ceiling", read<T>, {.team = 128, .per_team = run});
                             }};
const BandwidthPass written_{
    "write", model, {"values"}, []<class T>(Of<T>) { return kernel("ceiling", write<T>, {.per_team = run}); }};
const BandwidthPass added{
    "add", model, {"a", "b", "values"}, []<class T>(Of<T>) { return kernel("ceiling", add<T>, {.per_team = run}); }};
const StreamPass triads{"triad", model, {"a", "b", "values"}, []<class T>(Of<T>) {
                          return kernel("ceiling", triad<T>, {.per_team = run});
                        }};
const StreamPass dots{"dot", model, {"a", "b", "sums"}, []<class T>(Of<T>) {
                        return kernel("ceiling", dot<T>, {.team = 128, .per_team = run});
                      }};
const RatePass multiplied{"multiply_add", model, {"sums"}, []<class T>(Of<T>) {
                            return kernel("ceiling", multiply_add<T>, {.per_team = on_gpu ? 0 : rows_at_once<T>});
                          }};

}  // namespace
}  // namespace league::kokkos::ceilings
