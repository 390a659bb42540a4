// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/common/kokkos.hpp"

#include "algorithms/blocks/point_panels_kokkos.hpp"
#include "algorithms/blocks/term.hpp"

namespace league::distance_matrix::kokkos_model {
namespace {

// A lane takes `width` neighbouring columns in `rows` rows: `of_gpu` on a GPU, a vector register of them on a host.
// Lanes in vectors leave more of a GPU's memory to its first-level cache than as many threads do.
template <class T, int of_gpu>
struct Shape {
  static constexpr Numbers numbers = blocks::by_kind(
      {.columns = 4096 / int{sizeof(T)},
       .width = of_gpu,
       .rows = 8,
       .team = 32,
       .vector = 8,
       .teams = sizeof(T) == 4 ? 2 : 1},
      {.columns = 1 << 12, .width = blocks::host_vector_bytes / int{sizeof(T)}, .rows = 8, .team = 1, .vector = 1});
};
template <class T>
using Aligned = Shape<T, 16 / int{sizeof(T)}>;
// Where rows are no multiple of a pack, a GPU's neighbouring lanes store neighbouring values.
template <class T>
using Unaligned = Shape<T, 1>;

constexpr int max_known = 4;  ///< coordinates that a lane keeps in registers
// Larger teams would leave the sums too few registers.
constexpr int max_lanes = 512;

/// A block of rows as items of `rows` rows x `packs` packs of columns.
template <class T, class Of>
struct Strips {
  static constexpr int width = Of::numbers.width, rows = Of::numbers.rows;
  using Sums = blocks::Pack<T, width* int{sizeof(T)}>;
  using Columns = blocks::PointPanels<T, width, width>;

  Distances<T, width> out;
  Vector<const T> points;
  blocks::Packs<const T, width> columns;  ///< [packs of columns][dimension]
  int dimension, packs;

  [[nodiscard]] int across() const { return ceil_div(ceil_div(out.n, width), packs); }
  [[nodiscard]] std::int64_t items() const { return std::int64_t{ceil_div(out.end - out.first, rows)} * across(); }
};

/// A lane's pack of columns, in the rows from `row0` on. Templates over rows, not lambdas: GCC keeps in registers what
/// no lambda has captured.
template <int dimension, class T, class Of>
struct Lane {
  static constexpr int width = Strips<T, Of>::width, rows = Strips<T, Of>::rows, known = dimension > 0 ? dimension : 1;
  using Sums = typename Strips<T, Of>::Sums;

  const Strips<T, Of>& strips;
  int row0, last, pack;

  KOKKOS_FORCEINLINE_FUNCTION T point(int r, int k) const {
    const int row = row0 + r < last ? row0 + r : last;
    return strips.points(std::int64_t{row} * (dimension > 0 ? dimension : strips.dimension) + k);
  }
  static KOKKOS_FORCEINLINE_FUNCTION void add(Sums& sums, T of_row, const Sums& of_columns) {
    LEAGUE_VECTORISED
    for (int e = 0; e < width; ++e)
      sums.values[e] = blocks::DifferenceTerm::add(sums.values[e], of_row, of_columns.values[e]);
  }
  /// Of known dimension: a row after the other, whose sums are stored before the next one's.
  template <int r>
  KOKKOS_FORCEINLINE_FUNCTION void take_known(const T (&x)[rows][known], const Sums (&y)[known]) const {
    if constexpr (r < rows) {
      Sums sums = {};
      for (int k = 0; k < known; ++k) add(sums, x[r][k], y[k]);
      if (row0 + r <= last) strips.out.store(row0 + r, pack * width, sums);
      take_known<r + 1>(x, y);
    }
  }
  template <int r>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(int k, const Sums& y, Sums (&sums)[rows]) const {
    if constexpr (r < rows) {
      add(sums[r], point(r, k), y);
      add_rows<r + 1>(k, y, sums);
    }
  }
  template <int r>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Sums (&sums)[rows]) const {
    if constexpr (r < rows) {
      if (row0 + r <= last) strips.out.store(row0 + r, pack * width, sums[r]);
      store<r + 1>(sums);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void take(const T (&x)[rows][known]) const {
    const std::int64_t from = std::int64_t{pack} * (dimension > 0 ? dimension : strips.dimension);
    if constexpr (dimension > 0) {
      Sums y[known];
      for (int k = 0; k < known; ++k) y[k] = strips.columns(from + k);
      take_known<0>(x, y);
    } else {
      Sums sums[rows] = {};
      for (int k = 0; k < strips.dimension; ++k) {
        const Sums y = strips.columns(from + k);
        add_rows<0>(k, y, sums);
      }
      store<0>(sums);
    }
  }
};

// `dimension` 0: any.
template <int dimension, class T, class Of>
void walk(const Exec& exec, Launch launch, const Strips<T, Of>& strips) {
  using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(dimension > 0 ? Of::numbers.teams : 1)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  const auto items = static_cast<int>(strips.items());
  const int across = strips.across();
  Kokkos::parallel_for(
      "distance_matrix/direct", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        using Lane = Lane<dimension, T, Of>;
        constexpr int width = Lane::width, rows = Lane::rows;
        const int all = (strips.out.n + width - 1) / width, last = strips.out.end - 1;
        const auto mine =
            blocks::share(static_cast<int>(team.league_rank()), static_cast<int>(team.league_size()), items);
        for (int item = mine.first; item < mine.end; item += mine.stride) {
          const int row0 = strips.out.first + item / across * rows, first = item % across * strips.packs;
          const int count = all - first < strips.packs ? all - first : strips.packs;
          T x[rows][Lane::known];  // loaded before the first store
          if constexpr (dimension > 0)
            for (int r = 0; r < rows; ++r)
              for (int k = 0; k < dimension; ++k) x[r][k] = Lane{strips, row0, last, 0}.point(r, k);
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count),
                               [&](int i) { Lane{strips, row0, last, first + i}.take(x); });
        }
      });
}

