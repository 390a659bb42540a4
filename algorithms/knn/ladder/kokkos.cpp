// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/items_kokkos.hpp"
#include "algorithms/blocks/term.hpp"
#include "algorithms/knn/common/kokkos_select.hpp"
#include "algorithms/knn/ladder/rungs.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `direct`.
namespace league::knn::kokkos_model {
namespace {

// On a host, where the rungs run only to be tested, a team is one thread.
constexpr Numbers of_search = blocks::by_kind({.team = 64}, {.team = 1});
constexpr Numbers of_pairs = blocks::by_kind({.team = 256}, {.team = 1});
constexpr Numbers of_tiles = blocks::by_kind({.team = 16, .vector = 16}, {.team = 1, .vector = 1});

constexpr Numbers numbers_of(Rung rung) {
  if (rung == Rung::query_per_thread) return of_search;
  return rung == Rung::scratch_tile ? of_tiles : of_pairs;
}

/// Pairs of queries from `first` on and training rows, whose features are `step` apart, and rows `next`.
template <class T, class D>
struct Pairs {
  Rows<T> rows;
  std::int64_t n, first, queries, next, step;
  Vector<const T> train;  ///< as they lie, or transposed
  Vector<D> matrix;       ///< squared distances [queries][n]

  [[nodiscard]] std::int64_t count() const { return queries * n; }
  [[nodiscard]] KOKKOS_FUNCTION D squared(std::int64_t query, std::int64_t row) const {
    D sum = 0;
    for (int f = 0; f < rows.features; ++f)
      sum = blocks::DifferenceTerm::add(sum, static_cast<D>(rows.test((first + query) * rows.features + f)),
                                        static_cast<D>(train(row * next + f * step)));
    return sum;
  }
  /// The nearest training rows of a query, of distances `squared(row)`, by insertion into a sorted list in memory.
  template <class Squared>
  KOKKOS_FUNCTION void insert_all(std::int64_t query, const Squared& distance) const {
    const auto nearest = rows.list(first + query, rows.k);
    nearest.clear();
    for (std::int64_t row = 0; row < n; ++row) nearest.insert(static_cast<double>(distance(row)), row);
  }
};

// A lane takes one query after another, and all training rows.
template <class T, class D>
void search(const Exec& exec, Launch launch, const Pairs<T, D>& pairs) {
  blocks::for_items(
      "knn/search", exec, launch, pairs.queries, KOKKOS_LAMBDA(std::int64_t query) {
        pairs.insert_all(query, [&](std::int64_t row) { return pairs.squared(query, row); });
      });
}

// A lane takes one value of one training row after another.
template <class T>
void transpose(const Exec& exec, Launch launch, std::int64_t n, std::int64_t features, const Vector<const T>& from,
               const Vector<T>& to) {
  blocks::for_items(
      "knn/transpose", exec, launch, n * features,
      KOKKOS_LAMBDA(std::int64_t at) { to(at % features * n + at / features) = from(at); });
}

// A lane takes one pair of query and training row after another: neighbouring lanes neighbouring training rows, which
// are a row apart in memory; transposed, they are neighbours.
template <class T, class D>
void compare(const Exec& exec, Launch launch, const Pairs<T, D>& pairs) {
  blocks::for_items(
      "knn/compare", exec, launch, pairs.count(),
      KOKKOS_LAMBDA(std::int64_t pair) { pairs.matrix(pair) = pairs.squared(pair / pairs.n, pair % pairs.n); });
}

// A team takes a tile of pairs at a time, a lane one of these; a team reads a feature once, through scratch.
template <class T, class D>
void compare_tiles(const Exec& exec, Launch launch, const Pairs<T, D>& pairs) {
  using Scratch = Kokkos::View<D*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  constexpr int depth = 16, pitch = depth + 1;  // odd: no bank conflicts
  const int high = launch.team, wide = launch.vector;
  const std::int64_t across = ceil_div<std::int64_t>(pairs.n, wide),
                     items = ceil_div<std::int64_t>(pairs.queries, high) * across;
  const auto size = static_cast<std::size_t>((high + wide) * pitch);
  Kokkos::parallel_for(
      "knn/compare_tiles",
      Team(exec, launch.league, launch.team, launch.vector)
          .set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(size))),
      KOKKOS_LAMBDA(const Member& team) {
        const Scratch values(team.team_scratch(0), size);
        const int features = pairs.rows.features;
        const auto each_pair = [&](const auto& body) {
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, high), [&](int i) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, wide), [&](int j) { body(i, j); });
          });
        };
        for (std::int64_t item = team.league_rank(); item < items; item += team.league_size()) {
          const std::int64_t query = item / across * high, row = item % across * wide;
          D sum = 0;  // of the lane's only pair
          for (int begin = 0; begin < features; begin += depth) {
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, (high + wide) * depth), [&](int at) {
              const int i = at / depth, f = begin + at % depth;
              D value = 0;
              if (i < high && query + i < pairs.queries && f < features)
                value = static_cast<D>(pairs.rows.test((pairs.first + query + i) * features + f));
              if (i >= high && row + i - high < pairs.n && f < features)
                value = static_cast<D>(pairs.train((row + i - high) * features + f));
              values(i * pitch + at % depth) = value;
            });
            team.team_barrier();
            each_pair([&](int i, int j) {
              for (int f = 0; f < depth; ++f)
                sum = blocks::DifferenceTerm::add(sum, values(i * pitch + f), values((high + j) * pitch + f));
            });
            team.team_barrier();
          }
          each_pair([&](int i, int j) {
            if (query + i < pairs.queries && row + j < pairs.n) pairs.matrix((query + i) * pairs.n + row + j) = sum;
          });
        }
      });
}

