// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/copies.hpp"
#include "algorithms/blocks/gram_units.hpp"
#include "algorithms/logistic_regression/newton_step.hpp"
#include "algorithms/logistic_regression/pack_rows.hpp"

/// The method `newton_mma`, the same in CUDA and Kokkos: the Hessian X^T diag(w) X by the f64 matrix unit, the gradient
/// and the intercept's row of the Hessian by FMAs on the same registers. A team takes its tiles of rows through scratch
/// as a software pipeline with one barrier per tile: logits of a tile, row terms of the tile before, products of the
/// one before that.
namespace league::logistic {

constexpr int unit_blocks(int features) { return (features + blocks::mma::side - 1) / blocks::mma::side; }

/// `parts` subgroups share a run of rows: ten units exceed the registers of one.
template <class Unit, int blocks_>
inline constexpr int unit_parts = Unit::lanes > 1 && blocks_ > 2 ? 2 : 1;

/// A team's tiles in its scratch, at most 40 KB under Kokkos 4.7. The 16-byte packets of a column are permuted
/// (swizzled), so that the lanes of a warp have no bank conflicts.
template <class T, class Unit, int blocks_>
struct UnitTiles {
  static constexpr int parts = unit_parts<Unit, blocks_>, stages = sizeof(T) == 4 ? 7 : 4;
  using Units = blocks::GramUnits<Unit, blocks_, 2, true, parts>;
  using Packet = blocks::PlainCopies::Packet;
  /// Rows per packet, per step of a lane, per access of a lane, per subgroup run; tiles in flight.
  static constexpr int of_packet = 16 / static_cast<int>(sizeof(T)), deep = Units::deep,
                       of_pack = deep < of_packet ? deep : of_packet, run = deep * Units::lanes_a_column,
                       ahead = stages - 3;
  using Pack = blocks::Pack<T, of_pack* static_cast<int>(sizeof(T))>;
  static constexpr int totals = 3;  ///< loss, sum of residuals, sum of weights

  int rows;    ///< per tile
  int mask;    ///< permuted packets - 1
  int chunks;  ///< threads per logit
  int stage;   ///< bytes: columns, then labels
  unsigned char* scratch;
  int features;

  LEAGUE_FUNCTION constexpr UnitTiles(int features_, int threads, void* from)
      : rows(threads / Unit::lanes / parts * run),
        mask(mask_of(rows / of_packet)),
        chunks(threads > rows ? threads / rows : 1),
        stage((features_ * rows * static_cast<int>(sizeof(T)) + rows + 15) / 16 * 16),
        scratch(static_cast<unsigned char*>(from)),
        features(features_) {}
  LEAGUE_FUNCTION static constexpr int mask_of(int packets) {
    const int whole = packets & -packets;  // the largest power of two that divides it
    return (whole < 8 ? whole : 8) - 1;
  }
  /// Scratch in bytes: the tiles, or the team's sums at the end.
  [[nodiscard]] LEAGUE_FUNCTION constexpr int bytes(int threads) const {
    const int values = 2 * chunks * rows + 2 * 2 * rows + features + 1;
    const int tiles = stages * stage + values * static_cast<int>(sizeof(T));
    const int doubles = Units::scratch_size, more = scratch_size(totals, threads);
    const int sums = (doubles > more ? doubles : more) * static_cast<int>(sizeof(double));
    return tiles > sums ? tiles : sums;
  }
  /// Offset of a row of a column in a tile.
  [[nodiscard]] LEAGUE_FUNCTION int at(int column, int row) const {
    constexpr int of_run = run / of_packet;
    const int columns_per_line = 8 / (mask + 1);  // of 128 bytes: all banks
    return column * rows + (row / of_packet ^ (column / columns_per_line * of_run & mask)) * of_packet +
           row % of_packet;
  }

  [[nodiscard]] LEAGUE_FUNCTION T* x(std::int64_t tile) const {
    return reinterpret_cast<T*>(scratch + tile % stages * stage);
  }
  [[nodiscard]] LEAGUE_FUNCTION std::uint8_t* labels(std::int64_t tile) const {
    return reinterpret_cast<std::uint8_t*>(x(tile) + features * rows);
  }
  /// Partial logits [chunks x rows].
  [[nodiscard]] LEAGUE_FUNCTION T* logits(std::int64_t tile) const {
    return reinterpret_cast<T*>(scratch + stages * stage) + tile % 2 * chunks * rows;
  }
  /// Weights and residuals [2 x rows].
  [[nodiscard]] LEAGUE_FUNCTION T* terms(std::int64_t tile) const {
    return reinterpret_cast<T*>(scratch + stages * stage) + 2 * chunks * rows + tile % 2 * 2 * rows;
  }
  [[nodiscard]] LEAGUE_FUNCTION T* theta() const {
    return reinterpret_cast<T*>(scratch + stages * stage) + 2 * chunks * rows + 2 * 2 * rows;
  }

