// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Types shared by all backends. Host types only: no runtime's header is needed to read or to use them.
namespace league {

enum class DeviceKind { host, gpu };

/// A GPU, or a group of host threads that is used as a device.
struct Device {
  DeviceKind kind = DeviceKind::host;
  int index = 0;    ///< among the devices of its kind
  int threads = 1;  ///< host threads that it may use; 1 on a GPU
  bool operator==(const Device&) const = default;
};

/// Launch parameters: teams in the league, threads in a team, lanes in a thread; 0: the method's default.
struct Launch {
  int league = 0;
  int team = 0;
  int vector = 0;
  int tile = 0;
  bool operator==(const Launch&) const = default;
};

/// Global rows [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Part `index` of [0, size) split into `parts` consecutive parts; the remainder goes to the first ones, one each.
constexpr Range piece_of(std::int64_t size, std::int64_t parts, std::int64_t index) {
  const std::int64_t shorter = size / parts, longer = size % parts;
  const auto before = [&](std::int64_t of) { return of * shorter + std::min(of, longer); };
  return {before(index), before(index + 1)};
}

/// The rows that one device owns, by global index.
struct Shard {
  Device device;
  Range rows;
  int index = 0;  ///< among the shards of all processes
};

/// The shards of all processes: their rows, and which of them are local.
struct Partition {
  /// By shard. If batches are split, positions: the rows of shard 0 in all batches come first.
  std::vector<Range> rows{};
  int first_local = 0, local = 0;
  std::int64_t batch = 0;  ///< rows per batch, each of which is split; 0: all rows are split at once
  /// There is only one shard: no communication.
  [[nodiscard]] bool alone() const { return rows.size() == 1; }
  /// The rows of split results in this process.
  [[nodiscard]] Range local_rows() const {
    if (local == 0) return {};
    const auto first = static_cast<std::size_t>(first_local);
    return {rows[first].begin, rows[first + static_cast<std::size_t>(local) - 1].end};
  }
  /// The rows whose inputs this process needs: those of its shards; all rows if batches are split.
  [[nodiscard]] Range input_rows() const { return batch == 0 ? local_rows() : Range{0, rows.back().end}; }
  /// The rows of a shard in batch `number`, by global index. @pre batches are split
  [[nodiscard]] Range in_batch(int shard, std::int64_t number) const {
    const std::int64_t first = number * batch;
    const Range piece =
        piece_of(std::min(batch, rows.back().end - first), static_cast<std::int64_t>(rows.size()), shard);
    return {first + piece.begin, first + piece.end};
  }
};

/// What a variant is written in, the backend that runs it, and the kind of device it runs on.
struct Model {
  std::string_view name;     ///< "kokkos", "cuda", "cublas"
  std::string_view backend;  ///< "kokkos", "cuda", "cuda"
  DeviceKind device;
};

/// What this device, build or memory budget cannot do; the case becomes a skipped row with this reason.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Properties of a device, known before any launch.
struct DeviceInfo {
  Device device;
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t llc_bytes = 0;                                ///< last-level cache; of a host all that it has
  std::vector<std::pair<std::string, std::string>> facts{};  ///< driver, bus id, clocks: for the record
};

}  // namespace league
