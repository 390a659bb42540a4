// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/ceilings/passes.hpp"
#include "backends/host_pass.hpp"

// One thread takes all elements, one after another, in plain loops.
namespace league::serial::ceilings {
namespace {

using namespace league::ceilings;

template <class T>
void copy(const Pass& on, const T* a, T* out) {
  const std::int64_t n = on.size() * chunk_size<T>;
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i];
}

template <class T>
void read(const Pass& on, const T* a, ChunkSum<T>* sums) {
  const std::int64_t chunks = on.size();
  const Elements<T> elements{a};
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sums[chunk] = chunk_sum(elements.from(chunk * chunk_size<T>));
}

template <class T>
void dot(const Pass& on, const T* a, const T* b, T* sums) {
  const std::int64_t chunks = on.size();
  const Products<T> products{a, b};
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sums[chunk] = chunk_sum(products.from(chunk * chunk_size<T>));
}

template <class T>
void write(const Pass& on, T* out) {
  const std::int64_t chunks = on.size(), first = on.rows.begin;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (int i = 0; i < chunk_size<T>; ++i) out[chunk * chunk_size<T> + i] = written<T>(first + chunk);
}

template <class T>
void add(const Pass& on, const T* a, const T* b, T* out) {
  const std::int64_t n = on.size() * chunk_size<T>;
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(a[i] + b[i]);
}

template <class T>
void triad(const Pass& on, const T* a, const T* b, T* out) {
  const std::int64_t n = on.size() * chunk_size<T>;
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + triad_factor * b[i];
}

template <class T>
void multiply_add(const Pass& on, T* sums) {
  const auto factor = static_cast<T>(recurrence.factor), even = static_cast<T>(recurrence.even),
             odd = static_cast<T>(recurrence.odd);
  const int steps = recurrence.steps;
  const std::int64_t rows = on.size(), first = on.rows.begin;
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
}  // namespace league::serial::ceilings
