// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/common/kokkos_specialised.hpp"

#include "algorithms/blocks/subgroup_native.hpp"
#include "algorithms/knn/per_query/kernel.hpp"

namespace league::knn::kokkos_specialised_model {
namespace {

/// Shuffles of the subgroup.
struct ShuffledLanes {
  blocks::NativeLanes of_subgroup;
  int lanes;
  KOKKOS_FUNCTION static ShuffledLanes of(const Member& /*team*/, int rank, int lanes) {
    return {{rank % blocks::NativeLanes::size}, lanes};
  }
  template <class T>
  KOKKOS_FUNCTION T operator()(T mine) const {
    return of_subgroup.sum(mine, lanes);
  }
};

// A team takes a query and a chunk of the training rows at a time. On a host a team is one thread.
template <class T, class Element>
struct QueryKernel {
  QueryWork<T, Element> work;
  int threads, lanes;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto& scratch = *kokkos::aligned_scratch<QueryScratch>(team, sizeof(QueryScratch));
    const auto group = blocks::team_group(team, threads);
    const auto comes_last = [&](unsigned* ticket, unsigned count) { return blocks::comes_last(team, ticket, count); };
    for (std::int64_t item = team.league_rank(); item < work.items(); item += team.league_size())
      take_item<ScratchAtomics>(work, item, group, lanes, ShuffledLanes::of(team, group.rank, lanes), comes_last,
                                scratch);
  }
};

template <class T, class Element>
class PerQuery final : public IndependentShard {
 public:
  PerQuery(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    LaunchLimits limits = kokkos::limits(queue());
    limits.team_times_vector = std::min(limits.team_times_vector, max_select_threads);
    kokkos::require_scratch(sizeof(QueryScratch) + 16, "the distances of a chunk");
    return launch_ = memory_.configure(launch, limits, kokkos::on_gpu ? max_select_threads : 1,
                                       2 * multiprocessors(*this), true);
  }
  void compute(Stages& stages) override {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>,
                                      Kokkos::LaunchBounds<max_select_threads, kokkos::launch_bound(2)>>;
    stages.stage(queue(), "per_query", [&] {
      const auto policy = Policy(exec_, launch_.league, launch_.team, launch_.vector)
                              .set_scratch_size(0, Kokkos::PerTeam(sizeof(QueryScratch) + 16));
      Kokkos::parallel_for(
          "knn/per_query", policy,
          QueryKernel<T, Element>{memory_.work(launch_), launch_.team * launch_.vector, launch_.vector});
    });
  }

 private:
  const Exec& exec_;
  Launch launch_;
  QueryMemory<T, Element, kokkos::Array> memory_;
};

const RegisterSplit<Knn> per_query_variant{"per_query", several_bodies(kokkos::specialised_model, true),
                                           by_element<PerQuery>};

}  // namespace
}  // namespace league::knn::kokkos_specialised_model
