// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/algorithms/axpy/axpy.hpp"

#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

const RegisterAlgorithm registered{
    Algorithm{.name = Axpy::algorithm,
              .description = "a multiple of a vector plus another",
              .parameters = {{.name = "n", .kind = Parameter::Kind::size, .default_value = "1024", .min = 0}},
              .methods = {{.name = "plain", .description = "one element per lane", .dtypes = {Dtype::f32}}},
              .make = [](const Making& making) { return std::make_unique<Axpy>(making); },
              .edge_cases = {{{"n", "0"}}, {{"n", "1"}}, {{"n", "2"}}, {{"n", "1023"}}}}};

}  // namespace

void Axpy::make_inputs(Range local, std::pmr::memory_resource& memory) {
  rows = local;
  x = HostArray(memory, Dtype::f32, {rows.size()}), y = HostArray(memory, Dtype::f32, {rows.size()});
  fill_random(x.values<float>(), seed, 0, rows.begin);
  fill_random(y.values<float>(), seed, 1, rows.begin);
}

/// The product with 2 is exact; the sum is off by half an epsilon of its own magnitude.
Verdict Axpy::check(const Outputs& outputs, Reduce& /*reduce*/) const {
  return judge_rows<float>(outputs.at(0), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i - rows.begin);
    const double sum = 2.0 * x.values<const float>()[at] + y.values<const float>()[at];
    return Expected{sum, epsilon_of<float> / 2 * std::abs(sum)};
  });
}

}  // namespace league
