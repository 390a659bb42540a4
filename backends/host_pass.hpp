// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "backends/host_array.hpp"
#include "backends/pass.hpp"

namespace league::host {

/// The threads of a one-pass kernel on a host, and its rows (by global index). `serial`: one thread.
template <bool serial>
struct Pass {
  template <class T>
  using Array = host::Array<T>;
  static constexpr bool has_placements = false;

  Pass(Runtime& runtime, Queue& queue, Launch launch, Range range)
      : threads(launch.league), rows(range), llc_bytes(runtime.info(queue.device()).llc_bytes) {}
  [[nodiscard]] std::int64_t size() const { return rows.size(); }
  /// Whether arrays of so many bytes together do not stay in the last-level cache.
  [[nodiscard]] bool beyond_cache(std::int64_t bytes) const { return bytes > llc_bytes; }

  static Launch resolve(Queue& queue, Launch launch, Share, std::int64_t) {
    const int max_league = serial ? 1 : queue.device().threads;
    return {launch.league > 0 ? std::min(launch.league, max_league) : max_league, 1, 1};
  }
  static void require(Placement placement) {
    if (placement != Placement::device) throw Unsupported("this variant supports device memory only");
  }

  int threads;
  Range rows;
  std::int64_t llc_bytes;
};

}  // namespace league::host

namespace league::serial {
using Pass = host::Pass<true>;
}
namespace league::openmp {
using Pass = host::Pass<false>;
}
