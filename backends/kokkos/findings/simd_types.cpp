// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With FINDINGS_ARCHITECTURE this file is compiled as in a Kokkos that was configured for the processor: the macros
// below are all that its simd headers look at.
#if defined(FINDINGS_ARCHITECTURE) && defined(__AVX512F__)
#define KOKKOS_ARCH_AVX512XEON
#elif defined(FINDINGS_ARCHITECTURE) && defined(__AVX2__)
#define KOKKOS_ARCH_AVX2
#endif

#include <Kokkos_SIMD.hpp>

#include "backends/kokkos/findings/findings.hpp"

// Three loops over floats on a host, by Kokkos' simd types and by fixed arrays that the compiler vectorises.
namespace findings {
namespace {

namespace simd = Kokkos::Experimental;

// Three planes that fit a second-level cache; 16 columns before and after each row.
constexpr std::int64_t rows = 64, columns = 512, row = columns + 32, plane = rows * row;
constexpr std::int64_t size = 3 * plane, inner = plane + row + 16;
constexpr int width = 16;
#if defined(__AVX512F__)
constexpr int widest = 16;
#else
constexpr int widest = 8;
#endif

using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// `pack(at)` of the first element of each pack of `step` elements.
template <int step, class Pack>
void for_packs(const Pack& pack) {
  Kokkos::parallel_for("simd_types", Range(0, rows - 2), [=](std::int64_t y) {
    for (std::int64_t x = 0; x < columns; x += step) pack(inner + y * row + x);
  });
}

/// `run(a, b, c)` on three vectors of `size` elements.
template <class Run>
void measure_loop(benchmark::State& state, const Run& run) {
  const Floats a("a", size), b("b", size), c("c", size);
  Kokkos::deep_copy(a, 1.F);
  Kokkos::deep_copy(b, 2.F);
  measure(state, 100, [&] { run(static_cast<const float*>(a.data()), static_cast<const float*>(b.data()), c.data()); });
}

/// Kokkos 4.7 has the member alone, 5.2 the function alone.
template <class Lanes>
void store(const Lanes& lanes, float* to) {
  if constexpr (requires { lanes.copy_to(to, simd::simd_flag_default); })
    lanes.copy_to(to, simd::simd_flag_default);
  else
    simd_unchecked_store(lanes, to, simd::simd_flag_default);
}

/// `N`: as in `simd<float, N>`, 0 for the native width.
template <int N>
void add_simd(benchmark::State& state) {
  using Lanes = simd::simd<float, N>;
  measure_loop(state, [](const float* a, const float* b, float* c) {
    for_packs<Lanes::size()>([=](std::int64_t at) {
      const Lanes sum = Lanes(a + at, simd::simd_flag_default) + Lanes(b + at, simd::simd_flag_default);
      store(sum, c + at);
    });
  });
  state.counters["lanes"] = Lanes::size();
}

void add_arrays(benchmark::State& state) {
  measure_loop(state, [](const float* a, const float* b, float* c) {
    for_packs<width>([=](std::int64_t at) {
      for (int k = 0; k < width; ++k) c[at + k] = a[at + k] + b[at + k];
    });
  });
}

template <int N>
void stencil_simd(benchmark::State& state) {
  using Lanes = simd::simd<float, N>;
  measure_loop(state, [](const float* a, const float*, float* c) {
    for_packs<Lanes::size()>([=](std::int64_t at) {
      const auto load = [=](std::int64_t from) { return Lanes(a + from, simd::simd_flag_default); };
      const Lanes sum =
          load(at - 1) + load(at + 1) + load(at - row) + load(at + row) + load(at - plane) + load(at + plane);
      store(load(at) + Lanes(0.125F) * sum, c + at);
    });
  });
  state.counters["lanes"] = Lanes::size();
}

void stencil_arrays(benchmark::State& state) {
  measure_loop(state, [](const float* a, const float*, float* c) {
    for_packs<width>([=](std::int64_t at) {
      for (std::int64_t k = at; k < at + width; ++k)
        c[k] = a[k] + 0.125F * (a[k - 1] + a[k + 1] + a[k - row] + a[k + row] + a[k - plane] + a[k + plane]);
    });
  });
}

/// The sum of a row's floats in doubles. Nothing converts `simd<float>` to `simd<double>`: element by element, of the
/// vector or of memory.
template <bool from_lanes>
void sum_simd(benchmark::State& state) {
  using Sums = simd::simd<double>;
  using Lanes = simd::simd<float, Sums::size()>;
  static_assert(Lanes::size() == Sums::size());
  measure_loop(state, [](const float* a, const float*, float*) {
    double total = 0;
    Kokkos::parallel_reduce(
        "simd_types", Range(0, rows - 2),
        [=](std::int64_t y, double& mine) {
          Sums sums(0.0);
          for (std::int64_t x = 0; x < columns; x += Lanes::size()) {
            const float* from = a + inner + y * row + x;
            const Lanes values(from, simd::simd_flag_default);
            sums = sums + Sums([&](auto k) { return static_cast<double>(from_lanes ? values[k] : from[k]); });
          }
          for (std::size_t k = 0; k < Sums::size(); ++k) mine += sums[k];
        },
        total);
    benchmark::DoNotOptimize(&total);
  });
  state.counters["lanes"] = Lanes::size();
}

void sum_arrays(benchmark::State& state) {
  measure_loop(state, [](const float* a, const float*, float*) {
    double total = 0;
    Kokkos::parallel_reduce(
        "simd_types", Range(0, rows - 2),
        [=](std::int64_t y, double& mine) {
          double sums[width] = {};
          for (std::int64_t x = 0; x < columns; x += width)
            for (int k = 0; k < width; ++k) sums[k] += a[inner + y * row + x + k];
          for (const double sum : sums) mine += sum;
        },
        total);
    benchmark::DoNotOptimize(&total);
  });
}

FINDING(add_simd<0>);
FINDING(add_simd<widest>);
FINDING(add_arrays);
FINDING(sum_simd<true>);
FINDING(sum_simd<false>);
FINDING(sum_arrays);
FINDING(stencil_simd<0>);
FINDING(stencil_simd<widest>);
FINDING(stencil_arrays);

}  // namespace
}  // namespace findings
