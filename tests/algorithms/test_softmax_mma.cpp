// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/softmax_regression/mma/form.hpp"
#include "tests/algorithms/simulated_unit.hpp"
#include "tests/algorithms/softmax_regression.hpp"

// GPU teams simulated by host threads, except for the products themselves.
namespace league::softmax_regression::tests {
namespace {

using blocks::mma::Element;
using league::tests::run_team, league::tests::Simulated, league::tests::SimulatedTeam;

/// Loss and gradient of all rows, by `teams` teams one after another; `round` rows of squares at a time, 0: as many as
/// fit. `slots`: the form of the kernel.
template <class Unit, class T, int slots>
std::vector<double> emulated(const SoftmaxRegression& problem, const std::vector<double>& theta, int teams, int round,
                             double& loss) {
  using Tile = MmaTile<Unit>;
  using Form = MmaForm<Unit, slots>;
  using Squares = typename Tile::Squares;
  const int classes = problem.classes, all_turns = turns(classes), pitch = static_cast<int>(problem.pitch);
  const int across = static_cast<int>(problem.features) / Squares::side + 1;
  const int down = static_cast<int>((problem.extent() - 1) / Squares::side) + 1;
  const auto sized = [](auto value, std::int64_t size) {
    return std::vector<decltype(value)>(static_cast<std::size_t>(size), value);
  };
  auto weights = sized(0.0F, std::int64_t{all_turns} * classes_together * pitch);
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const auto of = static_cast<std::size_t>(classes);
    weights[i % of * static_cast<std::size_t>(pitch) + i / of] = static_cast<float>(theta[i] * problem.scale);
  }
  Descent descent{};
  descent.weights = weights.data();
  descent.all_rows = descent.batch = descent.own_batch = descent.own_last_batch = problem.extent();
  descent.batches = 1;
  descent.features = static_cast<int>(problem.features);
  descent.classes = classes;
  descent.pitch = descent.weights_pitch = pitch;

  auto packed = sized(typename Squares::Packet{}, std::int64_t{down} * across * Squares::blocks);
  auto* x = reinterpret_cast<typename Unit::Word*>(packed.data());
  const MmaRows<Unit, T> rows{problem.stored_rows<T>(problem.rows).data(),
                              x,
                              problem.extent(),
                              problem.extent(),
                              1,
                              descent.features,
                              pitch,
                              across,
                              down};
  for (std::int64_t number = 0; number < rows.blocks(); ++number) rows.pack(number);
  auto split = sized(typename Squares::Packet{},
                     std::int64_t{all_turns} * across * Tile::steps * Tile::units * blocks::mma::piece_words / 4);
  auto constants = sized(0, std::int64_t{all_turns} * Tile::columns);
  auto factors = sized(0.0F, std::int64_t{all_turns} * classes_together);
  auto* pieces = reinterpret_cast<typename Unit::Word*>(split.data());
  int scratch_of_one[3];
  for (int c = 0; c < classes && slots == 0; ++c)
    split_weights<Unit>(blocks::one_thread, descent, c, across, pieces, constants.data(), factors.data(),
                        scratch_of_one);

