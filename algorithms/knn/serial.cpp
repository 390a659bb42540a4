// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/blocks/term.hpp"
#include "algorithms/knn/host_part.hpp"

// One thread takes one pair of rows after another.
namespace league::knn {
namespace {

constexpr int lanes =
    16;  ///< partial sums of a pair: they vectorise, and none of them leaves what a float counts exactly

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

template <class T, class Element, bool fused>
class Serial final : public HostPart<T> {
  using D = Distance<Element>;

 public:
  Serial(const Knn& knn, const Context& context, const Shard& shard)
      : HostPart<T>(knn, context, shard, 4 * (knn.train.rows() + shard.rows.size()) * (pitch_of(knn.features) + 1)),
        pitch_(pitch_of(this->features_)),
        wide_train_(this->queue(), this->n_ * pitch_),
        wide_test_(this->queue(), this->m_ * pitch_),
        train_norms_(this->queue(), this->n_),
        test_norms_(this->queue(), this->m_) {
    at_once_ = fused ? this->m_
                     : rows_at_once(this->m_, this->n_ * static_cast<std::int64_t>(sizeof(D)), this->bytes_,
                                    this->budget_bytes_);
    if (!fused) matrix_ = {this->queue(), at_once_ * this->n_};
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "pack", [&] {
      widen<Element>(this->train_.data(), this->n_, this->features_, pitch_, wide_train_.data(), train_norms_.data());
      widen<Element>(this->test_.data(), this->m_, this->features_, pitch_, wide_test_.data(), test_norms_.data());
    });
    if constexpr (fused)
      stages.stage(this->queue(), "fused", [&] { search(); });
    else
      for (std::int64_t first = 0; first < this->m_; first += at_once_) {
        const std::int64_t end = std::min(first + at_once_, this->m_);
        stages.stage(this->queue(), "distance", [&] { fill(first, end); });
        stages.stage(this->queue(), "select", [&] { select(first, end); });
      }
    stages.stage(this->queue(), "vote", [&] { this->vote_all(1); });
  }

 private:
  static std::int64_t pitch_of(std::int64_t features) { return (features + lanes - 1) / lanes * lanes; }

  void search() {
    for (std::int64_t query = 0; query < this->m_; ++query) {
      const auto list = this->list(query);
      list.clear();
      for (std::int64_t j = 0; j < this->n_; ++j) {
        const auto product = sum_of<blocks::ProductTerm, float>(wide_test_.data() + query * pitch_,
                                                                wide_train_.data() + j * pitch_, pitch_);
        list.insert(static_cast<double>(train_norms_.data()[j]) - 2.0 * static_cast<double>(product), j);
      }
    }
  }
  void fill(std::int64_t first, std::int64_t end) {
    for (std::int64_t query = first; query < end; ++query)
      for (std::int64_t j = 0; j < this->n_; ++j)
        matrix_.data()[(query - first) * this->n_ + j] = sum_of<blocks::DifferenceTerm, D>(
            wide_test_.data() + query * pitch_, wide_train_.data() + j * pitch_, pitch_);
  }
  void select(std::int64_t first, std::int64_t end) {
    for (std::int64_t query = first; query < end; ++query) {
      const auto list = this->list(query);
      list.clear();
      for (std::int64_t j = 0; j < this->n_; ++j) list.insert(matrix_.data()[(query - first) * this->n_ + j], j);
    }
  }
  std::int64_t pitch_, at_once_;
  host::Array<float> wide_train_, wide_test_, train_norms_, test_norms_;
  host::Array<D> matrix_;  ///< [at_once x n]
};

template <bool fused>
std::unique_ptr<Prepared> prepare(const Knn& problem, const Context& context) {
  return with_element(problem,
                      [&]<class T, class Element>() { return split<Serial<T, Element, fused>>(problem, context); });
}

const Register<Knn> direct{"direct", serial::model, prepare<false>};
const Register<Knn> fused{"fused", serial::model, prepare<true>};

}  // namespace
}  // namespace league::knn
