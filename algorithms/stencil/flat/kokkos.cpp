// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After `compute_inner_dT` of the heat conduction exercise of Kokkos' tutorials
// (kokkos-tutorials, Exercises/mpi_heat_conduction/no-mpi/mpi_heat_conduction.cpp), written anew.
#include "algorithms/stencil/common/shard.hpp"
#include "backends/kokkos/flat.hpp"
#include "backends/kokkos/submit.hpp"

namespace league::stencil::kokkos_model {
namespace {

using kokkos::Exec;

template <class T>
using Planes = Kokkos::View<T***, Kokkos::LayoutRight, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The planes of a step with a ghost plane at either end. Indices are of 64 bits: those of 32 wrap in a View of three
/// extents, and GCC vectorises no loop over them (backends/kokkos/findings).
template <class T, class Value>
Planes<Value> planes_of(Value* first, const Grid<T>& grid) {
  const auto n = static_cast<std::size_t>(grid.n);
  return Planes<Value>(first - grid.plane, static_cast<std::size_t>(grid.planes) + 2, n, n);
}

template <class T>
class Flat final : public StencilShard<T, kokkos::Array> {
  using Base = StencilShard<T, kokkos::Array>;

 public:
  Flat(const Stencil& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), exec_(kokkos::instance(context.runtime, Base::queue())) {}
  Launch configure(Launch launch) override { return launch_ = kokkos::resolve_flat_tile(Base::queue(), launch); }
  void advance(int from, int to, Range planes) const override {
    const Grid<T> grid = Base::grid(from, to, planes);
    run(exec_, Base::queue(), launch_, grid, planes_of<T, const T>(grid.from, grid), planes_of<T, T>(grid.to, grid));
  }
  static void run(const Exec& exec, Queue& queue, Launch launch, const Grid<T>& grid, const Planes<const T>& from,
                  const Planes<T>& to) {
    using RowMajor = Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>;  // as the data are
    using Policy = Kokkos::MDRangePolicy<Exec, RowMajor, Kokkos::IndexType<std::int64_t>>;
    const int n = grid.n, lowest = grid.lowest(), end = grid.end();
    kokkos::submit(
        queue, "stencil/flat", Policy(exec, {0, 0, 0}, {grid.planes, n, n}, {launch.tile, launch.team, launch.vector}),
        KOKKOS_LAMBDA(std::int64_t z, std::int64_t y, std::int64_t x) {
          to(z + 1, y, x) = step_cell(from(z + 1, y, x), x > 0 ? from(z + 1, y, x - 1) : T{0},
                                      x + 1 < n ? from(z + 1, y, x + 1) : T{0}, y > 0 ? from(z + 1, y - 1, x) : T{0},
                                      y + 1 < n ? from(z + 1, y + 1, x) : T{0}, z > lowest ? from(z, y, x) : T{0},
                                      z + 1 < end ? from(z + 2, y, x) : T{0});
        });
  }

 private:
  const Exec& exec_;
  Launch launch_;
};

const RegisterHalo<Stencil> flat{
    "flat", written_once(kokkos::model), [](const Stencil& problem, const Context& context, const Shard& shard) {
      return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<HaloShard> {
        return std::make_unique<Flat<T>>(problem, context, shard);
      });
    }};

}  // namespace
}  // namespace league::stencil::kokkos_model
