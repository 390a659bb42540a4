// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/split.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide.hpp"
#include "backends/host_array.hpp"

// A thread takes one block of consecutive elements; its vector lanes take neighbours.
namespace league {
namespace {

template <class T>
void add_plain(int threads, std::int64_t n, const T* a, const T* b, T* sum) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

template <class T>
void add_wide(int threads, std::int64_t n, const T* a, const T* b, T* sum) {
  constexpr std::int64_t block = 4096;  // elements: a whole number of lines
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t first = 0; first < n; first += block) add_lines(first, std::min(first + block, n), a, b, sum);
    blocks::finish_streaming();
  }
}

template <class T>
void fill(int threads, std::int64_t n, std::int64_t first, T* index) {
#pragma omp parallel for simd num_threads(threads) schedule(simd : static)
  for (std::int64_t i = 0; i < n; ++i) index[i] = static_cast<T>(first + i);
}

enum class Kernel { plain, wide, fill };

template <class T, Kernel kernel>
class OpenMp final : public Part {
 public:
  OpenMp(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard), out_(queue(), rows().size()) {
    output(out_, 0);
    if constexpr (kernel != Kernel::fill) {
      a_ = {queue(), rows().size()};
      b_ = {queue(), rows().size()};
      input(a_, problem.a.values<T>(rows().begin, rows().end));
      input(b_, problem.b.values<T>(rows().begin, rows().end));
    }
  }
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(queue(), launch);
    return {threads_, 1, 1};
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), kernel == Kernel::fill ? "fill" : "add", [&] {
      if constexpr (kernel == Kernel::plain) add_plain(threads_, rows().size(), a_.data(), b_.data(), out_.data());
      if constexpr (kernel == Kernel::wide) add_wide(threads_, rows().size(), a_.data(), b_.data(), out_.data());
      if constexpr (kernel == Kernel::fill) fill(threads_, rows().size(), rows().begin, out_.data());
    });
  }

 private:
  int threads_ = 1;
  host::Array<T> out_, a_, b_;
};

template <Kernel kernel>
std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  problem.require_device_memory(context);
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return split<OpenMp<T, kernel>>(problem, context); });
}

const Register<VectorAdd> plain{"plain", openmp::model, prepare<Kernel::plain>};
const Register<VectorAdd> wide{"wide", openmp::model, prepare<Kernel::wide>};
const Register<VectorAdd> filled{"fill", openmp::model, prepare<Kernel::fill>};

}  // namespace
}  // namespace league
