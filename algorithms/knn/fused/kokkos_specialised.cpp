// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/host/kokkos_specialised.hpp"

#include "algorithms/blocks/atomics_native_kokkos.hpp"
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/product_tile_kokkos.hpp"
#include "algorithms/knn/fused/kernel.hpp"

namespace league::knn::kokkos_specialised_model {
namespace {

// A team takes a tile of queries and a chunk of training rows, tile by tile.
template <class Shape, class Packed>
void fused(const Exec& exec, Launch launch, const FusedWork<Packed>& work) {
  using Scratch = FusedScratch<Shape>;
  using Bounds = Kokkos::LaunchBounds<Shape::threads, kokkos::launch_bound(512 / Shape::threads)>;
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds> policy(exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(sizeof(Scratch) + 16));
  using TeamMember = typename decltype(policy)::member_type;
  Kokkos::parallel_for(
      "knn/fused", policy, KOKKOS_LAMBDA(const TeamMember& team) {
        auto& scratch = *kokkos::aligned_scratch<Scratch>(team, sizeof(Scratch));
        take_items<Shape, blocks::NativeAtomics>(blocks::NativeThreads::of<Shape::threads>(team),
                                                 static_cast<int>(team.league_rank()),
                                                 static_cast<int>(team.league_size()), work, scratch);
      });
}

// A team takes 32 queries, 32 of its threads a slice of their lists.
template <class Packed>
void merge(const Exec& exec, const FusedWork<Packed>& work, std::int64_t* neighbours, double* distances) {
  const int teams = league_of(ceil_div<std::int64_t>(work.queries, merge_queries));
  const int slices = merge_slices(work.queries, work.k);
  Kokkos::parallel_for(
      "knn/merge", Team(exec, teams, merge_queries * slices, 1), KOKKOS_LAMBDA(const Member& team) {
        const int thread = team.team_rank();
        const std::int64_t stride = std::int64_t{team.league_size()} * merge_queries;
        for (std::int64_t first = std::int64_t{team.league_rank()} * merge_queries; first < work.queries;
             first += stride)
          work.merge(
              first + thread % merge_queries, thread / merge_queries, slices, [&] { team.team_barrier(); }, neighbours,
              distances);
      });
}

template <class T, class Element>
class FusedOnGpu final : public IndependentShard {
 public:
  FusedOnGpu(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  [[nodiscard]] bool submits_in_parallel() const override { return true; }
  Launch configure(Launch launch) override {
    return launch_ = memory_.configure(*this, launch, kokkos::limits(queue()));
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    stages.stage(queue(), "pack", [&] {
      blocks::pack<Element>(exec_, knn.train.data(), knn.n, knn.features, memory_.train.data(),
                            memory_.train_norms.data());
      blocks::pack<Element>(exec_, knn.test.data(), knn.m, knn.features, memory_.test.data(),
                            memory_.test_norms.data());
    });
    stages.stage(queue(), "fused", [&] {
      Kokkos::deep_copy(exec_, memory_.threshold.view(), unlimited);
      with_tile(launch_.team, [&]<class Shape>() { fused<Shape>(exec_, launch_, work); });
    });
    stages.stage(queue(), "merge", [&] { merge(exec_, work, knn.neighbours.data(), knn.distances.data()); });
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn); });
  }

 private:
  const Exec& exec_;
  Launch launch_;
  FusedMemory<T, Element, kokkos::Array> memory_;
};

template <class T, class Element>
using Fused = std::conditional_t<kokkos::on_gpu, FusedOnGpu<T, Element>, KokkosOnHost<T, Element, true>>;
const RegisterSplit<Knn> fused_variant{"fused", several_bodies(kokkos::specialised_model, true), by_element<Fused>};

}  // namespace
}  // namespace league::knn::kokkos_specialised_model
