// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/common/kokkos.hpp"

#include "algorithms/blocks/term.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::distance_matrix::kokkos_model {
namespace {

// A GPU's team takes up to `columns` threads for few pairs of many coordinates; a host's thread takes all coordinates.
template <class T>
constexpr Numbers numbers = blocks::by_kind({.columns = 512 / int{sizeof(T)}, .team = 32}, {.columns = 1, .team = 1});
constexpr int max_lanes = 256;

/// Tiles of `edge x edge` pairs of a block of rows.
template <class T>
struct Pairs {
  Distances<T, 1> out;
  Vector<const T> points;
  int dimension, across, items;
};

// The lanes of a team share the coordinates of a tile's pairs; their sums are added in the order of the lanes.
template <int edge, class T>
void split(const Exec& exec, Launch launch, const Pairs<T>& pairs) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_lanes, 1>>;
  using Scratch = Kokkos::View<T*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const int lanes = launch.team * launch.vector, pitch = lanes | 1;  // no bank conflicts
  const std::size_t bytes = Scratch::shmem_size(static_cast<std::size_t>(edge * edge * pitch));
  Kokkos::parallel_for(
      "distance_matrix/split_k",
      Policy(exec, launch.league, launch.team, launch.vector).set_scratch_size(0, Kokkos::PerTeam(bytes)),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const Scratch sums(team.team_scratch(0), static_cast<std::size_t>(edge * edge * pitch));
        const int n = pairs.out.n, dimension = pairs.dimension, last = pairs.out.end - 1;
        const auto mine =
            blocks::share(static_cast<int>(team.league_rank()), static_cast<int>(team.league_size()), pairs.items);
        for (int item = mine.first; item < mine.end; item += mine.stride) {
          const int row0 = pairs.out.first + item / pairs.across * edge, column0 = item % pairs.across * edge;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            T sum[edge][edge] = {};
            const auto part = blocks::share(lane, lanes, dimension);
            for (int k = part.first; k < part.end; k += part.stride) {
              T x[edge], y[edge];
              blocks::unrolled<edge>([&](int i) {
                const int row = row0 + i < last ? row0 + i : last, column = column0 + i < n ? column0 + i : n - 1;
                x[i] = pairs.points(std::int64_t{row} * dimension + k);
                y[i] = pairs.points(std::int64_t{column} * dimension + k);
              });
              blocks::unrolled<edge * edge>([&](int p) {
                T& of_pair = sum[p / edge][p % edge];
                of_pair = blocks::DifferenceTerm::add(of_pair, x[p / edge], y[p % edge]);
              });
            }
            blocks::unrolled<edge * edge>([&](int p) { sums(p * pitch + lane) = sum[p / edge][p % edge]; });
          });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, edge * edge), [&](int pair) {
            const int row = row0 + pair / edge, column = column0 + pair % edge;
            if (row > last || column >= n) return;
            const T squared = blocks::sum_in_order<16>(lanes, [&](int lane) { return sums(pair * pitch + lane); });
            pairs.out.store(row, column, blocks::Pack<T, int{sizeof(T)}>{{squared}});
          });
          team.team_barrier();
        }
      });
}

template <class T>
class SplitK final : public DistanceShard {
 public:
  SplitK(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())) {
    declare_matrix(points_, out_, {});
  }
  /// Tiles of 8 x 8 pairs where these are teams enough, else of 4 x 4, whose teams have several coordinates for each
  /// lane.
  Launch configure(Launch launch) override {
    constexpr int enough = 256, coordinates = 8;
    LaunchLimits most = kokkos::limits(queue());
    most.team_times_vector = std::min(most.team_times_vector, max_lanes);
    const bool many = ceil_div<std::int64_t>(block_rows(), 8) * ceil_div<std::int64_t>(problem().n, 8) >= enough;
    int threads = numbers<T>.team;
    while (!many && threads < numbers<T>.columns && threads * coordinates < problem().dimension) threads *= 2;
    launch_ = resolve(launch, {0, threads, 1, many ? 8 : 4}, most);
    if (launch_.tile != 4 && launch_.tile != 8)
      throw Unsupported("tile " + std::to_string(launch_.tile) + ": a team of this kernel takes 4 x 4 or 8 x 8 pairs");
    const auto lanes = static_cast<std::size_t>(launch_.team * launch_.vector);
    kokkos::require_scratch(static_cast<std::size_t>(launch_.tile * launch_.tile) * (lanes | 1) * sizeof(T),
                            "the sums of this team");
    if (launch_.league == 0) launch_.league = league_of(pairs({0, block_rows()}).items);
    return launch_;
  }

 private:
  /// @throws Unsupported if the number of tiles exceeds the index type
  [[nodiscard]] Pairs<T> pairs(Range range) const {
    const auto across = static_cast<int>(ceil_div<std::int64_t>(problem().n, launch_.tile));
    const std::int64_t items = ceil_div<std::int64_t>(range.size(), launch_.tile) * across;
    if (items > max_league) throw Unsupported("too many tiles of pairs");
    return {{out_.view(), problem().n, range, problem().euclidean},
            points_.view(),
            static_cast<int>(problem().dimension),
            across,
            static_cast<int>(items)};
  }
  void block(Stages& stages, Range range) override {
    stages.stage(queue(), "distance", [&] {
      if (launch_.tile == 8)
        split<8>(exec_, launch_, pairs(range));
      else
        split<4>(exec_, launch_, pairs(range));
    });
  }

  const Exec& exec_;
  Launch launch_;
  kokkos::Array<T> points_, out_;
};

const RegisterSplit<DistanceMatrix> split_k{
    "split_k", written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers<T>); }),
    by_type<SplitK>};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
