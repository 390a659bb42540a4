// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_reduce.cuh>

#include "algorithms/sum/parts.hpp"
#include "backends/cuda/cuda.hpp"

// The library's reduction: it chooses the mapping, and adds in the type of the sum. Sums of several devices are reduced
// by it too.
namespace league::cuda::sum {
namespace {

using namespace league::sum;

template <class T>
class Cub final : public ArrayPart<Array, T> {
 public:
  Cub(const Sum& problem, const Context& context, const Shard& shard)
      : ArrayPart<Array, T>(problem, context, shard, Partials::a_shard, [&]<class V>(const char*, std::int64_t size) {
          return Array<V>(context.runtime.queue(shard.device), size);
        }) {
    std::size_t bytes = 0, bytes_to_finish = 0;
    reduce(nullptr, bytes, this->x_.data(), this->target(), this->chunks_.size);
    reduce(nullptr, bytes_to_finish, this->partials_.data(), this->sum_.data(), this->all_);
    temporary_ = Array<std::uint8_t>(this->queue(), static_cast<std::int64_t>(std::max(bytes, bytes_to_finish)));
  }
  void bind(Outputs& outputs) override { outputs.at(0).form = Sum::any_order; }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("CUB chooses its own launch");
    return {};
  }
  void accumulate() override { reduce(this->x_.data(), this->target(), this->chunks_.size); }
  void finish() override { reduce(this->partials_.data(), this->sum_.data(), this->all_); }

 private:
  template <class V>
  void reduce(const V* values, Total<V>* sum, std::int64_t count) {
    std::size_t bytes = static_cast<std::size_t>(temporary_.size());
    reduce(temporary_.data(), bytes, values, sum, count);
  }
  template <class V>
  void reduce(void* temporary, std::size_t& bytes, const V* values, Total<V>* sum, std::int64_t count) {
    check(cub::DeviceReduce::Sum(temporary, bytes, values, sum, count, stream(this->queue())));
  }
  Array<std::uint8_t> temporary_;
};

std::unique_ptr<Prepared> prepare(const Sum& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return gathered<Cub<T>>(problem, context); });
}

const Register<Sum> variant{"reduce", cuda::library("cub"), prepare};

}  // namespace
}  // namespace league::cuda::sum
