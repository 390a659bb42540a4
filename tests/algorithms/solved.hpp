// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/contract/registry.hpp"

/// Variants on problems, solved without the harness.
namespace league::tests {

/// A filter of variants.
using Wanted = std::function<bool(const Variant&)>;
std::vector<const Variant*> variants(const std::string& algorithm, const Wanted& wanted = {});
template <class P>
std::vector<const Variant*> variants(const Wanted& wanted = {}) {
  return variants(P::algorithm, wanted);
}
/// Variants whose method has this `Method::problem`.
Wanted solving(const std::string& problem);
/// Variants whose method has this type.
Wanted taking(Dtype dtype);

/// Whether the machine has so many devices for this variant.
bool has_devices(const Variant& variant, int devices);

/// "fused kokkos": for traces.
std::string name_of(const Variant& variant);

/// Preparation of a variant, if not the defaults on one device.
struct Setting {
  int devices = 1;
  Launch launch{};
  std::int64_t budget = std::int64_t{1} << 40;           ///< bytes per device
  std::function<void(std::vector<Shard>&)> change = {};  ///< of the shards, to make a result wrong
  int process = 0, processes = 1;  ///< for independent splits, without communication between processes
  Execution execution = Execution::stream;
};

/// A variant prepared on a problem, and the results of a compute; each `again` computes once more.
struct Solved {
  Solved(const Variant& variant, const Problem& problem, const Setting& setting = {});
  void again();
  /// A copy of output `index`.
  template <class T = double>
  [[nodiscard]] std::vector<T> values(std::size_t index) const {
    const auto found = outputs->at(index).values.template values<const T>();
    return {found.begin(), found.end()};
  }

  Partition world;
  std::vector<Shard> shards;
  Outputs results;
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<Prepared> prepared;
  Outputs* outputs = &results;
};

/// Solves `problem` twice by all of these, whose teams wait for each other, with leagues of one to more teams than any
/// device holds: the result passes, or the league is refused.
void any_league_that_fits(const std::vector<const Variant*>& variants, const Problem& problem);

/// Solves `problem` by all of these, in every execution, on one to three devices, checks each and passes it to
/// `expect`; unsupported cases must give a reason.
template <class S, class Expect>
void everywhere(const std::vector<const Variant*>& variants, const Problem& problem, const Expect& expect) {
  int ran = 0;
  for (const Variant* variant : variants)
    for (const Execution execution : variant->executions)
      for (int devices = 1; devices <= 3; ++devices) {
        SCOPED_TRACE(name_of(*variant) + " " + std::string(name(execution)) + " devices " + std::to_string(devices));
        try {
          S run(*variant, problem, {.devices = devices, .execution = execution});
          const Verdict verdict = problem.check_alone(*run.outputs);
          EXPECT_TRUE(verdict.passed()) << verdict.message;
          expect(run);
          ++ran;
        } catch (const Unsupported& refused) {
          EXPECT_STRNE(refused.what(), "");
        }
      }
  EXPECT_GT(ran, 0);
}

}  // namespace league::tests
