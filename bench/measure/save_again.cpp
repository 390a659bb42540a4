// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/save_again.hpp"

#include <iostream>

#include "bench/errors.hpp"
#include "bench/measure/check.hpp"
#include "bench/measure/memory_budget.hpp"
#include "bench/measure/memory_limit.hpp"
#include "bench/ranks/together.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

/// @throws std::runtime_error if the result is wrong, and what the case throws
void compute_and_save(const Case& that, const Problem& problem, const RunContext& run) {
  run.check_interrupt();
  run.announce(that, "computes again");
  PreparedCase prepared_case(that, problem, run.runtime,
                             memory_budget(run.runtime, device_kind(that), run.device_memory_bytes, problem));
  Stages stages;
  const Checked checked = check_fresh(prepared_case, stages);
  if (!checked.verdict.passed()) throw std::runtime_error("wrong when computed again: " + fault_of(checked.verdict));
  run.save(that, problem, *checked.outputs);
}

}  // namespace

bool save_again(const Comparison& comparison, const Json& record, const SaveFolders& folders, const RunContext& run) {
  bool well = true;
  std::unique_ptr<Problem> problem;
  Ranks& ranks = run.runtime.ranks();
  for (std::size_t i = 0; i < comparison.cases.size(); ++i) {
    const Case& that = comparison.cases[i];
    if (!that.repeats.empty() || record.at("benchmarks").at(i).at("status") != "passed") continue;
    const auto complain = [&](const std::string& what) {
      well = false;
      if (ranks.place().leads()) std::cerr << "league: FAILED to save " << that.name << ": " << what << "\n";
    };
    try {
      together(ranks, [&] {
        if (!problem) problem = make_problem(that, run.runtime, run.datasets);
        if (any_rank(ranks, ranks.place().leads() && !folders.has(that, *problem)))
          compute_and_save(that, *problem, run);
      });
    } catch (const Interrupted&) {
      throw;
    } catch (const std::bad_alloc& error) {
      complain(out_of_host_memory(error));
    } catch (const std::exception& error) {
      complain(error.what());
    }
  }
  return well;
}

}  // namespace league::bench
