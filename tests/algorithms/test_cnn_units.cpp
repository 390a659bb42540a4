// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/blocks/mma_host.hpp"
#include "algorithms/cnn/unit_method.hpp"
#include "tests/algorithms/cnn.hpp"
#include "tests/algorithms/simulated_unit.hpp"

// The kernels on matrix units by GPU teams, which are simulated by host threads except for the products, against the
// same kernels on one host thread.
namespace league::cnn::tests {
namespace {

using blocks::mma::Element;
using league::tests::Simulated;

constexpr int images = 3, slices = 144;

/// The memory of the kernels; results are NaN.
struct Memory {
  explicit Memory(const Cnn& problem) : of(problem), weights(initial()) {
    fill_random(std::span(d_h), 7, 1);
    fill_random(std::span(h), 7, 2);
    fill_random(std::span(d_logits), 7, 3);
  }
  [[nodiscard]] State state() {
    State s{};
    s.weights = weights.data(), s.gradient = gradient.data(), s.p = p.data(), s.d_p = d_p.data(), s.h = h.data();
    s.d_h = d_h.data(), s.d_logits = d_logits.data(), s.losses = losses.data(), s.pool_decisions = decisions.data();
    s.dropout = of.dropout;
    return s;
  }
  [[nodiscard]] GpuMemory of_kernels() {
    return {.forward2 = forward.front().values,
            .backward2 = backward.front().values,
            .products = products.data(),
            .partials = partials.data(),
            .slices = slices};
  }
  [[nodiscard]] Take take() const {
    return {of.data.train.values<const std::uint8_t>().data(),
            of.data.train_labels.values<const std::int32_t>().data(),
            nullptr,
            0,
            0,
            images,
            1.0F / images,
            true};
  }
  [[nodiscard]] std::vector<float> initial() const {
    const auto values = of.initial.values<const float>();
    return {values.begin(), values.end()};
  }
  static std::vector<float> of_size(std::size_t size) { return std::vector<float>(size, std::nanf("")); }

  const Cnn& of;
  std::vector<float> weights, gradient = of_size(parameters + 1), p = of_size(images * pooled),
                              d_p = of_size(images * pooled), products = of_size(slices * images * hidden);
  std::vector<float> h = of_size(images * hidden), d_h = h, d_logits = of_size(images * classes),
                     losses = std::vector<float>(images, 1.0F);
  std::vector<std::uint8_t> decisions = std::vector<std::uint8_t>(images * pooled, 0xff);
  std::vector<float> partials = of_size(fc1_weights);
  std::vector<Four> forward = std::vector<Four>(channels1 * taps * channels2 / 4), backward = forward;
};

/// Calls `run(group, scratch)` in all threads of a team.
template <class Unit, class Kernel, class Run>
void run_team(const Run& run) {
  std::vector<Four> scratch(Kernel::scratch_bytes / sizeof(Four) + 1, Four{{NAN, NAN, NAN, NAN}});
  if constexpr (Unit::lanes == 1) {
    run(blocks::one_thread, scratch.front().values);
  } else {
    league::tests::run_team<Unit>(Kernel::threads / Unit::lanes, [&](const league::tests::SimulatedTeam& group) {
      run(group, scratch.front().values);
    });
  }
}
template <class Unit, class Kernel>
void run_items(Memory& memory, const std::vector<int>& items) {
  for (const int item : items)
    run_team<Unit, Kernel>([&](const auto& group, float* scratch) {
      Kernel::run(group, memory.state(), memory.of_kernels(), memory.take(), item, scratch);
    });
}
/// The sums of the convolutions' gradients over the images, by one row of teams; a window in four has a gradient.
template <class Unit>
void run_convolutions(Memory& memory) {
  for (std::size_t i = 0; i < memory.d_p.size(); ++i) {
    memory.d_p[i] = i % 4 == 0 ? random_value<float>(7, 4, i) : 0;
    memory.decisions[i] = Decision::of(static_cast<int>(i / 4 % 4), true);
  }
  const auto run = [&]<class Kernel>(Kernel, int teams) {
    for (int team = 0; team < teams; ++team)
      run_team<Unit, Kernel>([&](const auto& group, float* scratch) {
        Kernel::run(group, memory.state(), memory.of_kernels(), memory.take(), team, teams, scratch);
      });
  };
  run(UnitWeights<Unit>{}, UnitWeights<Unit>::shares);
  run(UnitInputs<Unit>{}, 1);
}
template <class Unit>
void run_all(Memory& memory) {
  for (int at = 0; at < channels2 * channels1 * taps; ++at)
    PackFilters<Unit, UnitBackward<Unit>>{memory.state(), memory.of_kernels()}(at);
  using Forward = UnitForward<Unit>;
  run_items<Unit, Forward>(memory, {1, 2, 8});
  ASSERT_EQ(Forward::items(images), 9);
  for (float& value : memory.p)
    if (std::isnan(value)) value = 0.5F;
  run_items<Unit, UnitDense<Unit, Mnist>>(memory, {0, slices - 1});
  using Backward = UnitDenseBackward<Unit, Mnist>;
  run_items<Unit, Backward>(memory, {3, Backward::tiles(images) - 1});
  if constexpr (Unit::lanes > 1)
    run_items<Unit, Backward>(memory, {Backward::tiles(images), Backward::items(images) - 1});
}

/// `what`: of those that both have, some are computed.
void expect_near(const std::string& what, const std::vector<float>& found, const std::vector<float>& expected,
                 double bound) {
  std::int64_t computed = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) && (what == "gradient" || std::isnan(found[i]))) continue;
    ++computed;
    ASSERT_NEAR(found[i], expected[i], bound) << what << " " << i;
  }
  EXPECT_GT(computed, 0) << what;
}

