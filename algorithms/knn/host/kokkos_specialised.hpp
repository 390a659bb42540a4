// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/common/kokkos_specialised.hpp"
#include "algorithms/knn/host/tiles.hpp"

/// Both methods on hosts, where a tile of sums is in the vector registers of one thread; line beside line with
/// `openmp.cpp`.
namespace league::knn::kokkos_specialised_model {

// A team takes a block of queries and all training rows; a thread goes tile by tile, its vector lanes take training
// rows.
template <class T, class Element, bool is_fused>
class KokkosOnHost final : public IndependentShard {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Member = typename Policy::member_type;

 public:
  KokkosOnHost(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard),
        exec_(kokkos::instance(runtime(), queue())),
        memory_(*this, problem, !is_fused) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 1, 1}, kokkos::limits(queue()));
    tiles_ = tiles_together(launch_.tile, memory_.test_panels.count(), queue().device().threads);
    launch_.tile = static_cast<int>(tiles_ * Tile::rows);
    if (launch_.league == 0) launch_.league = league_of(ceil_div<std::int64_t>(memory_.test_panels.count(), tiles_));
    return launch_;
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    stages.stage(queue(), "pack", [&] {
      pack_all(memory_.train_panels.count(), [this](std::int64_t panel) { memory_.pack_train(panel); });
      pack_all(memory_.test_panels.count(), [this](std::int64_t tile) { memory_.pack_test(tile); });
    });
    if (is_fused)
      stages.stage(queue(), "fused", [&] { fused(); });
    else
      for (std::int64_t first = 0; first < knn.m; first += memory_.at_once) {
        const std::int64_t end = std::min(first + memory_.at_once, knn.m);
        stages.stage(queue(), "distance", [&] { distances(first, end); });
        stages.stage(queue(), "select", [&] {
          select_rows(exec_, knn, launch_, first, end - first,
                      Stored<Distance<Element>>{memory_.matrix.data(), memory_.pitch});
        });
      }
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn); });
  }

 private:
  template <class Body>
  void pack_all(std::int64_t panels, const Body& body) const {
    Kokkos::parallel_for("knn/pack", Team(exec_, league_of(panels), 1, 1), [=](const typename Team::member_type& team) {
      for (std::int64_t panel = team.league_rank(); panel < panels; panel += team.league_size()) body(panel);
    });
  }

  void fused() const {
    const std::int64_t tiles = memory_.test_panels.count();
    Kokkos::parallel_for("knn/fused", Policy(exec_, launch_.league, launch_.team, 1), [=, this](const Member& team) {
      for (std::int64_t first = team.league_rank() * tiles_; first < tiles; first += team.league_size() * tiles_) {
        const std::int64_t end = std::min(first + tiles_, tiles);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, end),
                             [&](std::int64_t tile) { memory_.clear_lists(tile); });
        for (std::int64_t panel = 0; panel < memory_.train_panels.count(); ++panel)
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, end),
                               [&](std::int64_t tile) { memory_.select(tile, panel); });
      }
    });
  }

  void distances(std::int64_t begin, std::int64_t end) const {
    const std::int64_t tiles = (end + Tile::rows - 1) / Tile::rows;
    Kokkos::parallel_for("knn/direct", Policy(exec_, launch_.league, launch_.team, 1), [=, this](const Member& team) {
      for (std::int64_t first = begin / Tile::rows + team.league_rank() * tiles_; first < tiles;
           first += team.league_size() * tiles_)
        for (std::int64_t panel = 0; panel < memory_.train_panels.count(); ++panel)
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, std::min(first + tiles_, tiles)),
                               [&](std::int64_t tile) { memory_.fill(tile, panel, begin); });
    });
  }

  const Exec& exec_;
  Launch launch_;
  std::int64_t tiles_ = 1;  ///< tiles of queries per block
  HostMemory<T, Element, kokkos::Array> memory_;
};

}  // namespace league::knn::kokkos_specialised_model
