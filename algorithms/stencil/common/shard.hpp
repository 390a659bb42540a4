// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

#include "algorithms/blocks/aligned_rows.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/drivers/halo.hpp"
#include "algorithms/stencil/common/grid.hpp"
#include "algorithms/stencil/stencil.hpp"

namespace league::stencil {

enum class Method { plain, tiled };

/// The planes of one shard, in the model's arrays.
template <class T, template <class> class Array>
class StencilShard : public HaloShard {
 public:
  StencilShard(const Stencil& problem, const Context& context, const Shard& shard)
      : HaloShard(context, shard), n_(static_cast<int>(problem.n)), plane_(problem.n * problem.n) {
    const std::int64_t size = rows().size() == 0 ? 0 : (rows().size() + 2) * plane_;
    declare(grids_[0], "stencil/initial", size);
    declare(grids_[1], "stencil/odd", size);
    declare(grids_[2], "stencil/even", problem.steps > 1 ? size : 0);
    const Range here{rows().begin - problem.planes.begin, rows().end - problem.planes.begin};
    input(grids_[0], problem.values.values<const T>(here.begin, here.end), plane_);
    output(grids_[static_cast<std::size_t>(written_by(problem.steps - 1))], 0, plane_);
  }
  [[nodiscard]] Planes planes(int buffer) const override {
    const Array<T>& grid = grids_[static_cast<std::size_t>(buffer)];
    return {reinterpret_cast<std::byte*>(grid.data() + plane_), plane_ * std::int64_t{sizeof(T)}};
  }

 protected:
  [[nodiscard]] Grid<T> grid(int from, int to, Range range) const {
    const std::int64_t first = (range.begin - rows().begin + 1) * plane_;
    return {grids_[static_cast<std::size_t>(from)].data() + first,
            grids_[static_cast<std::size_t>(to)].data() + first,
            n_,
            plane_,
            static_cast<int>(range.size()),
            range.begin > 0,
            range.end < n_};
  }
  [[nodiscard]] int n() const { return n_; }

 private:
  int n_;
  std::int64_t plane_;  ///< cells
  std::array<Array<T>, buffers> grids_;
};

/// A method on GPU lanes: the mapping of a launch to the planes.
template <class T, template <class> class Array, Method method>
class LaneShard : public StencilShard<T, Array> {
 public:
  using StencilShard<T, Array>::StencilShard;

 protected:
  Launch plan(Launch launch, const LaunchLimits& limits) {
    launch_ = resolve(launch, {0, default_lanes(), 1}, limits);
    const Tiling whole = tiling(this->rows().size());
    launch_.tile = whole.depth;
    if (launch_.league == 0) launch_.league = league_of(whole.items);
    return launch_;
  }
  [[nodiscard]] Tiling tiling(std::int64_t planes) const {
    const int lanes = launch_.team * launch_.vector;
    constexpr std::int64_t wave = std::int64_t{1} << 17;  // fastest on an H200, but for `plain` in f32
    if (method == Method::plain)
      return tiling_of(this->n(), planes, lanes, 1, 1, launch_.tile, sizeof(T) == 4 ? 2 * wave : wave);
    return with_cells<T>(this->n(), [&]<int width, int rows>() {
      return tiling_of(this->n(), planes, lanes, width, rows, launch_.tile, wave);
    });
  }
  [[nodiscard]] const Launch& launch() const { return launch_; }
  /// Of `tiled`, fewer where a lane takes single cells and there are planes enough.
  [[nodiscard]] int default_lanes() const {
    if (method == Method::plain) return 128;
    return !blocks::has_aligned_rows<T>(this->n()) && this->n() >= 128 ? 64 : 256;
  }

 private:
  Launch launch_;
};

template <template <class, Method> class P, Method method>
static std::unique_ptr<HaloShard> by_type(const Stencil& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<HaloShard> {
    return std::make_unique<P<T, method>>(problem, context, shard);
  });
}

}  // namespace league::stencil
