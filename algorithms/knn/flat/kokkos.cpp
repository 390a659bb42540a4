// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the nearest query of ArborX's brute force (arborx/ArborX, src/spatial/detail/ArborX_BruteForceImpl.hpp),
// written anew: a range over the queries, each with a list of its nearest rows.
#include "algorithms/knn/common/kokkos.hpp"

#include "backends/kokkos/flat.hpp"

namespace league::knn::kokkos_model {
namespace {

/// The squared distance of a pair in D.
template <class D, class T>
KOKKOS_FUNCTION D squared(const Rows<T>& knn, std::int64_t query, std::int64_t row) {
  D sum = 0;
  for (int f = 0; f < knn.features; ++f) {
    const D difference =
        static_cast<D>(knn.test(query * knn.features + f)) - static_cast<D>(knn.train(row * knn.features + f));
    sum += difference * difference;
  }
  return sum;
}

template <class T, class Element>
class Flat final : public IndependentShard {
 public:
  Flat(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), knn_(*this, problem) {}
  Launch configure(Launch launch) override { return launch_ = kokkos::resolve_flat(launch); }
  void compute(Stages& stages) override {
    stages.stage(queue(), "search", [&] {
      kokkos::with_range(exec_, launch_.team, knn_.m, [&](const auto& range) { search(range, knn_.n, Rows<T>(knn_)); });
    });
  }
  template <class Range>
  static void search(const Range& range, std::int64_t n, const Rows<T>& knn) {
    Kokkos::parallel_for(
        "knn/flat", range, KOKKOS_LAMBDA(std::int64_t query) {
          const auto nearest = knn.list(query, knn.k);
          nearest.clear();
          for (std::int64_t row = 0; row < n; ++row)
            nearest.insert(static_cast<double>(squared<Distance<Element>>(knn, query, row)), row);
          for (int i = 0; i < knn.k; ++i) {
            const std::int64_t neighbour = nearest.indices[i];
            knn.sort_in(query, i, neighbour, squared<double>(knn, query, neighbour));
          }
          knn.label(query);
        });
  }

 private:
  const Exec& exec_;
  Launch launch_;
  Memory<T, kokkos::Array> knn_;
};

const RegisterSplit<Knn> flat{"flat", written_once(kokkos::model), by_element<Flat>};

}  // namespace
}  // namespace league::knn::kokkos_model
