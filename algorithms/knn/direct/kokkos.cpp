// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/register_tile_kokkos.hpp"
#include "algorithms/knn/common/kokkos_select.hpp"

namespace league::knn::kokkos_model {
namespace {

// A GPU's thread has 4 x 8 sums and as many exact totals, its team a tile of `packs` packs of columns; `resident`:
// teams on a multiprocessor. On a host a panel of training rows stays in the cache for `slab` tiles.
template <int packs, int resident>
struct Square {
  static constexpr Numbers numbers = blocks::by_kind({.tile = packs * 2,
                                                      .columns = packs * 4,
                                                      .slab = 1,
                                                      .width = 4,
                                                      .rows = 4,
                                                      .height = 4,
                                                      .depth = packs / 2,
                                                      .teams = resident},
                                                     {.tile = blocks::host_vectors * 3 / 8,
                                                      .columns = 2 * blocks::host_vector_bytes / 4,
                                                      .slab = 8,
                                                      .width = blocks::host_vector_bytes / 4,
                                                      .rows = blocks::host_vectors * 3 / 8,
                                                      .height = 1,
                                                      .depth = 1});
};
using LargeSquare = blocks::RegisterTile<float, Square<32, 2>>;
using SmallSquare = blocks::RegisterTile<float, Square<16, 6>>;

// Distances that are in memory at once: on a host as many as are near the caches.
constexpr Numbers of_matrix = blocks::by_kind({.values = 1 << 30}, {.values = 1 << 26});

/// Arguments of the kernel: the distances of some queries, from row 0 of the matrix on.
template <class Tile, class D>
struct Matrix {
  using Row = blocks::Pack<D, Tile::width* int{sizeof(D)}>;
  typename Tile::RowPanels query_panels;
  typename Tile::ColumnPanels train_panels;
  blocks::Packs<const float, Tile::row_width> queries;
  blocks::Packs<const float, Tile::width> train;
  blocks::Packs<D, Tile::width> values;  ///< [queries][training rows with the padding]
  int first, end;                        ///< queries; `first`: of a tile

  [[nodiscard]] int tiles_down() const { return ceil_div(end - first, Tile::rows); }
  [[nodiscard]] int tiles() const { return tiles_down() * train_panels.panels; }
  /// Of whole slabs.
  [[nodiscard]] int items() const {
    constexpr int slab = Tile::numbers.slab;
    return ceil_div(tiles_down(), slab) * slab * train_panels.panels;
  }
};

/// Adds what a thread has in floats, where it is exact, to its totals, and clears it. Templates over rows, not lambdas:
/// GCC keeps in memory what these capture.
template <class Tile, class D, int i = 0>
KOKKOS_FORCEINLINE_FUNCTION void add_up(typename Tile::Sums& sums,
                                        D (&totals)[Tile::thread_rows][Tile::thread_columns]) {
  if constexpr (i < Tile::thread_rows) {
    LEAGUE_VECTORISED
    for (int j = 0; j < Tile::thread_columns; ++j) totals[i][j] += static_cast<D>(sums[i][j]);
    LEAGUE_VECTORISED
    for (int j = 0; j < Tile::thread_columns; ++j) sums[i][j] = 0;
    add_up<Tile, D, i + 1>(sums, totals);
  }
}
/// Stores a thread's totals of the tile at (row0, column0).
template <class Tile, class D, int i = 0>
KOKKOS_FORCEINLINE_FUNCTION void store(const Matrix<Tile, D>& matrix, int thread, int row0, int column0,
                                       const D (&totals)[Tile::thread_rows][Tile::thread_columns]) {
  if constexpr (i < Tile::thread_rows) {
    constexpr int width = Tile::width;
    const int row = row0 + Tile::row(thread, i);
    if (row < matrix.end)
      for (int h = 0; h < 2; ++h) {
        const std::int64_t at = std::int64_t{row - matrix.first} * matrix.train_panels.panels * Tile::columns +
                                column0 + Tile::column(thread, h * width);
        blocks::fill_pack(matrix.values, at / width, [&](typename Matrix<Tile, D>::Row& pack) {
          for (int e = 0; e < width; ++e) pack.values[e] = totals[i][h * width + e];
        });
      }
    store<Tile, D, i + 1>(matrix, thread, row0, column0, totals);
  }
}

// A team takes a tile of squared distances at a time, whose sums its threads keep in registers.
template <class Tile, class D>
void distances(const Exec& exec, Launch launch, const Matrix<Tile, D>& matrix) {
  using Bounds = Kokkos::LaunchBounds<Tile::threads, kokkos::launch_bound(Tile::numbers.teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>, Bounds>;
  const int items = matrix.items(), down = matrix.tiles_down();
  Kokkos::parallel_for(
      "knn/direct",
      Policy(exec, launch.league, launch.team, launch.vector)
          .set_scratch_size(0, Kokkos::PerTeam(Tile::Operands::scratch_bytes())),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        constexpr int slab = Tile::numbers.slab;
        const int of_slab = slab * matrix.train_panels.panels, depth = matrix.query_panels.depth;
        typename Tile::Operands operands(team, matrix.queries, matrix.train);
        const auto mine =
            blocks::share(static_cast<int>(team.league_rank()), static_cast<int>(team.league_size()), items);
        for (int item = mine.first; item < mine.end; item += mine.stride) {
          const int tile = item / of_slab * slab + item % slab, panel = item % of_slab / slab;
          if (tile >= down) continue;
          const int row0 = matrix.first + tile * Tile::rows;
          const std::int64_t a = matrix.query_panels.first(row0 / Tile::rows), b = matrix.train_panels.first(panel);
          D totals[Tile::thread_rows][Tile::thread_columns] = {};
          typename Tile::Sums sums = {};
          for (int f = 0; f < depth; f += exact_terms) {
            Tile::template add<blocks::DifferenceTerm>(team, operands, a + std::int64_t{f} * Tile::RowPanels::packs,
                                                       b + std::int64_t{f} * Tile::ColumnPanels::packs,
                                                       depth - f < exact_terms ? depth - f : exact_terms, sums);
            add_up<Tile>(sums, totals);
          }
          store(matrix, blocks::rank(team), row0, panel * Tile::columns, totals);
        }
      });
}

template <class T, class Element>
class Direct final : public IndependentShard {
  using D = Distance<Element>;

