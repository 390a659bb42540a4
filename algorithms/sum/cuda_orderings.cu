// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/cuda_sum.hpp"
#include "algorithms/sum/parts.hpp"

// The kernel of `two_stage` between a copy in and a copy out, on the device's stream.
namespace league::cuda::sum {
namespace {

using league::sum::Ordering, league::sum::TransferArrayPart;

template <class T>
class CudaTransfer final : public TransferArrayPart<Array, T> {
 public:
  CudaTransfer(const Sum& problem, const Context& context, const Shard& shard)
      : TransferArrayPart<Array, T>(problem, context, shard, [&]<class V>(const char*, std::int64_t size) {
          return Array<V>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch launch) override { return launch_ = sum::configure(launch, this->chunks_); }
  void add() override {
    two_stage<T>(launch_, cuda::stream(this->queue()), this->chunks_, this->x_.data(), this->partials_.data());
  }

 private:
  Launch launch_;
};

template <Ordering ordering>
std::unique_ptr<Prepared> prepare(const Sum& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(
      problem.dtype, [&]<class T>() { return league::sum::transferred<CudaTransfer<T>>(problem, context, ordering); });
}

const Register<Sum> interleaved{"interleaved", cuda::model, prepare<Ordering::interleaved>};
const Register<Sum> two_phase{"two_phase", cuda::model, prepare<Ordering::two_phase>};
const Register<Sum> two_phase_sync{"two_phase_sync", cuda::model, prepare<Ordering::two_phase_sync>};

}  // namespace
}  // namespace league::cuda::sum
