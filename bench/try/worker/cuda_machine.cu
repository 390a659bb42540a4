// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/cuda.hpp"
#include "bench/try/worker/machine.hpp"

namespace league::own {
namespace {

class CudaMachine final : public Machine {
 public:
  explicit CudaMachine(Queue& queue) : queue_(queue) {}
  [[nodiscard]] std::unique_ptr<Block> allocate(const std::string& /*label*/, std::int64_t bytes,
                                                std::int64_t guard) override {
    using Array = cuda::Array<std::uint8_t>;
    return std::make_unique<BlockOf<Array>>(Array(queue_, bytes + 2 * guard), guard);
  }
  void run(const Call& call) override {
    const cudaStream_t stream = cuda::stream(queue_);
    own::run(call, &stream);
    cuda::check_launch();
  }
  void wait() override { cuda::check(cudaDeviceSynchronize()); }

 private:
  Queue& queue_;
};

}  // namespace

std::unique_ptr<Machine> make_machine(Runtime& /*runtime*/, Queue& queue) {
  return std::make_unique<CudaMachine>(queue);
}

}  // namespace league::own
