// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/ceilings/packs.hpp"
#include "algorithms/ceilings/passes.hpp"
#include "backends/host_pass.hpp"

// A thread takes one block of consecutive chunks, cache line by cache line; for multiply_add, enough rows at a time to
// saturate its vector units.
namespace league::openmp::ceilings {
namespace {

using namespace league::ceilings;

template <class T>
using Line = blocks::Pack<T, 64>;
constexpr int lines = chunk_bytes / 64;  // per chunk

template <class T>
void copy(const Pass& on, const T* a, T* out) {
  const std::int64_t chunks = on.size();
#pragma omp parallel num_threads(on.threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const auto* from = reinterpret_cast<const Line<T>*>(a) + chunk * lines;
      auto* to = reinterpret_cast<Line<T>*>(out) + chunk * lines;
      for (int i = 0; i < lines; ++i) blocks::NativeWords::store_streaming(to + i, from[i]);
    }
    blocks::NativeWords::finish_streaming();
  }
}

template <class T>
void read(const Pass& on, const T* a, ChunkSum<T>* sums) {
  const std::int64_t chunks = on.size();
  const Elements<T> elements{a};
#pragma omp parallel for num_threads(on.threads) schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sums[chunk] = chunk_sum(elements.from(chunk * chunk_size<T>));
}

template <class T>
void dot(const Pass& on, const T* a, const T* b, T* sums) {
  const std::int64_t chunks = on.size();
  const Products<T> products{a, b};
#pragma omp parallel for num_threads(on.threads) schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sums[chunk] = chunk_sum(products.from(chunk * chunk_size<T>));
}

template <class T>
void write(const Pass& on, T* out) {
  const std::int64_t chunks = on.size(), first = on.rows.begin;
#pragma omp parallel num_threads(on.threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      auto* to = reinterpret_cast<Line<T>*>(out) + chunk * lines;
      Line<T> line;
      for (T& value : line.values) value = written<T>(first + chunk);
      for (int i = 0; i < lines; ++i) blocks::NativeWords::store_streaming(to + i, line);
    }
    blocks::NativeWords::finish_streaming();
  }
}

/// out = combine(a, b), element by element.
template <class T, class Combine>
void combine_lines(const Pass& on, const T* a, const T* b, T* out, const Combine& combine) {
  const std::int64_t chunks = on.size();
#pragma omp parallel num_threads(on.threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      auto* to = reinterpret_cast<Line<T>*>(out) + chunk * lines;
      for (int i = 0; i < lines; ++i) {
        const std::int64_t first = chunk * chunk_size<T> + i * Line<T>::size;
        Line<T> line;
        for (int k = 0; k < Line<T>::size; ++k) line.values[k] = combine(a[first + k], b[first + k]);
        blocks::NativeWords::store_streaming(to + i, line);
      }
    }
    blocks::NativeWords::finish_streaming();
  }
}

template <class T>
void add(const Pass& on, const T* a, const T* b, T* out) {
  combine_lines(on, a, b, out, Add());
}
template <class T>
void triad(const Pass& on, const T* a, const T* b, T* out) {
  combine_lines(on, a, b, out, Triad());
}

template <class T>
void multiply_add(const Pass& on, T* sums) {
  const auto factor = static_cast<T>(recurrence.factor), even = static_cast<T>(recurrence.even),
             odd = static_cast<T>(recurrence.odd);
  const int steps = recurrence.steps;
  const std::int64_t rows = on.size(), first = on.rows.begin;
#pragma omp parallel for num_threads(on.threads) schedule(static)
  for (std::int64_t row = 0; row < rows; row += host_rows<T>) {
    T x[host_rows<T> * chains];
    for (int k = 0; k < host_rows<T> * chains; ++k) x[k] = start<T>(first + row + k / chains, k % chains);
    advance_vectors(x, factor, even, odd, steps);
    for (int k = 0; k < host_rows<T> && row + k < rows; ++k) sums[row + k] = row_sum(x + k * chains);
  }
}

const BandwidthPass copied{"copy", model, {"a", "values"}, []<class T>(Of<T>) { return kernel("ceiling", copy<T>); }};
const BandwidthPass was_read{"read", model, {"a", "sums"}, []<class T>(Of<T>) { return kernel("ceiling", read<T>); }};
const BandwidthPass written_{"write", model, {"values"}, []<class T>(Of<T>) { return kernel("ceiling", write<T>); }};
const BandwidthPass added{"add", model, {"a", "b", "values"}, []<class T>(Of<T>) { return kernel("ceiling", add<T>); }};
const StreamPass triads{
    "triad", model, {"a", "b", "values"}, []<class T>(Of<T>) { return kernel("ceiling", triad<T>); }};
const StreamPass dots{"dot", model, {"a", "b", "sums"}, []<class T>(Of<T>) { return kernel("ceiling", dot<T>); }};
const RatePass multiplied{
    "multiply_add", model, {"sums"}, []<class T>(Of<T>) { return kernel("ceiling", multiply_add<T>); }};

}  // namespace
}  // namespace league::openmp::ceilings
