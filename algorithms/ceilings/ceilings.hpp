// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/contract/registry.hpp"
#include "backends/portable.hpp"

namespace league::ceilings {

/// Memory is accessed in chunks of this size: four 16-byte accesses by each of 256 threads.
inline constexpr int chunk_bytes = 16384;
template <class T>
inline constexpr int chunk_size = chunk_bytes / static_cast<int>(sizeof(T));

/// x <- x * factor + even, x <- x * factor + odd, ... `steps` times: with factor -1, x grows by odd - even in two
/// steps, and integers stay exact. Run-time values, so that compilers cannot simplify the recurrence.
struct Recurrence {
  double factor = -1, even = 1, odd = 2;
  int steps = 1024;
};
/// Defined in another translation unit, opaque to the kernels.
extern const Recurrence recurrence;
/// Independent recurrences per row; their sum is one row of the output.
inline constexpr int chains = 16;

enum class Kernel { copy, read, write, add, triad, dot, multiply_add, tensor };

/// The measured peaks of a device, for rooflines. n is rounded up to whole chunks; all values are small integers.
class Ceilings final : public Problem {
 public:
  static constexpr const char* algorithm = "ceilings";

  explicit Ceilings(const Making& making);
  /// Chunks; for `multiply_add`, groups of `chains` values; for `tensor`, products of matrices.
  [[nodiscard]] std::int64_t extent() const override { return rows; }
  [[nodiscard]] Cost cost() const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  /// Values per output row: all its elements, or their sum.
  [[nodiscard]] std::int64_t output_row_size() const {
    const bool combines = kernel == Kernel::add || kernel == Kernel::triad;
    return combines || kernel == Kernel::copy || kernel == Kernel::write ? row_size : 1;
  }

  Kernel kernel;
  Dtype output_dtype;     ///< sums of bytes and of tensor cores are in a wider type
  std::int64_t row_size;  ///< elements of a row
  std::int64_t rows;
  std::uint64_t seed;
  bool random_operands;  ///< of `tensor`
  Range local{};         ///< local rows
  HostArray a{}, b{};    ///< [local rows x row_size], if the method reads them
};

/// The value that `write` stores into all elements of a chunk; a byte holds it.
template <class T>
LEAGUE_FUNCTION T written(std::int64_t chunk) {
  return static_cast<T>(1 + (chunk & 127));
}

/// Of a chunk of T: the type of its sum, and of a thread's partial sums, which hold those of any bytes.
template <class T>
struct ChunkTypes {
  using Sum = T;
  using Partial = T;
};
template <>
struct ChunkTypes<std::uint8_t> {
  using Sum = std::int32_t;
  using Partial = std::uint16_t;
};
template <class T>
using ChunkSum = typename ChunkTypes<T>::Sum;

/// What `triad` multiplies b by.
inline constexpr int triad_factor = 3;

/// The terms that `read` adds up: elements.
template <class T>
struct Elements {
  using Element = T;
  const T* a;
  [[nodiscard]] LEAGUE_FUNCTION Elements from(std::int64_t first) const { return {a + first}; }
  LEAGUE_FUNCTION T operator()(int i) const { return a[i]; }
  /// The p-th pack of terms.
  template <class Pack>
  [[nodiscard]] LEAGUE_FUNCTION Pack pack(int p) const {
    return reinterpret_cast<const Pack*>(a)[p];
  }
};

/// The terms that `dot` adds up: products.
template <class T>
struct Products {
  using Element = T;
  const T *a, *b;
  [[nodiscard]] LEAGUE_FUNCTION Products from(std::int64_t first) const { return {a + first, b + first}; }
  LEAGUE_FUNCTION T operator()(int i) const { return a[i] * b[i]; }
  template <class Pack>
  [[nodiscard]] LEAGUE_FUNCTION Pack pack(int p) const {
    Pack terms = reinterpret_cast<const Pack*>(a)[p];
    const Pack factors = reinterpret_cast<const Pack*>(b)[p];
    for (int i = 0; i < Pack::size; ++i) terms.values[i] *= factors.values[i];
    return terms;
  }
};

/// Initial values of a row's chains.
template <class T>
LEAGUE_FUNCTION T start(std::int64_t row, int chain) {
  return static_cast<T>((static_cast<int>(row) & 63) * chains + chain);
}

/// Advances n independent values `steps` times: n independent FMAs per step.
/// @pre steps is a multiple of 16
template <class T, int n>
LEAGUE_FUNCTION void advance(T (&x)[n], T factor, T even, T odd, int steps) {
  for (int step = 0; step < steps; step += 16)
    for (int pair = 0; pair < 8; ++pair) {  // unrolled: no loop overhead between the FMAs
      for (int k = 0; k < n; ++k) x[k] = x[k] * factor + even;
      for (int k = 0; k < n; ++k) x[k] = x[k] * factor + odd;
    }
}

/// The sum of one row's chains, pairwise.
template <class T>
LEAGUE_FUNCTION T row_sum(const T* x) {
  T sums[chains / 2];
  for (int k = 0; k < chains / 2; ++k) sums[k] = x[k] + x[k + chains / 2];
  T sum = 0;
  for (int k = 0; k < chains / 2; ++k) sum += sums[k];
  return sum;
}

/// The sum of a chunk's terms on a host thread; `strands` threads share it, each takes every strands-th piece.
template <class Terms, class T = typename Terms::Element>
LEAGUE_FUNCTION ChunkSum<T> chunk_sum(const Terms& terms, int strand = 0, int strands = 1) {
  using Partial = typename ChunkTypes<T>::Partial;
  constexpr int width = 256 / static_cast<int>(sizeof(Partial));  // four cache lines of independent sums
  Partial partial[width] = {};
  for (int i = strand * width; i < chunk_size<T>; i += strands * width)
    for (int k = 0; k < width; ++k) partial[k] = static_cast<Partial>(partial[k] + terms(i + k));
  ChunkSum<T> sum = 0;
  for (int k = 0; k < width; ++k) sum += partial[k];
  return sum;
}

/// The widest vectors of the target host. Rows that a thread advances together fill 12 of them, which hides the latency
/// of an FMA.
#if defined(__AVX512F__)
inline constexpr int host_vector_bytes = 64;
#else
inline constexpr int host_vector_bytes = 32;
#endif
template <class T>
inline constexpr int host_rows = 12 * host_vector_bytes / static_cast<int>(sizeof(T)) / chains;

/// `advance` on a host thread. (Explicit vector types, because compilers may choose half the width.)
template <class T>
LEAGUE_FUNCTION void advance_vectors(T (&x)[host_rows<T> * chains], T factor, T even, T odd, int steps) {
  typedef T Vector __attribute__((vector_size(host_vector_bytes)));
  Vector vectors[12];
  static_assert(sizeof(vectors) == sizeof(x));
  __builtin_memcpy(vectors, x, sizeof(x));
  for (int step = 0; step < steps; step += 2) {
    for (Vector& vector : vectors) vector = vector * factor + even;
    for (Vector& vector : vectors) vector = vector * factor + odd;
  }
  __builtin_memcpy(x, vectors, sizeof(x));
}

}  // namespace league::ceilings
