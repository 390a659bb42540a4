// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/kokkos.hpp"
#include "bench/try/worker/machine.hpp"

namespace league::own {
namespace {

class KokkosMachine final : public Machine {
 public:
  KokkosMachine(Runtime& runtime, Queue& queue) : exec_(kokkos::instance(runtime, queue)) {}
  [[nodiscard]] std::unique_ptr<Block> allocate(const std::string& label, std::int64_t bytes,
                                                std::int64_t guard) override {
    using Array = kokkos::Array<std::uint8_t>;
    return std::make_unique<BlockOf<Array>>(Array(exec_, label, bytes + 2 * guard), guard);
  }
  void run(const Call& call) override { own::run(call, &exec_); }
  void wait() override { Kokkos::fence("league try"); }

 private:
  const kokkos::Exec& exec_;
};

}  // namespace

std::unique_ptr<Machine> make_machine(Runtime& runtime, Queue& queue) {
  return std::make_unique<KokkosMachine>(runtime, queue);
}

}  // namespace league::own
