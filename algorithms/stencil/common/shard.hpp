// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

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

template <template <class, Method> class P, Method method>
static std::unique_ptr<HaloShard> by_type(const Stencil& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<HaloShard> {
    return std::make_unique<P<T, method>>(problem, context, shard);
  });
}

}  // namespace league::stencil
