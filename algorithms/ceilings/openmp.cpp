// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/blocks/pack.hpp"
#include "algorithms/ceilings/part.hpp"
#include "backends/host_array.hpp"

// A thread takes one block of consecutive chunks, cache line by cache line; for multiply_add, as many rows at a time as
// keep its vector units busy.
namespace league::ceilings {
namespace {

template <class T>
using Line = blocks::Pack<T, 64>;
constexpr int lines = chunk_bytes / 64;  // of a chunk

template <class T>
void copy(int threads, std::int64_t chunks, const T* a, T* out) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const auto* from = reinterpret_cast<const Line<T>*>(a) + chunk * lines;
      auto* to = reinterpret_cast<Line<T>*>(out) + chunk * lines;
      for (int i = 0; i < lines; ++i) blocks::store_streaming(to + i, from[i]);
    }
    blocks::finish_streaming();
  }
}

template <class T>
void read(int threads, std::int64_t chunks, const T* a, T* sums) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sums[chunk] = chunk_sum(a + chunk * chunk_size<T>);
}

template <class T>
void write(int threads, std::int64_t chunks, std::int64_t first, T* out) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      auto* to = reinterpret_cast<Line<T>*>(out) + chunk * lines;
      Line<T> line;
      for (T& value : line.values) value = written<T>(first + chunk);
      for (int i = 0; i < lines; ++i) blocks::store_streaming(to + i, line);
    }
    blocks::finish_streaming();
  }
}

template <class T>
void add(int threads, std::int64_t chunks, const T* a, const T* b, T* out) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      auto* to = reinterpret_cast<Line<T>*>(out) + chunk * lines;
      for (int i = 0; i < lines; ++i) {
        const std::int64_t first = chunk * chunk_size<T> + i * Line<T>::size;
        Line<T> line;
        for (int k = 0; k < Line<T>::size; ++k) line.values[k] = a[first + k] + b[first + k];
        blocks::store_streaming(to + i, line);
      }
    }
    blocks::finish_streaming();
  }
}

template <class T>
void multiply_add(int threads, std::int64_t rows, std::int64_t first, T factor, T even, T odd, int steps, T* sums) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t row = 0; row < rows; row += host_rows<T>) {
    T x[host_rows<T> * chains];
    for (int k = 0; k < host_rows<T> * chains; ++k) x[k] = start<T>(first + row + k / chains, k % chains);
    advance_vectors(x, factor, even, odd, steps);
    for (int k = 0; k < host_rows<T> && row + k < rows; ++k) sums[row + k] = row_sum(x + k * chains);
  }
}

template <class T>
class OpenMp final : public CeilingPart<host::Array<T>> {
 public:
  OpenMp(const Ceilings& problem, const Context& context, const Shard& shard)
      : CeilingPart<host::Array<T>>(problem, context, shard, [&](const char*, std::int64_t size) {
          return host::Array<T>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    return {threads_, 1, 1};
  }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "ceiling",
                 [this] { launch(this->rows().size(), this->rows().begin, this->out_.data()); });
  }

 private:
  void launch(std::int64_t rows, std::int64_t first, T* out) {
    const T *a = this->a_.data(), *b = this->b_.data();
    switch (this->kernel_) {
      case Kernel::copy:
        return copy(threads_, rows, a, out);
      case Kernel::read:
        return read(threads_, rows, a, out);
      case Kernel::write:
        return write(threads_, rows, first, out);
      case Kernel::add:
        return add(threads_, rows, a, b, out);
      case Kernel::multiply_add:
        return multiply_add(threads_, rows, first, this->factor_, this->even_, this->odd_, this->steps_, out);
      case Kernel::tensor:  // CUDA only
        return;
    }
  }
  int threads_ = 1;
};

std::unique_ptr<Prepared> prepare(const Ceilings& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return split<OpenMp<T>>(problem, context); });
}

const RegisterAll variants{openmp::model, prepare};

}  // namespace
}  // namespace league::ceilings
