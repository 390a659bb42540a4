// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/common/kokkos.hpp"

#include "algorithms/blocks/items_kokkos.hpp"
#include "algorithms/blocks/term.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `tiled`.
namespace league::distance_matrix::kokkos_model {
namespace {

// On a host, where the rungs run only to be tested, a team is one thread.
constexpr Numbers of_rungs = blocks::by_kind({.team = 256}, {.team = 1});
constexpr Numbers of_tiles = blocks::by_kind({.team = 16, .vector = 16}, {.team = 1, .vector = 1});

/// A block of rows as pairs of points, whose coordinates are `step` apart, and points `next`.
template <class T>
struct Pairs {
  Distances<T, 1> out;
  Vector<const T> points;
  std::int64_t dimension, next, step;

  [[nodiscard]] std::int64_t count() const { return std::int64_t{out.end - out.first} * out.n; }
  KOKKOS_FUNCTION void take(int row, int column) const {
    T sum = 0;
    for (std::int64_t k = 0; k < dimension; ++k)
      sum = blocks::DifferenceTerm::add(sum, points(row * next + k * step), points(column * next + k * step));
    store(row, column, sum);
  }
  KOKKOS_FUNCTION void store(int row, int column, T squared) const {
    out.store(row, column, blocks::Pack<T, int{sizeof(T)}>{{squared}});
  }
};

/// Neighbouring lanes take neighbouring columns: their stores are coalesced.
struct AlongRows {
  static constexpr int max_team = 1024;
  static constexpr bool transposed = false;
  template <class T>
  KOKKOS_FUNCTION static void take(const Pairs<T>& pairs, std::int64_t pair) {
    pairs.take(pairs.out.first + static_cast<int>(pair / pairs.out.n), static_cast<int>(pair % pairs.out.n));
  }
};
/// Neighbouring lanes take neighbouring rows: stores and loads are to as many rows.
struct DownColumns : AlongRows {
  template <class T>
  KOKKOS_FUNCTION static void take(const Pairs<T>& pairs, std::int64_t pair) {
    const int rows = pairs.out.end - pairs.out.first;
    pairs.take(pairs.out.first + static_cast<int>(pair % rows), static_cast<int>(pair / rows));
  }
};
/// Teams of one thread: a warp has one lane at work.
struct Alone : AlongRows {
  static constexpr int max_team = 1;
};
/// Points are read coordinate by coordinate: loads are coalesced too.
struct ByCoordinate : AlongRows {
  static constexpr bool transposed = true;
};

// A lane takes one pair after another.
template <class Take, class T>
void take_pairs(const Exec& exec, Launch launch, const Pairs<T>& pairs) {
  blocks::for_items(
      "distance_matrix/pairs", exec, launch, pairs.count(),
      KOKKOS_LAMBDA(std::int64_t pair) { Take::take(pairs, pair); });
}

// A lane takes one coordinate of one point after another.
template <class T>
void transpose(const Exec& exec, Launch launch, std::int64_t n, std::int64_t dimension, const Vector<const T>& from,
               const Vector<T>& to) {
  blocks::for_items(
      "distance_matrix/transpose", exec, launch, n * dimension,
      KOKKOS_LAMBDA(std::int64_t at) { to(at % dimension * n + at / dimension) = from(at); });
}

// A team takes a tile of pairs at a time, a lane one of these; a team reads a coordinate once, through scratch.
template <class T>
void take_tiles(const Exec& exec, Launch launch, const Pairs<T>& pairs) {
  using Scratch = Kokkos::View<T*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  constexpr int depth = 16, pitch = depth + 1;  // odd: no bank conflicts
  const int high = launch.team, wide = launch.vector, n = pairs.out.n;
  const int across = ceil_div(n, wide), items = ceil_div(pairs.out.end - pairs.out.first, high) * across;
  const auto size = static_cast<std::size_t>((high + wide) * pitch);
  Kokkos::parallel_for(
      "distance_matrix/scratch_tile",
      kokkos::Team(exec, launch.league, launch.team, launch.vector)
          .set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(size))),
      KOKKOS_LAMBDA(const kokkos::Member& team) {
        const Scratch values(team.team_scratch(0), size);
        const auto each_pair = [&](const auto& body) {
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, high), [&](int i) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, wide), [&](int j) { body(i, j); });
          });
        };
        for (int item = static_cast<int>(team.league_rank()); item < items;
             item += static_cast<int>(team.league_size())) {
          const int row = pairs.out.first + item / across * high, column = item % across * wide;
          T sum = 0;  // of the lane's only pair
          for (std::int64_t begin = 0; begin < pairs.dimension; begin += depth) {
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, (high + wide) * depth), [&](int at) {
              const int i = at / depth, k = at % depth, point = i < high ? row + i : column + i - high;
              const bool counts = point < (i < high ? pairs.out.end : n) && begin + k < pairs.dimension;
              values(i * pitch + k) = counts ? pairs.points(point * pairs.next + begin + k) : T{0};
            });
            team.team_barrier();
            each_pair([&](int i, int j) {
              for (int k = 0; k < depth; ++k)
                sum = blocks::DifferenceTerm::add(sum, values(i * pitch + k), values((high + j) * pitch + k));
            });
            team.team_barrier();
          }
          each_pair([&](int i, int j) {
            if (row + i < pairs.out.end && column + j < n) pairs.store(row + i, column + j, sum);
          });
        }
      });
}

