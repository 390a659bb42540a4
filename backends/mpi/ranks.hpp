// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <limits>
#include <thread>

#include "backends/mpi/calls.hpp"
#include "backends/ranks.hpp"

namespace league::mpi {

/// Heartbeat between ranks: each sends rank 0 a message every second, from a separate thread, and rank 0 answers. A
/// rank that receives nothing for half a minute ends the run. Long computations on the main thread do not matter.
class Heartbeat {
 public:
  static constexpr double limit_s = 30;

  Heartbeat(const Calls& calls, Group* group, std::vector<std::string> hosts, int rank);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();

  const Calls& calls_;
  Group* group_;
  std::vector<std::string> hosts_;
  int rank_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// Ranks over MPI. Messages use their own buffers: if a step fails, those that MPI may still write are kept.
class MpiRanks final : public Ranks {
 public:
  MpiRanks(const Calls& calls, const World& world, Place place);
  ~MpiRanks() override;

  void barrier() override;
  void broadcast(std::span<std::byte> bytes, int from) override;
  void all_reduce(void* data, std::int64_t size, Dtype type) override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                  std::span<const std::int64_t> lengths) override;
  void all_to_all(std::span<const std::byte> out, std::span<const std::int64_t> out_lengths, std::span<std::byte> in,
                  std::span<const std::int64_t> in_lengths) override;
  void exchange(std::span<const Message> out, std::span<const Message> in) override;
  void check() override;
  std::vector<std::string> agree(std::string mine, End end) override;
  [[noreturn]] void abort(int exit_code) override;
  void finish() override;

 private:
  using Bytes = std::vector<std::byte>;
  /// Values of `step_`: between two steps; after the last step.
  static constexpr int between_steps = std::numeric_limits<int>::max(), finished = -1;
  [[nodiscard]] bool another_failed();
  /// Notifies the others that this rank leaves the step.
  void notify();
  /// Waits for all. @throws RankFailed, and keeps `buffers`, which MPI may still use
  void wait(std::vector<Request*> requests, std::vector<Bytes>& buffers);

  const Calls& calls_;
  Group *everyone_, *control_, *step_group_;
  int step_ = 0;          ///< current step of this rank
  int failed_step_ = -1;  ///< the last step that another rank has left
  std::vector<std::string> hosts_;
  std::vector<std::vector<Bytes>> abandoned_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace league::mpi
