// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/common/kokkos.hpp"

#include "algorithms/blocks/register_tile_kokkos.hpp"

namespace league::distance_matrix::kokkos_model {
namespace {

template <class T>
constexpr int of_16_bytes = 16 / int{sizeof(T)};
template <class T>
constexpr int of_vector = blocks::host_vector_bytes / int{sizeof(T)};
// Two vectors of sums in each row take three quarters of a host's registers.
constexpr int host_rows = blocks::host_vectors * 3 / 8;

// A GPU's thread has 8 x 8 sums (4 x 4 doubles), its team a tile of `packs` packs in each direction; `resident`: teams
// on a multiprocessor. On a host a panel of columns stays in the cache for `slab` tiles.
template <class T, int packs, int resident>
struct Shape {
  static constexpr Numbers numbers = blocks::by_kind({.tile = packs * of_16_bytes<T>,
                                                      .columns = packs * of_16_bytes<T>,
                                                      .slab = 1,
                                                      .width = of_16_bytes<T>,
                                                      .rows = 2 * of_16_bytes<T>,
                                                      .height = of_16_bytes<T>,
                                                      .depth = packs / 2,
                                                      .teams = resident},
                                                     {.tile = host_rows,
                                                      .columns = 2 * of_vector<T>,
                                                      .slab = 8,
                                                      .width = of_vector<T>,
                                                      .rows = host_rows,
                                                      .height = 1,
                                                      .depth = 1});
};
template <class T>
using Large = Shape<T, 32, 2>;
template <class T>
using Small = Shape<T, 16, 8>;  // for few points, so that more teams work

/// A block of rows as tiles on the grid of the whole matrix: a block that begins inside a tile skips its upper rows, so
/// that values do not depend on the blocking.
template <class T, class Tile>
struct Work {
  Distances<T, Tile::width, Tile::row_width> out;
  typename Tile::RowPanels rows;
  typename Tile::ColumnPanels columns;
  blocks::Packs<const T, Tile::row_width> row_packs;
  blocks::Packs<const T, Tile::width> column_packs;
  Vector<const T> norms;

  [[nodiscard]] int first_tile() const { return out.first / Tile::rows; }
  [[nodiscard]] int tiles_down() const { return ceil_div(out.end, Tile::rows) - first_tile(); }
  [[nodiscard]] int tiles() const { return tiles_down() * columns.panels; }
  /// Of whole slabs.
  [[nodiscard]] int items() const {
    constexpr int slab = Tile::numbers.slab;
    return ceil_div(tiles_down(), slab) * slab * columns.panels;
  }
  template <class Term>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T squared(int row, int column, T sum) const {
    if constexpr (std::is_same_v<Term, blocks::ProductTerm>) {
      const T value = norms(row) + norms(column) - 2 * sum;
      return row == column || value < 0 ? T{0} : value;
    } else {
      return sum;
    }
  }
};

/// Stores a thread's sums of the tile at (row0, column0). Templates over rows, not lambdas: GCC keeps in memory what
/// these capture.
template <class Tile, class Term, class T>
class Store {
  static constexpr int width = Tile::width;
  using Sums = typename Tile::Sums;

 public:
  KOKKOS_FORCEINLINE_FUNCTION Store(const Work<T, Tile>& work, int thread, int row0, int column0)
      : work_(work), thread_(thread), row0_(row0), column0_(column0) {}

  template <int i = 0>
  KOKKOS_FORCEINLINE_FUNCTION void rows(const Sums& sums) const {
    if constexpr (i < Tile::thread_rows) {
      const int row = row0_ + Tile::row(thread_, i);
      if (row >= work_.out.first && row < work_.out.end) packs<i>(row, sums);
      rows<i + 1>(sums);
    }
  }
  /// The mirror images.
  template <int j = 0>
  KOKKOS_FORCEINLINE_FUNCTION void columns(const Sums& sums) const {
    if constexpr (j < Tile::thread_columns) {
      const int row = column0_ + Tile::column(thread_, j);
      if (row < work_.out.end) mirrored<j>(row, sums);
      columns<j + 1>(sums);
    }
  }

