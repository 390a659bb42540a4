// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/product_tile.hpp"
#include "algorithms/blocks/product_tile_host.hpp"
#include "algorithms/blocks/term.hpp"
#include "algorithms/knn/common/shard.hpp"

/// A host thread's work on one tile, shared by `openmp` and `kokkos` on hosts; the loops over tiles are theirs.
namespace league::knn {

using Tile = blocks::HostTile<float>;

/// Tiles of queries blocked together over the training rows (cache blocking): few enough for L2 and for load balance
/// over the threads, else enough to amortise the load of a panel.
inline std::int64_t tiles_together(int tile, std::int64_t tiles, int threads) {
  if (tile > 0) return tile < Tile::rows ? 1 : tile / Tile::rows;
  const std::int64_t even = tiles / (4 * threads);
  return even < 4 ? 4 : even > 32 ? 32 : even;
}

/// Packed rows of one operand: panels [features][width] of floats, one after another.
struct HostPanels {
  int width;
  std::int64_t n, features;
  [[nodiscard]] std::int64_t count() const { return (n + width - 1) / width; }
  [[nodiscard]] std::int64_t size() const { return count() * width * features; }
};

/// Packs panel `number` of data [n x features], and the squared norms of its rows; NaN for padding.
template <class Element, class T>
LEAGUE_FUNCTION void pack(const HostPanels& panels, std::int64_t number, const T* data, float* packed, float* norms) {
  float* panel = packed + number * panels.width * panels.features;
  blocks::pack_panel(data, panels.n, panels.features, number * panels.width, panels.width, panel,
                     [](T value) { return Element::widen(Element::pack(value)); });
  double sums[Tile::columns > Tile::rows ? Tile::columns : Tile::rows] = {};
  for (std::int64_t f = 0; f < panels.features; ++f)
    for (int row = 0; row < panels.width; ++row) {
      const double value = panel[f * panels.width + row];
      sums[row] += value * value;
    }
  for (int row = 0; row < panels.width; ++row) {
    const std::int64_t global = number * panels.width + row;
    norms[global] = global < panels.n ? static_cast<float>(sums[row]) : blocks::no_norm<float>;
  }
}

/// Products of a tile of queries with a panel of training rows; keys below the threshold of a query's list are
/// inserted. `list(row)` is the list of the tile's query `row`, of the first `rows`.
template <class List>
LEAGUE_FUNCTION void select_products(std::int64_t features, const float* queries, int rows, const float* panel,
                                     const float* norms, std::int64_t first_column, const List& list) {
  float products[Tile::rows][Tile::columns];
  blocks::host_tile<blocks::ProductTerm>(features, queries, panel, products);
  for (int row = 0; row < rows; ++row) {
    const auto best = list(row);
    const auto within = static_cast<float>(best.threshold());
    int hits = 0;  // tests whole vectors: most tiles have no hit for a query
    for (int j = 0; j < Tile::columns; ++j) hits += norms[j] - 2 * products[row][j] <= within;
    for (int j = 0; hits > 0 && j < Tile::columns; ++j)
      if (norms[j] - 2 * products[row][j] <= within)
        best.insert(static_cast<double>(norms[j]) - 2.0 * static_cast<double>(products[row][j]), first_column + j);
  }
}

/// Squared distances of a tile of queries to a panel of training rows, from differences, into `matrix` [rows x pitch].
template <class D>
LEAGUE_FUNCTION void fill_distances(std::int64_t features, const float* queries, int rows, const float* panel,
                                    D* matrix, std::int64_t pitch) {
  D total[Tile::rows][Tile::columns] = {};
  for (std::int64_t f = 0; f < features; f += exact_terms) {
    float sums[Tile::rows][Tile::columns];
    const std::int64_t depth = features - f < exact_terms ? features - f : exact_terms;
    blocks::host_tile<blocks::DifferenceTerm>(depth, queries + f * Tile::rows, panel + f * Tile::columns, sums);
    for (int row = 0; row < Tile::rows; ++row)
      for (int j = 0; j < Tile::columns; ++j) total[row][j] += static_cast<D>(sums[row][j]);
  }
  for (int row = 0; row < rows; ++row)
    for (int j = 0; j < Tile::columns; ++j) matrix[row * pitch + j] = total[row][j];
}

/// Memory of both methods: packed rows, and for `direct` the matrix of distances of a block of queries. Queries are
/// taken in tiles, training rows in panels.
template <class T, class Element, template <class> class Array>
struct HostMemory {
  using D = Distance<Element>;

  HostMemory(IndependentShard& shard, const Knn& problem, bool with_matrix)
      : knn(shard, problem),
        train_panels{Tile::columns, knn.n, knn.features},
        test_panels{Tile::rows, knn.m, knn.features},
        pitch(train_panels.count() * Tile::columns) {
    shard.declare(train, "knn/packed_train", train_panels.size());
    shard.declare(test, "knn/packed_test", test_panels.size());
    shard.declare(train_norms, "knn/train_norms", pitch);
    shard.declare(test_norms, "knn/test_norms", test_panels.count() * Tile::rows);
    if (!with_matrix) return;
    const std::int64_t tile_bytes = Tile::rows * pitch * static_cast<std::int64_t>(sizeof(D));
    at_once = Tile::rows * rows_near_caches(test_panels.count(), tile_bytes, shard.ledger().left_bytes());
    shard.declare(matrix, "knn/matrix", at_once * pitch);
  }

  void pack_train(std::int64_t panel) const {
    pack<Element>(train_panels, panel, knn.train.data(), train.data(), train_norms.data());
  }
  void pack_test(std::int64_t tile) const {
    pack<Element>(test_panels, tile, knn.test.data(), test.data(), test_norms.data());
  }
  void clear_lists(std::int64_t tile) const {
    for (int row = 0; row < rows(tile); ++row) knn.list(tile * Tile::rows + row).clear();
  }
  void select(std::int64_t tile, std::int64_t panel) const {
    select_products(knn.features, queries(tile), rows(tile), rows_of(panel), train_norms.data() + panel * Tile::columns,
                    panel * Tile::columns, [&](int row) { return knn.list(tile * Tile::rows + row); });
  }
  /// Row 0 of the matrix is query `begin`.
  void fill(std::int64_t tile, std::int64_t panel, std::int64_t begin) const {
    fill_distances(knn.features, queries(tile), rows(tile), rows_of(panel),
                   matrix.data() + (tile * Tile::rows - begin) * pitch + panel * Tile::columns, pitch);
  }
  [[nodiscard]] const float* queries(std::int64_t tile) const { return test.data() + tile * Tile::rows * knn.features; }
  [[nodiscard]] int rows(std::int64_t tile) const {
    return static_cast<int>(std::min<std::int64_t>(Tile::rows, knn.m - tile * Tile::rows));
  }
  [[nodiscard]] const float* rows_of(std::int64_t panel) const {
    return train.data() + panel * Tile::columns * knn.features;
  }

  Memory<T, Array> knn;
  HostPanels train_panels, test_panels;
  std::int64_t pitch, at_once = 0;  ///< of the matrix: values per row; rows
  Array<float> train, test, train_norms, test_norms;
  Array<D> matrix;
};

}  // namespace league::knn
