// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include <cmath>
#include <vector>

#include "algorithms/distance_matrix/part.hpp"
#include "backends/host_array.hpp"

// One thread takes all pairs, one after another: the formulas as they are written.
namespace league::distance_matrix {
namespace {

constexpr std::int64_t tile = 64;  // points of a tile

template <class T>
struct Pairs {
  std::int64_t n, dimension;
  bool euclidean;
  const T* points;

  [[nodiscard]] T root(T squared) const { return euclidean ? std::sqrt(squared) : squared; }
  [[nodiscard]] T difference(std::int64_t i, std::int64_t j) const {
    T sum = 0;
    for (std::int64_t k = 0; k < dimension; ++k) {
      const T d = points[i * dimension + k] - points[j * dimension + k];
      sum += d * d;
    }
    return sum;
  }
  [[nodiscard]] T product(std::int64_t i, std::int64_t j) const {
    T sum = 0;
    for (std::int64_t k = 0; k < dimension; ++k) sum += points[i * dimension + k] * points[j * dimension + k];
    return sum;
  }
};

template <class T>
void direct(const Pairs<T>& pairs, Range rows, T* out) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int64_t j = 0; j < pairs.n; ++j) out[(i - rows.begin) * pairs.n + j] = pairs.root(pairs.difference(i, j));
}

template <class T>
void tiled(const Pairs<T>& pairs, Range rows, T* out) {
  for (std::int64_t top = rows.begin; top < rows.end; top += tile)
    for (std::int64_t left = 0; left < pairs.n; left += tile)
      for (std::int64_t i = top; i < std::min(top + tile, rows.end); ++i)
        for (std::int64_t j = left; j < std::min(left + tile, pairs.n); ++j)
          out[(i - rows.begin) * pairs.n + j] = pairs.root(pairs.difference(i, j));
}

template <class T>
void symmetric(const Pairs<T>& pairs, T* out) {
  for (std::int64_t i = 0; i < pairs.n; ++i)
    for (std::int64_t j = i; j < pairs.n; ++j)
      out[i * pairs.n + j] = out[j * pairs.n + i] = pairs.root(pairs.difference(i, j));
}

template <class T>
void product(const Pairs<T>& pairs, Range rows, T* norms, T* out) {
  for (std::int64_t i = 0; i < pairs.n; ++i) norms[i] = pairs.product(i, i);
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int64_t j = 0; j < pairs.n; ++j) {
      const T squared = i == j ? 0 : norms[i] + norms[j] - 2 * pairs.product(i, j);
      out[(i - rows.begin) * pairs.n + j] = pairs.root(std::max(squared, T{0}));
    }
}

enum class Method { direct, tiled, symmetric, product };

Form form(Method method, const DistanceMatrix& problem) {
  if (method == Method::symmetric) return {.blocked = false};
  if (method == Method::product)
    return {.expanded = true, .extra_bytes = problem.n * static_cast<std::int64_t>(size_bytes(problem.dtype))};
  return {};
}

template <class T, Method method>
class Serial final : public DistancePart<host::Array<T>> {
 public:
  Serial(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistancePart<host::Array<T>>(
            problem, context, shard, form(method, problem),
            [&](const char*, std::int64_t size) { return host::Array<T>(context.runtime.queue(shard.device), size); }),
        norms_(this->queue(), method == Method::product ? problem.n : 0) {}
  Launch configure(Launch) override { return {1, 1, 1}; }

 private:
  void block(Stages& stages, Range range, T* out) override {
    const Pairs<T> pairs{this->n_, this->dimension_, this->euclidean_, this->points_.data()};
    stages.stage(this->queue(), "distance", [&] {
      if constexpr (method == Method::direct) direct(pairs, range, out);
      if constexpr (method == Method::tiled) tiled(pairs, range, out);
      if constexpr (method == Method::symmetric) symmetric(pairs, out);
      if constexpr (method == Method::product) product(pairs, range, norms_.data(), out);
    });
  }
  host::Array<T> norms_;
};

template <Method method>
std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() { return split<Serial<T, method>>(problem, context); });
}

const Register<DistanceMatrix> direct_variant{"direct", serial::model, prepare<Method::direct>};
const Register<DistanceMatrix> tiled_variant{"tiled", serial::model, prepare<Method::tiled>};
const Register<DistanceMatrix> symmetric_variant{"symmetric", serial::model, prepare<Method::symmetric>};
const Register<DistanceMatrix> product_variant{"product", serial::model, prepare<Method::product>};

}  // namespace
}  // namespace league::distance_matrix
