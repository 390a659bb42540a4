// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/split.hpp"
#include "algorithms/vector_add/cuda_add.hpp"
#include "algorithms/vector_add/cuda_memory.hpp"
#include "algorithms/vector_add/vector_add.hpp"

namespace league::cuda::vector_add {
namespace {

template <class T, Kernel kernel>
class Cuda final : public Part {
 public:
  Cuda(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard), sum_(queue(), rows().size()), a_(queue(), rows().size()), b_(queue(), rows().size()) {
    output(sum_, 0);
    input(a_, problem.a.values<T>(rows().begin, rows().end));
    input(b_, problem.b.values<T>(rows().begin, rows().end));
  }
  Launch configure(Launch launch) override { return launch_ = vector_add::configure<T, kernel>(launch, rows().size()); }
  void compute(Stages& stages) override {
    stages.stage(queue(), "add",
                 [&] { add<T, kernel>(launch_, stream(queue()), rows().size(), a_.data(), b_.data(), sum_.data()); });
  }

 private:
  Launch launch_;
  Array<T> sum_, a_, b_;
};

template <class T>
class CudaFill final : public Part {
 public:
  CudaFill(const VectorAdd&, const Context& context, const Shard& shard)
      : Part(context, shard), index_(queue(), rows().size()) {
    output(index_, 0);
  }
  Launch configure(Launch launch) override {
    return launch_ = vector_add::configure<T, Kernel::fill>(launch, rows().size());
  }
  void compute(Stages& stages) override {
    const dim3 block(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
    stages.stage(queue(), "fill", [&] {
      fill_index<<<static_cast<unsigned>(launch_.league), block, 0, stream(queue())>>>(rows().size(), rows().begin,
                                                                                       index_.data());
      check_launch();
    });
  }

 private:
  Launch launch_;
  Array<T> index_;
};

template <Kernel kernel>
std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  if (problem.fill || problem.memory == VectorAdd::Memory::device) problem.require_device_memory(context);
  return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() -> std::unique_ptr<Prepared> {
    if constexpr (kernel == Kernel::fill)
      return split<CudaFill<T>>(problem, context);
    else if (problem.memory == VectorAdd::Memory::device)
      return split<Cuda<T, kernel>>(problem, context);
    else if (problem.memory == VectorAdd::Memory::streamed)
      return split<Streamed<T, kernel>>(problem, context);
    else
      return split<Unified<T, kernel>>(problem, context);
  });
}

const Register<VectorAdd> plain{"plain", cuda::model, prepare<Kernel::plain>};
const Register<VectorAdd> wide{"wide", cuda::model, prepare<Kernel::wide>};
const Register<VectorAdd> filled{"fill", cuda::model, prepare<Kernel::fill>};

}  // namespace
}  // namespace league::cuda::vector_add
