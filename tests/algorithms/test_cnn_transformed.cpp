// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cmath>
#include <random>

#include "algorithms/cnn/cnn_oracle.hpp"
#include "algorithms/cnn/cnn_start.hpp"
#include "tests/algorithms/cnn.hpp"

// The bound of convolutions that a library transforms: Winograd's F(4x4, 3x3) with the points 0, 1, -1, 2, -2 and
// infinity (Lavin, Gray: Fast algorithms for convolutional neural networks, 2016).
namespace league::cnn::tests {
namespace {

constexpr int outputs = 4, filter = 3, tile = outputs + filter - 1;
template <int rows, int columns>
using Matrix = std::array<std::array<double, columns>, rows>;

constexpr Matrix<tile, tile> transform_data{{{4, 0, -5, 0, 1, 0},
                                             {0, -4, -4, 1, 1, 0},
                                             {0, 4, -4, -1, 1, 0},
                                             {0, -2, -1, 2, 1, 0},
                                             {0, 2, -1, -2, 1, 0},
                                             {0, 4, 0, -5, 0, 1}}};
constexpr Matrix<tile, filter> transform_filter{{{1.0 / 4, 0, 0},
                                                 {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                                 {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                                 {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                                 {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                                 {0, 0, 1}}};
constexpr Matrix<outputs, tile> transform_back{
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};

template <class T>
using Grid = std::vector<std::vector<T>>;

/// [m] v [m]^T, in T.
template <class T, std::size_t rows, std::size_t columns>
Grid<T> both_sides(const std::array<std::array<double, columns>, rows>& m, const Grid<T>& v) {
  Grid<T> half(rows, std::vector<T>(columns)), whole(rows, std::vector<T>(rows));
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < columns; ++k) half[i][j] += static_cast<T>(m[i][k]) * v[k][j];
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t k = 0; k < columns; ++k) whole[i][j] += half[i][k] * static_cast<T>(m[j][k]);
  return whole;
}

/// Reproducible: std::normal_distribution may draw otherwise elsewhere.
Grid<double> drawn(int side, std::mt19937& generator) {
  Grid<double> values(static_cast<std::size_t>(side), std::vector<double>(static_cast<std::size_t>(side)));
  for (auto& row : values)
    for (double& value : row) value = static_cast<float>(static_cast<double>(generator()) / 0x1p31 - 1);
  return values;
}

Grid<float> floats_of(const Grid<double>& values) {
  Grid<float> all;
  for (const auto& row : values) all.emplace_back(row.begin(), row.end());
  return all;
}

TEST(CnnTransformed, TheBoundIsThatOfItsTransforms) {
  double worst = 0;
  for (const auto& row : transform_back) {
    double sum = 0;
    for (std::size_t t = 0; t < tile; ++t) {
      double of_filter = 0, of_data = 0;
      for (const double g : transform_filter[t]) of_filter += g * g;
      for (const double b : transform_data[t]) of_data += b * b;
      sum += row[t] * row[t] * of_filter * of_data;
    }
    worst = std::max(worst, sum / filter);
  }
  EXPECT_NEAR(Arithmetic::of(Cnn::f32_transformed).transforms, worst * worst, 1e-9 * worst * worst);
  EXPECT_EQ(Arithmetic::of("").transforms, 1);
}

/// Sums of 64 channels in f32: the corner of a tile, where errors are the largest, against direct sums.
TEST(CnnTransformed, ErrorsGrowByNoMoreThanTheBoundAllows) {
  constexpr int channels = 64, tiles = 200;
  constexpr double unit = 0x1p-24;
  std::mt19937 generator(7);
  double of_transformed = 0, of_direct = 0;
  const double allowed = Arithmetic::of(Cnn::f32_transformed).transforms;
  for (int n = 0; n < tiles; ++n) {
    Grid<float> products(tile, std::vector<float>(tile));
    double exact = 0, squares = 0;
    float direct = 0;
    for (int c = 0; c < channels; ++c) {
      const Grid<double> data = drawn(tile, generator), weights = drawn(filter, generator);
      for (std::size_t y = 0; y < filter; ++y)
        for (std::size_t x = 0; x < filter; ++x) {
          const double term = data[outputs - 1 + y][outputs - 1 + x] * weights[y][x];
          exact += term, squares += term * term;
          direct += static_cast<float>(data[outputs - 1 + y][outputs - 1 + x]) * static_cast<float>(weights[y][x]);
        }
      const Grid<float> of_data = both_sides(transform_data, floats_of(data)),
                        of_weights = both_sides(transform_filter, floats_of(weights));
      for (std::size_t y = 0; y < tile; ++y)
        for (std::size_t x = 0; x < tile; ++x) products[y][x] += of_data[y][x] * of_weights[y][x];
    }
    const double found = both_sides(transform_back, products)[outputs - 1][outputs - 1];
    EXPECT_LE(std::abs(found - exact), std::sqrt(allowed * std::pow(16 * unit, 2) * (channels * taps + 1) * squares));
    of_transformed += std::pow(found - exact, 2), of_direct += std::pow(direct - exact, 2);
  }
  EXPECT_LE(of_transformed, allowed * of_direct);
  EXPECT_GE(of_transformed, 4 * of_direct) << "transforms lose digits";
}

/// Errors of one tap may come from the others of its filter: pixels that only one tap sees.
TEST(CnnTransformed, TapsOfAFilterShareTheirErrors) {
  Dataset data = images_like(4, 1);
  for (std::int64_t i = 0; i < 4; ++i) {
    data.train.values<std::uint8_t>()[static_cast<std::size_t>(i * pixels)] = 200;  // the corner
    data.train_labels.values<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i);
  }
  const auto problem = make(data, {{"network", "mnist"}, {"steps", "1"}, {"batch", "4"}});
  const auto initial = problem->initial.values<const float>();
  const std::vector<double> weights(initial.begin(), initial.end());
  const auto bounds_of = [&](const char* form) {
    return differentiate(weights, batch_of(*problem, 0, Arithmetic::of(form))).bounds;
  };
  const std::vector<double> direct = bounds_of(""), transformed = bounds_of(Cnn::f32_transformed);
  for (std::size_t i = 0; i < direct.size(); ++i) EXPECT_GE(transformed[i], direct[i]) << i;
  const Convolution& layer = mnist.convolutions[1];
  bool differ = false;
  for (std::size_t at = static_cast<std::size_t>(layer.weights); at < static_cast<std::size_t>(layer.biases);
       at += taps)
    for (std::size_t t = 1; t < taps; ++t) {
      EXPECT_NEAR(transformed[at], transformed[at + t], 0.05 * transformed[at]);
      differ = differ || std::abs(direct[at] - direct[at + t]) > 0.2 * direct[at];
    }
  EXPECT_TRUE(differ) << "the test says nothing";
}

/// A hundredth of the gradient of any tensor is missing.
TEST(CnnTransformed, AGradientIsOff) {
  for (const Network* network : {&mnist, &cifar10}) {
    SCOPED_TRACE(network->name);
    Values values{{"network", std::string(network->name)}, {"steps", "2"}, {"batch", "4"}};
    if (network == &cifar10) values.insert({{"optimizer", "adam"}, {"learning_rate", "0.001"}});
    const auto problem = make(generated(8, 1, network->pixels()), values);
    Solved run(reference(), *problem);
    run.results[Cnn::gradient].form = Cnn::f32_transformed;
    EXPECT_EQ(problem->check_alone(run.results).message, "");
    const auto gradient = values_of<float>(run.results, Cnn::gradient);
    for (int tensor = 0; tensor < network->tensors(); ++tensor) {
      SCOPED_TRACE("tensor " + std::to_string(tensor));
      const auto begin = static_cast<std::size_t>(network->tensor_begin(tensor)),
                 end = static_cast<std::size_t>(network->tensor_begin(tensor + 1));
      const std::vector<float> there(gradient.begin() + static_cast<std::ptrdiff_t>(begin),
                                     gradient.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::size_t i = begin; i < end; ++i) gradient[i] *= 0.99F;
      const std::string found = problem->check_alone(run.results).message;
      EXPECT_TRUE(found.starts_with("gradient[")) << found;
      std::ranges::copy(there, gradient.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }
}

}  // namespace
}  // namespace league::cnn::tests
