// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// The sum of floats in a double on a host. A range's reduction adds to one double in order; a loop with 16 partial sums
// a thread is the same arithmetic in an order that fits vectors.
namespace findings {
namespace {

constexpr std::int64_t size = std::int64_t{1} << 24;
constexpr int width = 16;
constexpr std::int64_t packs = size / width, tile = 256, tiles = packs / tile;

using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

struct Partial {
  double values[width] = {};
  KOKKOS_INLINE_FUNCTION Partial& operator+=(const Partial& other) {
    for (int k = 0; k < width; ++k) values[k] += other.values[k];
    return *this;
  }
};

double sum_of(const Partial& partial) {
  double total = 0;
  for (const double value : partial.values) total += value;
  return total;
}

/// `sum(values)` is the sum of `size` ones.
template <class Sum>
void measure_sum(benchmark::State& state, const Sum& sum) {
  const Floats x("x", size);
  Kokkos::deep_copy(x, 1.F);
  double total = 0;
  measure(state, 1, [&] { total = sum(static_cast<const float*>(x.data())); });
  if (total != size) state.SkipWithError("wrong sum");
  state.SetBytesProcessed(state.iterations() * size * std::int64_t{sizeof(float)});
}

void range_reduction_kokkos(benchmark::State& state) {
  measure_sum(state, [](const float* x) {
    double total = 0;
    Kokkos::parallel_reduce(
        "range_reduction", Range(0, size), KOKKOS_LAMBDA(std::int64_t i, double& mine) { mine += x[i]; }, total);
    return total;
  });
}

/// One reduction of a struct, which stays in memory from pack to pack.
void range_reduction_kokkos_struct(benchmark::State& state) {
  measure_sum(state, [](const float* x) {
    Partial total;
    Kokkos::parallel_reduce(
        "range_reduction", Range(0, packs),
        KOKKOS_LAMBDA(std::int64_t pack, Partial& mine) {
          for (int k = 0; k < width; ++k) mine.values[k] += x[pack * width + k];
        },
        total);
    return sum_of(total);
  });
}

/// A tile of packs an index: its sums are in registers.
void range_reduction_kokkos_tiles(benchmark::State& state) {
  measure_sum(state, [](const float* x) {
    double total = 0;
    Kokkos::parallel_reduce(
        "range_reduction", Range(0, tiles),
        KOKKOS_LAMBDA(std::int64_t at, double& mine) {
          Partial partial;
          for (std::int64_t pack = at * tile; pack < (at + 1) * tile; ++pack)
            for (int k = 0; k < width; ++k) partial.values[k] += x[pack * width + k];
          for (int k = 0; k < width; ++k) mine += partial.values[k];
        },
        total);
    return total;
  });
}

void range_reduction_openmp(benchmark::State& state) {
  measure_sum(state, [](const float* x) {
    double total = 0;
#pragma omp parallel reduction(+ : total)
    {
      Partial partial;
#pragma omp for schedule(static)
      for (std::int64_t pack = 0; pack < packs; ++pack)
        for (int k = 0; k < width; ++k) partial.values[k] += x[pack * width + k];
      total += sum_of(partial);
    }
    return total;
  });
}

void range_reduction_openmp_simd(benchmark::State& state) {
  measure_sum(state, [](const float* x) {
    double total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (std::int64_t i = 0; i < size; ++i) total += x[i];
    return total;
  });
}

FINDING(range_reduction_kokkos);
FINDING(range_reduction_kokkos_struct);
FINDING(range_reduction_kokkos_tiles);
FINDING(range_reduction_openmp);
FINDING(range_reduction_openmp_simd);

}  // namespace
}  // namespace findings

template <>
struct Kokkos::reduction_identity<findings::Partial> {
  KOKKOS_FORCEINLINE_FUNCTION static findings::Partial sum() { return {}; }
};