template <class T, class Take>
class Pairwise : public DistanceShard {
 public:
  Pairwise(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())) {
    if (Take::transposed) declare(by_coordinate_, "distance_matrix/by_coordinate", problem.n * problem.dimension);
    declare_matrix(points_, out_, {});
  }
  Launch configure(Launch launch) override {
    LaunchLimits limits = blocks::naive_limits(queue());
    if (Take::max_team < limits.team_times_vector) limits = {Take::max_team, Take::max_team, "this method"};
    const int team = std::min(of_rungs.team, limits.team_times_vector);
    return launch_ = blocks::launch_for_items(launch, limits, team, block_rows() * problem().n);
  }

 protected:
  [[nodiscard]] Pairs<T> pairs(Range range) const {
    const std::int64_t n = problem().n, dimension = problem().dimension;
    return {{out_.view(), n, range, problem().euclidean},
            Take::transposed ? by_coordinate_.view() : points_.view(),
            dimension,
            Take::transposed ? 1 : dimension,
            Take::transposed ? n : 1};
  }
  void block(Stages& stages, Range range) override {
    if (Take::transposed && range.begin == rows().begin)
      stages.stage(queue(), "transpose", [&] {
        transpose<T>(exec_, launch_, problem().n, problem().dimension, points_.view(), by_coordinate_.view());
      });
    stages.stage(queue(), "distance", [&] { take_pairs<Take>(exec_, launch_, pairs(range)); });
  }
  const Exec& exec_;
  Launch launch_;

 private:
  kokkos::Array<T> points_, out_, by_coordinate_;
};

template <class T>
class ScratchTile final : public Pairwise<T, AlongRows> {
  using Base = Pairwise<T, AlongRows>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override {
    return Base::launch_ = blocks::launch_for_tiles<T>(launch, blocks::naive_limits(Base::queue()), of_tiles.team,
                                                       Base::block_rows(), Base::problem().n);
  }

 private:
  void block(Stages& stages, Range range) override {
    stages.stage(Base::queue(), "distance", [&] { take_tiles<T>(Base::exec_, Base::launch_, Base::pairs(range)); });
  }
};

template <class Take>
std::unique_ptr<IndependentShard> pairwise(const DistanceMatrix& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IndependentShard> {
    return std::make_unique<Pairwise<T, Take>>(problem, context, shard);
  });
}

WrittenModel rung(const Numbers& numbers) {
  return written_once<float, double>(kokkos::model, [&]<class T>(Of<T>) { return blocks::named(numbers); });
}
const RegisterSplit<DistanceMatrix> variants[] = {{"pair_per_team", rung(of_rungs), pairwise<Alone>},
                                                  {"pair_per_thread", rung(of_rungs), pairwise<DownColumns>},
                                                  {"coalesced_stores", rung(of_rungs), pairwise<AlongRows>},
                                                  {"coalesced", rung(of_rungs), pairwise<ByCoordinate>},
                                                  {"scratch_tile", rung(of_tiles), by_type<ScratchTile>}};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
