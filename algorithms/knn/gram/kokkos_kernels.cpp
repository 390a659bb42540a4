// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/common/kokkos_specialised.hpp"
#include "algorithms/knn/gram/memory.hpp"
#include "backends/kokkos/kernels.hpp"

// Kokkos Kernels' own product (no TPL) multiplies a block of queries with all training rows; the selection computes
// distances from the products.
namespace league::knn::kokkos_specialised_model {
namespace {

using kokkos::Matrix;

// A thread takes a row, its lanes the features.
/// Converts rows to floats, as the other methods pack them, and computes their squared norms.
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
class Kernels final : public IndependentShard {
 public:
  Kernels(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    return {};
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const int columns = static_cast<int>(knn.features);
    stages.stage(queue(), "pack", [&] {
      widen<Element>(exec_, knn.n, columns, knn.train.data(), memory_.train.data(), memory_.train_norms.data());
      widen<Element>(exec_, knn.m, columns, knn.test.data(), memory_.test.data(), memory_.test_norms.data());
    });
    for (std::int64_t first = 0; first < knn.m; first += memory_.at_once) {
      const std::int64_t queries = std::min(memory_.at_once, knn.m - first);
      stages.stage(queue(), "distance", [&] {
        kokkos::gemm<float>(exec_, kokkos::Factor::as_is, kokkos::Factor::transposed,
                            matrix<const float>(memory_.test.data() + first * knn.features, queries, knn.features),
                            matrix<const float>(memory_.train.data(), knn.n, knn.features),
                            matrix<float>(memory_.products.data(), queries, knn.n));
      });
      stages.stage(queue(), "select", [&] {
        select_rows(exec_, knn, {league_of(queries), kokkos::on_gpu ? 256 : 1, 1}, first, queries,
                    memory_.template squared<Distance<Element>>(first));
      });
    }
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn); });
  }

 private:
  template <class V>
  static Matrix<V> matrix(V* data, std::int64_t rows, std::int64_t columns) {
    return Matrix<V>(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  }
  const Exec& exec_;
  GramMemory<T, kokkos::Array> memory_;
};

const RegisterSplit<Knn> gram_variant{"gram", kokkos::library("kokkos_kernels"), by_element<Kernels>};

}  // namespace
}  // namespace league::knn::kokkos_specialised_model
