// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/host/host.hpp"

/// A host thread's work on a block of rows for a Newton step: squares of 4 x 4 products stay in vector registers, so
/// that two loads serve four products; vector lanes take neighbouring rows.
namespace league::logistic {

#if defined(__AVX512F__)
inline constexpr int host_vector_bytes = 64;
#else
inline constexpr int host_vector_bytes = 32;
#endif

/// A thread's sums of all its blocks. A lane adds up to 16 rows in T before they go into double.
template <class T>
class HostHessian {
 public:
  explicit HostHessian(const Rows<T>& rows) : rows_(rows), groups_((rows.features + side - 1) / side) {
    for (int i = 0; i < sums_before(groups_); ++i) sums_[i] = Wide{};
  }

  /// Adds rows [begin, begin + count) with these residuals and weights. @pre the two are aligned to 64 bytes
  void add(std::int64_t begin, std::int64_t count, const T* residual, const T* weight) {
    constexpr std::int64_t run = std::int64_t{16} * lanes;
    const std::int64_t whole = count / lanes * lanes;
    for (std::int64_t first = 0; first < whole; first += run)
      add_run({begin + first, residual + first, weight + first,
               static_cast<int>((first + run < whole ? run : whole - first) / lanes)});
    if (whole < count) add_rest(begin + whole, static_cast<int>(count - whole), residual + whole, weight + whole);
  }

  /// Adds the sums to the gradient of the features and to the Hessian but its first entry.
  void leave(double* sums) const {
    double* hessian = sums + gradient_sums(rows_.features);
    for (int i = 0; i < rows_.features; ++i) {
      const Wide* mine = sums_ + sums_before(i / side);
      sums[2 + i] += total(mine[i % side]);
      hessian[triangle(i + 1)] += total(mine[side + i % side]);
      for (int j = 0; j <= i; ++j)
        hessian[triangle(i + 1) + 1 + j] +=
            total(mine[2 * side + (j / side) * side * side + i % side * side + j % side]);
    }
  }

 private:
  typedef T Vector __attribute__((vector_size(host_vector_bytes)));
  typedef double Wide __attribute__((vector_size(host_vector_bytes)));
  static constexpr int side = 4, lanes = host_vector_bytes / static_cast<int>(sizeof(T));
  static constexpr int wides = static_cast<int>(sizeof(double) / sizeof(T)), of_wide = lanes / wides;
  static constexpr int max_groups = LogisticRegression::max_features / side;

  /// Sums of the groups of 4 features before this one: a group has its gradient, the intercept's row, and a square with
  /// each group up to itself.
  static constexpr int sums_before(int group) { return group * 2 * side + triangle(group) * side * side; }

  struct Run {
    std::int64_t begin;
    const T* residual;
    const T* weight;
    int steps;
  };

  static Vector load(const T* from) {
    Vector values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
  }
  /// Features of a group; those that are not there repeat the last one.
  void columns_of(int group, std::int64_t begin, const T* (&x)[side]) const {
    for (int k = 0; k < side; ++k) {
      const int feature = group * side + k < rows_.features ? group * side + k : rows_.features - 1;
      x[k] = rows_.columns + feature * rows_.pitch + begin;
    }
  }
  static void widen(const Vector& from, Wide& to) {
    typedef T Part __attribute__((vector_size(host_vector_bytes / wides)));
    Part parts[wides];
    __builtin_memcpy(parts, &from, sizeof parts);
    for (const Part& part : parts) to += __builtin_convertvector(part, Wide);
  }
  static double total(const Wide& lanes_of) {
    double sum = 0;
    for (int lane = 0; lane < of_wide; ++lane) sum += lanes_of[lane];
    return sum;
  }

  void add_run(const Run& run) {
    for (int i = 0; i < groups_; ++i) {
      const T* x[side];
      columns_of(i, run.begin, x);
      Wide* to = sums_ + sums_before(i);
      for (int j = 0; j < i; ++j) {
        const T* y[side];
        columns_of(j, run.begin, y);
        add_square(run, x, y, to + 2 * side + j * side * side);
      }
      add_triangle(run, x, to, to + 2 * side + i * side * side);
    }
  }
  static void add_square(const Run& run, const T* const (&x)[side], const T* const (&y)[side], Wide* to) {
    Vector sums[side * side] = {};
    for (int step = 0; step < run.steps; ++step) {
      const int row = step * lanes;
      const Vector weight = load(run.weight + row);
      Vector left[side], right[side];
      unrolled<side>([&](int k) {
        left[k] = weight * load(x[k] + row);
        right[k] = load(y[k] + row);
      });
      unrolled<side * side>([&](int k) { sums[k] += left[k / side] * right[k % side]; });
    }
    unrolled<side * side>([&](int k) { widen(sums[k], to[k]); });
  }
  /// The gradient of four features, the intercept's row of the Hessian, and the square on its diagonal. Asks for the
  /// same rows of the next block.
  static void add_triangle(const Run& run, const T* const (&x)[side], Wide* columns, Wide* square) {
    Vector gradient[side] = {}, intercept[side] = {}, sums[triangle(side)] = {};
    for (int step = 0; step < run.steps; ++step) {
      const int row = step * lanes;
      const Vector residual = load(run.residual + row), weight = load(run.weight + row);
      Vector value[side];
      unrolled<side>([&](int k) {
        __builtin_prefetch(x[k] + row + host_block, 0, 2);
        value[k] = load(x[k] + row);
        gradient[k] += residual * value[k];
        const Vector weighted = weight * value[k];
        intercept[k] += weighted;
        unrolled<side>([&](int m) {
          if (m <= k) sums[triangle(k) + (m <= k ? m : 0)] += weighted * value[m];
        });
      });
    }
    unrolled<side>([&](int k) {
      widen(gradient[k], columns[k]);
      widen(intercept[k], columns[side + k]);
      for (int m = 0; m <= k; ++m) widen(sums[triangle(k) + m], square[k * side + m]);
    });
  }
  /// Fewer rows than lanes, by copies with zeros behind them.
  void add_rest(std::int64_t begin, int count, const T* residual, const T* weight) {
    T of[2][lanes] = {}, x[max_groups * side][lanes] = {};
    for (int i = 0; i < count; ++i) of[0][i] = residual[i], of[1][i] = weight[i];
    for (int d = 0; d < rows_.features; ++d)
      for (int i = 0; i < count; ++i) x[d][i] = rows_.columns[d * rows_.pitch + begin + i];
    const Rows<T> all = rows_;
    rows_.columns = x[0];
    rows_.pitch = lanes;
    add_run({0, of[0], of[1], 1});
    rows_ = all;
  }

  Rows<T> rows_;
  int groups_;
  Wide sums_[sums_before(max_groups)];
};

/// All blocks of a worker: loss, gradient and Hessian.
template <class T>
void host_add_newton_rows(const Rows<T>& rows, Blocks mine, const double* theta, double* sums) {
  HostBlock<T> block;
  HostHessian<T> hessian(rows);
  double& weights = sums[gradient_sums(rows.features)];
  for (std::int64_t b = mine.first; b < mine.last; ++b) {
    const std::int64_t begin = b * host_block, left = rows.count - begin, count = left < host_block ? left : host_block;
    host_logits(rows, begin, count, theta, block.logit);
    host_terms<T, true>(rows.labels + begin, count, block, sums);
    weights += host_total(block.weight, count);
    hessian.add(begin, count, block.logit, block.weight);
  }
  hessian.leave(sums);
}

}  // namespace league::logistic
