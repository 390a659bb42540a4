// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

#include "algorithms/contract/registry.hpp"
#include "backends/communicator.hpp"

namespace league {

/// One collective of a `Communicator` on a message of `n` values per shard. A compute does it `repeats` times on
/// different values: shard s sends `x[s][r ... r + n)` in repeat r. The rows to be split are the shards themselves.
class Collectives final : public Problem {
 public:
  static constexpr const char* algorithm = "collectives";
  enum class Operation { all_reduce, reduce_scatter, all_gather, broadcast, exchange };

  /// `Making::problem` selects the operation. @throws std::invalid_argument naming the key and its limit
  explicit Collectives(const Making& making);
  /// Shards.
  [[nodiscard]] std::int64_t extent() const override { return shards; }
  /// Per repeat, the minimum bytes that a shard sends; divided by the time, the bus bandwidth of nccl-tests.
  [[nodiscard]] Cost cost() const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  /// `result` [shards x repeats x n]: each shard's buffer after each repeat; for a reduce-scatter only its own piece,
  /// the rest is 0.
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
  const std::int64_t n;  ///< values per message
  const int repeats;
  HostArray x{};  ///< [shards of this process x (n + repeats - 1)]

 private:
  template <class T>
  [[nodiscard]] Verdict judge(const Output& output) const;
  std::uint64_t seed_;
  Range local_{};  // shards
};

namespace collectives {

/// Names of the operations, in enum order.
inline constexpr std::array names{"all_reduce", "reduce_scatter", "all_gather", "broadcast", "exchange"};
inline const char* name(Collectives::Operation operation) { return names[static_cast<std::size_t>(operation)]; }

/// In an exchange the lower half of a message goes to the shard below on a ring, the upper half to the shard above. The
/// half received from below comes first.
struct Halves {
  explicit Halves(std::int64_t n) : lower(piece_of(n, 2, 0)), upper(piece_of(n, 2, 1)) {}
  Range lower, upper;  ///< of the message
  [[nodiscard]] Range from_below() const { return {0, upper.size()}; }
  [[nodiscard]] Range from_above() const { return {upper.size(), upper.size() + lower.size()}; }
};
/// Neighbours on the ring.
inline int below(int shard, int shards) { return (shard + shards - 1) % shards; }
inline int above(int shard, int shards) { return (shard + 1) % shards; }

}  // namespace collectives
}  // namespace league
