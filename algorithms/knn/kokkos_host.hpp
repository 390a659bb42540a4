// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/host_tiles.hpp"
#include "algorithms/knn/kokkos_part.hpp"

/// Both methods on hosts, where a tile of sums is in the vector registers of one thread: as `openmp.cpp`, line beside
/// line.
namespace league::knn::kokkos_model {

// A team takes a block of queries past all training rows, a thread tile by tile; its vector lanes take training rows.
template <class T, class Element, bool is_fused>
class KokkosOnHost final : public KokkosPart<T> {
  using D = Distance<Element>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Member = typename Policy::member_type;

 public:
  KokkosOnHost(const Knn& knn, const Context& context, const Shard& shard)
      : KokkosPart<T>(knn, context, shard, packed_bytes(knn, shard)),
        train_panels_{Tile::columns, this->n_, this->features_},
        test_panels_{Tile::rows, this->m_, this->features_},
        packed_train_(this->exec_, "knn/packed_train", train_panels_.size()),
        packed_test_(this->exec_, "knn/packed_test", test_panels_.size()),
        train_norms_(this->exec_, "knn/train_norms", train_panels_.count() * Tile::columns),
        test_norms_(this->exec_, "knn/test_norms", test_panels_.count() * Tile::rows),
        pitch_(train_panels_.count() * Tile::columns) {
    if (is_fused) return;
    at_once_ =
        Tile::rows * rows_at_once(test_panels_.count(), pitch_ * Tile::rows * static_cast<std::int64_t>(sizeof(D)),
                                  this->bytes_, this->budget_bytes_);
    matrix_ = {this->exec_, "knn/matrix", at_once_ * pitch_};
  }
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 1, 1}, kokkos::limits(this->queue()));
    tiles_ = tiles_together(launch_.tile, test_panels_.count(), this->queue().device().threads);
    launch_.tile = static_cast<int>(tiles_ * Tile::rows);
    if (launch_.league == 0) launch_.league = league_of(ceil_div<std::int64_t>(test_panels_.count(), tiles_));
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "pack", [&] {
      pack_all(train_panels_, this->train_.data(), packed_train_.data(), train_norms_.data());
      pack_all(test_panels_, this->test_.data(), packed_test_.data(), test_norms_.data());
    });
    if (is_fused)
      stages.stage(this->queue(), "fused", [&] { fused(); });
    else
      for (std::int64_t first = 0; first < this->m_; first += at_once_) {
        const std::int64_t end = std::min(first + at_once_, this->m_);
        stages.stage(this->queue(), "distance", [&] { distances(first, end); });
        stages.stage(this->queue(), "select",
                     [&] { this->select_rows(launch_, first, end - first, Stored<D>{matrix_.data(), pitch_}); });
      }
    stages.stage(this->queue(), "vote", [&] { this->vote_all(); });
  }

 private:
  void pack_all(const HostPanels& panels, const T* data, float* packed, float* norms) {
    Kokkos::parallel_for(
        "knn/pack", Team(this->exec_, league_of(panels.count()), 1, 1), [=](const typename Team::member_type& team) {
          for (std::int64_t panel = team.league_rank(); panel < panels.count(); panel += team.league_size())
            pack<Element>(panels, panel, data, packed, norms);
        });
  }

  void fused() {
    const std::int64_t tiles = test_panels_.count();
    Kokkos::parallel_for(
        "knn/fused", Policy(this->exec_, launch_.league, launch_.team, 1), [=, this](const Member& team) {
          for (std::int64_t first = team.league_rank() * tiles_; first < tiles; first += team.league_size() * tiles_) {
            const std::int64_t end = std::min(first + tiles_, tiles);
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, end), [&](std::int64_t tile) {
              for (int row = 0; row < rows(tile); ++row) this->list(tile * Tile::rows + row).clear();
            });
            for (std::int64_t panel = 0; panel < train_panels_.count(); ++panel)
              Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, end), [&](std::int64_t tile) {
                select_products(this->features_, queries(tile), rows(tile), rows_of_panel(panel),
                                train_norms_.data() + panel * Tile::columns, panel * Tile::columns,
                                [&](int row) { return this->list(tile * Tile::rows + row); });
              });
          }
        });
  }

  void distances(std::int64_t begin, std::int64_t end) {
    const std::int64_t tiles = (end + Tile::rows - 1) / Tile::rows;
    Kokkos::parallel_for(
        "knn/direct", Policy(this->exec_, launch_.league, launch_.team, 1), [=, this](const Member& team) {
          for (std::int64_t first = begin / Tile::rows + team.league_rank() * tiles_; first < tiles;
               first += team.league_size() * tiles_)
            for (std::int64_t panel = 0; panel < train_panels_.count(); ++panel)
              Kokkos::parallel_for(
                  Kokkos::TeamThreadRange(team, first, std::min(first + tiles_, tiles)), [&](std::int64_t tile) {
                    fill_distances(this->features_, queries(tile), rows(tile), rows_of_panel(panel),
                                   matrix_.data() + (tile * Tile::rows - begin) * pitch_ + panel * Tile::columns,
                                   pitch_);
                  });
        });
  }

  [[nodiscard]] const float* queries(std::int64_t tile) const {
    return packed_test_.data() + tile * Tile::rows * this->features_;
  }
  [[nodiscard]] int rows(std::int64_t tile) const {
    return static_cast<int>(std::min<std::int64_t>(Tile::rows, this->m_ - tile * Tile::rows));
  }
  [[nodiscard]] const float* rows_of_panel(std::int64_t panel) const {
    return packed_train_.data() + panel * Tile::columns * this->features_;
  }

  static std::int64_t packed_bytes(const Knn& knn, const Shard& shard) {
    return 4 * (knn.train.rows() + Tile::columns + shard.rows.size() + Tile::rows) * (knn.features + 1);
  }
  Launch launch_;
  std::int64_t tiles_ = 1;  ///< of queries, a block
  HostPanels train_panels_, test_panels_;
  kokkos::Array<float> packed_train_, packed_test_, train_norms_, test_norms_;
  std::int64_t pitch_, at_once_ = 0;
  kokkos::Array<D> matrix_;  ///< [at_once x pitch]
};

}  // namespace league::knn::kokkos_model
