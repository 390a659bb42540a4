// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/host/kokkos_specialised.hpp"

#include "algorithms/blocks/product_tile_kokkos.hpp"
#include "algorithms/knn/direct/kernel.hpp"

namespace league::knn::kokkos_specialised_model {
namespace {

using blocks::Pack, blocks::Panels;

// A thread takes four queries, each of its lanes four training rows: a square of differences, from packed panels.
template <class Element, class D>
void direct(const Exec& exec, Launch launch, const typename Element::Packed* test,
            const typename Element::Packed* train, Panels panels, std::int64_t first, std::int64_t queries, D* matrix) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_threads, 1>>;
  Kokkos::parallel_for(
      "knn/direct", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        using Packet = Pack<typename Element::Packed, side* static_cast<int>(sizeof(typename Element::Packed))>;
        const std::int64_t columns = panels.rows;
        const int wide = side * launch.vector, high = side * launch.team;
        const std::int64_t across = (columns + wide - 1) / wide, down = (queries + high - 1) / high;
        for (std::int64_t item = team.league_rank(); item < across * down; item += team.league_size()) {
          const std::int64_t row = item % down * high + team.team_rank() * side;
          if (row >= queries) continue;
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, launch.vector), [&](int lane) {
            const std::int64_t column = item / down * wide + lane * side;
            if (column >= columns) return;
            const auto* x = test + panels.first(first + row);
            const auto* y = train + panels.first(column);
            Pack<D, side* static_cast<int>(sizeof(D))> total[side] = {};
            for (int begin = 0; begin < panels.depth; begin += exact_terms) {
              float sum[side][side] = {};
              const int end = begin + exact_terms < panels.depth ? begin + exact_terms : panels.depth;
              for (int f = begin; f < end; ++f, x += Panels::width, y += Panels::width) {
                const Packet a = *reinterpret_cast<const Packet*>(x), b = *reinterpret_cast<const Packet*>(y);
                for (int i = 0; i < side; ++i)
                  for (int j = 0; j < side; ++j) {
                    const float difference = Element::widen(a.values[i]) - Element::widen(b.values[j]);
                    sum[i][j] += difference * difference;
                  }
              }
              for (int i = 0; i < side; ++i)
                for (int j = 0; j < side; ++j) total[i].values[j] += static_cast<D>(sum[i][j]);
            }
            for (int i = 0; i < side; ++i)
              *reinterpret_cast<Pack<D>*>(matrix + (row + i) * columns + column) = total[i];
          });
        }
      });
}

template <class T, class Element>
class DirectOnGpu final : public IndependentShard {
 public:
  DirectOnGpu(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    return launch_ = memory_.configure(launch, kokkos::limits(queue()).vector, multiprocessors(*this));
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    stages.stage(queue(), "pack", [&] {
      blocks::pack<Element>(exec_, knn.train.data(), knn.n, knn.features, memory_.train.data(), memory_.norms.data());
      blocks::pack<Element>(exec_, knn.test.data(), knn.m, knn.features, memory_.test.data(), memory_.norms.data());
    });
    for (std::int64_t first = 0; first < knn.m; first += memory_.at_once) {
      const std::int64_t queries = std::min(memory_.at_once, knn.m - first);
      stages.stage(queue(), "distance", [&] {
        direct<Element>(exec_, launch_, memory_.test.data(), memory_.train.data(), memory_.train_panels, first, queries,
                        memory_.matrix.data());
      });
      stages.stage(queue(), "select", [&] {
        select_rows(exec_, knn, selection_launch(queries, knn.n), first, queries, memory_.squared());
      });
    }
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn); });
  }

 private:
  const Exec& exec_;
  Launch launch_;
  DirectMemory<T, Element, kokkos::Array> memory_;
};

template <class T, class Element>
using Direct = std::conditional_t<kokkos::on_gpu, DirectOnGpu<T, Element>, KokkosOnHost<T, Element, false>>;
const RegisterSplit<Knn> direct_variant{"direct", several_bodies(kokkos::specialised_model, false), by_element<Direct>};

}  // namespace
}  // namespace league::knn::kokkos_specialised_model
