// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/split.hpp"
#include "algorithms/vector_add/kokkos_add.hpp"
#include "algorithms/vector_add/kokkos_memory.hpp"
#include "algorithms/vector_add/vector_add.hpp"

namespace league::kokkos::vector_add {
namespace {

template <class T, Kernel kernel>
class Portable final : public Part {
 public:
  Portable(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard),
        exec_(instance(context.runtime, queue())),
        sum_(exec_, "vector_add/sum", rows().size()),
        a_(exec_, "vector_add/a", rows().size()),
        b_(exec_, "vector_add/b", rows().size()) {
    output(sum_, 0);
    input(a_, problem.a.values<T>(rows().begin, rows().end));
    input(b_, problem.b.values<T>(rows().begin, rows().end));
  }
  Launch configure(Launch launch) override {
    return launch_ = vector_add::configure<T, kernel>(launch, queue(), rows().size());
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), "add", [&] { add<T, kernel>(exec_, launch_, a_.view(), b_.view(), sum_.view()); });
  }

 private:
  Exec exec_;
  Launch launch_;
  Array<T> sum_, a_, b_;
};

template <class T>
class PortableFill final : public Part {
 public:
  PortableFill(const VectorAdd&, const Context& context, const Shard& shard)
      : Part(context, shard),
        exec_(instance(context.runtime, queue())),
        index_(exec_, "vector_add/index", rows().size()) {
    output(index_, 0);
  }
  Launch configure(Launch launch) override {
    return launch_ = vector_add::configure<T, Kernel::fill>(launch, queue(), rows().size());
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), "fill", [&] { fill_index<T>(exec_, launch_, rows().begin, index_.view()); });
  }

 private:
  Exec exec_;
  Launch launch_;
  Array<T> index_;
};

template <Kernel kernel>
std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  if (problem.fill || problem.memory == VectorAdd::Memory::device) problem.require_device_memory(context);
  return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() -> std::unique_ptr<Prepared> {
    if constexpr (kernel == Kernel::fill)
      return split<PortableFill<T>>(problem, context);
    else if (problem.memory == VectorAdd::Memory::device)
      return split<Portable<T, kernel>>(problem, context);
    else if (problem.memory == VectorAdd::Memory::streamed)
      return split<Streamed<T, kernel>>(problem, context);
    else
      return split<Unified<T, kernel>>(problem, context);
  });
}

const Register<VectorAdd> plain{"plain", kokkos::model, prepare<Kernel::plain>};
const Register<VectorAdd> wide{"wide", kokkos::model, prepare<Kernel::wide>};
const Register<VectorAdd> filled{"fill", kokkos::model, prepare<Kernel::fill>};

}  // namespace
}  // namespace league::kokkos::vector_add
