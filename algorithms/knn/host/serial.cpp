// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/blocks/term.hpp"
#include "algorithms/knn/host/shard.hpp"

// One thread takes one pair of rows after another.
namespace league::knn {
namespace {

constexpr int lanes = 16;  ///< partial sums per pair: they vectorise, and each stays exact in a float

template <class Term, class Sum>
Sum sum_of(const float* x, const float* y, std::int64_t pitch) {
  float partial[lanes] = {};
  for (std::int64_t f = 0; f < pitch; f += lanes)
    for (int lane = 0; lane < lanes; ++lane) partial[lane] = Term::add(partial[lane], x[f + lane], y[f + lane]);
  Sum sum = 0;
  for (const float part : partial) sum += static_cast<Sum>(part);
  return sum;
}

/// Rows of `pitch` floats, packed as the other models pack them, and their squared norms.
template <class Element, class T>
void widen(const T* data, std::int64_t n, std::int64_t features, std::int64_t pitch, float* rows, float* norms) {
  for (std::int64_t row = 0; row < n; ++row) {
    double norm = 0;
    for (std::int64_t f = 0; f < pitch; ++f) {
      const float value = f < features ? Element::widen(Element::pack(data[row * features + f])) : 0;
      rows[row * pitch + f] = value;
      norm += static_cast<double>(value) * static_cast<double>(value);
    }
    norms[row] = static_cast<float>(norm);
  }
}

template <class T, class Element, bool is_fused>
class Serial final : public IndependentShard {
  using D = Distance<Element>;

 public:
  Serial(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), knn_(*this, problem), pitch_((knn_.features + lanes - 1) / lanes * lanes) {
    declare(train_, "knn/wide_train", knn_.n * pitch_);
    declare(test_, "knn/wide_test", knn_.m * pitch_);
    declare(train_norms_, "knn/train_norms", knn_.n);
    declare(test_norms_, "knn/test_norms", knn_.m);
    if (is_fused) return;
    at_once_ = rows_near_caches(knn_.m, knn_.n * static_cast<std::int64_t>(sizeof(D)), ledger().left_bytes());
    declare(matrix_, "knn/matrix", at_once_ * knn_.n);
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  void compute(Stages& stages) override {
    stages.stage(queue(), "pack", [&] {
      widen<Element>(knn_.train.data(), knn_.n, knn_.features, pitch_, train_.data(), train_norms_.data());
      widen<Element>(knn_.test.data(), knn_.m, knn_.features, pitch_, test_.data(), test_norms_.data());
    });
    if constexpr (is_fused)
      stages.stage(queue(), "fused", [&] { search(); });
    else
      for (std::int64_t first = 0; first < knn_.m; first += at_once_) {
        const std::int64_t end = std::min(first + at_once_, knn_.m);
        stages.stage(queue(), "distance", [&] { fill(first, end); });
        stages.stage(queue(), "select", [&] { select(first, end); });
      }
    stages.stage(queue(), "vote", [&] { vote_all(knn_, 1); });
  }

 private:
  void search() const {
    for (std::int64_t query = 0; query < knn_.m; ++query) {
      const auto list = knn_.list(query);
      list.clear();
      for (std::int64_t j = 0; j < knn_.n; ++j) {
        const auto product =
            sum_of<blocks::ProductTerm, float>(test_.data() + query * pitch_, train_.data() + j * pitch_, pitch_);
        list.insert(static_cast<double>(train_norms_.data()[j]) - 2.0 * static_cast<double>(product), j);
      }
    }
  }
  void fill(std::int64_t first, std::int64_t end) const {
    for (std::int64_t query = first; query < end; ++query)
      for (std::int64_t j = 0; j < knn_.n; ++j)
        matrix_.data()[(query - first) * knn_.n + j] =
            sum_of<blocks::DifferenceTerm, D>(test_.data() + query * pitch_, train_.data() + j * pitch_, pitch_);
  }
  void select(std::int64_t first, std::int64_t end) const {
    for (std::int64_t query = first; query < end; ++query) {
      const auto list = knn_.list(query);
      list.clear();
      for (std::int64_t j = 0; j < knn_.n; ++j) list.insert(matrix_.data()[(query - first) * knn_.n + j], j);
    }
  }
  Memory<T, host::Array> knn_;
  std::int64_t pitch_, at_once_ = 0;
  host::Array<float> train_, test_, train_norms_, test_norms_;
  host::Array<D> matrix_;  ///< [at_once x n]
};

template <class T, class Element>
using Direct = Serial<T, Element, false>;
template <class T, class Element>
using Fused = Serial<T, Element, true>;
const RegisterSplit<Knn> direct{"direct", serial::model, by_element<Direct>};
const RegisterSplit<Knn> fused{"fused", serial::model, by_element<Fused>};

}  // namespace
}  // namespace league::knn
