// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "algorithms/blocks/product_tile_host.hpp"
#include "algorithms/softmax_regression/oracle.hpp"
#include "backends/launch.hpp"

namespace league::softmax_regression {
namespace {

// Rows are taken in tiles; a tile's products with a chunk of columns stay in vector registers. Columns are the classes
// of theta, then those of a direction.
constexpr int tile_rows = 8, lanes = blocks::HostTile<double>::lanes, vectors = 3, chunk = lanes * vectors;
typedef double Vector __attribute__((vector_size(lanes * sizeof(double))));

/// products [tile_rows x columns] = tile [tile_rows x depth] times `matrix` [depth x columns], one chunk of columns.
void multiply(std::int64_t depth, const double* tile, const double* matrix, std::int64_t columns, double* products) {
  Vector sum[tile_rows][vectors] = {};
  for (std::int64_t f = 0; f < depth; ++f) {
    Vector w[vectors];
    std::memcpy(w, matrix + f * columns, sizeof w);
    for (int row = 0; row < tile_rows; ++row)
      for (int v = 0; v < vectors; ++v) sum[row][v] += tile[row * depth + f] * w[v];
  }
  for (int row = 0; row < tile_rows; ++row) std::memcpy(products + row * columns, sum[row], sizeof sum[row]);
}

/// sums [depth x columns] += the transposed tile times `factors` [tile_rows x columns], one chunk of columns.
void add_products(std::int64_t depth, const double* tile, const double* factors, std::int64_t columns, double* sums) {
  Vector r[tile_rows][vectors];
  for (int row = 0; row < tile_rows; ++row) std::memcpy(r[row], factors + row * columns, sizeof r[row]);
  for (std::int64_t f = 0; f < depth; ++f) {
    Vector sum[vectors];
    std::memcpy(sum, sums + f * columns, sizeof sum);
    for (int row = 0; row < tile_rows; ++row)
      for (int v = 0; v < vectors; ++v) sum[v] += tile[row * depth + f] * r[row][v];
    std::memcpy(sums + f * columns, sum, sizeof sum);
  }
}

/// One thread's pass over some tiles, with its sums.
class Pass {
 public:
  std::vector<double> sums;  ///< [features + 1 x columns]
  double loss = 0, loss_error = 0, residual_error = 0, residual = 0;

  Pass(const SoftmaxRegression& problem, std::int64_t columns, const std::vector<double>& matrix, double max_weight,
       bool directed)
      : problem_(problem),
        depth_(problem.features + 1),
        columns_(columns),
        matrix_(matrix),
        logit_error_(roundings(static_cast<double>(depth_) + 4) * eps * max_weight),
        directed_(directed),
        tile_(static_cast<std::size_t>(tile_rows * depth_)),
        products_(static_cast<std::size_t>(tile_rows * columns)) {
    sums.resize(static_cast<std::size_t>(depth_ * columns));
  }

  void take(std::int64_t first, std::int64_t last) {
    const int rows = static_cast<int>(std::min<std::int64_t>(tile_rows, last - first));
    const Range tile{first, first + rows};
    const std::int32_t* labels = problem_.labels_of(tile).data();
    if (problem_.dtype == Dtype::u8)
      load(problem_.stored_rows<std::uint8_t>(tile).data(), rows);
    else
      load(problem_.stored_rows<float>(tile).data(), rows);
    for (std::int64_t c = 0; c < columns_; c += chunk)
      multiply(depth_, tile_.data(), matrix_.data() + c, columns_, products_.data() + c);
    for (int row = 0; row < tile_rows; ++row) {
      double* z = products_.data() + row * columns_;
      if (row < rows)
        finish_row(row, z, labels[row]);
      else
        std::fill_n(z, columns_, 0.0);
    }
    for (std::int64_t c = 0; c < columns_; c += chunk)
      add_products(depth_, tile_.data(), products_.data() + c, columns_, sums.data() + c);
  }

 private:
  template <class T>
  void load(const T* rows, int count) {
    for (int row = 0; row < tile_rows; ++row)
      for (std::int64_t f = 0; f < depth_; ++f)
        tile_[static_cast<std::size_t>(row * depth_ + f)] =
            row < count ? static_cast<double>(rows[row * problem_.pitch + f]) : 0;
  }

