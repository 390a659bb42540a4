// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

#include "algorithms/contract/registry.hpp"
#include "backends/communicator.hpp"

namespace league {

/// One collective of a `Communicator` on a message of `n` values a shard. A compute does it `repeats` times, each time
/// on other values: shard s sends `x[s][r ... r + n)` in repeat r. The rows that are split are the shards themselves.
class Collectives final : public Problem {
 public:
  static constexpr const char* algorithm = "collectives";
  enum class Operation { all_reduce, reduce_scatter, all_gather, broadcast, exchange };

  /// Which operation: the problem of the method. @throws std::invalid_argument naming the key and its limit
  explicit Collectives(const Making& making);
  /// Shards.
  [[nodiscard]] std::int64_t extent() const override { return shards; }
  /// Of one repeat, the bytes that a shard sends at least: over the time, they are the bus bandwidth of nccl-tests.
  [[nodiscard]] Cost cost() const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  /// `result` [shards x repeats x n]: what each shard has after each repeat; of a reduce-scatter its own piece, all
  /// else of which is 0.
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override { return {{"x", x, local_}}; }
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  [[nodiscard]] bool adds() const { return operation <= Operation::reduce_scatter; }
  /// The values of a shard of this process for all repeats.
  template <class T>
  [[nodiscard]] std::span<const T> sent_by(int shard) const {
    return x.values<T>(shard - local_.begin, shard - local_.begin + 1);
  }

  const Operation operation;
  const Order order;
  const int shards;
  const std::int64_t n;  ///< values of a message
  const int repeats;
  HostArray x{};  ///< [shards of this process x (n + repeats - 1)]

 private:
  template <class T>
  [[nodiscard]] Verdict judge(const Output& output) const;
  std::uint64_t seed_;
  Range local_{};  // shards
};

namespace collectives {

/// Of the operations, in their order.
inline constexpr std::array names{"all_reduce", "reduce_scatter", "all_gather", "broadcast", "exchange"};
inline const char* name(Collectives::Operation operation) { return names[static_cast<std::size_t>(operation)]; }

/// In an exchange both halves of a message travel on a ring, the lower one to the shard below, the upper one to the
/// shard above. What comes from below lies first.
struct Halves {
  explicit Halves(std::int64_t n) : lower(piece_of(n, 2, 0)), upper(piece_of(n, 2, 1)) {}
  Range lower, upper;  ///< of what is sent
  [[nodiscard]] Range from_below() const { return {0, upper.size()}; }
  [[nodiscard]] Range from_above() const { return {upper.size(), upper.size() + lower.size()}; }
};
/// Neighbours on the ring.
inline int below(int shard, int shards) { return (shard + shards - 1) % shards; }
inline int above(int shard, int shards) { return (shard + 1) % shards; }

}  // namespace collectives
}  // namespace league
