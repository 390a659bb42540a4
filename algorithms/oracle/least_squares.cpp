// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/oracle/least_squares.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace league::least_squares {
namespace {

using Reals = std::vector<double>;
using Long = std::vector<long double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

std::size_t index(int i, int j, int n) { return static_cast<std::size_t>(i * n + j); }
std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// sum_j matrix(i, j) x(j) for the leading n columns.
long double row_dot(const Moments& moments, const Long& matrix, int i, const Long& x, int n) {
  long double sum = 0;
  for (int j = 0; j < n; ++j) sum += matrix[moments.at(i, j)] * x[index(j)];
  return sum;
}

/// [x, last]^T matrix [x, last]
long double quadratic(const Moments& moments, const Long& matrix, Long x, long double last) {
  x.push_back(last);
  long double sum = 0;
  for (int i = 0; i < moments.columns; ++i) sum += x[index(i)] * row_dot(moments, matrix, i, x, moments.columns);
  return sum;
}

/// The first n rows and columns.
Reals leading(const Moments& moments, int n) {
  Reals matrix;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix.push_back(static_cast<double>(moments.plain[moments.at(i, j)]));
  return matrix;
}

/// One Jacobi rotation, which makes matrix(p, q) zero. Source: Golub, Van Loan: Matrix Computations, 8.5.
void rotate(Reals& matrix, Reals& vectors, int n, int p, int q) {
  const double off = matrix[index(p, q, n)];
  if (off == 0) return;
  const double tau = (matrix[index(q, q, n)] - matrix[index(p, p, n)]) / (2 * off);
  const double t = std::copysign(1.0, tau) / (std::abs(tau) + std::hypot(1.0, tau));
  const double c = 1 / std::hypot(1.0, t), s = t * c;
  const auto turn = [&](double& a, double& b) {
    const double before = a;
    a = c * before - s * b;
    b = s * before + c * b;
  };
  for (int k = 0; k < n; ++k) turn(matrix[index(k, p, n)], matrix[index(k, q, n)]);
  for (int k = 0; k < n; ++k) turn(matrix[index(p, k, n)], matrix[index(q, k, n)]);
  for (int k = 0; k < n; ++k) turn(vectors[index(k, p, n)], vectors[index(k, q, n)]);
}

/// Error propagation of a descent, in the basis of H's eigenvectors.
class ErrorBound {
 public:
  ErrorBound(const Descent& descent, int n) : descent_(descent), n_(n), basis_(eigen(leading(descent.gradient, n), n)) {
    along_.assign(index(n), 0);
    for (const double lambda : basis_.values) shrink_.push_back(std::abs(1 - descent.rate * lambda));
  }
  /// Propagates the errors `bound` of `theta` through a step.
  void step(const Long& theta, Reals& bound) {
    const double rate = descent_.rate;
    Long size;
    for (int j = 0; j < n_; ++j) size.push_back(std::abs(theta[index(j)]) + bound[index(j)]);
    for (int i = 0; i < n_; ++i) along_[index(i)] *= shrink_[index(i)];
    for (int j = 0; j < n_; ++j) {
      const Moments& moments = descent_.gradient;
      const auto magnitude = static_cast<double>(row_dot(moments, moments.magnitudes, j, size, n_) +
                                                 moments.magnitudes[moments.at(j, n_)]);
      const double perturbed =
          rate * descent_.unit * magnitude + 4 * eps * (static_cast<double>(size[index(j)]) + rate * magnitude);
      for (int i = 0; i < n_; ++i) along_[index(i)] += std::abs(basis_.vectors[index(j, i, n_)]) * perturbed;
    }
    for (int j = 0; j < n_; ++j) {
      bound[index(j)] = 0;
      for (int i = 0; i < n_; ++i) bound[index(j)] += std::abs(basis_.vectors[index(j, i, n_)]) * along_[index(i)];
    }
  }

