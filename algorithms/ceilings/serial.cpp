// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/ceilings/part.hpp"
#include "backends/host_array.hpp"

// One thread takes all elements, one after another: what plain loops reach.
namespace league::ceilings {
namespace {

template <class T>
void copy(std::int64_t n, const T* a, T* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i];
}

template <class T>
void read(std::int64_t chunks, const T* a, T* sums) {
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sums[chunk] = chunk_sum(a + chunk * chunk_size<T>);
}

template <class T>
void write(std::int64_t chunks, std::int64_t first, T* out) {
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (int i = 0; i < chunk_size<T>; ++i) out[chunk * chunk_size<T> + i] = written<T>(first + chunk);
}

template <class T>
void add(std::int64_t n, const T* a, const T* b, T* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

template <class T>
void multiply_add(std::int64_t rows, std::int64_t first, T factor, T even, T odd, int steps, T* sums) {
  for (std::int64_t row = 0; row < rows; row += host_rows<T>) {
    T x[host_rows<T> * chains];
    for (int k = 0; k < host_rows<T> * chains; ++k) x[k] = start<T>(first + row + k / chains, k % chains);
    advance_vectors(x, factor, even, odd, steps);
    for (int k = 0; k < host_rows<T> && row + k < rows; ++k) sums[row + k] = row_sum(x + k * chains);
  }
}

template <class T>
class Serial final : public CeilingPart<host::Array<T>> {
 public:
  Serial(const Ceilings& problem, const Context& context, const Shard& shard)
      : CeilingPart<host::Array<T>>(problem, context, shard, [&](const char*, std::int64_t size) {
          return host::Array<T>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "ceiling",
                 [this] { launch(this->rows().size(), this->rows().begin, this->out_.data()); });
  }

 private:
  void launch(std::int64_t rows, std::int64_t first, T* out) {
    const T *a = this->a_.data(), *b = this->b_.data();
    switch (this->kernel_) {
      case Kernel::copy:
        return copy(rows * chunk_size<T>, a, out);
      case Kernel::read:
        return read(rows, a, out);
      case Kernel::write:
        return write(rows, first, out);
      case Kernel::add:
        return add(rows * chunk_size<T>, a, b, out);
      case Kernel::multiply_add:
        return multiply_add(rows, first, this->factor_, this->even_, this->odd_, this->steps_, out);
      case Kernel::tensor:  // CUDA only
        return;
    }
  }
};

std::unique_ptr<Prepared> prepare(const Ceilings& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return split<Serial<T>>(problem, context); });
}

const RegisterAll variants{serial::model, prepare};

}  // namespace
}  // namespace league::ceilings
