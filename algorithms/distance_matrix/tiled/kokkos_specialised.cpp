// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/host/kokkos_specialised.hpp"

#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/product_tile_kokkos.hpp"
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/distance_matrix/common/tiles.hpp"
#include "backends/kokkos/kokkos.hpp"

// A team takes a tile of rows x columns at a time; a thread keeps a square of sums in registers, while both operands
// come through team scratch (blocks/product_tile). `tiled` adds squared differences; `symmetric` does so above the
// diagonal and stores twice; `product` adds products, with the norms in the epilogue.
namespace league::distance_matrix::kokkos_model {
namespace {

using kokkos::Exec, kokkos::Member;

/// Coordinates of points whose tiles take little more than their stores.
template <Kind kind>
constexpr int few_coordinates = kind == Kind::tiled       ? 64
                                : kind == Kind::symmetric ? 16
                                                          : 0;

template <int team>
using TilePolicy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>,
                                      Kokkos::LaunchBounds<team, kokkos::launch_bound(512 / team)>>;

template <class T, int size, class Term, bool mirror>
void tile_kernel(const Exec& exec, Launch launch, const Tiles<T> tiles) {
  using Shape = blocks::TileFor<T, size>;
  const auto policy = TilePolicy<size>(exec, launch.league, launch.team, launch.vector)
                          .set_scratch_size(0, Kokkos::PerTeam(Shape::scratch_bytes + 16));
  Kokkos::parallel_for(
      "distance_matrix/tiles", policy, KOKKOS_LAMBDA(const Member& team) {
        auto* scratch = kokkos::aligned_scratch<T>(team, static_cast<std::size_t>(Shape::scratch_bytes));
        const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) {
          blocks::NativeWords::store_streaming(to, value);
        };
        const auto threads = blocks::NativeThreads::of<size>(team);
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiles.items;
             item += static_cast<unsigned>(team.league_size())) {
          const int row = tiles.row(item, Shape::rows), column = tiles.column(item, Shape::columns);
          if (mirror && column < row) continue;
          T sum[Shape::thread_rows][Shape::thread_columns];
          blocks::product_tile<Shape, blocks::PlainElement<T>, Term>(threads, tiles.packed + tiles.panels.first(row),
                                                                     tiles.packed + tiles.panels.first(column),
                                                                     tiles.panels.depth, scratch, sum);
          store_tile<Shape, Term>(tiles, threads.rank, row, column, sum, mirror && column >= row + Shape::rows, store);
        }
      });
}

template <class T, Kind kind>
class TiledOnGpu final : public DistanceShard {
 public:
  TiledOnGpu(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, memory_.default_team(block_rows()), 1}, kokkos::limits(queue()));
    if (launch_.vector != 1)
      throw Unsupported("vector length " + std::to_string(launch_.vector) + ": the tile takes 1");
    if (launch_.team != 256 && launch_.team != 128 && launch_.team != 64)
      throw Unsupported("team size " + std::to_string(launch_.team) + ": the tile takes 64, 128 or 256");
    if (launch_.league == 0) {
      launch_.league = league_of(memory_.tiles({0, block_rows()}, launch_.team).items);
      if (launch_.team == 64 && problem().dimension <= few_coordinates<kind>)  // a team costs more to start than a tile
        launch_.league = std::min(launch_.league, 4 * multiprocessors(*this));
    }
    return launch_;
  }

 private:
  void block(Stages& stages, Range range) override {
    if (range.begin == rows().begin)
      stages.stage(queue(), "pack", [&] {
        blocks::pack<blocks::PlainElement<T>>(exec_, memory_.points.data(), problem().n, problem().dimension,
                                              memory_.packed.data(), memory_.norms.data());
      });
    stages.stage(queue(), "distance", [&] {
      const Tiles<T> tiles = memory_.tiles(range, launch_.team);
      with_team(launch_.team, [&]<int team>() {
        tile_kernel<T, team, TermOf<kind>, kind == Kind::symmetric>(exec_, launch_, tiles);
      });
    });
  }
  const Exec& exec_;
  Launch launch_;
  TileMemory<T, kind, kokkos::Array> memory_;
};

template <class T, Kind kind>
using Tiled = std::conditional_t<kokkos::on_gpu, TiledOnGpu<T, kind>, SpecialisedHost<T, kind>>;
const WrittenModel model = several_bodies(kokkos::specialised_model, true);
using Registered = RegisterSplit<DistanceMatrix>;
const Registered tiled{"tiled", model, by_type<Tiled, Kind::tiled>};
const Registered symmetric{"symmetric", model, by_type<Tiled, Kind::symmetric>};
const Registered product{"product", model, by_type<Tiled, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