 public:
  Direct(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), knn_(*this, problem) {
    declare(queries_, "knn/packed_test", std::max(queries<LargeSquare>().size(), queries<SmallSquare>().size()));
    declare(train_, "knn/packed_train", std::max(train<LargeSquare>().size(), train<SmallSquare>().size()));
    const std::int64_t pitch = std::int64_t{train<LargeSquare>().panels} * LargeSquare::columns;
    const std::int64_t bytes = std::min(ledger().left_bytes(), std::int64_t{of_matrix.values} * 4);
    at_once_ = rows_at_once(knn_.m, pitch * static_cast<std::int64_t>(sizeof(D)), bytes, LargeSquare::rows);
    declare(matrix_, "knn/matrix", at_once_ * pitch);
  }
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, default_team(), 1}, kokkos::limits(queue()));
    if (launch_.vector != 1)
      throw Unsupported("vector length " + std::to_string(launch_.vector) + ": the tile takes 1");
    if (launch_.team != LargeSquare::threads && launch_.team != SmallSquare::threads)
      throw Unsupported("team size " + std::to_string(launch_.team) + ": the tile takes " +
                        std::to_string(SmallSquare::threads) + " or " + std::to_string(LargeSquare::threads));
    with_tile([&]<class Tile>() {
      const int at_once = std::max(1, blocks::lanes_at_once(exec_, Tile::numbers, Tile::threads) / Tile::threads);
      if (launch_.league == 0) launch_.league = std::clamp(matrix<Tile>(0, at_once_).tiles(), 1, 16 * at_once);
    });
    return launch_;
  }
  void compute(Stages& stages) override {
    with_tile([&]<class Tile>() { compute_by<Tile>(stages); });
  }

 private:
  template <class Tile>
  [[nodiscard]] typename Tile::RowPanels queries() const {
    return {knn_.m, knn_.features, Tile::step};
  }
  template <class Tile>
  [[nodiscard]] typename Tile::ColumnPanels train() const {
    return {knn_.n, knn_.features, Tile::step};
  }
  /// Large tiles where they are some for each team that a device holds.
  [[nodiscard]] int default_team() const {
    constexpr int enough = 2;
    const int teams = blocks::lanes_at_once(exec_, LargeSquare::numbers, LargeSquare::threads) / LargeSquare::threads;
    return matrix<LargeSquare>(0, at_once_).tiles() >= enough * teams ? LargeSquare::threads : SmallSquare::threads;
  }
  template <class Body>
  void with_tile(const Body& body) const {
    if (launch_.team == LargeSquare::threads)
      body.template operator()<LargeSquare>();
    else
      body.template operator()<SmallSquare>();
  }
  template <class Tile>
  [[nodiscard]] Matrix<Tile, D> matrix(std::int64_t first, std::int64_t end) const {
    return {queries<Tile>(),
            train<Tile>(),
            blocks::packs<Tile::row_width>(Vector<const float>(queries_.view())),
            blocks::packs<Tile::width>(Vector<const float>(train_.view())),
            blocks::packs<Tile::width>(matrix_.view()),
            static_cast<int>(first),
            static_cast<int>(end)};
  }
  template <class Tile>
  void compute_by(Stages& stages) const {
    const auto n = static_cast<int>(knn_.n), m = static_cast<int>(knn_.m), features = static_cast<int>(knn_.features);
    const Vector<const T> rows = knn_.train.view(), test = knn_.test.view();
    stages.stage(queue(), "pack", [&] {
      blocks::lay_out(exec_, rows, n, features, train<Tile>(), train_.view(), Widen<Element>());
      blocks::lay_out(exec_, test, m, features, queries<Tile>(), queries_.view(), Widen<Element>());
    });
    for (std::int64_t first = 0; first < knn_.m; first += at_once_) {
      const std::int64_t end = std::min(first + at_once_, knn_.m);
      const auto all = matrix<Tile>(first, end);
      const std::int64_t pitch = std::int64_t{all.train_panels.panels} * Tile::columns;
      stages.stage(queue(), "distance", [&] { distances(exec_, launch_, all); });
      stages.stage(queue(), "select", [&] {
        select_rows<D>(exec_, {first, end - first, knn_.n, pitch, knn_.k, 0, matrix_.view(), knn_.neighbours.view()});
      });
    }
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn_); });
  }

  const Exec& exec_;
  Launch launch_;
  Memory<T, kokkos::Array> knn_;
  kokkos::Array<float> queries_, train_;
  std::int64_t at_once_ = 0;  ///< queries whose distances are in the matrix
  kokkos::Array<D> matrix_;   ///< [at_once_ x training rows with the padding]
};

const RegisterSplit<Knn> direct_variant{
    "direct",
    written_once<float, std::int32_t, std::uint8_t>(kokkos::model,
                                                    []<class T>(Of<T>) { return blocks::named(LargeSquare::numbers); }),
    by_element<Direct>};

}  // namespace
}  // namespace league::knn::kokkos_model
