// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends/array.hpp"

namespace league {

/// Another rank has left the current step: no communication succeeds until the next `agree`.
class RankFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The ranks of a run: processes that make the same calls here in the same order, all from one thread. Without a
/// launcher: rank 0 of 1, and every call is the identity.
///
/// A run is a sequence of steps, each of which ends with `agree`. A rank whose step fails calls it early; then the
/// others throw RankFailed wherever they wait in the step, and call `agree` too.
class Ranks {
 public:
  struct Place {
    int rank = 0, size = 1;
    int local_rank = 0, local_size = 1;  ///< among those of the same host
    std::string host{};
    std::string library{};  ///< that connects the ranks: name and version; empty for one rank
    [[nodiscard]] bool leads() const { return rank == 0; }
    [[nodiscard]] bool alone() const { return size == 1; }
  };
  /// Bytes to or from another rank.
  struct Message {
    int peer;
    std::span<std::byte> bytes;
  };

  explicit Ranks(Place place) : place_(std::move(place)) {}
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  [[nodiscard]] const Place& place() const { return place_; }

  // Within a step. @throws RankFailed
  virtual void barrier() {}
  /// Copies rank `from`'s bytes to all.
  virtual void broadcast(std::span<std::byte> /*bytes*/, int /*from*/) {}
  /// Elementwise sum in MPI's order: f32, f64, i32, i64.
  virtual void all_reduce(void* /*data*/, std::int64_t /*size*/, Dtype) {}
  /// Concatenates every rank's bytes into `all`; lengths may differ. `lengths`: of all ranks.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                          std::span<const std::int64_t> lengths);
  /// Sends part [k] of `out` to rank k, and receives from rank k into part [k] of `in`; with the lengths of the parts.
  virtual void all_to_all(std::span<const std::byte> out, std::span<const std::int64_t> out_lengths,
                          std::span<std::byte> in, std::span<const std::int64_t> in_lengths);
  /// Sends and receives all messages; between two ranks, in this order.
  virtual void exchange(std::span<const Message> /*out*/, std::span<const Message> /*in*/) {}
  /// Throws if another rank has left the step: for loops that wait for a device.
  virtual void check() {}

  /// How a rank ends a step: `failed` by its own error, upon which the others leave the step at once; `left` by
  /// RankFailed.
  enum class End : char { well = 'w', failed = 'f', left = 'l' };
  /// Ends the step: gathers every rank's text, in rank order.
  virtual std::vector<std::string> agree(std::string mine, End end = End::well);
  /// The last call of all ranks; a rank that ends without it aborts all.
  virtual void finish() {}
  /// Work left on the devices by a step that ended differently may wait for other ranks forever: `abandon` is called
  /// before the next wait for the devices, and aborts that work. Kept for the lifetime of the ranks.
  void on_failure(std::function<void()> abandon) { abandon_.push_back(std::move(abandon)); }

  /// Ends all ranks at once.
  [[noreturn]] virtual void abort(int exit_code);

  /// Whether the last step ended by an exception of any rank.
  [[nodiscard]] bool step_failed() const { return step_failed_; }
  /// Number of steps that ranks have ended differently: operations between their devices started before may never
  /// complete.
  [[nodiscard]] int breaks() const { return breaks_; }

  /// Every rank's text, in rank order; within a step.
  [[nodiscard]] std::vector<std::string> texts(const std::string& mine);
  /// Every rank's value, in rank order; within a step.
  template <class T>
  [[nodiscard]] std::vector<T> values(const T& mine) {
    std::vector<T> all(static_cast<std::size_t>(place_.size));
    const std::vector<std::int64_t> lengths(all.size(), sizeof(T));
    all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)), lengths);
    return all;
  }

 protected:
  void end_step(bool failed, bool alike) {
    step_failed_ = failed;
    if (alike) return;
    breaks_ += 1;
    for (const auto& abandon : abandon_) abandon();
  }

 private:
  Place place_;
  bool step_failed_ = false;
  int breaks_ = 0;
  std::vector<std::function<void()>> abandon_;
};

/// The ranks of this run. MPI is started if a launcher (mpirun, srun) has started this process, or if `forced`.
/// @throws Unsupported if the launcher started several ranks but MPI is not available
std::unique_ptr<Ranks> start_ranks(bool forced);

}  // namespace league
