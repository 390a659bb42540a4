// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/common/kokkos.hpp"

#include "algorithms/blocks/point_panels_kokkos.hpp"
#include "algorithms/blocks/term.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::distance_matrix::kokkos_model {
namespace {

// A lane takes `width` neighbouring columns in `rows` rows: `of_gpu` on a GPU, a vector register of them on a host.
// Lanes in vectors leave more of a GPU's memory to its first-level cache than as many threads do.
template <class T, int of_gpu>
struct Shape {
  static constexpr Numbers numbers = blocks::by_kind(
      {.width = of_gpu, .rows = 8, .team = 32, .vector = 8},
      {.columns = 1 << 12, .width = blocks::host_vector_bytes / int{sizeof(T)}, .rows = 8, .team = 1, .vector = 1});
};
template <class T>
using Aligned = Shape<T, 16 / int{sizeof(T)}>;
// Where rows are no multiple of a pack, a GPU's neighbouring lanes store neighbouring values.
template <class T>
using Unaligned = Shape<T, 1>;

// Larger teams would leave the sums too few registers.
constexpr int max_lanes = 512;

/// A block of rows as items of `rows` rows x `packs` packs of columns.
template <class T, class Of>
struct Strips {
  static constexpr int width = Of::numbers.width, rows = Of::numbers.rows;
  using Columns = blocks::PointPanels<T, width, width>;

  Distances<T, width> out;
  Vector<const T> points;
  blocks::Packs<const T, width> columns;  ///< [packs of columns][dimension]
  int dimension, packs;

  [[nodiscard]] int across() const { return ceil_div(ceil_div(out.n, width), packs); }
  [[nodiscard]] std::int64_t items() const { return std::int64_t{ceil_div(out.end - out.first, rows)} * across(); }
};

// `dimension` 0: any.
template <int dimension, class T, class Of>
void walk(const Exec& exec, Launch launch, const Strips<T, Of>& strips) {
  using Bounds = Kokkos::LaunchBounds<max_lanes, 1>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  const auto items = static_cast<int>(strips.items());
  const int across = strips.across();
  Kokkos::parallel_for(
      "distance_matrix/direct", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        constexpr int width = Strips<T, Of>::width, rows = Strips<T, Of>::rows, known = dimension > 0 ? dimension : 1;
        const int coordinates = dimension > 0 ? dimension : strips.dimension;
        const int all = (strips.out.n + width - 1) / width, last = strips.out.end - 1;
        const auto mine =
            blocks::share(static_cast<int>(team.league_rank()), static_cast<int>(team.league_size()), items);
        for (int item = mine.first; item < mine.end; item += mine.stride) {
          const int row0 = strips.out.first + item / across * rows, first = item % across * strips.packs;
          const int count = all - first < strips.packs ? all - first : strips.packs;
          const auto point = [&](int r, int k) {
            const int row = row0 + r < last ? row0 + r : last;
            return strips.points(std::int64_t{row} * coordinates + k);
          };
          T x[rows][known];  // loaded before the first store
          if constexpr (dimension > 0)
            for (int r = 0; r < rows; ++r)
              for (int k = 0; k < dimension; ++k) x[r][k] = point(r, k);
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count), [&](int i) {
            blocks::Pack<T, width* int{sizeof(T)}> sums[rows] = {};
            for (int k = 0; k < coordinates; ++k) {
              const auto y = strips.columns(std::int64_t{first + i} * coordinates + k);
              blocks::unrolled<rows>([&](int r) {
                const T of_row = dimension > 0 ? x[r][k] : point(r, k);
                LEAGUE_VECTORISED
                for (int e = 0; e < width; ++e)
                  sums[r].values[e] = blocks::DifferenceTerm::add(sums[r].values[e], of_row, y.values[e]);
              });
            }
            blocks::unrolled<rows>([&](int r) {
              if (row0 + r <= last) strips.out.store(row0 + r, (first + i) * width, sums[r]);
            });
          });
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
    return {{out_.view(), problem().n, range, problem().euclidean},
            points_.view(),
            blocks::packs<numbers.width>(Vector<const T>(columns_.view())),
            static_cast<int>(problem().dimension),
            std::max(numbers.columns / numbers.width, launch_.team * launch_.vector)};
  }
  template <class Body>
  void with_width(const Body& body) const {
    if (problem().n % Strips<T, Aligned<T>>::width == 0)
      body.template operator()<Aligned<T>>();
    else
      body.template operator()<Unaligned<T>>();
  }
  void block(Stages& stages, Range range) override {
    with_width([&]<class Of>() {
      if (range.begin == rows().begin)
        stages.stage(queue(), "pack", [&] {
          blocks::lay_out(exec_, Vector<const T>(points_.view()), static_cast<int>(problem().n),
                          static_cast<int>(problem().dimension), columns<Of>(), columns_.view(), launch_.team);
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
