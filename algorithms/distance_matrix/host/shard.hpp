// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/distance_matrix/common/shard.hpp"
#include "algorithms/distance_matrix/host/host.hpp"

namespace league::distance_matrix {

/// A method on host threads: packs the points, then takes rows of tiles in groups. The model gives the parallel loop:
/// `each(label, items, body)` calls `body(item)` for every item. `Words`: see blocks/words.hpp.
template <class T, Kind kind, template <class> class Array, class Words>
class HostTiles {
  using Tile = blocks::HostTile<T>;

 public:
  explicit HostTiles(DistanceShard& shard)
      : shard_(shard), layout_{shard.problem().n, shard.problem().dimension, kind != Kind::direct} {
    shard.declare(columns_, "distance_matrix/columns", layout_.columns_size());
    shard.declare(norms_, "distance_matrix/norms", kind == Kind::product ? layout_.norms_size() : 0);
    shard.declare(rows_, "distance_matrix/rows", layout_.rows_size(shard.rows().size()));
    shard.declare_matrix(points_, out_, form_of(kind, Tile::rows));
    shard.declare(rows_, "distance_matrix/rows",
                  layout_.rows_size(shard.block_rows()));  // of a block; its size is known now
  }

  /// Rows of tiles per work item: enough to reuse a panel of columns, few enough for load balance.
  [[nodiscard]] std::int64_t group(int threads) const {
    if (kind == Kind::direct) return 1;
    return std::clamp<std::int64_t>(ceil_div<std::int64_t>(shard_.block_rows(), Tile::rows) / threads, 1, 8);
  }

  template <class Each>
  void block(Stages& stages, Range range, std::int64_t group, const Each& each) const {
    Queue& queue = shard_.queue();
    HostBlock<T> block{.n = layout_.n, .depth = layout_.dimension, .first = range.begin, .rows = range.size()};
    block.euclidean = shard_.problem().euclidean;
    block.streaming =
        range.size() * layout_.n * std::int64_t{sizeof(T)} > shard_.runtime().info(queue.device()).llc_bytes;
    block.norms = norms_.data();
    block.out = out_.data();
    stages.stage(queue, "pack", [&] { pack(block, each); });
    stages.stage(queue, "distance", [&] {
      const std::int64_t tiles = block.row_tiles();
      each("distance_matrix/tiles", ceil_div(tiles, group), [=](std::int64_t item) {
        host_rows<Words, TermOf<kind>, kind == Kind::symmetric>(block, item * group,
                                                                std::min((item + 1) * group, tiles));
      });
    });
  }

 private:
  /// Packs the columns (for every block, as part of the timed work) and the rows of this block.
  template <class Each>
  void pack(HostBlock<T>& block, const Each& each) const {
    const HostLayout<T> layout = layout_;
    const T* points = points_.data();
    T *columns = columns_.data(), *rows = rows_.data(), *norms = norms_.data();
    const std::int64_t first = block.first, panel = layout.dimension * Tile::columns;
    const std::int64_t step = layout.panels ? Tile::columns : layout.step(),
                       tile = layout.panels ? panel : Tile::columns;
    each("distance_matrix/columns", layout.columns_size() / panel, [=](std::int64_t item) {
      lay_out(layout, points, item * Tile::columns, Tile::columns, columns + item * tile, step);
    });
    block.b = columns, block.b_tile = tile, block.b_step = step;
    if (layout.panels) {
      const std::int64_t row_panel = layout.dimension * Tile::rows;
      each("distance_matrix/rows", block.row_tiles(), [=](std::int64_t item) {
        lay_out(layout, points, first + item * Tile::rows, Tile::rows, rows + item * row_panel, Tile::rows);
      });
      block.a = rows, block.a_tile = row_panel, block.a_step = Tile::rows;
    } else {
      block.a = columns + first, block.a_tile = Tile::rows, block.a_step = step;
    }
    if constexpr (kind == Kind::product)
      each("distance_matrix/norms", layout.norms_size(),
           [=](std::int64_t row) { norms[row] = squared_norm(layout, points, row); });
  }

  DistanceShard& shard_;
  HostLayout<T> layout_;
  Array<T> points_, out_, columns_, rows_, norms_;
};

}  // namespace league::distance_matrix
