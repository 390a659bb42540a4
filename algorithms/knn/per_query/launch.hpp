// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/launch.hpp"

/// How `per_query` shares its work, in every model.
namespace league::knn {

inline constexpr int max_chunk = 2048;            ///< training rows per item: scratch holds their distances
inline constexpr std::int64_t cached = 64 << 10;  ///< bytes of training rows that stay in a first-level cache

/// What the launch follows from.
struct QueryShape {
  std::int64_t train, queries, features, element_bytes;
  int k;
  [[nodiscard]] int chunks(Launch launch) const { return static_cast<int>(ceil_div<std::int64_t>(train, launch.tile)); }
  /// Of the lists of all chunks, where there are several.
  [[nodiscard]] std::int64_t list_entries(Launch launch) const {
    return chunks(launch) > 1 ? queries * chunks(launch) * k : 0;
  }
};

/// Default: up to 8 lanes share a row (16 from 512 features on, where there are many queries; more where there are
/// fewer rows than lanes of a subgroup), of which each has 16 to 31 bytes, or up to 64 where lanes do not shuffle. The
/// chunks of all queries are about `teams` items of at least 256 rows. A team has a thread per four pairs of row and
/// lane, from 64 threads on per 16 where there are more items than teams, and then at most 128 where queries are many;
/// at most `most`.
/// @throws Unsupported for larger chunks than scratch holds
inline Launch query_launch(const QueryShape& shape, Launch launch, const LaunchLimits& limits, int most,
                           std::int64_t teams, bool shuffles) {
  const std::int64_t wanted = std::max<std::int64_t>(teams / std::max<std::int64_t>(shape.queries, 1), 1);
  const std::int64_t rows =
      std::min(std::clamp<std::int64_t>(ceil_div(shape.train, wanted), 256, max_chunk), shape.train);
  const std::int64_t bytes = shape.features * shape.element_bytes;
  const int least = std::min(limits.vector, most);  // a subgroup
  const bool many = shape.queries > teams, full = shape.queries * ceil_div(shape.train, rows) > teams;
  const int usual = many && shape.features >= 512 ? 16 : 8;
  if (many) most = std::min(most, 128);
  const bool cheap = shuffles && !(many && shape.train * bytes <= cached);
  const auto share = [&](int lanes) { return cheap ? lanes * 32 <= bytes : lanes * 64 < bytes; };
  int lanes = 1;
  while (2 * lanes <= least &&
         ((lanes < usual && share(lanes)) || (lanes * rows < least && lanes * 4 < shape.features)))
    lanes *= 2;
  if (launch.vector > 0) lanes = launch.vector;
  int threads = least;
  while (threads < most && threads * (full && threads >= 64 ? 16 : 4) < rows * lanes) threads *= 2;
  launch = resolve(launch, {0, std::max(threads / lanes, 1), lanes, static_cast<int>(rows)}, limits);
  if (launch.tile > max_chunk)
    throw Unsupported("tile " + std::to_string(launch.tile) + ": scratch holds the distances of " +
                      std::to_string(max_chunk) + " training rows");
  if (launch.league == 0) launch.league = league_of(shape.queries * shape.chunks(launch));
  return launch;
}

}  // namespace league::knn
