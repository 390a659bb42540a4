// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/fused/kernel.hpp"
#include "tests/algorithms/softmax_regression.hpp"

namespace league::softmax_regression::tests {
namespace {

/// A block of `fused` on the host, one thread after another between its barriers, for all rows of a problem.
template <class T>
std::vector<double> emulated(const SoftmaxRegression& problem, const std::vector<double>& theta, int threads,
                             double& loss) {
  using Tile = Tile<T>;
  using Word = WordOf<T>;
  using Words = blocks::PlainWords;
  const int pitch = static_cast<int>(problem.pitch), quads = pitch / 4, in_scratch = Tile::pitch(quads);
  std::vector<float> weights(static_cast<std::size_t>(classes_together * resident_pitch));
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const auto classes = static_cast<std::size_t>(problem.classes);
    weights[i % classes * resident_pitch + i / classes] = static_cast<float>(theta[i] * problem.scale);
  }
  std::vector<Quad> partials(static_cast<std::size_t>(problem.classes * quads));
  FusedWork<T> work{
      problem.stored_rows<T>(problem.rows).data(), problem.labels_of(problem.rows).data(), {}, partials.data(), nullptr,
      static_cast<int>(problem.features / 4 + 1)};
  work.descent.pitch = pitch;
  work.descent.classes = problem.classes;
  work.descent.weights = weights.data();
  work.descent.weights_pitch = resident_pitch;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<Quad> scratch(static_cast<std::size_t>(Tile::scratch_bytes(quads, problem.classes) / 16),
                            Quad{{nan, nan, nan, nan}});
  float* slots = scratch.front().values;
  float* logits = slots + Tile::slots * Tile::slot_size;
  Word* tile = reinterpret_cast<Word*>(logits + Tile::rows * turn_pitch);
  const int slices = Tile::slice(threads);
  std::vector<std::array<Quad, classes_together>> gradients(static_cast<std::size_t>(quads));
  std::vector<std::array<Quad, Tile::thread_classes>> z(static_cast<std::size_t>(threads));
  loss = 0;
  for (std::int64_t first = 0; first < problem.extent(); first += Tile::rows) {
    constexpr int half = Column<T, Words>::rows;
    for (int t = 0; t < quads; ++t)
      for (int row = 0; row < Tile::rows; row += half) {
        Column<T, Words> column;
        column.fetch(work.words(first + row) + t, quads, static_cast<int>(problem.extent() - first) - row);
        column.put(tile + row * in_scratch + t, in_scratch);
      }
    for (int t = 0; Tile::slice(t) < slices; ++t) {
      int places[Tile::thread_rows];
      for (int row = 0; row < Tile::thread_rows; ++row)
        places[row] = (Tile::group(t) * Tile::thread_rows + row) * in_scratch;
      z[static_cast<std::size_t>(t)] = {};
      auto& mine = *reinterpret_cast<typename Tile::Logits*>(&z[static_cast<std::size_t>(t)]);
      add_logits<T, Words>(tile, places, work.weights(0, Tile::half(t)), resident_pitch / 4, Tile::slice(t), slices,
                           work.quads, mine);
    }
    for (int round = (slices - 1) / Tile::slots; round >= 0; --round)
      for (int t = 0; Tile::slice(t) < slices; ++t)
        if (Tile::slice(t) / Tile::slots == round)
          put_logits<T>(*reinterpret_cast<typename Tile::Logits*>(&z[static_cast<std::size_t>(t)]), t, slices, slots);
    for (int t = 0; t < threads; ++t) sum_logits<T>(slots, slices, logits, turn_pitch, t, threads);
    for (int t = 0; t < Tile::rows; ++t)
      loss += finish_turn(problem.classes, first + t < problem.extent() ? work.labels[first + t] : -1,
                          logits + t * turn_pitch);
    for (int t = 0; t < quads; ++t) {
      Quad(&mine)[classes_together] =
          *reinterpret_cast<Quad(*)[classes_together]>(&gradients[static_cast<std::size_t>(t)]);
      add_gradient<T, Words>(tile + t, in_scratch, logits, turn_pitch, Tile::rows, mine);
      work.store(0, t, first > 0, mine);
    }
  }
  std::vector<double> gradient(theta.size());
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const auto c = static_cast<int>(i) % problem.classes, f = static_cast<int>(i) / problem.classes;
    gradient[i] = static_cast<double>(partials[static_cast<std::size_t>(c * quads + f / 4)].values[f % 4]) *
                  problem.scale / static_cast<double>(problem.extent());
  }
  loss /= static_cast<double>(problem.extent());
  return gradient;
}

TEST(SoftmaxRegression, ThreadsOfABlockShareItsTile) {
  for (const Dtype dtype : {Dtype::u8, Dtype::f32})
    for (const auto& [train, features, classes, threads] :
         {std::tuple{100, 784, 10, 224}, std::tuple{33, 40, 3, 64}, std::tuple{70, 15, 10, 256},
          std::tuple{9, 879, 2, 224}, std::tuple{41, 100, 7, 100}}) {
      SCOPED_TRACE(std::string(name(dtype)) + " features " + std::to_string(features) + " threads " +
                   std::to_string(threads));
      const auto problem = make(generated(train, 1, features, classes, Dtype::u8), dtype);
      const std::vector<double> theta = random_theta(*problem, 1);
      const Evaluation right = evaluate(*problem, {0, train}, theta);
      double loss = 0;
      const std::vector<double> gradient = dtype == Dtype::u8 ? emulated<std::uint8_t>(*problem, theta, threads, loss)
                                                              : emulated<float>(*problem, theta, threads, loss);
      EXPECT_NEAR(loss, right.loss, right.loss_error);
      double squares = 0;
      for (std::size_t i = 0; i < theta.size(); ++i) squares += std::pow(gradient[i] - right.gradient[i], 2);
      EXPECT_LE(std::sqrt(squares), right.residual_error + roundings(train + 8) * eps * right.residual);
    }
}

}  // namespace
}  // namespace league::softmax_regression::tests
