// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include <cmath>
#include <vector>

#include "algorithms/distance_matrix/common/shard.hpp"
#include "backends/host_array.hpp"

// One thread takes all pairs, one after another, by the formulas.
namespace league::distance_matrix {
namespace {

constexpr std::int64_t tile = 64;  // points per tile

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

template <class T, Kind kind>
class Serial final : public DistanceShard {
 public:
  Serial(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard) {
    declare(norms_, "distance_matrix/norms", kind == Kind::product ? problem.n : 0);
    declare_matrix(points_, out_, form_of(kind));
  }
  Launch configure(Launch) override { return {1, 1, 1}; }

 private:
  void block(Stages& stages, Range range) override {
    const Pairs<T> pairs{problem().n, problem().dimension, problem().euclidean, points_.data()};
    stages.stage(queue(), "distance", [&] {
      if constexpr (kind == Kind::direct) direct(pairs, range, out_.data());
      if constexpr (kind == Kind::tiled) tiled(pairs, range, out_.data());
      if constexpr (kind == Kind::symmetric) symmetric(pairs, out_.data());
      if constexpr (kind == Kind::product) product(pairs, range, norms_.data(), out_.data());
    });
  }
  host::Array<T> points_, out_, norms_;
};

using Registered = RegisterSplit<DistanceMatrix>;
const Registered direct_variant{"direct", serial::model, by_type<Serial, Kind::direct>};
const Registered tiled_variant{"tiled", serial::model, by_type<Serial, Kind::tiled>};
const Registered symmetric_variant{"symmetric", serial::model, by_type<Serial, Kind::symmetric>};
const Registered product_variant{"product", serial::model, by_type<Serial, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix
