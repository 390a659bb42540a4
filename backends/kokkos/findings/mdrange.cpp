// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// A 7-point stencil over the inner cells of a cube, row-major: a policy of three dimensions, a team's nested ranges,
// and the loops by hand. Each with indices of 32 and of 64 bits.
namespace findings {
namespace {

constexpr int n = 256, border = n + 2;
constexpr std::int64_t row = border, plane = row * border;

using Cube = Kokkos::View<float***, Kokkos::LayoutRight, Exec::memory_space>;
template <class Index>
using Cells = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                                    Kokkos::IndexType<Index>>;

template <class Index>
struct Views {
  Kokkos::View<const float***, Kokkos::LayoutRight, Exec::memory_space> from;
  Cube to;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index z, Index y, Index x) const {
    to(z, y, x) = from(z, y, x) + 0.125F * (from(z, y, x - 1) + from(z, y, x + 1) + from(z, y - 1, x) +
                                            from(z, y + 1, x) + from(z - 1, y, x) + from(z + 1, y, x));
  }
};

template <class Index>
struct Pointers {
  const float* from;
  float* to;
  explicit Pointers(const Views<Index>& of) : from(of.from.data()), to(of.to.data()) {}
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index z, Index y, Index x) const {
    const std::int64_t at = z * plane + y * row + x;
    to[at] = from[at] + 0.125F * (from[at - 1] + from[at + 1] + from[at - row] + from[at + row] + from[at - plane] +
                                  from[at + plane]);
  }
};

/// Of a cube of ones after a step; the border stays 0.
constexpr double sum_of_cells = 1.75 * n * n * n;

double sum_of(const Cube& cube) {
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cube);
  double total = 0;
  for (std::int64_t i = 0; i < plane * border; ++i) total += values.data()[i];
  return total;
}

/// `launch(cells)` sets every inner cell.
template <class Index, class Launch>
void measure_step(benchmark::State& state, const Launch& launch) {
  const Cube from("from", border, border, border), to("to", border, border, border);
  Kokkos::deep_copy(from, 1.F);
  measure(state, 1, [&] { launch(Views<Index>{from, to}); });
  if (sum_of(to) != sum_of_cells) state.SkipWithError("wrong cells");
  state.SetBytesProcessed(state.iterations() * std::int64_t{n} * n * n * 2 * std::int64_t{sizeof(float)});
}

template <class Index>
void mdrange_kokkos(benchmark::State& state) {
  measure_step<Index>(state, [](const Views<Index>& cell) {
    Kokkos::parallel_for("mdrange", Cells<Index>({1, 1, 1}, {n + 1, n + 1, n + 1}), cell);
  });
}

template <class Index>
void mdrange_kokkos_pointers(benchmark::State& state) {
  measure_step<Index>(state, [](const Views<Index>& cell) {
    Kokkos::parallel_for("mdrange", Cells<Index>({1, 1, 1}, {n + 1, n + 1, n + 1}), Pointers<Index>(cell));
  });
}

/// Arguments: the tile, in planes, rows and columns.
template <class Index>
void mdrange_kokkos_tile(benchmark::State& state) {
  const auto tile = [&](int i) { return static_cast<int>(state.range(i)); };
  measure_step<Index>(state, [&](const Views<Index>& cell) {
    Kokkos::parallel_for("mdrange", Cells<Index>({1, 1, 1}, {n + 1, n + 1, n + 1}, {tile(0), tile(1), tile(2)}), cell);
  });
}

/// Arguments: rows of a team, its threads, its vector length.
template <class Index>
void mdrange_kokkos_team(benchmark::State& state) {
  const int rows = static_cast<int>(state.range(0)), bands = n / rows;
  const int threads = static_cast<int>(state.range(1)), vector = static_cast<int>(state.range(2));
  measure_step<Index>(state, [&](const Views<Index>& cell) {
    Kokkos::parallel_for(
        "mdrange", Team(n * bands, threads, vector), KOKKOS_LAMBDA(const Member& team) {
          const Index z = team.league_rank() / bands + 1, first = team.league_rank() % bands * rows + 1;
          const Index begin = 1, end = n + 1;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, first + rows), [&](Index y) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, begin, end), [&](Index x) { cell(z, y, x); });
          });
        });
  });
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Index>
__global__ void mdrange(Pointers<Index> cell) {
  const Index x = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
  const Index y = static_cast<Index>(blockIdx.y * blockDim.y + threadIdx.y) + 1, z = static_cast<Index>(blockIdx.z) + 1;
  if (x <= n && y <= n) cell(z, y, x);
}

template <class Index>
void mdrange_cuda(benchmark::State& state) {
  measure_step<Index>(state, [](const Views<Index>& cell) {
    mdrange<<<dim3(n / 32, n / 8, n), dim3(32, 8), 0, Exec().cuda_stream()>>>(Pointers<Index>(cell));
  });
}

FINDING(mdrange_kokkos_tile<int>)->Args({1, 8, 32})->Args({4, 4, 32})->Args({2, 2, 64});
FINDING(mdrange_kokkos_tile<std::int64_t>)->Args({1, 8, 32})->Args({4, 4, 32})->Args({2, 2, 64});
FINDING(mdrange_kokkos_team<int>)->Args({8, 8, 32});
FINDING(mdrange_kokkos_team<std::int64_t>)->Args({8, 8, 32});
FINDING(mdrange_cuda<int>);
FINDING(mdrange_cuda<std::int64_t>);
#else
/// The loops by hand, over views or pointers.
template <class Cell>
void run_openmp(const Cell& shared) {
#pragma omp parallel
  {
    const Cell cell = shared;
#pragma omp for schedule(static)
    for (int z = 1; z <= n; ++z)
      for (int y = 1; y <= n; ++y)
#pragma omp simd
        for (int x = 1; x <= n; ++x) cell(z, y, x);
  }
}

template <class Index>
void mdrange_openmp(benchmark::State& state) {
  measure_step<Index>(state, [](const Views<Index>& cell) { run_openmp(Pointers<Index>(cell)); });
}

template <class Index>
void mdrange_openmp_views(benchmark::State& state) {
  measure_step<Index>(state, [](const Views<Index>& cell) { run_openmp(cell); });
}

FINDING(mdrange_kokkos_tile<int>)->Args({1, n, n})->Args({1, 16, n})->Args({8, 8, n})->Args({1, 16, 64});
FINDING(mdrange_kokkos_tile<std::int64_t>)->Args({1, n, n})->Args({1, 16, n})->Args({8, 8, n})->Args({1, 16, 64});
FINDING(mdrange_kokkos_team<int>)->Args({16, 1, 1});
FINDING(mdrange_kokkos_team<std::int64_t>)->Args({16, 1, 1});
FINDING(mdrange_openmp<int>);
FINDING(mdrange_openmp<std::int64_t>);
FINDING(mdrange_openmp_views<int>);
FINDING(mdrange_openmp_views<std::int64_t>);
#endif
FINDING(mdrange_kokkos<int>);
FINDING(mdrange_kokkos<std::int64_t>);
FINDING(mdrange_kokkos_pointers<int>);
FINDING(mdrange_kokkos_pointers<std::int64_t>);

}  // namespace
}  // namespace findings
