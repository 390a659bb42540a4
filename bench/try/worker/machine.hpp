// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <span>
#include <string>

#include "backends/runtime.hpp"
#include "bench/try/worker/call.hpp"

namespace league::own {

/// Memory of a device, with a guard of bytes before and behind it.
class Block {
 public:
  using Bytes = std::span<std::uint8_t>;
  virtual ~Block() = default;
  [[nodiscard]] virtual void* data() const = 0;
  /// From byte `at` on.
  virtual void copy_from(std::span<const std::uint8_t> host, std::int64_t at) = 0;
  /// The bytes from `at` on; negative: of the guard before.
  virtual void copy_to(Bytes host, std::int64_t at) const = 0;
  virtual void poison() = 0;
  /// Of the first bytes (backends/host_memory.hpp); waits for the queue only.
  [[nodiscard]] virtual std::uint64_t digest(std::int64_t count) const = 0;
};

/// @tparam Array of a backend, of std::uint8_t
template <class Array>
class BlockOf final : public Block {
 public:
  /// `array` begins with the guard.
  BlockOf(Array array, std::int64_t guard) : array_(std::move(array)), guard_(guard) {}
  [[nodiscard]] void* data() const override { return array_.data() + guard_; }
  void copy_from(std::span<const std::uint8_t> host, std::int64_t at) override { array_.copy_from(host, guard_ + at); }
  void copy_to(Bytes host, std::int64_t at) const override { array_.copy_to(host, guard_ + at); }
  void poison() override { array_.poison(); }
  [[nodiscard]] std::uint64_t digest(std::int64_t count) const override { return array_.digest(guard_, count); }

 private:
  Array array_;
  std::int64_t guard_;
};

/// The runtime that a kernel is written for, on one device.
class Machine {
 public:
  virtual ~Machine() = default;
  /// `bytes`, with `guard` more before and behind them.
  [[nodiscard]] virtual std::unique_ptr<Block> allocate(const std::string& label, std::int64_t bytes,
                                                        std::int64_t guard) = 0;
  /// Calls the user's function on the queue. @throws std::runtime_error if a launch failed
  virtual void run(const Call& call) = 0;
  /// Waits for all work of the device, on whatever queue. @throws std::runtime_error if it failed
  virtual void wait() = 0;
};

/// Defined by cuda_machine.cu or kokkos_machine.cpp.
std::unique_ptr<Machine> make_machine(Runtime& runtime, Queue& queue);

}  // namespace league::own
