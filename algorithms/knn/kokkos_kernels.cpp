// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosBlas3_gemm.hpp>

#include "algorithms/knn/kokkos_part.hpp"

// Kokkos Kernels' own product (no TPL) multiplies a block of queries with all training rows; the selection makes
// distances of the products.
namespace league::knn::kokkos_model {
namespace {

using kokkos::Matrix;

// A thread takes a row, its lanes the features.
/// Rows as floats, as the other methods pack them, and their squared norms.
template <class Element, class T>
void widen(const Exec& exec, std::int64_t n, int features, const T* data, float* wide, float* norms) {
  const int threads = kokkos::on_gpu ? 8 : 1, lanes = kokkos::on_gpu ? 32 : 1;
  Kokkos::parallel_for(
      "knn/widen", Team(exec, league_of(ceil_div<std::int64_t>(n, threads)), threads, lanes),
      KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t stride = std::int64_t{team.league_size()} * team.team_size();
        for (std::int64_t row = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank(); row < n;
             row += stride) {
          double norm = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, features),
              [&](int f, double& sum) {
                const float value = Element::widen(Element::pack(data[row * features + f]));
                wide[row * features + f] = value;
                sum += static_cast<double>(value) * static_cast<double>(value);
              },
              norm);
          Kokkos::single(Kokkos::PerThread(team), [&] { norms[row] = static_cast<float>(norm); });
        }
      });
}

template <class T, class Element>
class Kernels final : public KokkosPart<T> {
  using D = Distance<Element>;

 public:
  Kernels(const Knn& knn, const Context& context, const Shard& shard)
      : KokkosPart<T>(knn, context, shard, 4 * (knn.train.rows() + shard.rows.size()) * (knn.features + 1)),
        wide_train_(this->exec_, "knn/wide_train", this->n_ * this->features_),
        wide_test_(this->exec_, "knn/wide_test", this->m_ * this->features_),
        train_norms_(this->exec_, "knn/train_norms", this->n_),
        test_norms_(this->exec_, "knn/test_norms", this->m_) {
    const std::int64_t row_bytes = 4 * this->n_;
    require_memory(this->bytes_ + row_bytes, this->budget_bytes_);
    at_once_ = std::min({this->m_, (this->budget_bytes_ - this->bytes_) / row_bytes,
                         std::max(most_products / this->n_, std::int64_t{1})});
    products_ = {this->exec_, "knn/products", at_once_ * this->n_};
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    return {};
  }
  void compute(Stages& stages) override {
    const int columns = static_cast<int>(this->features_);
    stages.stage(this->queue(), "pack", [&] {
      widen<Element>(this->exec_, this->n_, columns, this->train_.data(), wide_train_.data(), train_norms_.data());
      widen<Element>(this->exec_, this->m_, columns, this->test_.data(), wide_test_.data(), test_norms_.data());
    });
    for (std::int64_t first = 0; first < this->m_; first += at_once_) {
      const std::int64_t queries = std::min(at_once_, this->m_ - first);
      stages.stage(this->queue(), "distance", [&] {
        KokkosBlas::gemm(this->exec_, "N", "T", 1.0F,
                         matrix<const float>(wide_test_.data() + first * this->features_, queries, this->features_),
                         matrix<const float>(wide_train_.data(), this->n_, this->features_), 0.0F,
                         matrix<float>(products_.data(), queries, this->n_));
      });
      stages.stage(this->queue(), "select", [&] {
        this->select_rows({league_of(queries), kokkos::on_gpu ? 256 : 1, 1}, first, queries,
                          Expanded<D>{products_.data(), test_norms_.data() + first, train_norms_.data(), this->n_});
      });
    }
    stages.stage(this->queue(), "vote", [&] { this->vote_all(); });
  }

 private:
  template <class V>
  static Matrix<V> matrix(V* data, std::int64_t rows, std::int64_t columns) {
    return Matrix<V>(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  }
  static constexpr std::int64_t most_products = std::int64_t{1} << 31;  ///< of one call
  std::int64_t at_once_;                                                ///< queries whose products are in memory
  kokkos::Array<float> wide_train_, wide_test_, train_norms_, test_norms_, products_;
};

std::unique_ptr<Prepared> prepare(const Knn& problem, const Context& context) {
  return with_element(problem, [&]<class T, class Element>() { return split<Kernels<T, Element>>(problem, context); });
}

const Register<Knn> registered{"gram", kokkos::library("kokkos_kernels"), prepare};

}  // namespace
}  // namespace league::knn::kokkos_model