 private:
  template <int i, int h = 0>
  KOKKOS_FORCEINLINE_FUNCTION void packs(int row, const Sums& sums) const {
    if constexpr (h < 2) {
      const int column = column0_ + Tile::column(thread_, h * width);
      blocks::Pack<T, width* int{sizeof(T)}> pack;
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k)
        pack.values[k] = work_.template squared<Term>(row, column + k, sums[i][h * width + k]);
      work_.out.store(row, column, pack);
      packs<i, h + 1>(row, sums);
    }
  }
  template <int j, int h = 0>
  KOKKOS_FORCEINLINE_FUNCTION void mirrored(int row, const Sums& sums) const {
    constexpr int height = Tile::row_width;
    if constexpr (h < Tile::thread_rows / height) {
      blocks::Pack<T, height* int{sizeof(T)}> pack;
      for (int k = 0; k < height; ++k) pack.values[k] = sums[h * height + k][j];
      work_.out.store_mirrored(row, row0_ + Tile::row(thread_, h * height), pack);
      mirrored<j, h + 1>(row, sums);
    }
  }

  const Work<T, Tile>& work_;
  int thread_, row0_, column0_;
};

// A team takes a tile at a time, whose sums its threads keep in registers; `mirror` leaves out tiles below the
// diagonal.
template <class Tile, class Term, bool mirror, class T>
void take_tiles(const Exec& exec, Launch launch, const Work<T, Tile>& work) {
  using Bounds = Kokkos::LaunchBounds<Tile::threads, kokkos::launch_bound(Tile::numbers.teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>, Bounds>;
  const int items = work.items(), first_tile = work.first_tile();
  Kokkos::parallel_for(
      "distance_matrix/tiled",
      Policy(exec, launch.league, launch.team, launch.vector)
          .set_scratch_size(0, Kokkos::PerTeam(Tile::Operands::scratch_bytes())),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        constexpr int slab = Tile::numbers.slab;
        const int of_slab = slab * work.columns.panels;
        typename Tile::Operands operands(team, work.row_packs, work.column_packs);
        const auto mine =
            blocks::share(static_cast<int>(team.league_rank()), static_cast<int>(team.league_size()), items);
        for (int item = mine.first; item < mine.end; item += mine.stride) {
          const int row = first_tile + item / of_slab * slab + item % slab, column = item % of_slab / slab;
          const int row0 = row * Tile::rows, column0 = column * Tile::columns;
          if (row >= work.rows.panels || (mirror && column0 + Tile::columns <= row0)) continue;
          typename Tile::Sums sums = {};
          Tile::template add<Term>(team, operands, work.rows.first(row), work.columns.first(column), work.rows.depth,
                                   sums);
          const Store<Tile, Term, T> store(work, blocks::rank(team), row0, column0);
          store.rows(sums);
          if constexpr (mirror) store.columns(sums);
        }
      });
}

// A team takes `tile` points, a thread one after another, whose lanes share the features.
constexpr Numbers of_norms =
    blocks::by_kind({.tile = 8, .team = 8, .vector = 32}, {.tile = 64, .team = 1, .vector = 1});

template <class T>
void square_norms(const Exec& exec, const Vector<const T>& points, int n, int features, const Vector<T>& norms) {
  constexpr int tile = of_norms.tile;
  const auto padded = static_cast<int>(norms.extent(0));
  Kokkos::parallel_for(
      "distance_matrix/norms", kokkos::Team(exec, ceil_div(padded, tile), of_norms.team, of_norms.vector),
      KOKKOS_LAMBDA(const kokkos::Member& team) {
        const int first = static_cast<int>(team.league_rank()) * tile;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile), [&](int i) {
          const int point = first + i;
          double norm = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, point < n ? features : 0),
              [&](int f, double& sum) {
                const double value = points(std::int64_t{point} * features + f);
                sum += value * value;
              },
              norm);
          Kokkos::single(Kokkos::PerThread(team), [&] {
            if (point < padded) norms(point) = static_cast<T>(norm);
          });
        });
      });
}

template <class T, Kind kind>
class Tiled final : public DistanceShard {
  using LargeTile = blocks::RegisterTile<T, Large<T>>;
  using SmallTile = blocks::RegisterTile<T, Small<T>>;
  /// Rows and columns are laid out alike, so that one array is both.
  template <class Tile>
  static constexpr bool one_layout = std::is_same_v<typename Tile::RowPanels, typename Tile::ColumnPanels>;

