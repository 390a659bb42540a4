// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>

#include "algorithms/softmax_regression/persistent/shard.hpp"
#include "tests/algorithms/fiber_team.hpp"
#include "tests/algorithms/softmax_regression.hpp"
#include "tests/algorithms/waiting_teams.hpp"

namespace league::softmax_regression::tests {
namespace {

std::vector<const Variant*> persistent() {
  return league::tests::variants<SoftmaxRegression>(
      [](const Variant& variant) { return variant.method == "persistent"; });
}

/// The kernel on the host, by `teams` teams: of fibers if there is one, else of the operating system's threads, since
/// teams wait for each other.
template <class T, int quads>
Outputs emulated(const SoftmaxRegression& problem, int teams, int threads) {
  using Scratch = PersistentScratch<quads, 27>;  // in rounds: one for a quad, else several
  Outputs outputs = problem.make_outputs({0, problem.extent()}, league::tests::runtime().host_memory());
  const std::int64_t batches = ceil_div(problem.extent(), problem.batch);
  const Rule rule{.all_rows = problem.extent(),
                  .batch = problem.batch,
                  .batches = batches,
                  .own_batch = problem.batch,
                  .own_last_batch = problem.extent() - (batches - 1) * problem.batch,
                  .is_first = true,
                  .features = static_cast<int>(problem.features),
                  .classes = problem.classes,
                  .learning_rate = problem.learning_rate,
                  .l2 = problem.l2,
                  .scale = problem.scale};
  Descent descent{rule};
  descent.theta = outputs[SoftmaxRegression::theta].values.values<double>().data();
  descent.loss = outputs[SoftmaxRegression::loss].values.values<double>().data();
  descent.taken = outputs[SoftmaxRegression::steps_taken].values.values<std::int64_t>().data();
  const int sums = persistent_sums(descent.classes, descent.features);
  std::vector<stamped::Word> board(static_cast<std::size_t>(blocks::all_reduce_words(sums, teams)));
  const PersistentWork<T> work{problem.stored_rows<T>(problem.rows).data(), problem.labels_of(problem.rows).data(),
                               descent, board.data(), problem.steps};
  std::vector<Scratch> scratch(static_cast<std::size_t>(teams));
  std::memset(static_cast<void*>(scratch.data()), 0xff, scratch.size() * sizeof(Scratch));  // NaN
  const auto take = [&](const auto& group, int team) {
    take_all_steps<blocks::PlainWords>(group, team, teams, work, blocks::HostAtomics{1U << 30},
                                       scratch[static_cast<std::size_t>(team)]);
  };
  if (teams == 1)
    league::tests::run_fiber_team(threads, [&](const auto& group) { take(group, 0); });
  else
    blocks::run_teams(teams, threads, take);
  return outputs;
}

std::vector<double> values_of(const Outputs& outputs, std::size_t index) {
  const auto values = outputs[index].values.values<const double>();
  return {values.begin(), values.end()};
}

/// Solves twice, with the same bits, and checks.
void expect_right(const SoftmaxRegression& problem, int teams, int threads) {
  SCOPED_TRACE(std::to_string(teams) + " teams of " + std::to_string(threads) + " threads, " +
               std::to_string(problem.features) + " features");
  with_type<float, std::uint8_t>(problem.dtype, [&]<class T>() {
    with_quads(problem, [&]<int quads>() {
      const Outputs outputs = emulated<T, quads>(problem, teams, threads);
      const Verdict verdict = problem.check_alone(outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      const Outputs again = emulated<T, quads>(problem, teams, threads);
      for (const auto result : {SoftmaxRegression::theta, SoftmaxRegression::loss})
        EXPECT_EQ(values_of(outputs, result), values_of(again, result));
    });
  });
}

TEST(SoftmaxPersistent, TeamsOfAnySize) {
  for (const Dtype dtype : {Dtype::f32, Dtype::u8})
    for (const int features : {1, 3, 4, 11, 15}) {
      const auto problem = make(generated(301, 3, features, 10, Dtype::u8), dtype, {{"l2", "0.1"}, {"steps", "3"}});
      for (const int threads : {1, 2, 7, 8, 33, 256}) expect_right(*problem, 1, threads);
    }
}

TEST(SoftmaxPersistent, TeamsThatWaitForEachOther) {
  for (const Dtype dtype : {Dtype::f32, Dtype::u8}) {
    const Dataset data = generated(107, 3, 15, 10, Dtype::u8), few = generated(5, 3, 1, 2, Dtype::u8);
    expect_right(*make(data, dtype, {{"batch", "25"}, {"l2", "0.1"}, {"steps", "7"}}), 2, 2);  // the last of 7 rows
    expect_right(*make(data, dtype, {{"steps", "4"}}), 3, 1);
    expect_right(*make(few, dtype, {{"steps", "4"}}), 2, 3);  // more threads than rows
  }
}

TEST(SoftmaxPersistent, MoreRowsThanAThreadAddsInFloat) {
  for (const int rows : {rows_of_thread - 1, rows_of_thread, rows_of_thread + 1, 1000})
    for (const Dtype dtype : {Dtype::f32, Dtype::u8}) {
      const auto problem = make(generated(rows, 3, 5, 3, Dtype::u8), dtype, {{"l2", "0.1"}, {"steps", "3"}});
      expect_right(*problem, 1, 1);
      expect_right(*problem, 1, 2);
    }
}

/// The same by every model that is here.
void expect_right_everywhere(const SoftmaxRegression& problem) {
  for (const Variant* variant : persistent()) {
    SCOPED_TRACE(name_of(*variant) + " " + std::to_string(problem.features) + " features, " +
                 std::to_string(problem.classes) + " classes");
    Solved run(*variant, problem);
    const std::vector<double> first = run.values(SoftmaxRegression::theta);
    run.again();
    const Verdict verdict = problem.check_alone(*run.outputs);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
    EXPECT_EQ(run.values(SoftmaxRegression::theta), first) << "two solves in a row differ";
  }
}

TEST(SoftmaxPersistent, FewFeaturesAndClassesInEveryModel) {
  for (const int features : {1, 2, 3, 4, 7, 8, 11, 12, 15})
    for (const int classes : {2, 3, 10}) {
      const Dataset pixels = generated(1000, 3, features, classes, Dtype::u8);
      for (const Dtype dtype : {Dtype::f32, Dtype::u8}) {
        expect_right_everywhere(*make(pixels, dtype));
        expect_right_everywhere(
            *make(pixels, dtype, {{"batch", "300"}, {"l2", "0.1"}, {"steps", "9"}}));  // the last of 100 rows
      }
      expect_right_everywhere(
          *make(generated(1000, 3, features, classes, Dtype::f32, 4), Dtype::f32, {{"l2", "0.01"}}));
    }
}

TEST(SoftmaxPersistent, TakesAnyLeagueThatFitsAtOnce) {
  ASSERT_FALSE(persistent().empty());
  for (const int features : {3, 15})
    for (const Dtype dtype : {Dtype::f32, Dtype::u8}) {
      SCOPED_TRACE(std::to_string(features) + " features");
      const auto problem = make(generated(20011, 3, features, 10, Dtype::u8), dtype, {{"l2", "0.01"}});
      league::tests::any_league_that_fits(persistent(), *problem);
    }
}

TEST(SoftmaxPersistent, OtherShapesAndLaunchesAreRefusedByName) {
  const auto expect = [](std::int64_t features, int classes, int devices, Launch launch, const std::string& reason) {
    const auto problem = make(generated(40, 3, features, classes, Dtype::u8), Dtype::f32);
    for (const Variant* variant : persistent()) {
      if (!has_devices(*variant, devices)) continue;
      try {
        const Solved run(*variant, *problem, {.devices = devices, .launch = launch});
        ADD_FAILURE() << name_of(*variant) << " takes it, in spite of " << reason;
      } catch (const Unsupported& refused) {
        EXPECT_NE(std::string(refused.what()).find(reason), std::string::npos) << refused.what();
      }
    }
  };
  expect(16, 3, 1, {}, "features 16: a thread keeps the gradient of up to 15 features in registers; take mma or fused");
  expect(3, 11, 1, {}, "classes 11: a thread keeps the gradient of up to 10 classes in registers; take mma or fused");
  expect(3, 3, 2, {}, "one device, not 2");
  expect(3, 3, 1, {.team = 100'000}, "team size 100000");
  expect(3, 3, 1, {.vector = 3}, "vector length 3");
}

/// Kokkos promises a team of NVIDIA's GPUs 40 KB of scratch, and nothing of two; AMD's multiprocessors have 64 KB.
TEST(SoftmaxPersistent, TeamsHaveScratch) {
  constexpr std::size_t promised = 40'000, of_amd = 65'536, alignment = 16;
  EXPECT_LE(2 * (sizeof(PersistentScratch<1, 14>) + alignment), promised);
  EXPECT_LE(sizeof(PersistentScratch<2, 30>) + alignment, promised);
  EXPECT_LE(sizeof(PersistentScratch<3, 30>) + alignment, promised);
  EXPECT_LE(sizeof(PersistentScratch<4, 30>) + alignment, promised);
  EXPECT_LE(sizeof(PersistentScratch<3, 54>), of_amd);
  EXPECT_LE(sizeof(PersistentScratch<4, 54>), of_amd);
}

}  // namespace
}  // namespace league::softmax_regression::tests
