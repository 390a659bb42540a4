// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/knn/host_part.hpp"
#include "algorithms/knn/host_tiles.hpp"

// A thread takes a block of queries past all training rows, tile by tile; its vector lanes take training rows.
namespace league::knn {
namespace {

template <class T, class Element, bool is_fused>
class OpenMp final : public HostPart<T> {
  using D = Distance<Element>;

 public:
  OpenMp(const Knn& knn, const Context& context, const Shard& shard)
      : HostPart<T>(knn, context, shard, packed_bytes(knn, shard)),
        train_panels_{Tile::columns, this->n_, this->features_},
        test_panels_{Tile::rows, this->m_, this->features_},
        packed_train_(this->queue(), train_panels_.size()),
        packed_test_(this->queue(), test_panels_.size()),
        train_norms_(this->queue(), train_panels_.count() * Tile::columns),
        test_norms_(this->queue(), test_panels_.count() * Tile::rows),
        pitch_(train_panels_.count() * Tile::columns) {
    if (is_fused) return;
    const std::int64_t tile_rows =
        rows_at_once(test_panels_.count(), pitch_ * Tile::rows * static_cast<std::int64_t>(sizeof(D)), this->bytes_,
                     this->budget_bytes_);
    at_once_ = tile_rows * Tile::rows;
    matrix_ = {this->queue(), at_once_ * pitch_};
  }
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    tiles_ = tiles_together(launch.tile, test_panels_.count(), threads_);
    return {threads_, 1, 1, static_cast<int>(tiles_ * Tile::rows)};
  }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "pack", [&] { pack_all(); });
    if (is_fused)
      stages.stage(this->queue(), "fused", [&] { fused(); });
    else
      for (std::int64_t first = 0; first < this->m_; first += at_once_) {
        const std::int64_t end = std::min(first + at_once_, this->m_);
        stages.stage(this->queue(), "distance", [&] { distances(first, end); });
        stages.stage(this->queue(), "select", [&] { select(first, end); });
      }
    stages.stage(this->queue(), "vote", [&] { this->vote_all(threads_); });
  }

 private:
  void pack_all() {
#pragma omp parallel num_threads(threads_)
    {
#pragma omp for schedule(static) nowait
      for (std::int64_t panel = 0; panel < train_panels_.count(); ++panel)
        pack<Element>(train_panels_, panel, this->train_.data(), packed_train_.data(), train_norms_.data());
#pragma omp for schedule(static)
      for (std::int64_t panel = 0; panel < test_panels_.count(); ++panel)
        pack<Element>(test_panels_, panel, this->test_.data(), packed_test_.data(), test_norms_.data());
    }
  }

  void fused() {
    const std::int64_t tiles = test_panels_.count();
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (std::int64_t first = 0; first < tiles; first += tiles_) {
      const std::int64_t end = std::min(first + tiles_, tiles);
      for (std::int64_t query = first * Tile::rows; query < std::min(end * Tile::rows, this->m_); ++query)
        this->list(query).clear();
      for (std::int64_t panel = 0; panel < train_panels_.count(); ++panel)
        for (std::int64_t tile = first; tile < end; ++tile)
          select_products(this->features_, queries(tile), rows(tile), rows_of_panel(panel),
                          train_norms_.data() + panel * Tile::columns, panel * Tile::columns,
                          [&](int row) { return this->list(tile * Tile::rows + row); });
    }
  }

  void distances(std::int64_t begin, std::int64_t end) {
    const std::int64_t tiles = (end + Tile::rows - 1) / Tile::rows;
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (std::int64_t first = begin / Tile::rows; first < tiles; first += tiles_)
      for (std::int64_t panel = 0; panel < train_panels_.count(); ++panel)
        for (std::int64_t tile = first; tile < std::min(first + tiles_, tiles); ++tile)
          fill_distances(this->features_, queries(tile), rows(tile), rows_of_panel(panel),
                         matrix_.data() + (tile * Tile::rows - begin) * pitch_ + panel * Tile::columns, pitch_);
  }

  void select(std::int64_t begin, std::int64_t end) {
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t query = begin; query < end; ++query) {
      const auto best = this->list(query);
      best.clear();
      for (std::int64_t j = 0; j < this->n_; ++j) best.insert(matrix_.data()[(query - begin) * pitch_ + j], j);
    }
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
  int threads_ = 1;
  std::int64_t tiles_ = 1;  ///< of queries, a block
  HostPanels train_panels_, test_panels_;
  host::Array<float> packed_train_, packed_test_, train_norms_, test_norms_;
  std::int64_t pitch_, at_once_ = 0;
  host::Array<D> matrix_;  ///< [at_once x pitch]
};

template <bool is_fused>
std::unique_ptr<Prepared> prepare(const Knn& problem, const Context& context) {
  return with_element(problem,
                      [&]<class T, class Element>() { return split<OpenMp<T, Element, is_fused>>(problem, context); });
}

const Register<Knn> direct{"direct", openmp::model, prepare<false>};
const Register<Knn> fused{"fused", openmp::model, prepare<true>};

}  // namespace
}  // namespace league::knn
