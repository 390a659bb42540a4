// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <vector>

#include "backends/communicator.hpp"
#include "backends/ranks.hpp"

namespace league::mpi {

/// The operations of a `Communicator` over ranks, on host buffers of this rank's shards. All ranks have equally many
/// shards.
class Collectives {
 public:
  /// @throws Unsupported if the shards of the world are not those of the ranks
  Collectives(Ranks& ranks, const Partition& world);

  [[nodiscard]] std::size_t local() const { return static_cast<std::size_t>(local_); }
  void all_reduce(std::span<const Buffer> buffers, Order order) const;
  void reduce_scatter(std::span<const Buffer> buffers) const;  ///< in the order of the shards
  void all_gather(std::span<const Buffer> buffers) const;
  void gather(std::span<const Buffer> pieces, const Buffer& whole) const;
  void broadcast(std::span<const Buffer> buffers) const;
  void exchange(std::span<const Transfer> transfers) const;
  [[nodiscard]] bool is_local(int shard) const { return shard / local_ == ranks_.place().rank; }

 private:
  /// Per rank, the contiguous pieces of its shards.
  [[nodiscard]] std::vector<Range> pieces_of_ranks(std::int64_t size) const;
  /// Sends all shards' values of `pieces[r]` to rank r, and returns the sums in shard order.
  [[nodiscard]] std::vector<std::byte> sums_of_pieces(std::span<const Buffer> buffers,
                                                      std::span<const Range> pieces) const;
  void all_gather_pieces(std::span<const std::byte> mine, std::span<const Range> pieces,
                         std::span<const Buffer> buffers) const;
  Ranks& ranks_;
  int local_;
};

}  // namespace league::mpi
