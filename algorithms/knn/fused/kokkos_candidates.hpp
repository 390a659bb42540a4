// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/register_tile_kokkos.hpp"
#include "algorithms/knn/common/kokkos.hpp"
#include "algorithms/knn/fused/chunk.hpp"

namespace league::knn::kokkos_model {

// Two vectors of products in each row take three quarters of a host's registers.
inline constexpr int host_width = blocks::host_vector_bytes / int{sizeof(float)},
                     host_rows = blocks::host_vectors * 3 / 8;

// A GPU's thread has 8 x 8 products, its team a tile of `packs` packs in each direction; `resident`: teams on a
// multiprocessor.
template <int packs, int resident>
struct Shape {
  static constexpr Numbers numbers = blocks::by_kind(
      {.tile = packs * 4,
       .columns = packs * 4,
       .width = 4,
       .rows = 8,
       .height = 4,
       .depth = packs / 2,
       .teams = resident},
      {.tile = host_rows, .columns = 2 * host_width, .width = host_width, .rows = host_rows, .height = 1, .depth = 1});
};
using LargeTile = blocks::RegisterTile<float, Shape<32, 2>>;
using SmallTile = blocks::RegisterTile<float, Shape<16, 8>>;

// A work item has `tile` training rows, unless the launch says otherwise, or fewer, so that four teams have `depth`
// items; and up to `slab` tiles of queries: a panel of training rows stays in a host's cache for all of these. The
// lists of `width` queries lie interleaved.
inline constexpr Numbers of_items = blocks::by_kind({.tile = 512, .slab = 1, .width = 32, .depth = 1},
                                                    {.tile = 1 << 14, .slab = 32, .width = 1, .depth = 8});
// A team merges the lists of `tile` queries, up to `depth` lanes those of one.
inline constexpr Numbers of_merge =
    blocks::by_kind({.tile = merge_queries, .depth = 8, .team = 256}, {.tile = merge_queries, .depth = 1, .team = 1});

/// Arguments of the kernels. A work item is a slab of tiles of queries and a chunk of the training rows. It keeps its
/// own lists: the k best of its chunk, by key |y|^2 - 2 x.y (same order as the distance), then index.
template <class Tile>
struct Work {
  typename Tile::RowPanels query_panels;
  typename Tile::ColumnPanels train_panels;
  blocks::Packs<const float, Tile::row_width> queries;
  blocks::Packs<const float, Tile::width> train, norms;  ///< norms: of the training rows; NaN for padding
  Vector<std::int32_t> threshold;  ///< [queries] ordered(float): no larger key can be among the k best of all chunks
  Vector<double> keys;             ///< [chunks][some queries][k][query of these]
  Vector<std::int32_t> indices;    ///< same layout
  int count, k, slab, chunk;       ///< queries; tiles of a work item; its panels of training rows

  [[nodiscard]] KOKKOS_FUNCTION int slabs() const { return (query_panels.panels + slab - 1) / slab; }
  [[nodiscard]] KOKKOS_FUNCTION int chunks() const { return (train_panels.panels + chunk - 1) / chunk; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION List<std::int32_t> list(int chunk_number, int query) const {
    constexpr int width = of_items.width;
    const std::int64_t lists = std::int64_t{chunk_number} * query_panels.panels * Tile::rows + query;
    const std::int64_t first = (lists - query % width) * k + query % width;
    return {{keys, first}, {indices, first}, k, width};
  }
};

/// Keys within the threshold of their query are rare: threads push them to a short list of each query in their team's
/// scratch, from which they are inserted into its k-best list.
template <class Tile>
class Candidates {
  using A = decltype(Tile::Operands::a);
  using B = decltype(Tile::Operands::b);
  template <class T>
  using Scratch = Kokkos::View<T*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int rows = Tile::rows, columns = Tile::thread_columns, slab = of_items.slab;
  static constexpr int in_a = A::template lendable<float>(rows * Tile::columns);
  static constexpr int slots = B::template lendable<int>(in_a) / rows;  ///< of a query