template <class Unit>
class CnnUnits : public ::testing::Test {};
using Units = ::testing::Types<Simulated<blocks::mma::Warp<Element::tf32>>, Simulated<blocks::mma::Warp<Element::bf16>>,
                               Simulated<blocks::mma::Wavefront<Element::tf32>>,
                               Simulated<blocks::mma::Wavefront<Element::bf16>>>;
TYPED_TEST_SUITE(CnnUnits, Units);

TYPED_TEST(CnnUnits, OfAGpuTeamDoTheWorkOfAHostThread) {
  const auto problem = make(generated(images), {{"steps", "1"}});
  Memory team(*problem), thread(*problem);
  run_all<TypeParam>(team);
  run_all<blocks::mma::Scalar<TypeParam::element>>(thread);
  expect_near("p", team.p, thread.p, 2e-5);
  expect_near("products", team.products, thread.products, 2e-5);
  expect_near("d_p", team.d_p, thread.d_p, 2e-5);
  expect_near("gradient", team.gradient, thread.gradient, 2e-5);
  int ties = 0;
  for (std::size_t i = 0; i < team.decisions.size(); ++i) ties += team.decisions[i] != thread.decisions[i] ? 1 : 0;
  EXPECT_LT(ties, 10);
  // The small sums over images.
  for (const int i : {fc1_biases, fc1_biases + 31}) {
    float sum = 0;
    for (int image = 0; image < images; ++image)
      sum += team.d_h[static_cast<std::size_t>(image * hidden + i - fc1_biases)];
    EXPECT_NEAR(team.gradient[static_cast<std::size_t>(i)], sum, 1e-6);
  }
  EXPECT_NEAR(team.gradient[parameters], 1, 1e-6) << "the loss";
  run_convolutions<TypeParam>(team);
  run_convolutions<blocks::mma::Scalar<TypeParam::element>>(thread);
  for (const float sum : thread.partials) ASSERT_FALSE(std::isnan(sum));
  expect_near("partials", team.partials, thread.partials, 2e-4);
}

}  // namespace
}  // namespace league::cnn::tests
