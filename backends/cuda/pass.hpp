// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/cuda/cuda.hpp"
#include "backends/pass.hpp"

namespace league::cuda {

/// The launch of a one-pass kernel, and its rows (by global index).
struct Pass {
  template <class T>
  using Array = cuda::Array<T>;
  static constexpr bool has_placements = true;

  Pass(Runtime&, Queue& queue, Launch which, Range range) : launch(which), rows(range), stream(cuda::stream(queue)) {}
  [[nodiscard]] std::int64_t size() const { return rows.size(); }
  [[nodiscard]] unsigned grid() const { return static_cast<unsigned>(launch.league); }
  [[nodiscard]] dim3 block() const {
    return {static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team)};
  }

  /// Fills in defaults; `tile`: rows per block at a time.
  static Launch resolve(Queue&, Launch launch, Share share, std::int64_t rows) {
    launch = league::resolve(launch, {0, share.team, 1}, limits);
    const int lanes = launch.team * launch.vector;
    if (share.whole_warps && lanes % warp_size != 0)
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": this kernel needs a multiple of " +
                        std::to_string(warp_size));
    launch.tile = share.per_team > 0 ? share.per_team : lanes * share.per_lane;
    if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(rows, launch.tile));
    return launch;
  }
  static void require(Placement) {}

  Launch launch;
  Range rows;
  cudaStream_t stream;
};

}  // namespace league::cuda