 public:
  Tiled(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())) {
    const std::int64_t rows =
        one_layout<LargeTile> ? 0 : std::max(row_panels<LargeTile>().size(), row_panels<SmallTile>().size());
    const std::int64_t columns = std::max(column_panels<LargeTile>().size(), column_panels<SmallTile>().size());
    declare(rows_, "distance_matrix/rows", rows);
    declare(columns_, "distance_matrix/columns", columns);
    declare(norms_, "distance_matrix/norms", kind == Kind::product ? padded() : 0);
    declare_matrix(points_, out_, form_of(kind, LargeTile::rows));
  }
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, default_team(), 1}, kokkos::limits(queue()));
    if (launch_.vector != 1)
      throw Unsupported("vector length " + std::to_string(launch_.vector) + ": the tile takes 1");
    if (launch_.team != LargeTile::threads && launch_.team != SmallTile::threads)
      throw Unsupported("team size " + std::to_string(launch_.team) + ": the tile takes " +
                        std::to_string(SmallTile::threads) + " or " + std::to_string(LargeTile::threads));
    if (launch_.league == 0)
      with_tile([&]<class Tile>() {
        const int at_once = std::max(1, blocks::lanes_at_once(exec_, Tile::numbers, Tile::threads) / Tile::threads);
        launch_.league = std::clamp(work<Tile>({0, block_rows()}).tiles(), 1, 16 * at_once);
      });
    return launch_;
  }

 private:
  template <class Tile>
  [[nodiscard]] typename Tile::RowPanels row_panels() const {
    return {problem().n, problem().dimension, Tile::step};
  }
  template <class Tile>
  [[nodiscard]] typename Tile::ColumnPanels column_panels() const {
    return {problem().n, problem().dimension, Tile::step};
  }
  [[nodiscard]] std::int64_t padded() const {
    return std::int64_t{column_panels<LargeTile>().panels} * LargeTile::columns;
  }
  /// Large tiles where they are some for each team that a device holds, unless rows that are not aligned make stores
  /// take longer than the sums.
  [[nodiscard]] int default_team() const {
    constexpr int enough = 2, few_features = 64;
    const bool store_bound = problem().n % LargeTile::width != 0 && problem().dimension < few_features;
    const int at_once = blocks::lanes_at_once(exec_, LargeTile::numbers, LargeTile::threads) / LargeTile::threads;
    const bool many = work<LargeTile>({0, block_rows()}).tiles() >= enough * at_once;
    return many && !store_bound ? LargeTile::threads : SmallTile::threads;
  }
  template <class Body>
  void with_tile(const Body& body) const {
    if (launch_.team == LargeTile::threads)
      body.template operator()<LargeTile>();
    else
      body.template operator()<SmallTile>();
  }
  template <class Tile>
  [[nodiscard]] Work<T, Tile> work(Range range) const {
    return {{out_.view(), problem().n, range, problem().euclidean},
            row_panels<Tile>(),
            column_panels<Tile>(),
            blocks::packs<Tile::row_width>(Vector<const T>((one_layout<Tile> ? columns_ : rows_).view())),
            blocks::packs<Tile::width>(Vector<const T>(columns_.view())),
            norms_.view()};
  }
  void block(Stages& stages, Range range) override {
    with_tile([&]<class Tile>() {
      if (range.begin == rows().begin) stages.stage(queue(), "pack", [&] { pack<Tile>(); });
      stages.stage(queue(), "distance",
                   [&] { take_tiles<Tile, TermOf<kind>, kind == Kind::symmetric>(exec_, launch_, work<Tile>(range)); });
    });
  }
  template <class Tile>
  void pack() const {
    const Vector<const T> points = points_.view();
    const auto n = static_cast<int>(problem().n), features = static_cast<int>(problem().dimension);
    if (!one_layout<Tile>) blocks::lay_out(exec_, points, n, features, row_panels<Tile>(), rows_.view());
    blocks::lay_out(exec_, points, n, features, column_panels<Tile>(), columns_.view());
    if (kind == Kind::product) square_norms(exec_, points, n, features, norms_.view());
  }

  const Exec& exec_;
  Launch launch_;
  kokkos::Array<T> points_, out_, rows_, columns_, norms_;
};

inline WrittenModel once() {
  return written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(Large<T>::numbers); });
}
using Registered = RegisterSplit<DistanceMatrix>;
const Registered tiled{"tiled", once(), by_type<Tiled, Kind::tiled>};
const Registered symmetric{"symmetric", once(), by_type<Tiled, Kind::symmetric>};
const Registered product{"product", once(), by_type<Tiled, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