// A lane takes one query after another, and its row of the matrix.
template <class T, class D>
void select_alone(const Exec& exec, Launch launch, const Pairs<T, D>& pairs) {
  blocks::for_items(
      "knn/select_alone", exec, launch, pairs.queries, KOKKOS_LAMBDA(std::int64_t query) {
        pairs.insert_all(query, [&](std::int64_t row) { return pairs.matrix(query * pairs.n + row); });
      });
}

template <class T, class Element, Rung rung>
class Naive final : public IndependentShard {
  using D = Distance<Element>;

 public:
  Naive(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    const LaunchLimits limits = blocks::naive_limits(queue());
    const std::int64_t queries = std::min(memory_.at_once, memory_.knn.m);
    if constexpr (rung == Rung::scratch_tile)
      return launch_ = blocks::launch_for_tiles<D>(launch, limits, of_tiles.team, queries, memory_.knn.n);
    else
      return launch_ = blocks::launch_for_items(launch, limits, numbers_of(rung).team, memory_.items());
  }
  void compute(Stages& stages) override {
    if constexpr (rung == Rung::query_per_thread)
      stages.stage(queue(), "search", [&] { search(exec_, launch_, pairs(0, memory_.knn.m)); });
    if constexpr (rung == Rung::coalesced)
      stages.stage(queue(), "transpose", [&] {
        transpose<T>(exec_, launch_, memory_.knn.n, memory_.knn.features, memory_.knn.train.view(),
                     memory_.by_feature.view());
      });
    if constexpr (rung != Rung::query_per_thread)
      for (std::int64_t first = 0; first < memory_.knn.m; first += memory_.at_once) {
        const auto some = pairs(first, std::min(memory_.at_once, memory_.knn.m - first));
        stages.stage(queue(), "distance", [&] { fill(some); });
        stages.stage(queue(), "select", [&] { select(some); });
      }
    stages.stage(queue(), "vote", [&] { vote_all(exec_, memory_.knn); });
  }

 private:
  [[nodiscard]] Pairs<T, D> pairs(std::int64_t first, std::int64_t queries) const {
    constexpr bool transposed = rung == Rung::coalesced;
    const auto& knn = memory_.knn;
    return {Rows<T>(knn),
            knn.n,
            first,
            queries,
            transposed ? 1 : knn.features,
            transposed ? knn.n : 1,
            transposed ? memory_.by_feature.view() : knn.train.view(),
            memory_.matrix.view()};
  }
  void fill(const Pairs<T, D>& some) const {
    if constexpr (rung == Rung::scratch_tile)
      compare_tiles(exec_, launch_, some);
    else
      compare(exec_, launch_, some);
  }
  void select(const Pairs<T, D>& some) const {
    if constexpr (rung == Rung::pair_per_thread)
      select_alone(exec_, launch_, some);
    else
      select_rows<D>(exec_, {some.first, some.queries, some.n, some.n, memory_.knn.k, 0, some.matrix,
                             memory_.knn.neighbours.view()});
  }

  const Exec& exec_;
  Launch launch_;
  NaiveMemory<T, Element, rung, kokkos::Array> memory_;
};

template <Rung rung>
struct On {
  template <class T, class Element>
  using Method = Naive<T, Element, rung>;
};
template <Rung rung>
WrittenModel once() {
  return written_once<float, std::int32_t, std::uint8_t>(
      kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers_of(rung)); });
}

const RegisterSplit<Knn> variants[] = {
    {"query_per_thread", once<Rung::query_per_thread>(), by_element<On<Rung::query_per_thread>::Method>},
    {"pair_per_thread", once<Rung::pair_per_thread>(), by_element<On<Rung::pair_per_thread>::Method>},
    {"team_select", once<Rung::team_select>(), by_element<On<Rung::team_select>::Method>},
    {"coalesced", once<Rung::coalesced>(), by_element<On<Rung::coalesced>::Method>},
    {"scratch_tile", once<Rung::scratch_tile>(), by_element<On<Rung::scratch_tile>::Method>}};

}  // namespace
}  // namespace league::knn::kokkos_model
