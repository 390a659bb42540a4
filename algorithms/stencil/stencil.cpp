// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/stencil.hpp"

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/stencil/oracle.hpp"

namespace league {
namespace {

const std::vector<Dtype> reals{Dtype::f32, Dtype::f64};
const RegisterAlgorithm registered{
    Algorithm{.name = Stencil::algorithm,
              .description = "damped Jacobi steps on a cube: each cell from its six neighbours",
              .parameters = {{.name = "n",
                              .kind = Parameter::Kind::size,
                              .default_value = "128",
                              .min = 1,
                              .max = 1 << 14,
                              .description = "cells along each side of the cube"},
                             {.name = "steps", .default_value = "10", .min = 1, .max = 1 << 20}},
              .methods = {{.name = "plain",
                           .description = "one cell per lane, neighbours from cache",
                           .dtypes = reals,
                           .executions = recordable},
                          {.name = "tiled",
                           .description = "a tile of columns marches through the planes, three of them in registers",
                           .dtypes = reals,
                           .executions = recordable},
                          {.name = "flat",
                           .description = "a range of cells in three dimensions, mapped by Kokkos",
                           .dtypes = reals,
                           .executions = recordable,
                           .not_expressible = only_kokkos("a policy of Kokkos; compare plain")}},
              .make = [](const Making& making) { return std::make_unique<Stencil>(making); },
              .edge_cases = {{{"n", "1"}, {"steps", "2"}},
                             {{"n", "2"}, {"steps", "1"}},
                             {{"n", "3"}, {"steps", "3"}},
                             {{"n", "8"}, {"steps", "5"}},
                             {{"n", "37"}, {"steps", "4"}},
                             {{"n", "130"}, {"steps", "2"}}}}};

}  // namespace

Stencil::Stencil(const Making& making)
    : Problem(making),
      n(making.parameters.integer("n")),
      steps(making.parameters.integer("steps")),
      seed(making.seed) {}
Stencil::~Stencil() = default;

/// A step reads and writes every cell.
/// Cells are read once and written once: a tile may take several steps before it is stored.
Cost Stencil::cost() const {
  const double cells = static_cast<double>(n * n * n), bytes = cells * static_cast<double>(size_bytes(dtype));
  return {.bytes = 2 * bytes, .operations = 8 * cells * static_cast<double>(steps), .written_bytes = bytes};
}

/// `flat`, `plain` and `tiled` read and write all cells in each step.
double Stencil::method_bytes(std::string_view method) const {
  return cost().bytes * (method == "plain" || method == "tiled" || method == "flat" ? static_cast<double>(steps) : 1);
}

template <class T>
T Stencil::initial(std::int64_t cell) const {
  return random_value<T>(seed, 0, static_cast<std::uint64_t>(cell)) + T{0.5};
}
template float Stencil::initial<float>(std::int64_t) const;
template double Stencil::initial<double>(std::int64_t) const;

void Stencil::make_inputs(Range local, std::pmr::memory_resource& memory) {
  planes = local;
  values = HostArray(memory, dtype, {planes.size(), n, n});
  with_type<float, double>(dtype, [&]<class T>() {
    const std::span<T> all = values.values<T>();
    const std::int64_t first = planes.begin * n * n, size = values.size();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = initial<T>(first + i);
  });
}

Outputs Stencil::make_outputs(Range local, std::pmr::memory_resource& memory) const {
  return {{"values", HostArray(memory, dtype, {local.size(), n, n}), local}};
}

Outputs Stencil::inputs() const { return {{"initial", values, planes}}; }

Verdict Stencil::check(const Outputs& outputs, Reduce& reduce) const {
  if (!oracle_) oracle_ = std::make_unique<stencil::Oracle>(*this, reduce);
  return oracle_->judge(outputs.at(0));
}

}  // namespace league
