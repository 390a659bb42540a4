// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/stencil/host/host.hpp"
#include "backends/host_array.hpp"

// One thread takes row after row (`plain`), or blocks of rows that stay in cache from plane to plane (`tiled`).
namespace league::stencil {
namespace {

template <class T, Method method>
class Serial final : public HostShard<T, host::Array, method> {
  using Base = HostShard<T, host::Array, method>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override { return {1, 1, 1, Base::plan(launch.tile, 1)}; }
  void advance(int from, int to, Range planes) const override {
    const Grid<T> grid = Base::grid(from, to, planes);
    Base::queue().submit([grid, tiling = Base::tiling(grid.planes), zeros = Base::zeros()] {
      for (std::int64_t item = 0; item < tiling.items; ++item) advance_block(grid, tiling, item, zeros);
    });
  }
};

const RegisterHalo<Stencil> plain{"plain", serial::model, by_type<Serial, Method::plain>, {Execution::stream}};
const RegisterHalo<Stencil> tiled{"tiled", serial::model, by_type<Serial, Method::tiled>, {Execution::stream}};

}  // namespace
}  // namespace league::stencil
