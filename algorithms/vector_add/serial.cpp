// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/split.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide.hpp"
#include "backends/host_array.hpp"

// One thread takes all elements, one after another.
namespace league {
namespace {

template <class T>
void add(std::int64_t n, const T* a, const T* b, T* sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

template <class T>
void add_wide(std::int64_t n, const T* a, const T* b, T* sum) {
  const std::int64_t packs = n / Pack<T>::size;
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a);
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b);
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum);
  for (std::int64_t i = 0; i < packs; ++i) packs_sum[i] = packs_a[i] + packs_b[i];
  for (std::int64_t i = packs * Pack<T>::size; i < n; ++i) sum[i] = a[i] + b[i];
}

template <class T>
void fill(std::int64_t n, std::int64_t first, T* index) {
  for (std::int64_t i = 0; i < n; ++i) index[i] = static_cast<T>(first + i);
}

enum class Kernel { plain, wide, fill };

template <class T, Kernel kernel>
class Serial final : public Part {
 public:
  Serial(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard), out_(queue(), rows().size()) {
    output(out_, 0);
    if constexpr (kernel != Kernel::fill) {
      a_ = {queue(), rows().size()};
      b_ = {queue(), rows().size()};
      input(a_, problem.a.values<T>(rows().begin, rows().end));
      input(b_, problem.b.values<T>(rows().begin, rows().end));
    }
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  void compute(Stages& stages) override {
    stages.stage(queue(), kernel == Kernel::fill ? "fill" : "add", [&] {
      if constexpr (kernel == Kernel::plain) add(rows().size(), a_.data(), b_.data(), out_.data());
      if constexpr (kernel == Kernel::wide) add_wide(rows().size(), a_.data(), b_.data(), out_.data());
      if constexpr (kernel == Kernel::fill) fill(rows().size(), rows().begin, out_.data());
    });
  }

 private:
  host::Array<T> out_, a_, b_;
};

template <Kernel kernel>
std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  problem.require_device_memory(context);
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return split<Serial<T, kernel>>(problem, context); });
}

const Register<VectorAdd> plain{"plain", serial::model, prepare<Kernel::plain>};
const Register<VectorAdd> wide{"wide", serial::model, prepare<Kernel::wide>};
const Register<VectorAdd> filled{"fill", serial::model, prepare<Kernel::fill>};

}  // namespace
}  // namespace league
