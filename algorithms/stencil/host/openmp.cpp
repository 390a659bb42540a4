// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/stencil/host/host.hpp"
#include "backends/host_array.hpp"

// A thread takes neighbouring rows (`plain`), or blocks of rows that stay in cache from plane to plane (`tiled`).
namespace league::stencil {
namespace {

template <class T, Method method>
class OpenMp final : public HostShard<T, host::Array, method> {
  using Base = HostShard<T, host::Array, method>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(Base::queue(), launch);
    return {threads_, 1, 1, Base::plan(launch.tile, threads_)};
  }
  void advance(int from, int to, Range planes) const override {
    const Grid<T> grid = Base::grid(from, to, planes);
    Base::queue().submit([grid, tiling = Base::tiling(grid.planes), zeros = Base::zeros(), threads = threads_] {
#pragma omp parallel for num_threads(threads) schedule(static)
      for (std::int64_t item = 0; item < tiling.items; ++item) advance_block(grid, tiling, item, zeros);
    });
  }

 private:
  int threads_ = 1;
};

const RegisterHalo<Stencil> plain{"plain", openmp::model, by_type<OpenMp, Method::plain>, {Execution::stream}};
const RegisterHalo<Stencil> tiled{"tiled", openmp::model, by_type<OpenMp, Method::tiled>, {Execution::stream}};

}  // namespace
}  // namespace league::stencil
