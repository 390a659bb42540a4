// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/distance_matrix/host.hpp"
#include "algorithms/distance_matrix/part.hpp"

namespace league::distance_matrix {

enum class Method { direct, tiled, symmetric, product };

/// A method on the threads of a host: lays the points out, then takes rows of tiles in groups. A model says how its
/// threads share a loop: `each(label, items, body)` calls `body(item)` for every item.
template <class Array, Method method>
class HostPart : public DistancePart<Array> {
 public:
  using T = typename Array::value_type;

 protected:
  using Tile = blocks::HostTile<T>;
  using Term = std::conditional_t<method == Method::product, blocks::ProductTerm, blocks::DifferenceTerm>;

  template <class Make>
  HostPart(const DistanceMatrix& problem, const Context& context, const Shard& shard, const Make& make)
      : DistancePart<Array>(problem, context, shard, form(problem, shard), make),
        layout_(layout(problem)),
        columns_(make("distance_matrix/columns", layout_.columns_size())),
        rows_(make("distance_matrix/rows", layout_.rows_size(this->block_rows()))),
        norms_(make("distance_matrix/norms", method == Method::product ? layout_.norms_size() : 0)),
        llc_bytes_(context.runtime.info(shard.device).llc_bytes) {}

  /// Rows of tiles of one work item: enough to use a panel of columns several times, and no more than leaves every
  /// thread some.
  [[nodiscard]] std::int64_t group(int threads) const {
    if (method == Method::direct) return 1;
    return std::clamp<std::int64_t>(ceil_div<std::int64_t>(this->block_rows(), Tile::rows) / threads, 1, 8);
  }

  template <class Each>
  void block(Stages& stages, Range range, T* out, std::int64_t group, const Each& each) {
    HostBlock<T> block{.n = this->n_, .depth = this->dimension_, .first = range.begin, .rows = range.size()};
    block.euclidean = this->euclidean_;
    block.streaming = range.size() * this->n_ * std::int64_t{sizeof(T)} > llc_bytes_;
    block.norms = norms_.data();
    block.out = out;
    stages.stage(this->queue(), "pack", [&] { pack(block, each); });
    stages.stage(this->queue(), "distance", [&] {
      const std::int64_t tiles = block.row_tiles();
      each("distance_matrix/tiles", ceil_div(tiles, group), [=](std::int64_t item) {
        host_rows<Term, method == Method::symmetric>(block, item * group, std::min((item + 1) * group, tiles));
      });
    });
  }

 private:
  static HostLayout<T> layout(const DistanceMatrix& problem) {
    return {problem.n, problem.dimension, method != Method::direct};
  }
  static Form form(const DistanceMatrix& problem, const Shard& shard) {
    const HostLayout<T> all = layout(problem);
    const std::int64_t values =
        all.columns_size() + all.rows_size(shard.rows.size()) + (method == Method::product ? all.norms_size() : 0);
    return {.expanded = method == Method::product,
            .blocked = method != Method::symmetric,
            .extra_bytes = values * std::int64_t{sizeof(T)},
            .granule = Tile::rows};
  }

  /// Lays out the columns (once would do: it is part of what is timed) and the rows of this block.
  template <class Each>
  void pack(HostBlock<T>& block, const Each& each) {
    const HostLayout<T> layout = layout_;
    const T* points = this->points_.data();
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
    if constexpr (method == Method::product)
      each("distance_matrix/norms", layout.norms_size(),
           [=](std::int64_t row) { norms[row] = squared_norm(layout, points, row); });
  }

  HostLayout<T> layout_;
  Array columns_, rows_, norms_;
  std::int64_t llc_bytes_;
};

}  // namespace league::distance_matrix
