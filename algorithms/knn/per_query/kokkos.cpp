// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/team_sums_kokkos.hpp"
#include "algorithms/knn/common/kokkos_select.hpp"
#include "algorithms/knn/per_query/launch.hpp"

namespace league::knn::kokkos_model {
namespace {

// A thread takes `rows` training rows together, its lanes `width` neighbouring features; team: threads and lanes at
// most.
template <class T>
constexpr Numbers of_query = blocks::by_kind(
    {.width = 1, .rows = 4, .team = 256}, {.width = blocks::host_vector_bytes / int{sizeof(T)}, .rows = 1, .team = 1});

/// Sums of several rows at once.
template <class T, class D>
struct RowSums {
  D of[of_query<T>.rows];
  KOKKOS_FUNCTION RowSums() {
    for (D& sum : of) sum = 0;
  }
  KOKKOS_FUNCTION RowSums& operator+=(const RowSums& other) {
    for (int r = 0; r < of_query<T>.rows; ++r) of[r] += other.of[r];
    return *this;
  }
};

}  // namespace
}  // namespace league::knn::kokkos_model

template <class T, class D>
struct Kokkos::reduction_identity<league::knn::kokkos_model::RowSums<T, D>> {
  KOKKOS_FORCEINLINE_FUNCTION static league::knn::kokkos_model::RowSums<T, D> sum() { return {}; }
};

namespace league::knn::kokkos_model {
namespace {

/// Arguments of the kernel.
template <class T, class D>
struct Query {
  Rows<T> rows;
  std::int64_t n, queries;
  int chunk, chunks, lanes, vector;  ///< chunk: training rows of an item; lanes of a team and of a thread
  Vector<unsigned long long> lists;  ///< keys [queries][chunks][k], where there are several chunks
  Vector<unsigned> tickets;          ///< [queries]
};

/// A query's items, in a team's scratch.
template <class T, class D>
class Item {
  template <class S>
  using Scratch = Kokkos::View<S*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int max_k = 64;

 public:
  static std::size_t scratch_bytes(int lanes) {
    return Selection<D>::scratch_bytes(lanes) + Scratch<D>::shmem_size(max_chunk) +
           4 * Scratch<double>::shmem_size(max_k) + Scratch<int>::shmem_size(1);
  }
  KOKKOS_FUNCTION Item(const Member& team, const Query<T, D>& work)
      : team_(team),
        work_(work),
        selection_(team, work.lanes),
        values_(team.team_scratch(0), max_chunk),
        squared_(team.team_scratch(0), max_k),
        distances_(team.team_scratch(0), max_k),
        weights_(team.team_scratch(0), max_k),
        labels_(team.team_scratch(0), max_k),
        last_(team.team_scratch(0), 1) {}

