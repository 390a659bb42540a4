// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/product_tile_kokkos.hpp"
#include "algorithms/knn/fused.hpp"
#include "algorithms/knn/kokkos_host.hpp"

namespace league::knn::kokkos_model {
namespace {

/// Scratch of a team, aligned.
template <class T, class Member>
KOKKOS_FUNCTION T* scratch_of(const Member& team, int size) {
  return static_cast<T*>(team.team_scratch(0).get_shmem_aligned(static_cast<std::size_t>(size) * sizeof(T), 16));
}

// A team takes a tile of queries and a chunk of training rows, tile by tile; a thread a square of products, and one
// query's list. Keys below the threshold of their query are rare: threads push them to scratch, and the query's owner
// thread inserts them.
template <class Shape, class Packed>
void fused(const Exec& exec, Launch launch, const FusedWork<Packed>& work) {
  using Bounds = Kokkos::LaunchBounds<Shape::threads, kokkos::launch_bound(512 / Shape::threads)>;
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds> policy(exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(Shape::scratch_bytes + Shape::rows * 8 + 16 + 3 * 16));
  using Member = typename decltype(policy)::member_type;
  Kokkos::parallel_for(
      "knn/fused", policy, KOKKOS_LAMBDA(const Member& team) {
        constexpr int slots = Shape::scratch_bytes / 8 / Shape::rows;  // per query
        float* scratch = scratch_of<float>(team, Shape::scratch_bytes / 4);
        float* threshold = scratch_of<float>(team, Shape::rows);
        int* pushed = scratch_of<int>(team, Shape::rows);
        int* more = scratch_of<int>(team, 1);
        float* products = scratch;  // [slots][rows]; the tile's products are in registers
        // [slots][rows]; with an array of pairs the compiler keeps all sums in register pairs
        int* indices = reinterpret_cast<int*>(scratch + slots * Shape::rows);
        const int thread = team.team_rank();
        const int tiles = work.tiles(Shape::rows), items = tiles * work.chunks();
        if (thread == 0) *more = 0;

        for (int item = team.league_rank(); item < items; item += team.league_size()) {
          const int queries = item % tiles * Shape::rows, chunk = item / tiles, end = work.end_of(chunk);
          const auto owns = [&] { return thread < Shape::rows && queries + thread < work.queries; };
          if (thread < Shape::rows) {
            threshold[thread] =
                owns() ? from_ordered(work.threshold[queries + thread]) : -blocks::KBest<float, int>::none;
            pushed[thread] = 0;
          }
          if (owns()) work.list(chunk, queries + thread).clear();

          for (int first = chunk * work.chunk; first < end; first += Shape::columns) {
            float sum[Shape::thread_rows][Shape::thread_columns];
            blocks::product_tile<Shape, blocks::PlainElement<Packed>>(team, work.test + work.test_panels.first(queries),
                                                                      work.train + work.train_panels.first(first),
                                                                      work.train_panels.depth, scratch, sum);
            // Opaque copy of the thread index: keeps address computations out of the product loop (register pressure).
            const int again = thread - (first >> 31);
            const int row = Shape::first_row(again), column = first + Shape::first_column(again);
            const float* norms = work.norms + column;
            for (bool left = true; left;) {
              for (int i = 0; i < Shape::thread_rows; ++i) {
                const int query = row + Shape::row_step(i);
                const float within = threshold[query];
                const auto reaches = [&](int j) { return norms[Shape::column_step(j)] - 2 * sum[i][j] <= within; };
                bool any = false;
                for (int j = 0; j < Shape::thread_columns; ++j) any |= reaches(j);
                if (!any) continue;
                for (int j = 0; j < Shape::thread_columns; ++j) {
                  if (!reaches(j)) continue;
                  const int slot = Kokkos::atomic_fetch_add(&pushed[query], 1);
                  if (slot < slots) {
                    products[slot * Shape::rows + query] = sum[i][j];
                    indices[slot * Shape::rows + query] = column + Shape::column_step(j);
                    sum[i][j] = blocks::no_norm<float>;  // done: NaN is below no threshold
                  } else {
                    *more = 1;
                  }
                }
              }
              team.team_barrier();
              left = *more != 0;
              if (owns() && pushed[thread] > 0) {
                const auto list = work.list(chunk, queries + thread);
                const int count = pushed[thread] < slots ? pushed[thread] : slots;
                for (int slot = 0; slot < count; ++slot) {
                  const int index = indices[slot * Shape::rows + thread];
                  list.insert(work.norms[index] - 2.0 * products[slot * Shape::rows + thread], index);
                }
                threshold[thread] = Kokkos::min(threshold[thread], static_cast<float>(list.threshold()));
                pushed[thread] = 0;
              }
              if (left) {
                team.team_barrier();
                if (thread == 0) *more = 0;
                team.team_barrier();
              }
            }
          }
          if (owns()) Kokkos::atomic_min(work.threshold + queries + thread, ordered(threshold[thread]));
        }
      });
}

// A thread takes a query.
template <class Packed>
void merge(const Exec& exec, const FusedWork<Packed>& work, std::int64_t* neighbours, double* distances) {
  constexpr int threads = 128;
  const int teams = league_of(ceil_div<std::int64_t>(work.queries, threads));
  Kokkos::parallel_for(
      "knn/merge", Team(exec, teams, threads, 1), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t stride = std::int64_t{team.league_size()} * team.team_size();
        for (std::int64_t query = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
             query < work.queries; query += stride)
          work.merge(query, {distances + query * work.k, neighbours + query * work.k, work.k, 1});
      });
}

template <class T, class Element>
class FusedOnGpu final : public IndependentShard {
 public:
  FusedOnGpu(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    return launch_ = memory_.configure(*this, launch, kokkos::limits(queue()));
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    stages.stage(queue(), "pack", [&] {
      blocks::pack<Element>(exec_, knn.train.data(), knn.n, knn.features, memory_.train.data(),
                            memory_.train_norms.data());
      blocks::pack<Element>(exec_, knn.test.data(), knn.m, knn.features, memory_.test.data(),
                            memory_.test_norms.data());
    });
    stages.stage(queue(), "fused", [&] {
      Kokkos::deep_copy(exec_, memory_.threshold.view(), unlimited);
      with_tile(launch_.team, [&]<class Shape>() { fused<Shape>(exec_, launch_, work); });
    });
    stages.stage(queue(), "merge", [&] { merge(exec_, work, knn.neighbours.data(), knn.distances.data()); });
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn); });
  }

 private:
  const Exec& exec_;
  Launch launch_;
  FusedMemory<T, Element, kokkos::Array> memory_;
};

template <class T, class Element>
using Fused = std::conditional_t<kokkos::on_gpu, FusedOnGpu<T, Element>, KokkosOnHost<T, Element, true>>;
const RegisterSplit<Knn> registered{"fused", kokkos::model, by_element<Fused>};

}  // namespace
}  // namespace league::knn::kokkos_model
