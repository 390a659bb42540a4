// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/vector_add/vector_add.hpp"

#include "algorithms/budget.hpp"
#include "algorithms/generate.hpp"
#include "algorithms/judge.hpp"
#include "algorithms/with_type.hpp"

namespace league {
namespace {

VectorAdd::Memory memory_from(const std::string& name) {
  if (name == "unified") return VectorAdd::Memory::unified;
  if (name == "unified_prefetch") return VectorAdd::Memory::unified_prefetch;
  if (name == "streamed") return VectorAdd::Memory::streamed;
  return VectorAdd::Memory::device;
}

const RegisterAlgorithm registered{Algorithm{
    .name = VectorAdd::algorithm,
    .description = "sum of two vectors; index fill",
    .parameters =
        {{.name = "n", .kind = Parameter::Kind::size, .standard = "1048576", .least = 0, .description = "elements"},
         {.name = "memory",
          .kind = Parameter::Kind::choice,
          .standard = "device",
          .choices = {"device", "unified", "unified_prefetch", "streamed"},
          .description = "where the arrays live; `streamed` is timed from host memory to host memory"}},
    .methods = {{.name = "plain",
                 .description = "one element a work item",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32}},
                {.name = "wide",
                 .description = "several elements a work item, in 16-byte accesses",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32}},
                {.name = "fill",
                 .description = "index[i] = i",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
                 .problem = "fill"},
                {.name = "transform",
                 .description = "the library's own elementwise transform",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
                 .libraries = {"cub"},
                 .own_models = false}},
    .make = [](const Making& making) { return std::make_unique<VectorAdd>(making); }}};

}  // namespace

VectorAdd::VectorAdd(const Making& making)
    : n(making.parameters.integer("n")),
      dtype(making.dtype),
      fill(making.problem == "fill"),
      memory(memory_from(making.parameters.choice("memory"))) {
  if (fill) return;
  a = HostArray(making.memory, dtype, {n});
  b = HostArray(making.memory, dtype, {n});
  with_type<float, double, std::int32_t>(dtype, [&]<class T>() {
    fill_random(a.values<T>(), making.seed, 0);
    fill_random(b.values<T>(), making.seed, 1);
  });
}

void VectorAdd::require_device_memory(const Context& context) const {
  if (memory != Memory::device) throw Unsupported("this variant keeps its arrays in device memory only");
  const std::int64_t arrays = fill ? 1 : 3;
  for (const Shard& shard : context.shards)
    require_memory(arrays * shard.rows.size() * static_cast<std::int64_t>(size_bytes(dtype)),
                   context.memory_budget_bytes);
}

void require_managed(const Context& context, const Shard& shard, std::int64_t bytes) {
  const std::int64_t free = context.runtime.free_memory_bytes(shard.device);
  if (bytes > free / 2)
    throw Unsupported("managed memory of " + std::to_string(bytes) + " bytes: more than half of the " +
                      std::to_string(free) + " bytes free on the device is refused");
}

Cost VectorAdd::cost() const {
  const double bytes = static_cast<double>(n) * static_cast<double>(size_bytes(dtype));
  return fill ? Cost{bytes, 0} : Cost{3 * bytes, static_cast<double>(n)};
}

Outputs VectorAdd::make_outputs(std::pmr::memory_resource& host) const {
  return {{fill ? "index" : "sum", HostArray(host, dtype, {n}), {0, n}}};
}

Outputs VectorAdd::inputs() const {
  if (fill) return {};
  return {{"a", a, {0, n}}, {"b", b, {0, n}}};
}

Verdict VectorAdd::check(const Outputs& outputs) const {
  return with_type<float, double, std::int32_t>(dtype, [&]<class T>() -> Verdict {
    const std::span<const T> values = outputs.at(0).values.values<T>();
    if (fill)
      return judge_values("index", values,
                          [](std::int64_t i) { return Expected{static_cast<double>(static_cast<T>(i)), 0}; });
    const std::span<const T> x = a.values<T>(), y = b.values<T>();
    return judge_values("sum", values, [x, y](std::int64_t i) {
      const auto first = static_cast<double>(x[static_cast<std::size_t>(i)]);
      const auto second = static_cast<double>(y[static_cast<std::size_t>(i)]);
      return Expected{first + second, epsilon_of<T> * (std::abs(first) + std::abs(second)) / 2};
    });
  });
}

}  // namespace league