template <class T>
class Direct final : public DistanceShard {
 public:
  Direct(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())) {
    declare(columns_, "distance_matrix/columns",
            std::max(columns<Aligned<T>>().size(), columns<Unaligned<T>>().size()));
    declare_matrix(points_, out_, {});
  }
  Launch configure(Launch launch) override {
    LaunchLimits most = kokkos::limits(queue());
    most.team_times_vector = std::min(most.team_times_vector, max_lanes);
    constexpr Numbers numbers = Aligned<T>::numbers;
    const int vector = std::min(numbers.vector, most.vector);
    const bool given = launch.team > 0 || launch.vector > 0;
    launch_ = resolve(launch, {0, std::min(numbers.team, most.team_times_vector / vector), given ? 1 : vector}, most);
    if (launch_.league == 0)
      with_width([&]<class Of>() { launch_.league = league_of(strips<Of>({0, block_rows()}).items()); });
    launch_.tile = numbers.rows;
    return launch_;
  }

 private:
  template <class Of>
  [[nodiscard]] typename Strips<T, Of>::Columns columns() const {
    return {problem().n, problem().dimension, 1};
  }
  template <class Of>
  [[nodiscard]] Strips<T, Of> strips(Range range) const {
    constexpr Numbers numbers = Of::numbers;
    const int lanes = launch_.team * launch_.vector;
    Strips<T, Of> strips{{out_.view(), problem().n, range, problem().euclidean},
                         points_.view(),
                         blocks::packs<numbers.width>(Vector<const T>(columns_.view())),
                         static_cast<int>(problem().dimension),
                         std::max(numbers.columns / numbers.width, lanes)};
    const bool few = strips.items() < blocks::lanes_at_once(exec_, numbers, max_lanes) / lanes;
    if (few) strips.packs = lanes;
    return strips;
  }
  template <class Body>
  void with_width(const Body& body) const {
    if (problem().n % Strips<T, Aligned<T>>::width == 0 || sums_bound())
      body.template operator()<Aligned<T>>();
    else
      body.template operator()<Unaligned<T>>();
  }
  /// Coordinates come from memory, and packs leave work for a quarter of the lanes: sums take longer than stores of
  /// single values.
  [[nodiscard]] bool sums_bound() const {
    constexpr Numbers numbers = Aligned<T>::numbers;
    const std::int64_t lanes = ceil_div<std::int64_t>(block_rows(), numbers.rows) * (problem().n / numbers.width);
    return problem().dimension > max_known && lanes >= exec_.concurrency() / 4;
  }
  void block(Stages& stages, Range range) override {
    with_width([&]<class Of>() {
      if (range.begin == rows().begin)
        stages.stage(queue(), "pack", [&] {
          blocks::lay_out(exec_, Vector<const T>(points_.view()), static_cast<int>(problem().n),
                          static_cast<int>(problem().dimension), columns<Of>(), columns_.view());
        });
      const Strips<T, Of> all = strips<Of>(range);
      stages.stage(queue(), "distance", [&] {
        switch (problem().dimension) {
          case 1:
            return walk<1>(exec_, launch_, all);
          case 2:
            return walk<2>(exec_, launch_, all);
          case 3:
            return walk<3>(exec_, launch_, all);
          case 4:
            return walk<4>(exec_, launch_, all);
          default:
            return walk<0>(exec_, launch_, all);
        }
      });
    });
  }

  const Exec& exec_;
  Launch launch_;
  kokkos::Array<T> points_, out_, columns_;
};

const RegisterSplit<DistanceMatrix> direct{
    "direct",
    written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(Aligned<T>::numbers); }),
    by_type<Direct>};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
