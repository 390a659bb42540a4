// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cnn_start.hpp"
#include "algorithms/cnn/layers_pool.hpp"
#include "algorithms/cnn/layers_shard.hpp"
#include "tests/algorithms/cnn_teams.hpp"

// The bound of products whose factors and results are bf16, on `layers` over planes in bf16 with plain loops in the
// place of a library.
namespace league::cnn::tests {
namespace {

using layers::Bf16;

/// Launches and products on one host thread: factors are rounded to bf16, sums are f32.
class PlainRunner {
 public:
  template <class T>
  using Array = Memory<T>;

  PlainRunner(const Context& /*context*/, Queue& queue) : queue_(queue) {}
  [[nodiscard]] Queue& queue() const { return queue_; }
  template <class MethodShard, class WarmUp>
  void declare(MethodShard& /*shard*/, std::int64_t /*max_factor*/, const WarmUp& /*warm_up*/) {}
  template <class Body>
  void elements(int count, const Body& body) const {
    queue_.submit([=] {
      for (int at = 0; at < count; ++at) body(at);
    });
  }
  template <class Body>
  void images(int count, const Body& body) const {
    queue_.submit([=] {
      for (int i = 0; i < count; ++i)
        for (int at = 0; at < Body::per_image; ++at) body(i, at);
    });
  }
  static int slices(int /*wanted*/) { return 1; }
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, layers::Factor a, layers::Factor b,
               float* out, int /*slices*/ = 1) const {
    queue_.submit([=] {
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
          float sum = 0;
          for (std::int64_t k = 0; k < depth; ++k)
            sum += Bf16(a.values[a.transposed ? k * rows + row : row * depth + k]) *
                   Bf16(b.values[b.transposed ? column * depth + k : k * columns + column]);
          out[row * columns + column] = sum;
        }
    });
  }

 private:
  Queue& queue_;
};

/// A convolution's products: `body(output, input, weight)` with indices of planes of an image and of the weights.
template <class L, class Body>
void for_products(const Body& body) {
  for (int o = 0; o < L::outputs; ++o)
    for (int at = 0; at < L::to_plane; ++at)
      for (int c = 0; c < L::inputs; ++c)
        for (int t = 0; t < taps; ++t)
          body(o * L::to_plane + at, c * L::plane + (at / L::to_side + t / 3) * L::side + at % L::to_side + t % 3,
               (o * L::inputs + c) * taps + t);
}

/// As a library: all tensors are bf16, sums are f32.
template <class N>
class PlainConvolutions {
 public:
  using Net = N;
  using Runner = PlainRunner;
  using Memory = layers::PlanesOf<N, Bf16>;
  static constexpr const char* form = Cnn::bf16_all;

  PlainConvolutions(const Runner& runner, int images) : runner_(runner), images_(images) {}
  static int chunk() { return 1; }
  template <class MethodShard>
  void declare(MethodShard& /*shard*/) {}
  void choose(const Memory& /*m*/) {}
  void warm_up(const Memory& /*m*/) {}
  void forward(const Memory& m) const {
    layers::forwards<N>([&]<int n>() {
      using L = Layer<N, n>;
      runner_.queue().submit([=, images = images_] {
        std::vector<float> sums(L::outputs * L::to_plane);
        for (int i = 0; i < images; ++i) {
          const Bf16* from = layers::inputs_of<n>(m) + i * L::inputs * L::plane;
          std::ranges::fill(sums, 0.0F);
          for_products<L>([&](int to, int in, int weight) {
            sums[static_cast<std::size_t>(to)] += from[in] * Bf16(m.s.weights[L::weights + weight]);
          });
          std::ranges::copy(sums, layers::output_of<n>(m) + i * L::outputs * L::to_plane);
        }
      });
      runner_.images(images_, typename layers::Around<N, n, Bf16>::Forward{m});
    });
  }
  void backward(const Memory& m) const {
    layers::backwards<N>([&]<int n>() {
      runner_.images(images_, typename layers::Around<N, n, Bf16>::Backward{m});
      runner_.queue().submit([=, images = images_] { differentiate<n>(m, images); });
    });
  }

 private:
  template <int n>
  static void differentiate(const Memory& m, int images) {
    using L = Layer<N, n>;
    std::vector<float> weights(L::outputs * L::inputs * taps), biases(L::outputs), inputs(L::inputs * L::plane);
    for (int i = 0; i < images; ++i) {
      const Bf16* from = layers::inputs_of<n>(m) + i * L::inputs * L::plane;
      const Bf16* d = layers::gradient_of<n>(m) + i * L::outputs * L::to_plane;
      std::ranges::fill(inputs, 0.0F);
      for_products<L>([&](int to, int in, int weight) {
        if (d[to] == 0) return;
        weights[static_cast<std::size_t>(weight)] += d[to] * from[in];
        inputs[static_cast<std::size_t>(in)] += d[to] * Bf16(m.s.weights[L::weights + weight]);
      });
      for (int at = 0; at < L::outputs * L::to_plane; ++at) biases[static_cast<std::size_t>(at / L::to_plane)] += d[at];
      if constexpr (!L::first) std::ranges::copy(inputs, m.d_a[n - 1] + i * L::inputs * L::plane);
    }
    std::ranges::transform(weights, m.s.gradient + L::weights, [](float sum) { return Bf16(sum); });
    std::ranges::copy(biases, m.s.gradient + L::biases);
  }
  const Runner& runner_;
  int images_;
};

