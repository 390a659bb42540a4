// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_transform.cuh>

#include "algorithms/split.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/cuda/cuda.hpp"

// The library's elementwise transform: it chooses the mapping (on sm_90, bulk copies into shared memory).
namespace league {
namespace {

template <class T>
struct Sum {
  __device__ T operator()(T a, T b) const { return a + b; }
};

template <class T>
class Cub final : public Part {
 public:
  Cub(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard), sum_(queue(), rows().size()), a_(queue(), rows().size()), b_(queue(), rows().size()) {
    output(sum_, 0);
    input(a_, problem.a.values<T>(rows().begin, rows().end));
    input(b_, problem.b.values<T>(rows().begin, rows().end));
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("CUB chooses its own launch");
    return {};
  }
  void compute(Stages& stages) override {
    const cudaStream_t stream = cuda::stream(queue());
    stages.stage(queue(), "add", [&] {
      cuda::check(cub::DeviceTransform::Transform(::cuda::std::make_tuple(a_.data(), b_.data()), sum_.data(),
                                                  rows().size(), Sum<T>{}, stream));
    });
  }

 private:
  cuda::Array<T> sum_, a_, b_;
};

std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  problem.require_device_memory(context);
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return split<Cub<T>>(problem, context); });
}

const Register<VectorAdd> transform{"transform", cuda::library("cub"), prepare};

}  // namespace
}  // namespace league