  const int taken = round == 0 ? Form::max_round(classes) : round;
  const bool resident = (down - 1) / teams < taken || (all_turns == 1 && across <= Tile::together);
  auto floats = sized(std::numeric_limits<float>::quiet_NaN(), resident ? std::int64_t{teams} * classes * pitch : 0);
  auto doubles = sized(std::numeric_limits<double>::quiet_NaN(), resident ? 0 : std::int64_t{teams} * classes * pitch);
  const MmaWork<Unit> work{x,
                           pieces,
                           constants.data(),
                           factors.data(),
                           problem.labels_of(problem.rows).data(),
                           descent,
                           resident ? static_cast<void*>(floats.data()) : doubles.data(),
                           nullptr,
                           across,
                           down,
                           taken,
                           resident};
  auto losses = sized(0.0, Form::threads);
  for (int team = 0; team < teams; ++team) {
    auto scratch = sized(blocks::Pack<float>{{NAN, NAN, NAN, NAN}}, Form::scratch_bytes(classes) / 16 + 1);
    run_team<Unit>(Form::threads / Unit::lanes, [&](const SimulatedTeam& group) {
      losses[static_cast<std::size_t>(group.rank)] += Form::take(group, work, 0, team, teams, scratch.data());
    });
  }
  loss = 0;
  for (const double of_thread : losses) loss += of_thread / static_cast<double>(problem.extent());
  std::vector<double> gradient(theta.size());
  for (std::size_t i = 0; i < theta.size(); ++i)
    for (int team = 0; team < teams; ++team) {
      const auto c = static_cast<int>(i) % classes, f = static_cast<int>(i) / classes;
      const auto at = static_cast<std::size_t>((team * classes + c) * pitch + f);
      gradient[i] += (resident ? static_cast<double>(floats[at]) : doubles[at]) * problem.scale /
                     static_cast<double>(problem.extent());
    }
  return gradient;
}

/// By the form that the kernels choose, or by all subgroups together.
template <class Unit, class T>
std::vector<double> emulated(const SoftmaxRegression& problem, const std::vector<double>& theta, int teams, int round,
                             bool together, double& loss) {
  if (together) return emulated<Unit, T, 0>(problem, theta, teams, round, loss);
  const int across = static_cast<int>(problem.features) / blocks::Squares<Unit>::side + 1;
  return with_form<Unit>(problem.classes, across,
                         [&](auto slots) { return emulated<Unit, T, slots>(problem, theta, teams, round, loss); });
}

template <class Bytes, class Floats>
void expect_right(int train, int features, int classes, int teams, int round = 0, bool together = true) {
  for (const Dtype type : {Dtype::u8, Dtype::f32}) {
    SCOPED_TRACE(std::string(name(type)) + " features " + std::to_string(features) + " classes " +
                 std::to_string(classes));
    const auto problem = make(generated(train, 1, features, classes, type), type);
    const std::vector<double> theta = random_theta(*problem, 1);
    const Evaluation right = evaluate(*problem, {0, train}, theta);
    double loss = 0;
    const std::vector<double> gradient =
        type == Dtype::u8 ? emulated<Bytes, std::uint8_t>(*problem, theta, teams, round, together, loss)
                          : emulated<Floats, float>(*problem, theta, teams, round, together, loss);
    EXPECT_NEAR(loss, right.loss, right.loss_error);
    double squares = 0;
    for (std::size_t i = 0; i < theta.size(); ++i) squares += std::pow(gradient[i] - right.gradient[i], 2);
    EXPECT_LE(std::sqrt(squares), right.residual_error + roundings(train + 8) * eps * right.residual);
  }
}

using Warp = Simulated<blocks::mma::Warp<Element::s8>>;
using WarpOfFloats = Simulated<blocks::mma::Warp<Element::f32>>;
using Wavefront = Simulated<blocks::mma::Wavefront<Element::s8>>;
using WavefrontOfFloats = Simulated<blocks::mma::Wavefront<Element::f32>>;

TEST(SoftmaxRegression, LanesOfATeamShareItsSquares) {
  expect_right<Warp, WarpOfFloats>(100, 784, 10, 2);
  expect_right<Warp, WarpOfFloats>(1, 1, 2, 1);
  expect_right<Warp, WarpOfFloats>(40, 31, 3, 3);  // a team without rows
  expect_right<Warp, WarpOfFloats>(70, 32, 11, 1);
  expect_right<Wavefront, WavefrontOfFloats>(70, 100, 10, 2);
}
TEST(SoftmaxRegression, SquaresOfSeveralRoundsAndSpans) {
  expect_right<Warp, WarpOfFloats>(600, 20, 10, 1);  // more rows than a round
  expect_right<Warp, WarpOfFloats>(200, 70, 10, 1, 3);
  expect_right<Warp, WarpOfFloats>(33, 1100, 2, 1);  // more features than a team keeps
  expect_right<Warp, WarpOfFloats>(65, 511, 64, 2);
}
TEST(SoftmaxRegression, SubgroupsShareARowOfSquares) {
  expect_right<Warp, WarpOfFloats>(33, 511, 10, 2);  // one row each, of which there are 2 (3 of floats)
  expect_right<Warp, WarpOfFloats>(150, 700, 3, 1);
  expect_right<Warp, WarpOfFloats>(10, 1500, 12, 1);
  expect_right<Wavefront, WavefrontOfFloats>(70, 700, 10, 1);
}
TEST(SoftmaxRegression, SubgroupsTakeNarrowRowsByThemselves) {
  const auto alone = [](int train, int features, int classes, int teams, int round = 0) {
    expect_right<Warp, WarpOfFloats>(train, features, classes, teams, round, false);
  };
  alone(1, 1, 2, 1);
  alone(20, 9, 10, 3);       // teams without rows
  alone(70, 31, 10, 1);      // a whole square, with the constant
  alone(600, 33, 10, 1, 5);  // more rows of squares than subgroups, in rounds
  alone(150, 70, 3, 2);
  alone(300, 127, 10, 1);
  alone(65, 9, 64, 2);  // several turns: together
  expect_right<Wavefront, WavefrontOfFloats>(700, 9, 10, 1, 0, false);
  expect_right<Wavefront, WavefrontOfFloats>(100, 100, 4, 2, 0, false);
}

}  // namespace
}  // namespace league::softmax_regression::tests