class CnnBf16 : public ::testing::TestWithParam<const Network*> {
 protected:
  [[nodiscard]] static const Network& network() { return *GetParam(); }
  [[nodiscard]] static std::unique_ptr<Cnn> problem_of(const Dataset& data, Values values) {
    values["network"] = network().name;
    if (network().name != mnist.name) values.insert({{"optimizer", "adam"}, {"learning_rate", "0.001"}});
    return make(data, values);
  }
  [[nodiscard]] static std::unique_ptr<Cnn> problem_of(const Values& values) {
    return problem_of(generated(8, 1, network().pixels()), values);
  }
  [[nodiscard]] static Solved solve(const Cnn& problem) {
    if (network().name == mnist.name) return solved_by<layers::LayersShard<PlainConvolutions<Mnist>>>(problem, {}, 1);
    return solved_by<layers::LayersShard<PlainConvolutions<Cifar10>>>(problem, {}, 1);
  }
  /// Of the check, within the bounds of this form.
  [[nodiscard]] static std::string message(const Cnn& problem, Outputs& outputs, const std::string& form) {
    outputs[Cnn::gradient].form = form;
    return problem.check_alone(outputs).message;
  }
};
INSTANTIATE_TEST_SUITE_P(Networks, CnnBf16, ::testing::Values(&mnist, &cifar10),
                         [](const auto& with) { return std::string(with.param->name); });

TEST_P(CnnBf16, ResultsPassTheirOwnBoundOnly) {
  const auto problem = problem_of({{"steps", "2"}, {"batch", "4"}});
  Solved run = solve(*problem);
  EXPECT_EQ(run.results[Cnn::gradient].form, Cnn::bf16_all);
  EXPECT_EQ(message(*problem, run.results, Cnn::bf16_all), "");
  EXPECT_NE(message(*problem, run.results, Cnn::tf32_all), "");
  EXPECT_NE(message(*problem, run.results, ""), "");
  Solved exact(reference(), *problem);
  EXPECT_EQ(message(*problem, exact.results, Cnn::bf16_all), "");
}

/// Bounds are those of a few roundings: a fifth of the gradient of any tensor is missing.
TEST_P(CnnBf16, AGradientIsOff) {
  const auto problem = problem_of({{"steps", "2"}, {"batch", "4"}});
  Solved run = solve(*problem);
  const auto gradient = values_of<float>(run.results, Cnn::gradient);
  for (int tensor = 0; tensor < network().tensors(); ++tensor) {
    SCOPED_TRACE("tensor " + std::to_string(tensor));
    const auto part = gradient.subspan(static_cast<std::size_t>(network().tensor_begin(tensor)),
                                       static_cast<std::size_t>(network().tensor_begin(tensor + 1)) -
                                           static_cast<std::size_t>(network().tensor_begin(tensor)));
    const std::vector<float> there(part.begin(), part.end());
    for (float& value : part) value *= 0.8F;
    const std::string found = message(*problem, run.results, Cnn::bf16_all);
    EXPECT_TRUE(found.starts_with("gradient[")) << found;
    std::ranges::copy(there, part.begin());
  }
  EXPECT_EQ(message(*problem, run.results, Cnn::bf16_all), "");
}

/// Factors and stored values are rounded alike, in all images and positions: the errors add up.
TEST_P(CnnBf16, EqualImagesPass) {
  constexpr std::int64_t images = 16;
  Dataset data = images_like(images, 1, network().pixels());
  std::ranges::fill(data.train.values<std::uint8_t>(), std::uint8_t{40});
  for (std::int64_t i = 0; i < images; ++i) {
    data.train_labels.values<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % 3);
    for (std::int64_t at = 300; at < 330; ++at)
      data.train.values<std::uint8_t>()[static_cast<std::size_t>(i * network().pixels() + at)] =
          static_cast<std::uint8_t>(i % 2);
  }
  const auto problem = problem_of(data, {{"steps", "2"}, {"batch", std::to_string(images)}});
  const Verdict verdict = problem->check_alone(solve(*problem).results);
  EXPECT_TRUE(verdict.passed()) << verdict.message;
}

/// The first three steps, with a smaller batch among them, and an epoch with a test.
TEST_P(CnnBf16, TrainingsPass) {
  for (const Values& values : {Values{{"steps", "3"}, {"batch", "3"}}, Values{{"batch", "3"}}}) {
    const auto problem = problem_of(values);
    const Verdict verdict = problem->check_alone(solve(*problem).results);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
  }
}

TEST(CnnBf16Factors, AreRoundedToNearestEven) {
  for (const auto& [value, stored] : {std::pair{1.0F, 1.0F}, {1 + 0x1p-8F, 1.0F}, {1 + 0x3p-8F, 1 + 0x1p-6F}})
    EXPECT_EQ(Bf16(value), stored) << value;
}

}  // namespace
}  // namespace league::cnn::tests