 private:
  const Descent& descent_;
  int n_;
  Eigen basis_;
  Reals shrink_, along_;  // per eigenvector
};

/// The error bound of the loss at `theta` with errors `bound`: its own rounding, and the propagated errors.
double loss_bound(const Descent& descent, const Long& theta, const Reals& bound, int n) {
  const Moments& moments = descent.loss;
  Long size, error;
  long double change = 0;
  for (int j = 0; j < n; ++j) {
    size.push_back(std::abs(theta[index(j)]) + bound[index(j)]);
    error.push_back(bound[index(j)]);
    change +=
        2 * bound[index(j)] * std::abs(row_dot(moments, moments.plain, j, theta, n) - moments.plain[moments.at(j, n)]);
  }
  change += quadratic(moments, moments.magnitudes, error, 0);
  const long double own = (2 * descent.unit + 4 * eps) * quadratic(moments, moments.magnitudes, size, 1);
  return descent.loss_factor * static_cast<double>(own + change);
}

/// The Cholesky factor of the leading n rows and columns, row-major; `min_pivot` is the index of the smallest pivot
/// relative to its diagonal.
struct Factor {
  Long lower;
  int min_pivot = 0;
  bool positive = true;
};
Factor factorise(const Moments& moments, int n) {
  Factor factor{Long(index(n * n), 0)};
  long double min_pivot = 2;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      long double sum = moments.plain[moments.at(i, j)];
      for (int k = 0; k < j; ++k) sum -= factor.lower[index(i, k, n)] * factor.lower[index(j, k, n)];
      if (i != j) {
        factor.lower[index(i, j, n)] = sum / factor.lower[index(j, j, n)];
        continue;
      }
      const long double relative = sum / moments.plain[moments.at(i, i)];
      if (!(relative >= min_pivot)) min_pivot = relative, factor.min_pivot = i;
      if (!(sum > 0)) {
        factor.positive = false;
        return factor;
      }
      factor.lower[index(i, i, n)] = std::sqrt(sum);
    }
  return factor;
}

/// The solution of L L^T x = b.
Long solve(const Long& lower, Long b, int n) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) b[index(i)] -= lower[index(i, k, n)] * b[index(k)];
    b[index(i)] /= lower[index(i, i, n)];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) b[index(i)] -= lower[index(k, i, n)] * b[index(k)];
    b[index(i)] /= lower[index(i, i, n)];
  }
  return b;
}

[[noreturn]] void throw_singular(int column) {
  throw std::invalid_argument("the normal equations are singular: column " + std::to_string(column) +
                              " of the features is zero or a combination of those before it");
}

}  // namespace

Moments::Moments(int columns_)
    : columns(columns_), plain(index(columns_ * columns_), 0), magnitudes(index(columns_ * columns_), 0) {}

Moments& Moments::add(const Moments& other, long double weight) {
  for (std::size_t i = 0; i < plain.size(); ++i) {
    plain[i] += weight * other.plain[i];
    magnitudes[i] += weight * other.magnitudes[i];
  }
  return *this;
}

void Moments::sum_over(Reduce& reduce) {
  reduce.sum(plain);
  reduce.sum(magnitudes);
}

void add_block(Moments& moments, std::span<const double> tile, int rows) {
  for (int i = 0; i < moments.columns; ++i)
    for (int j = 0; j <= i; ++j) {
      const double* x = &tile[index(i * static_cast<int>(rows_per_block))];
      const double* y = &tile[index(j * static_cast<int>(rows_per_block))];
      double sum = 0, magnitude = 0;
#pragma omp simd reduction(+ : sum, magnitude)
      for (int row = 0; row < rows; ++row) {
        sum += x[row] * y[row];
        magnitude += std::abs(x[row] * y[row]);
      }
      moments.plain[moments.at(i, j)] += sum;
      moments.magnitudes[moments.at(i, j)] += magnitude;
      if (i == j) continue;
      moments.plain[moments.at(j, i)] += sum;
      moments.magnitudes[moments.at(j, i)] += magnitude;
    }
}

long double squared_error(const Moments& moments, std::span<const double> theta) {
  return std::max(0.0L, quadratic(moments, moments.plain, Long(theta.begin(), theta.end()), -1));
}

