// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/vector_add/vector_add.hpp"

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

Placement placement_from(const std::string& name) {
  if (name == "unified") return Placement::unified;
  if (name == "unified_prefetch") return Placement::unified_prefetch;
  return name == "streamed" ? Placement::streamed : Placement::device;
}

const RegisterAlgorithm registered{Algorithm{
    .name = VectorAdd::algorithm,
    .description = "sum of two vectors; index fill",
    .parameters = {{.name = "n",
                    .kind = Parameter::Kind::size,
                    .default_value = "1048576",
                    .min = 0,
                    .description = "elements",
                    .is_length = true},
                   {.name = "memory",
                    .kind = Parameter::Kind::choice,
                    .default_value = "device",
                    .choices = {"device", "unified", "unified_prefetch", "streamed"},
                    .description = "where the arrays are; `streamed` is timed from host memory to host memory"},
                   {.name = "stores",
                    .kind = Parameter::Kind::choice,
                    .default_value = "non_temporal",
                    .choices = {"non_temporal", "ordinary"},
                    .description = "how `wide` of openmp and kokkos_specialised stores what exceeds a host's caches"}},
    .methods = {{.name = "plain",
                 .description = "one element per work item",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32}},
                {.name = "wide",
                 .description = "16-byte accesses, one per array and work item",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32}},
                {.name = "fill",
                 .description = "index[i] = i, in 16-byte stores",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
                 .problem = "fill"},
                {.name = "flat",
                 .description = "a range of elements, mapped by Kokkos",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
                 .not_expressible = only_kokkos("a policy of Kokkos; compare plain")},
                {.name = "transform",
                 .description = "the library's own elementwise transform",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
                 .libraries = {"cub", "rocprim"},
                 .own_models = false}},
    .make = [](const Making& making) { return std::make_unique<VectorAdd>(making); },
    .edge_cases = {{{"n", "0"}}, {{"n", "1"}}, {{"n", "2"}}, {{"n", "1023"}}, {{"n", "70001"}}}}};

}  // namespace

VectorAdd::VectorAdd(const Making& making)
    : Problem(making),
      n(making.parameters.integer("n")),
      fill(making.problem == "fill"),
      placement(placement_from(making.parameters.choice("memory"))),
      streaming_stores(making.parameters.choice("stores") == "non_temporal"),
      seed(making.seed) {}

Cost VectorAdd::cost() const {
  const double bytes = static_cast<double>(n) * static_cast<double>(size_bytes(dtype));
  return {.bytes = fill ? bytes : 3 * bytes, .operations = fill ? 0 : static_cast<double>(n), .written_bytes = bytes};
}

void VectorAdd::make_inputs(Range local, std::pmr::memory_resource& memory) {
  rows = local;
  if (fill) return;
  a = HostArray(memory, dtype, {rows.size()});
  b = HostArray(memory, dtype, {rows.size()});
  with_type<float, double, std::int32_t>(dtype, [&]<class T>() {
    fill_random(a.values<T>(), seed, 0, rows.begin);
    fill_random(b.values<T>(), seed, 1, rows.begin);
  });
}

Outputs VectorAdd::make_outputs(Range local, std::pmr::memory_resource& memory) const {
  return {{fill ? "index" : "sum", HostArray(memory, dtype, {local.size()}), local}};
}

Outputs VectorAdd::inputs() const {
  if (fill) return {};
  return {{"a", a, rows}, {"b", b, rows}};
}

Verdict VectorAdd::check(const Outputs& outputs, Reduce& /*reduce*/) const {
  return with_type<float, double, std::int32_t>(dtype, [&]<class T>() {
    if (fill)
      return judge_rows<T>(outputs.at(0),
                           [](std::int64_t i) { return Expected{static_cast<double>(static_cast<T>(i)), 0}; });
    const std::span<const T> x = a.values<T>(), y = b.values<T>();
    return judge_rows<T>(outputs.at(0), [&](std::int64_t i) {
      const auto place = static_cast<std::size_t>(i - rows.begin);
      const auto first = static_cast<double>(x[place]), second = static_cast<double>(y[place]);
      return Expected{first + second, epsilon_of<T> * (std::abs(first) + std::abs(second)) / 2};
    });
  });
}

}  // namespace league