  /// Residuals of the logits at z, followed by those of the direction: p (u - p.u).
  void finish_row(int row, double* z, std::int32_t label) {
    const int classes = problem_.classes;
    double squares = 0;
    for (std::int64_t f = 0; f < depth_; ++f) {
      const double x = tile_[static_cast<std::size_t>(row * depth_ + f)];
      squares += x * x;
    }
    const double norm = problem_.scale * std::sqrt(squares);
    const double largest = *std::max_element(z, z + classes), of_label = z[label];
    double sum = 0, spread = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(z[c] - largest);
    for (int c = 0; c < classes; ++c) spread += std::exp(z[c] - largest) / sum * (largest - z[c]);
    const double error = logit_error_ * norm, grown = std::expm1(2 * error), few = classes + 8;
    double errors = 0, residuals = 0, along = 0;
    for (int c = 0; c < classes; ++c) {
      const double p = std::exp(z[c] - largest) / sum, r = p - (c == label ? 1 : 0);
      const double of_p = std::min(1.0, std::min(p, 1 - p) * grown + (largest - z[c] + spread + few) * eps * p);
      errors += of_p * of_p;
      residuals += r * r;
      if (directed_) along += p * z[classes + c];
    }
    for (int c = 0; c < classes; ++c) {
      const double p = std::exp(z[c] - largest) / sum;
      if (directed_) z[classes + c] = p * (z[classes + c] - along);
      z[c] = p - (c == label ? 1 : 0);
    }
    loss += std::log(sum) + (largest - of_label);
    loss_error += 2 * error + (std::log(sum) + largest - of_label + few) * eps;
    residual_error += norm * std::sqrt(errors);
    residual += norm * std::sqrt(residuals);
  }

  const SoftmaxRegression& problem_;
  std::int64_t depth_, columns_;
  const std::vector<double>& matrix_;
  double logit_error_;  ///< per unit of a row's norm
  bool directed_;
  std::vector<double> tile_, products_;
};

/// The largest norm of a class's weights: bounds a logit by the row's norm.
double max_weight(const std::vector<double>& theta, int classes) {
  std::vector<double> squares(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < theta.size(); ++i) squares[i % squares.size()] += theta[i] * theta[i];
  return std::sqrt(*std::ranges::max_element(squares));
}

}  // namespace

Evaluation evaluate(const SoftmaxRegression& problem, Rows rows, const std::vector<double>& theta,
                    const std::vector<double>& direction, Reduce& reduce) {
  const auto classes = static_cast<std::size_t>(problem.classes),
             depth = static_cast<std::size_t>(problem.features + 1);
  const std::size_t used = direction.empty() ? classes : 2 * classes,
                    columns = ceil_div<std::size_t>(used, chunk) * chunk;
  std::vector<double> matrix(depth * columns);
  for (std::size_t i = 0; i < theta.size(); ++i) {
    matrix[i / classes * columns + i % classes] = theta[i] * problem.scale;
    if (!direction.empty()) matrix[i / classes * columns + classes + i % classes] = direction[i] * problem.scale;
  }
  const Rows here{std::max(rows.first, problem.rows.begin), std::min(rows.last, problem.rows.end)};
  const std::int64_t tiles = ceil_div(std::max<std::int64_t>(here.last - here.first, 0), std::int64_t{tile_rows});
  const int threads = static_cast<int>(std::clamp<std::int64_t>(tiles, 1, omp_get_max_threads()));
  std::vector<Pass> passes(static_cast<std::size_t>(threads),
                           Pass(problem, static_cast<std::int64_t>(columns), matrix, max_weight(theta, problem.classes),
                                !direction.empty()));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    passes[static_cast<std::size_t>(omp_get_thread_num())].take(here.first + tile * tile_rows, here.last);

  // Sums over all processes: four numbers, the gradient, the curvature.
  const auto count = static_cast<double>(rows.last - rows.first);
  std::vector<double> means(4 + theta.size() + direction.size());
  for (const Pass& pass : passes) {
    means[0] += pass.loss / count, means[1] += pass.loss_error / count;
    means[2] += pass.residual / count, means[3] += pass.residual_error / count;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const double* sums = &pass.sums[i / classes * columns + i % classes];
      means[4 + i] += sums[0] * problem.scale / count;
      if (!direction.empty()) means[4 + theta.size() + i] += sums[classes] * problem.scale / count;
    }
  }
  // Where batches are split, every process has all rows.
  if (problem.batch == problem.extent()) reduce.sum(means);
  const auto gradient = means.begin() + 4, curvature = gradient + static_cast<std::ptrdiff_t>(theta.size());
  Evaluation all{.loss = means[0],
                 .gradient = {gradient, curvature},
                 .curvature = {curvature, means.end()},
                 .residual_error = means[3],
                 .residual = means[2],
                 .loss_error = means[1]};
  for (std::size_t i = 0; i < (depth - 1) * classes; ++i) {  // the penalty; biases have none
    all.loss += problem.l2 / 2 * theta[i] * theta[i];
    all.gradient[i] += problem.l2 * theta[i];
  }
  return all;
}

}  // namespace league::softmax_regression