 public:
  static std::size_t scratch_bytes() {
    return A::template lent_bytes<float>(slots * rows) + B::template lent_bytes<int>(slots * rows) +
           Scratch<int>::shmem_size(rows + 1) + Scratch<float>::shmem_size(rows * slab);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Candidates(const Member& team, const typename Tile::Operands& operands)
      : products_(operands.a.template lend<float>(team, slots * rows)),
        places_(operands.b.template lend<int>(team, slots * rows)),
        counts_(team.team_scratch(0), rows + 1),
        within_(team.team_scratch(0), rows * slab) {}

  /// Sets the threshold of query `at` of the slab.
  KOKKOS_FORCEINLINE_FUNCTION void begin(int at, float within) const { within_(at) = within, counts_(at % rows) = 0; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION float within(int at) const { return within_(at); }
  /// Whether some did not fit; reset by `again`.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool overflow() const { return counts_(rows) != 0; }
  KOKKOS_FORCEINLINE_FUNCTION void again() const { counts_(rows) = 0; }

  /// Pushes a thread's products with training rows from `column0` on that are within the thresholds of queries from
  /// `at` on, and makes these NaN, which is within none. Templates over rows, not lambdas: GCC keeps in memory what
  /// these capture.
  template <int i = 0>
  KOKKOS_FORCEINLINE_FUNCTION void push(int at, int thread, int column0, const float (&norms)[columns],
                                        typename Tile::Sums& sums) const {
    if constexpr (i < Tile::thread_rows) {
      const int row = Tile::row(thread, i);
      const float within = within_(at + row);
      int any = 0;
      LEAGUE_VECTORISED
      for (int j = 0; j < columns; ++j) any |= norms[j] - 2 * sums[i][j] <= within ? 1 : 0;
      if (any != 0) push_row(row, within, thread, column0, norms, sums[i]);
      push<i + 1>(at, thread, column0, norms, sums);
    }
  }
  /// Inserts those of query `at`, and lowers its threshold.
  template <class Best>
  KOKKOS_FORCEINLINE_FUNCTION void insert(int at, const Work<Tile>& work, const Best& best) const {
    const int row = at % rows, count = counts_(row) < slots ? counts_(row) : slots;
    for (int slot = 0; slot < count; ++slot) {
      const int place = places_(slot * rows + row);
      const double norm = work.norms(place / Tile::width).values[place % Tile::width];
      best.insert(norm - 2.0 * products_(slot * rows + row), place);
    }
    const auto reached = static_cast<float>(best.threshold());
    if (reached < within_(at)) within_(at) = reached;
    counts_(row) = 0;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool has_any(int at) const { return counts_(at % rows) > 0; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void push_row(int row, float within, int thread, int column0,
                                            const float (&norms)[columns], float (&products)[columns]) const {
    float left[columns];
    LEAGUE_VECTORISED
    for (int j = 0; j < columns; ++j) left[j] = products[j];
    for (int j = 0; j < columns; ++j) {
      if (!(norms[j] - 2 * left[j] <= within)) continue;
      const int slot = Kokkos::atomic_fetch_add(&counts_(row), 1);
      if (slot < slots) {
        products_(slot * rows + row) = left[j];
        places_(slot * rows + row) = column0 + Tile::column(thread, j);
        left[j] = KeyLimits<float>::no_row();
      } else {
        counts_(rows) = 1;
      }
    }
    LEAGUE_VECTORISED
    for (int j = 0; j < columns; ++j) products[j] = left[j];
  }

  Scratch<float> products_;  ///< [slots][rows]
  Scratch<int> places_;      ///< [slots][rows]: training rows
  Scratch<int> counts_;      ///< pushed [rows], and whether some did not fit
  Scratch<float> within_;    ///< [slab][rows]
};

}  // namespace league::knn::kokkos_model
