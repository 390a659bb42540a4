// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <limits>
#include <thread>

#include "backends/mpi/calls.hpp"
#include "backends/ranks.hpp"

namespace league::mpi {

/// Tells whether the other ranks are alive: each sends rank 0 a message every second, from a thread of its own, and
/// rank 0 answers. Whoever hears nothing for half a minute, as of a process that was stopped, ends the run: a long
/// computation on the main thread is no silence.
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

/// Ranks joined by MPI. Messages go through memory of their own: where a step fails, what MPI still writes to is kept.
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
  /// Values of `step_`: there is none that another could leave, and there will be none.
  static constexpr int between_steps = std::numeric_limits<int>::max(), finished = -1;
  [[nodiscard]] bool another_failed();
  /// Tells the others that this rank leaves the step.
  void notify();
  /// Until all are done. @throws RankFailed, and keeps `buffers`, which MPI may still use
  void wait(std::vector<Request*> requests, std::vector<Bytes>& buffers);

  const Calls& calls_;
  Group *everyone_, *control_, *step_group_;
  int step_ = 0;          ///< that this rank is in
  int failed_step_ = -1;  ///< the last one that another has left
  std::vector<std::string> hosts_;
  std::vector<std::vector<Bytes>> abandoned_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace league::mpi
