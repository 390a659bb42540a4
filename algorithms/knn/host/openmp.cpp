// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <limits>

#include "algorithms/knn/host/shard.hpp"
#include "algorithms/knn/host/tiles.hpp"

// A thread takes a block of queries and all training rows, tile by tile; its vector lanes take training rows.
namespace league::knn {
namespace {

/// Inserts a row of distances into a list: most vectors of them have none within its threshold.
template <class Best, class D>
void insert_row(const Best& best, std::int64_t n, const D* row) {
  constexpr int together = 64;
  using Limits = std::numeric_limits<D>;
  constexpr auto highest = static_cast<double>(Limits::has_infinity ? Limits::infinity() : Limits::max());
  std::int64_t j = 0;
  for (; j + together <= n; j += together) {
    const auto within = static_cast<D>(std::min(best.threshold(), highest));
    int hits = 0;
    for (int i = 0; i < together; ++i) hits += row[j + i] <= within;
    for (int i = 0; hits > 0 && i < together; ++i)
      if (row[j + i] <= within) best.insert(row[j + i], j + i);
  }
  for (; j < n; ++j) best.insert(row[j], j);
}

template <class T, class Element, bool is_fused>
class OpenMp final : public IndependentShard {
 public:
  OpenMp(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), memory_(*this, problem, !is_fused) {}
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(queue(), launch);
    tiles_ = tiles_together(launch.tile, memory_.test_panels.count(), threads_);
    return {threads_, 1, 1, static_cast<int>(tiles_ * Tile::rows)};
  }
  void compute(Stages& stages) override {
    const std::int64_t queries = memory_.knn.m;
    stages.stage(queue(), "pack", [&] { pack_all(); });
    if (is_fused)
      stages.stage(queue(), "fused", [&] { fused(); });
    else
      for (std::int64_t first = 0; first < queries; first += memory_.at_once) {
        const std::int64_t end = std::min(first + memory_.at_once, queries);
        stages.stage(queue(), "distance", [&] { distances(first, end); });
        stages.stage(queue(), "select", [&] { select(first, end); });
      }
    stages.stage(queue(), "vote", [&] { vote_all(memory_.knn, threads_); });
  }

 private:
  void pack_all() const {
#pragma omp parallel num_threads(threads_)
    {
#pragma omp for schedule(static) nowait
      for (std::int64_t panel = 0; panel < memory_.train_panels.count(); ++panel) memory_.pack_train(panel);
#pragma omp for schedule(static)
      for (std::int64_t tile = 0; tile < memory_.test_panels.count(); ++tile) memory_.pack_test(tile);
    }
  }

  void fused() const {
    const std::int64_t tiles = memory_.test_panels.count();
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (std::int64_t first = 0; first < tiles; first += tiles_) {
      const std::int64_t end = std::min(first + tiles_, tiles);
      for (std::int64_t tile = first; tile < end; ++tile) memory_.clear_lists(tile);
      for (std::int64_t panel = 0; panel < memory_.train_panels.count(); ++panel)
        for (std::int64_t tile = first; tile < end; ++tile) memory_.select(tile, panel);
    }
  }

  void distances(std::int64_t begin, std::int64_t end) const {
    const std::int64_t tiles = (end + Tile::rows - 1) / Tile::rows;
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (std::int64_t first = begin / Tile::rows; first < tiles; first += tiles_)
      for (std::int64_t panel = 0; panel < memory_.train_panels.count(); ++panel)
        for (std::int64_t tile = first; tile < std::min(first + tiles_, tiles); ++tile)
          memory_.fill(tile, panel, begin);
  }

  void select(std::int64_t begin, std::int64_t end) const {
    const auto& knn = memory_.knn;
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t query = begin; query < end; ++query) {
      const auto best = knn.list(query);
      best.clear();
      insert_row(best, knn.n, memory_.matrix.data() + (query - begin) * memory_.pitch);
    }
  }

  int threads_ = 1;
  std::int64_t tiles_ = 1;  ///< tiles of queries per block
  HostMemory<T, Element, host::Array> memory_;
};

template <class T, class Element>
using Direct = OpenMp<T, Element, false>;
template <class T, class Element>
using Fused = OpenMp<T, Element, true>;
const RegisterSplit<Knn> direct{"direct", openmp::model, by_element<Direct>};
const RegisterSplit<Knn> fused{"fused", openmp::model, by_element<Fused>};

}  // namespace
}  // namespace league::knn
