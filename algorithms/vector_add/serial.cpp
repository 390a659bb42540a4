// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/split.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/host_array.hpp"

// One thread takes all elements, one after another.
namespace league {
namespace {

template <class T>
void add(std::int64_t n, const T* a, const T* b, T* sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

template <class T>
void fill(std::int64_t n, std::int64_t first, T* index) {
  for (std::int64_t i = 0; i < n; ++i) index[i] = static_cast<T>(first + i);
}

template <class T>
class Serial final : public Part {
 public:
  Serial(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard), fill_(problem.fill), out_(queue(), rows().size()) {
    problem.require_device_memory();
    output(out_, 0);
    if (fill_) return;
    a_ = {queue(), rows().size()};
    b_ = {queue(), rows().size()};
    input(a_, problem.a.values<T>(rows().begin, rows().end));
    input(b_, problem.b.values<T>(rows().begin, rows().end));
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  void compute(Stages& stages) override {
    if (fill_)
      stages.stage(queue(), "fill", [&] { fill(rows().size(), rows().begin, out_.data()); });
    else
      stages.stage(queue(), "add", [&] { add(rows().size(), a_.data(), b_.data(), out_.data()); });
  }

 private:
  bool fill_;
  host::Array<T> out_, a_, b_;
};

std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() { return split<Serial<T>>(problem, context); });
}

const Register<VectorAdd> plain{"plain", serial::model, prepare};
const Register<VectorAdd> filled{"fill", serial::model, prepare};

}  // namespace
}  // namespace league
