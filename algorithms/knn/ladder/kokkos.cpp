// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/items_kokkos.hpp"
#include "algorithms/knn/common/kokkos_specialised.hpp"
#include "algorithms/knn/ladder/kernel.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `direct`. What a lane does with its
// query or pair is in ladder.hpp. On a host a team is one thread.
namespace league::knn::kokkos_model {
namespace {

// A lane takes one query after another, and all training rows.
template <class Work>
void search(const Exec& exec, Launch launch, const Work work) {
  blocks::for_items(
      "knn/search", exec, launch, work.queries, KOKKOS_LAMBDA(std::int64_t query) { work.search(query); });
}

// A lane takes one pair of query and training row after another.
template <Rung rung, class Work>
void compare(const Exec& exec, Launch launch, const Work work) {
  blocks::for_items(
      "knn/compare", exec, launch, work.pairs(),
      KOKKOS_LAMBDA(std::int64_t pair) { work.template compare<rung>(pair); });
}

// A lane takes one value of one training row after another.
template <class Work>
void transpose(const Exec& exec, Launch launch, const Work work) {
  blocks::for_items(
      "knn/transpose", exec, launch, work.n * work.features, KOKKOS_LAMBDA(std::int64_t at) { work.transpose(at); });
}

// A team takes a tile of pairs at a time, a lane one of these.
template <class T, class D>
void compare_tiles(const Exec& exec, Launch launch, const NaiveWork<T, D> work, blocks::PairTile tile) {
  const std::size_t bytes = tile.scratch() * sizeof(D);
  const auto policy = Team(exec, launch.league, launch.team, launch.vector).set_scratch_size(0, Kokkos::PerTeam(bytes));
  Kokkos::parallel_for(
      "knn/compare_tiles", policy, KOKKOS_LAMBDA(const Member& team) {
        auto* scratch = static_cast<D*>(team.team_scratch(0).get_shmem(bytes));
        const auto group = blocks::team_group(team, tile.high * tile.wide);
        for (std::int64_t item = team.league_rank(); item < tile.count(work.queries, work.n);
             item += team.league_size())
          work.compare_tile(tile, item, group, scratch);
      });
}

// A lane takes one query after another, and its row of the matrix.
template <class Work>
void select_alone(const Exec& exec, Launch launch, const Work work) {
  blocks::for_items(
      "knn/select_alone", exec, launch, work.queries, KOKKOS_LAMBDA(std::int64_t query) { work.select(query); });
}

template <class T, class Element, Rung rung>
class Naive final : public IndependentShard {
 public:
  using Work = NaiveWork<T, Distance<Element>>;
  Naive(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory(*this, problem) {}
  Launch configure(Launch launch) override {
    launch_ = memory.configure(launch, blocks::naive_limits(queue()), kokkos::on_gpu);
    if (rung == Rung::scratch_tile)
      kokkos::require_scratch(tile().scratch() * sizeof(Distance<Element>), "the rows and columns of a tile");
    return launch_;
  }
  void compute(Stages& stages) override { compute_naive<Naive, rung>(*this, queue(), stages); }

  void search(const Work& work) const { kokkos_model::search(exec_, launch_, work); }
  void transpose(const Work& work) const { kokkos_model::transpose(exec_, launch_, work); }
  void compare(const Work& work) const {
    if constexpr (rung == Rung::scratch_tile)
      compare_tiles(exec_, launch_, work, tile());
    else
      kokkos_model::compare<rung>(exec_, launch_, work);
  }
  void select(const Work& work) const {
    if constexpr (rung == Rung::pair_per_thread)
      select_alone(exec_, launch_, work);
    else
      select_rows(exec_, memory.knn, launch_, work.first, work.queries, memory.squared());
  }
  void vote() const { vote_all(exec_, memory.knn); }

 private:
  [[nodiscard]] blocks::PairTile tile() const { return {launch_.team, launch_.vector}; }
  const Exec& exec_;
  Launch launch_;

 public:
  NaiveMemory<T, Element, rung, kokkos::Array> memory;
};

template <Rung rung>
struct Of {
  template <class T, class Element>
  using Method = Naive<T, Element, rung>;
};

const RegisterSplit<Knn> variants[] = {
    {"query_per_thread", kokkos::model, by_element<Of<Rung::query_per_thread>::Method>},
    {"pair_per_thread", kokkos::model, by_element<Of<Rung::pair_per_thread>::Method>},
    {"team_select", kokkos::model, by_element<Of<Rung::team_select>::Method>},
    {"coalesced", kokkos::model, by_element<Of<Rung::coalesced>::Method>},
    {"scratch_tile", kokkos::model, by_element<Of<Rung::scratch_tile>::Method>}};

}  // namespace
}  // namespace league::knn::kokkos_model
