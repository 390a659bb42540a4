// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/mpi/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/host_collectives.hpp"

namespace league::mpi {
namespace {

std::span<std::byte> bytes_of(const Buffer& buffer, Range values) {
  const auto unit = static_cast<std::int64_t>(size_bytes(buffer.type));
  return {static_cast<std::byte*>(buffer.data) + values.begin * unit, static_cast<std::size_t>(values.size() * unit)};
}
std::span<std::byte> bytes_of(const Buffer& buffer) { return bytes_of(buffer, {0, buffer.size}); }

void append(std::vector<std::byte>& all, std::span<const std::byte> bytes) {
  all.insert(all.end(), bytes.begin(), bytes.end());
}

/// Copies the same values to all buffers.
void put(std::span<const std::byte> values, std::span<const Buffer> buffers) {
  for (const Buffer& buffer : buffers) std::ranges::copy(values, static_cast<std::byte*>(buffer.data));
}

/// Adds consecutive rows, in order, into the first.
void add_rows(std::span<std::byte> rows, std::int64_t size, Dtype type) {
  std::vector<Buffer> all;
  const std::int64_t row_bytes = size * static_cast<std::int64_t>(size_bytes(type));
  for (std::int64_t at = 0; at < std::ssize(rows); at += row_bytes) all.push_back({rows.data() + at, size, type});
  if (!all.empty()) host::all_reduce(all);
}

}  // namespace

Collectives::Collectives(Ranks& ranks, const Partition& world) : ranks_(ranks), local_(world.local) {
  if (world.local * ranks.place().size != static_cast<int>(world.rows.size()))
    throw Unsupported(std::to_string(world.rows.size()) + " shards are not those of " +
                      std::to_string(ranks.place().size) + " ranks with " + std::to_string(world.local) + " each");
}

void Collectives::all_reduce(std::span<const Buffer> buffers, Order order) const {
  const Buffer& first = buffers.front();
  if (first.size == 0) return;
  if (order == Order::any) {  // the shards of a rank, then the ranks
    host::all_reduce(buffers);
    ranks_.all_reduce(first.data, first.size, first.type);
    return put(bytes_of(first), buffers.subspan(1));
  }
  const int ranks = ranks_.place().size;
  std::vector<Range> pieces;
  for (int rank = 0; rank < ranks; ++rank) pieces.push_back(piece_of(first.size, ranks, rank));
  all_gather_pieces(sums_of_pieces(buffers, pieces), pieces, buffers);
}

std::vector<Range> Collectives::pieces_of_ranks(std::int64_t size) const {
  const int shards = ranks_.place().size * local_;
  std::vector<Range> pieces;
  for (int rank = 0; rank < ranks_.place().size; ++rank)
    pieces.push_back(
        {piece_of(size, shards, rank * local_).begin, piece_of(size, shards, rank * local_ + local_ - 1).end});
  return pieces;
}

void Collectives::reduce_scatter(std::span<const Buffer> buffers) const {
  const Buffer& first = buffers.front();
  const int shards = ranks_.place().size * local_;
  const std::vector<Range> pieces = pieces_of_ranks(first.size);
  const std::vector<std::byte> sums = sums_of_pieces(buffers, pieces);
  const Range mine = pieces[static_cast<std::size_t>(ranks_.place().rank)];
  for (int i = 0; i < local_; ++i) {
    const Range piece = piece_of(first.size, shards, ranks_.place().rank * local_ + i);
    const auto unit = static_cast<std::int64_t>(size_bytes(first.type));
    std::copy_n(sums.begin() + (piece.begin - mine.begin) * unit, piece.size() * unit,
                bytes_of(buffers[static_cast<std::size_t>(i)], piece).begin());
  }
}

std::vector<std::byte> Collectives::sums_of_pieces(std::span<const Buffer> buffers,
                                                   std::span<const Range> pieces) const {
  const Buffer& first = buffers.front();
  const auto unit = static_cast<std::int64_t>(size_bytes(first.type));
  std::vector<std::byte> out;
  std::vector<std::int64_t> out_lengths;
  for (const Range piece : pieces) {
    for (const Buffer& buffer : buffers) append(out, bytes_of(buffer, piece));
    out_lengths.push_back(piece.size() * unit * local_);
  }
  const std::int64_t size = pieces[static_cast<std::size_t>(ranks_.place().rank)].size();
  const std::vector<std::int64_t> in_lengths(pieces.size(), size * unit * local_);
  std::vector<std::byte> rows(static_cast<std::size_t>(size * unit * local_) * pieces.size());
  ranks_.all_to_all(out, out_lengths, rows, in_lengths);
  add_rows(rows, size, first.type);
  rows.resize(static_cast<std::size_t>(size * unit));
  return rows;
}

void Collectives::all_gather_pieces(std::span<const std::byte> mine, std::span<const Range> pieces,
                                    std::span<const Buffer> buffers) const {
  std::vector<std::int64_t> lengths;
  for (const Range piece : pieces)
    lengths.push_back(piece.size() * static_cast<std::int64_t>(size_bytes(buffers.front().type)));
  ranks_.all_gather(mine, bytes_of(buffers.front()), lengths);
  put(bytes_of(buffers.front()), buffers.subspan(1));
}

void Collectives::all_gather(std::span<const Buffer> buffers) const {
  const Buffer& first = buffers.front();
  const int shards = ranks_.place().size * local_;
  const std::vector<Range> pieces = pieces_of_ranks(first.size);
  std::vector<std::byte> mine;
  for (int i = 0; i < local_; ++i)
    append(mine, bytes_of(buffers[static_cast<std::size_t>(i)],
                          piece_of(first.size, shards, ranks_.place().rank * local_ + i)));
  all_gather_pieces(mine, pieces, buffers);
}

void Collectives::gather(std::span<const Buffer> pieces, const Buffer& whole) const {
  std::vector<std::byte> mine;
  for (const Buffer& piece : pieces) append(mine, bytes_of(piece));
  const std::vector<std::int64_t> lengths = ranks_.values(static_cast<std::int64_t>(mine.size()));
  std::vector<Ranks::Message> out, in;
  if (ranks_.place().leads()) {
    std::byte* to = static_cast<std::byte*>(whole.data);
    for (int rank = 0; rank < ranks_.place().size; ++rank) {
      const auto length = static_cast<std::size_t>(lengths[static_cast<std::size_t>(rank)]);
      if (rank > 0) in.push_back({rank, {to, length}});
      to += length;
    }
    std::ranges::copy(mine, static_cast<std::byte*>(whole.data));
  } else {
    out.push_back({0, mine});
  }
  ranks_.exchange(out, in);
}

void Collectives::broadcast(std::span<const Buffer> buffers) const {
  ranks_.broadcast(bytes_of(buffers.front()), 0);
  put(bytes_of(buffers.front()), buffers.subspan(1));
}

void Collectives::exchange(std::span<const Transfer> transfers) const {
  std::vector<Ranks::Message> out, in;
  std::vector<Transfer> here;
  for (const Transfer& one : transfers) {
    const auto bytes = static_cast<std::size_t>(one.bytes);
    auto* source = static_cast<std::byte*>(const_cast<void*>(one.source));
    if (is_local(one.from) && is_local(one.to))
      here.push_back(one);
    else if (is_local(one.from))
      out.push_back({one.to / local_, {source, bytes}});
    else if (is_local(one.to))
      in.push_back({one.from / local_, {static_cast<std::byte*>(one.target), bytes}});
  }
  ranks_.exchange(out, in);  // sources were copied before this returns: they may be overwritten
  host::exchange(here);
}

}  // namespace league::mpi