  /// The k best of a chunk; with the last chunk of a query those of all, and the votes.
  KOKKOS_FUNCTION void take(std::int64_t item) const {
    const std::int64_t query = item / work_.chunks, begin = item % work_.chunks * work_.chunk;
    const int k = work_.rows.k, count = static_cast<int>(begin + work_.chunk < work_.n ? work_.chunk : work_.n - begin);
    measure(query, count, [&](int i) { return begin + i; }, values_);
    team_.team_barrier();
    selection_.find(count, k, [&](int i) { return values_(i); }, [&](int i) { return begin + i; });
    team_.team_barrier();
    if (work_.chunks > 1) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, k),
                           [&](int i) { work_.lists(item * k + i) = selection_.key(i); });
      if (!blocks::comes_last(team_, work_.chunks, work_.tickets(query), last_(0))) return;
      const std::int64_t first = query * work_.chunks * k;
      const auto key = [&](int i) { return work_.lists(first + i); };
      selection_.find(
          work_.chunks * k, k, [&](int i) { return Selection<D>::value_of(key(i)); },
          [&](int i) { return Selection<D>::index_of(key(i)); });
      team_.team_barrier();
    }
    measure(query, k, [&](int i) { return selection_.index(i); }, squared_);
    team_.team_barrier();
    vote(query);
    team_.team_barrier();
  }

 private:
  /// Squared distances, in the type of `to`, of a query to `count` rows, row(i). A thread takes some rows together.
  template <class Row, class To>
  KOKKOS_FUNCTION void measure(std::int64_t query, int count, const Row& row, const To& to) const {
    using Sum = typename To::value_type;
    constexpr int rows = of_query<T>.rows, width = of_query<T>.width;
    const int features = work_.rows.features, threads = (count + rows - 1) / rows, vector = work_.vector;
    const std::int64_t x = query * features;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team_, threads), [&](int thread) {
      std::int64_t y[rows];
      for (int r = 0; r < rows; ++r) {
        const int i = thread + r * threads;
        y[r] = row(i < count ? i : count - 1) * features;
      }
      const auto difference = [&](int r, int f) {
        return static_cast<Sum>(work_.rows.test(x + f)) - static_cast<Sum>(work_.rows.train(y[r] + f));
      };
      RowSums<T, Sum> all;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team_, vector),
          [&](int lane, RowSums<T, Sum>& sums) {
            Sum parts[rows][width] = {};
            const auto packs = blocks::share(lane, vector, features / width);
            for (int p = packs.first; p < packs.end; p += packs.stride)
              for (int r = 0; r < rows; ++r) {
                LEAGUE_VECTORISED
                for (int e = 0; e < width; ++e) {
                  const Sum apart = difference(r, p * width + e);
                  parts[r][e] += apart * apart;
                }
              }
            for (int r = 0; r < rows; ++r) {
              for (int f = features / width * width + lane; f < features; f += vector)
                sums.of[r] += difference(r, f) * difference(r, f);
              for (int e = 0; e < width; ++e) sums.of[r] += parts[r][e];
            }
          },
          Kokkos::Sum<RowSums<T, Sum>>(all));
      Kokkos::single(Kokkos::PerThread(team_), [&] {
        for (int r = 0; r < rows; ++r)
          if (thread + r * threads < count) to(thread + r * threads) = all.of[r];
      });
    });
  }

  /// From the neighbours and their distances in double to the results of a query: nearest first, equal ones by the
  /// lower index, and the label of `winner`, the votes of each neighbour's label by a lane.
  KOKKOS_FUNCTION void vote(std::int64_t query) const {
    const int k = work_.rows.k;
    const auto each = [&](const auto& body) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, k), body);
      team_.team_barrier();
    };
    each([&](int i) {
      const std::int64_t index = selection_.index(i);
      int rank = 0;
      for (int other = 0; other < k; ++other)
        rank += blocks::before(squared_(other), selection_.index(other), squared_(i), index) ? 1 : 0;
      distances_(rank) = Kokkos::sqrt(squared_(i));
      labels_(rank) = work_.rows.train_labels(index);
      work_.rows.neighbours(query * k + rank) = index;
      work_.rows.distances(query * k + rank) = distances_(rank);
    });
    each([&](int i) { weights_(i) = vote_of(work_.rows.votes, distances_(i), distances_(0)); });
    each([&](int i) {
      double sum = 0;
      for (int other = 0; other < k; ++other)
        if (labels_(other) == labels_(i)) sum += weights_(other);
      squared_(i) = sum;
    });
    blocks::once_per_team(team_, [&] {
      int best = 0;
      for (int i = 1; i < k; ++i)
        if (squared_(i) > squared_(best) || (squared_(i) == squared_(best) && labels_(i) < labels_(best))) best = i;
      work_.rows.labels(query) = labels_(best);
    });
  }

  const Member& team_;
  const Query<T, D>& work_;
  Selection<D> selection_;
  Scratch<D> values_;  ///< of the rows of a chunk
  Scratch<double> squared_, distances_, weights_;
  Scratch<std::int32_t> labels_;
  Scratch<int> last_;
};

// A team takes a query and a chunk of the training rows at a time, its threads rows of these, their lanes the features.
template <class T, class Element>
class PerQuery final : public IndependentShard {
  using D = Distance<Element>;

 public:
  PerQuery(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), knn_(*this, problem) {}
  Launch configure(Launch launch) override {
    LaunchLimits limits = kokkos::limits(queue());
    limits.team_times_vector = std::min(limits.team_times_vector, max_lanes);
    shape_ = {knn_.n, knn_.m, knn_.features, static_cast<std::int64_t>(sizeof(T)), knn_.k};
    launch_ = query_launch(shape_, launch, limits, of_query<T>.team, 2 * multiprocessors(*this), false);
    declare(lists_, "knn/lists", shape_.list_entries(launch_));
    declare_zeroed(tickets_, "knn/tickets", knn_.m);
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), "per_query", [&] {
      run(exec_, launch_,
          {Rows<T>(knn_), knn_.n, knn_.m, launch_.tile, shape_.chunks(launch_), launch_.team * launch_.vector,
           launch_.vector, lists_.view(), tickets_.view()});
    });
  }
  static void run(const Exec& exec, Launch launch, const Query<T, D>& work) {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>,
                                      Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(2)>>;
    const std::int64_t items = work.queries * work.chunks;
    Kokkos::parallel_for(
        "knn/per_query",
        Policy(exec, launch.league, launch.team, launch.vector)
            .set_scratch_size(0, Kokkos::PerTeam(Item<T, D>::scratch_bytes(work.lanes))),
        KOKKOS_LAMBDA(const Member& team) {
          const Item<T, D> scratch(team, work);
          for (std::int64_t item = team.league_rank(); item < items; item += team.league_size()) scratch.take(item);
        });
  }

 private:
  static constexpr int max_lanes = 256;
  const Exec& exec_;
  Launch launch_;
  QueryShape shape_{};
  Memory<T, kokkos::Array> knn_;
  kokkos::Array<unsigned long long> lists_;
  kokkos::Array<unsigned> tickets_;
};

const RegisterSplit<Knn> per_query_variant{
    "per_query",
    written_once<float, std::int32_t, std::uint8_t>(kokkos::model,
                                                    []<class T>(Of<T>) { return blocks::named(of_query<T>); }),
    by_element<PerQuery>};

}  // namespace
}  // namespace league::knn::kokkos_model