Eigen eigen(Reals matrix, int n) {
  Reals vectors(index(n * n), 0);
  for (int i = 0; i < n; ++i) vectors[index(i, i, n)] = 1;
  const double size = std::sqrt(std::inner_product(matrix.begin(), matrix.end(), matrix.begin(), 0.0));
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        off = std::max(off, std::abs(matrix[index(p, q, n)]));
        rotate(matrix, vectors, n, p, q);
      }
    if (off <= size * 1e-18) break;
  }
  std::vector<int> order(index(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int i) { return matrix[index(i, i, n)]; });
  Eigen sorted{{}, Reals(index(n * n))};
  for (int i = 0; i < n; ++i) {
    const int from = order[index(i)];
    sorted.values.push_back(matrix[index(from, from, n)]);
    for (int k = 0; k < n; ++k) sorted.vectors[index(k, i, n)] = vectors[index(k, from, n)];
  }
  return sorted;
}

Descended descend(const Descent& descent) {
  const Moments& moments = descent.gradient;
  const int n = moments.columns - 1;
  Descended result;
  result.theta_bound.assign(index(n), 0);
  Long theta(descent.start.begin(), descent.start.end());
  ErrorBound error(descent, n);
  for (std::int64_t step = 0; step < descent.steps; ++step) {
    result.loss.push_back(
        static_cast<double>(descent.loss_factor * quadratic(descent.loss, descent.loss.plain, theta, -1)));
    result.loss_bound.push_back(loss_bound(descent, theta, result.theta_bound, n));
    error.step(theta, result.theta_bound);
    Long next = theta;
    for (int j = 0; j < n; ++j)
      next[index(j)] -= descent.rate * (row_dot(moments, moments.plain, j, theta, n) - moments.plain[moments.at(j, n)]);
    theta = next;
  }
  result.theta.assign(theta.begin(), theta.end());
  return result;
}

Minimum minimise(const Moments& moments, double unit) {
  const int n = moments.columns - 1;
  const Factor factor = factorise(moments, n);
  if (!factor.positive) throw_singular(factor.min_pivot);
  Long right;
  for (int i = 0; i < n; ++i) right.push_back(moments.plain[moments.at(i, n)]);
  const Long theta = solve(factor.lower, right, n);
  // The computed theta solves (H + E) theta = r + e: |E| from the sums' rounding and from the factorisation's, which is
  // at most (3 n + 1) eps |L| |L^T| (Higham: Accuracy and Stability, 10.4), and |L| |L^T| at most sqrt(H_ii H_jj).
  Long inverse;
  for (int i = 0; i < n; ++i) {
    Long column(index(n), 0);
    column[index(i)] = 1;
    column = solve(factor.lower, column, n);
    inverse.insert(inverse.end(), column.begin(), column.end());
  }
  Minimum minimum{{theta.begin(), theta.end()}, {}, 0};
  Reals perturbed;
  double amplified = 0;
  const auto backward = [&](int i, int j) {
    return unit * moments.magnitudes[moments.at(i, j)] +
           4 * (n + 1) * eps * std::sqrt(moments.plain[moments.at(i, i)] * moments.plain[moments.at(j, j)]);
  };
  for (int i = 0; i < n; ++i) {
    long double sum = unit * moments.magnitudes[moments.at(i, n)];
    for (int j = 0; j < n; ++j) sum += backward(i, j) * std::abs(theta[index(j)]);
    perturbed.push_back(static_cast<double>(sum));
  }
  for (int i = 0; i < n; ++i) {
    long double bound = 0, gain = 0;
    for (int k = 0; k < n; ++k) {
      const long double weight = std::abs(inverse[index(i, k, n)]);
      bound += weight * perturbed[index(k)];
      // Scaled so that all columns have the same length.
      for (int j = 0; j < n; ++j)
        gain += weight * backward(k, j) * std::sqrt(moments.plain[moments.at(i, i)] / moments.plain[moments.at(j, j)]);
    }
    minimum.bound.push_back(static_cast<double>(bound));
    amplified = std::max(amplified, static_cast<double>(gain));
  }
  if (!(amplified < 0.5)) throw_singular(factor.min_pivot);
  for (double& bound : minimum.bound) bound /= 1 - amplified;
  const Eigen basis = eigen(leading(moments, n), n);
  minimum.condition =
      std::sqrt(basis.values.back() / std::max(basis.values.front(), std::numeric_limits<double>::min()));
  return minimum;
}

}  // namespace league::least_squares
