// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "backends/host_array.hpp"
#include "backends/pass.hpp"

namespace league::host {

/// With how many threads a kernel of one pass runs on a host, and on which rows (by global number). `serial`: one.
template <bool serial>
struct Pass {
  template <class T>
  using Array = host::Array<T>;
  static constexpr bool has_placements = false;

  Pass(Runtime&, Queue&, Launch launch, Range range) : threads(launch.league), rows(range) {}
  [[nodiscard]] std::int64_t size() const { return rows.size(); }

  static Launch resolve(Queue& queue, Launch launch, Share, std::int64_t) {
    const int most = serial ? 1 : queue.device().threads;
    return {launch.league > 0 ? std::min(launch.league, most) : most, 1, 1};
  }
  static void require(Placement placement) {
    if (placement != Placement::device) throw Unsupported("this variant keeps its arrays in device memory only");
  }

  int threads;
  Range rows;
};

}  // namespace league::host

namespace league::serial {
using Pass = host::Pass<true>;
}
namespace league::openmp {
using Pass = host::Pass<false>;
}