  /// Starts the copies of the rows from `first` on. Values beyond the last row are not used.
  template <class Copies, class Group>
  LEAGUE_FUNCTION void copy(const Group& team, const Rows<T>& all, std::int64_t first, std::int64_t tile) const {
    const int packets = rows / of_packet;
    for (int item = team.rank; item < features * packets; item += team.size) {
      const int column = item / packets, row = item % packets * of_packet;
      if (first + row < all.count)
        Copies::copy(reinterpret_cast<Packet*>(x(tile) + at(column, row)),
                     reinterpret_cast<const Packet*>(all.columns + column * all.pitch + first + row));
    }
    const bool whole = rows % 16 == 0 && first + rows <= all.count;
    for (int row = 16 * team.rank; row < rows; row += 16 * team.size) {
      if (whole)
        Copies::copy(reinterpret_cast<Packet*>(labels(tile) + row),
                     reinterpret_cast<const Packet*>(all.labels + first + row));
      else
        for (int i = row; i < row + 16 && i < rows; ++i)
          labels(tile)[i] = first + i < all.count ? all.labels[first + i] : std::uint8_t{0};
    }
  }
  /// Adds partial logits; sets missing rows to zero.
  template <class Group>
  LEAGUE_FUNCTION void add_logits(const Group& team, std::int64_t tile, std::int64_t left) const {
    for (int item = team.rank; item < rows * chunks; item += team.size) {
      const int row = item % rows, chunk = item / rows;
      T z = 0;
      for (int d = chunk; d < features; d += chunks) {
        T& value = x(tile)[at(d, row)];
        if (row >= left) value = 0;
        z += theta()[1 + d] * value;
      }
      logits(tile)[item] = z;
    }
  }
  /// Weight and residual of each row; adds the totals of this thread's rows.
  template <class Group>
  LEAGUE_FUNCTION void add_terms(const Group& team, std::int64_t tile, std::int64_t left,
                                 double (&sums)[totals]) const {
    for (int row = team.rank; row < rows; row += team.size) {
      T z = theta()[0];
      for (int chunk = 0; chunk < chunks; ++chunk) z += logits(tile)[chunk * rows + row];
      const RowTerms<T> found = row_terms(z, static_cast<T>(labels(tile)[row]));
      const RowTerms<T> mine = row < left ? found : RowTerms<T>{};
      terms(tile)[row] = mine.weight;
      terms(tile)[rows + row] = mine.residual;
      sums[0] += static_cast<double>(mine.loss);
      sums[1] += static_cast<double>(mine.residual);
      sums[2] += static_cast<double>(mine.weight);
    }
  }
  /// Adds the products of this subgroup's run.
  template <int part>
  LEAGUE_FUNCTION void add_products(int subgroup, int lane, std::int64_t tile, Units& units) const {
    constexpr int from = Units::first_block(part);
    const int first = subgroup / parts * run + Units::place(lane) * deep;
    double wide[blocks_][Units::lane_columns][deep], v[2][deep];
    const auto load = [](const T* values, double* to) {
      const Pack pack = *reinterpret_cast<const Pack*>(values);
      blocks::repeated<Unit, of_pack>([&](int i) { to[i] = static_cast<double>(pack.values[i]); });
    };
    blocks::repeated<Unit, deep / of_pack>([&](int number) {
      const int begin = number * of_pack, row = first + begin;
      for (int i = 0; i < 2; ++i) load(terms(tile) + i * rows + row, v[i] + begin);
      blocks::repeated<Unit, blocks_ - from>([&](int block) {
        blocks::repeated<Unit, Units::lane_columns>([&](int k) {
          const int column = (from + block) * blocks::mma::side + Units::column(lane, k);
          // Padding columns: their sums are not used.
          load(x(tile) + at(column < features ? column : 0, row), wide[from + block][k] + begin);
        });
      });
    });
    units.template add<part>(wide, v);
  }
};

/// Index of sum `number` of a Newton step in a team's layout; the loss and the row totals follow after the layout.
template <class Layout>
LEAGUE_FUNCTION int unit_place(int number, int features) {
  if (number <= 1) return Layout::size + number;
  if (number < gradient_sums(features)) return Layout::product(1, number - 2);
  int i = 0;
  while (triangle(i + 1) <= number - gradient_sums(features)) ++i;
  const int j = number - gradient_sums(features) - triangle(i);
  if (i == 0) return Layout::size + 2;
  return j == 0 ? Layout::product(0, i - 1) : Layout::square(j - 1, i - 1);
}

/// A team's work on its tiles, `teams` apart: its sums go to `partials` [sums x teams]. `scratch`: UnitTiles::bytes.
/// @pre whole subgroups, a multiple of `unit_parts` of them; all threads call
template <class T, class Unit, int blocks_, class Copies, class Barrier>
LEAGUE_FUNCTION void add_unit_tiles(const Group<Barrier>& team, const Rows<T>& rows, const double* theta,
                                    std::int64_t rank, std::int64_t teams, void* scratch, double* partials) {
  using Tiles = UnitTiles<T, Unit, blocks_>;
  using Layout = typename Tiles::Units::Layout;
  const Tiles tiles(rows.features, team.size, scratch);
  for (int j = team.rank; j <= rows.features; j += team.size) tiles.theta()[j] = static_cast<T>(theta[j]);
  const int lane = team.rank % Unit::lanes, subgroup = team.rank / Unit::lanes;
  const auto of_part = [&](const auto& body) {
    if (Tiles::parts == 1 || subgroup % 2 == 0)
      body.template operator()<0>();
    else
      body.template operator()<Tiles::parts - 1>();
  };
  const std::int64_t all = (rows.count + tiles.rows - 1) / tiles.rows;
  const std::int64_t count = all > rank ? (all - rank + teams - 1) / teams : 0;
  const auto first = [&](std::int64_t tile) { return (rank + tile * teams) * tiles.rows; };
  typename Tiles::Units units;
  double totals[Tiles::totals] = {};
  for (std::int64_t tile = 0; tile < Tiles::ahead; ++tile) {
    if (tile < count) tiles.template copy<Copies>(team, rows, first(tile), tile);
    Copies::close();
  }
  for (std::int64_t tile = 0; tile < count + 2; ++tile) {
    Copies::template wait<Tiles::ahead - 1>();
    team.barrier();
    if (const std::int64_t next = tile + Tiles::ahead; next < count)
      tiles.template copy<Copies>(team, rows, first(next), next);
    Copies::close();
    if (tile < count) tiles.add_logits(team, tile, rows.count - first(tile));
    if (tile >= 1 && tile <= count) tiles.add_terms(team, tile - 1, rows.count - first(tile - 1), totals);
    if (tile >= 2) of_part([&]<int part>() { tiles.template add_products<part>(subgroup, lane, tile - 2, units); });
  }
  auto* sums = static_cast<double*>(scratch);
  blocks::leave_in_turn(team, Unit::lanes, Tiles::parts, [&](int, bool is_first) {
    of_part([&]<int part>() { units.template leave<part>(lane, is_first, sums); });
  });
  const int n = newton_sums(rows.features);
  for (int i = team.rank; i < n; i += team.size) {
    const int place = unit_place<Layout>(i, rows.features);
    if (place < Layout::size) partials[i * teams + rank] = Tiles::Units::value(sums, place);
  }
  team.barrier();
  team_sums<Tiles::totals>(
      team, [&](int i) { return totals[i]; }, sums,
      [&](int i, int, double sum) { partials[(i < 2 ? i : gradient_sums(rows.features)) * teams + rank] = sum; });
}

/// Calls `body.template operator()<blocks>()`.
template <class Body>
auto with_unit_blocks(int features, const Body& body) {
  static_assert(unit_blocks(LogisticRegression::max_features) == 4);
  const int blocks = unit_blocks(features);
  if (blocks == 1) return body.template operator()<1>();
  if (blocks == 2) return body.template operator()<2>();
  return blocks == 3 ? body.template operator()<3>() : body.template operator()<4>();
}

/// Team size, and resident teams per multiprocessor.
inline constexpr int unit_team = 128, unit_teams = 2;

/// Rows of a team's tile. @throws Unsupported for a team size that is not a multiple of `parts` subgroups
template <class T, class Unit, int blocks_>
int unit_rows(int threads) {
  constexpr int granule = Unit::lanes * unit_parts<Unit, blocks_>;
  if (threads % granule != 0)
    throw Unsupported("a team of " + std::to_string(threads) + ": these matrix units need a multiple of " +
                      std::to_string(granule));
  return UnitTiles<T, Unit, blocks_>(1, threads, nullptr).rows;
}

}  // namespace league::logistic
