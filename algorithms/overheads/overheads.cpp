// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/overheads/overheads.hpp"

#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

Method method(const std::string& name, const std::string& description, std::vector<Execution> executions = {},
              std::map<std::string, std::string> not_expressible = {}, std::vector<Dtype> dtypes = {Dtype::f32}) {
  not_expressible.insert({"serial", "one thread launches nothing and waits for no other"});
  if (executions.empty()) executions = {Execution::stream};
  return {.name = name,
          .description = description,
          .dtypes = std::move(dtypes),
          .executions = std::move(executions),
          .not_expressible = std::move(not_expressible),
          .problem = name};
}

bool in_one_kernel(const std::string& problem) {
  return problem == "team_reduction" || problem == "subgroup_reduction" || problem == "league_barrier";
}

const RegisterAlgorithm registered{Algorithm{
    .name = Overheads::algorithm,
    .description = "what a launch, a fence, an allocation, a reduction or a barrier costs by itself",
    .parameters = {{.name = "teams",
                    .kind = Parameter::Kind::size,
                    .default_value = "1",
                    .min = 1,
                    .max = 1 << 20,
                    .description = "split over the devices"},
                   {.name = "repeats",
                    .default_value = "0",
                    .min = 0,
                    .max = 1 << 24,
                    .description = "per compute; 0: 100 from the host, 10,000 in a kernel"},
                   {.name = "bytes", .default_value = "1048576", .min = 8, .description = "of an allocation"}},
    .methods = {method("launch", "kernels one after another, from the first call to the end of the last", recordable),
                method("kernel", "the same on the device's clock, with the queue held until all are submitted",
                       recordable),
                method("fence", "a kernel and a wait for its end"),
                method("allocation", "memory of the device freed and allocated"),
                method("team_reduction", "sums over a team, each of the last", {}, {}, {Dtype::f32, Dtype::f64}),
                method("subgroup_reduction", "sums over the vector lanes of a thread, each of the last", {},
                       {{"openmp", "a thread of a host has one lane"}}, {Dtype::f32, Dtype::f64}),
                method("league_barrier", "barriers over all teams, through which teams send their counts")},
    .make = [](const Making& making) { return std::make_unique<Overheads>(making); },
    .edge_cases = {{{"teams", "1"}, {"repeats", "1"}},
                   {{"teams", "1"}, {"repeats", "2"}, {"bytes", "8"}},
                   {{"teams", "3"}, {"repeats", "7"}},
                   {{"teams", "2"}, {"repeats", "203"}, {"bytes", "100003"}}}}};

}  // namespace

Overheads::Overheads(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      teams(making.parameters.integer("teams")),
      repeats(static_cast<int>(making.parameters.integer("repeats"))),
      bytes(making.parameters.integer("bytes")) {
  if (repeats == 0) repeats = in_one_kernel(making.problem) ? 10000 : 100;
}

Outputs Overheads::make_outputs(Range local, std::pmr::memory_resource& memory) const {
  return {{"count", HostArray(memory, Dtype::f64, {local.size()}), local}};
}

Verdict Overheads::check(const Outputs& outputs, Reduce& /*reduce*/) const {
  return judge_rows<double>(outputs.at(0), [this](std::int64_t) { return Expected{1.0 * repeats, 0}; });
}

}  // namespace league
