// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "bench/data/dataset.hpp"
#include "bench/study/models.hpp"
#include "tests/algorithms/edge_case.hpp"
#include "tests/paired.hpp"
#include "tests/runtime.hpp"

// Every variant that runs on host devices, on every small problem, on two and three simulated processes, each with its
// rows of the inputs and of the results, against the oracle.
namespace league::tests {
namespace {

/// Whether the variant supports one process only.
bool refuses(const Variant& variant, Execution execution) {
  static const std::set<std::string> methods{"distance_matrix/symmetric",
                                             "distance_matrix/mma_symmetric",
                                             "linear_regression/persistent",
                                             "linear_regression/persistent_segments",
                                             "logistic_regression/persistent",
                                             "polynomial_fit/persistent",
                                             "softmax_regression/dual",
                                             "softmax_regression/persistent",
                                             "sum/interleaved",
                                             "sum/two_phase",
                                             "sum/two_phase_sync"};
  return methods.contains(variant.algorithm + "/" + variant.method) || execution == Execution::kokkos_graph;
}

/// Whether the variant refuses some of the small problems, for another reason: more features than a thread has sums
/// for, several teams that wait for each other on one host, a network that the method does not know, or images that the
/// host loads while a graph runs.
bool refuses_some(const Variant& variant, Execution execution) {
  return (variant.algorithm == "linear_regression" && variant.method == "moments") ||
         variant.method == "league_barrier" ||
         (variant.algorithm == "cnn" &&
          (execution == Execution::graph || variant.method == "routed" || variant.model.name == "kokkos" ||
           variant.method.starts_with("tensor_dense_")));
}

/// Counts over all processes; `without_rows` is part of `ran`.
struct Count {
  int ran = 0, refused = 0, without_rows = 0;
};

/// The work of one process of a run. @throws Unsupported
Verdict solve(const Variant& variant, const Making& making, Execution execution, Rank& rank) {
  std::pmr::memory_resource& memory = runtime().host_memory();
  const Range local = rank.world.local_rows();
  const auto problem = registry().algorithm(variant.algorithm)->make(making);
  problem->make_inputs(rank.world.input_rows(), memory);
  Outputs outputs = problem->make_outputs(local, memory);
  const auto prepared = variant.prepare(
      *problem, {runtime(), rank.shards, rank.world, *rank.communicator, outputs, std::int64_t{1} << 30, execution});
  Stages stages;
  prepared->configure({});
  prepared->upload();
  prepared->reset();
  prepared->compute(stages);
  prepared->download();
  prepared->fence();
  return problem->check(outputs, *rank.reduce);
}

class Ranks : public ::testing::Test {
 protected:
  [[nodiscard]] static const Method* method_of(const Variant& variant) {
    const Algorithm& algorithm = *registry().algorithm(variant.algorithm);
    const auto method = std::ranges::find(algorithm.methods, variant.method, &Method::name);
    const bool runs =
        variant.model.device == DeviceKind::host && method != algorithm.methods.end() &&
        bench::availability(runtime(), algorithm, *method, variant.model.name).state == bench::State::ready;
    return runs ? &*method : nullptr;
  }

  Count run(const Variant& variant, const Method& method, Dtype dtype, Execution execution) {
    const Algorithm& algorithm = *registry().algorithm(variant.algorithm);
    Count count;
    for (const auto& values : algorithm.edge_cases) {
      const bench::Case that = edge_case(algorithm, method, dtype, values);
      const Dataset* dataset = algorithm.needs_dataset ? &datasets_.rows(that.data) : nullptr;
      for (const int ranks : {2, 3}) {
        const Making making{that.parameters, dtype, that.seed, dataset, method.problem, ranks};
        const auto problem = algorithm.make(making);
        const auto body = [&](Rank& rank) {
          try {
            const Verdict verdict = solve(variant, making, execution, rank);
            EXPECT_TRUE(verdict.passed()) << "rank " << rank.number << " of " << ranks << ", "
                                          << ::testing::PrintToString(values) << ": " << verdict.message;
            ++count.ran;
            if (rank.world.local_rows().size() == 0) ++count.without_rows;
          } catch (const Unsupported& refusal) {
            EXPECT_STRNE(refusal.what(), "");
            ++count.refused;
          }
        };
        on_ranks(ranks, problem->extent(), body, 1, problem->batch_rows());
      }
    }
    return count;
  }
  bench::Datasets datasets_{{}, runtime().host_memory()};
};

TEST_F(Ranks, AgreeWithTheOracleEverywhere) {
  std::map<std::string, int> without_rows;
  for (const Variant& variant : registry().variants) {
    const Method* method = method_of(variant);
    if (method == nullptr) continue;
    for (const Dtype dtype : method->dtypes)
      for (const Execution execution : variant.executions) {
        const std::string who = variant.algorithm + "/" + variant.method + "/" + std::string(name(execution)) + "/" +
                                std::string(variant.model.name) + "/" + std::string(name(dtype));
        SCOPED_TRACE(who);
        const Count count = run(variant, *method, dtype, execution);
        EXPECT_EQ(count.ran == 0, refuses(variant, execution));
        EXPECT_EQ(count.refused > 0, refuses(variant, execution) || refuses_some(variant, execution));
        if (!registry().algorithm(variant.algorithm)->between_shards)
          without_rows[variant.algorithm] += count.without_rows;
        std::cout << who << ": " << count.ran << " ran, " << count.refused << " refused by name\n";
      }
  }
  EXPECT_FALSE(without_rows.empty());
  for (const auto& [algorithm, count] : without_rows) EXPECT_GT(count, 0) << algorithm;
}

}  // namespace
}  // namespace league::tests
