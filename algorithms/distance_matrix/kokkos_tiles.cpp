// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/product_tile_kokkos.hpp"
#include "algorithms/distance_matrix/kokkos_host.hpp"
#include "algorithms/distance_matrix/part.hpp"
#include "algorithms/distance_matrix/tiles.hpp"
#include "backends/kokkos/kokkos.hpp"

// A team takes a tile of rows x columns at a time; a thread keeps a square of sums in registers, while both operands
// come through team scratch (blocks/product_tile). `tiled` adds squared differences, `symmetric` does so above the
// diagonal and stores twice, `product` adds products and finishes with the norms.
namespace league::distance_matrix {
namespace {

using kokkos::Exec, kokkos::Member;
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
        const int bytes = Shape::scratch_bytes;  // taken by reference
        auto* scratch = static_cast<T*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
        const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) { *to = value; };
        const int thread = team.team_rank();
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiles.items;
             item += static_cast<unsigned>(team.league_size())) {
          const int row = tiles.row(item, Shape::rows), column = tiles.column(item, Shape::columns);
          if (mirror && column < row) continue;
          T sum[Shape::thread_rows][Shape::thread_columns];
          blocks::product_tile<Shape, blocks::PlainElement<T>, Term>(team, tiles.packed + tiles.panels.first(row),
                                                                     tiles.packed + tiles.panels.first(column),
                                                                     tiles.panels.depth, scratch, sum);
          store_tile<Shape, Term>(tiles, thread, row, column, sum, mirror && column >= row + Shape::rows, store);
        }
      });
}

template <class T, Method method>
class Tiled final : public DistancePart<kokkos::Array<T>> {
 public:
  Tiled(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistancePart<kokkos::Array<T>>(problem, context, shard, form(problem),
                                       [&](const char* label, std::int64_t size) {
                                         return kokkos::Array<T>(
                                             kokkos::instance(context.runtime, context.runtime.queue(shard.device)),
                                             label, size);
                                       }),
        exec_(kokkos::instance(context.runtime, this->queue())),
        panels_(problem.n, problem.dimension),
        packed_(exec_, "distance_matrix/packed", panels_.size()),
        norms_(exec_, "distance_matrix/norms", panels_.rows) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 256, 1}, kokkos::limits(this->queue()));
    if (launch_.vector != 1)
      throw Unsupported("vector length " + std::to_string(launch_.vector) + ": the tile takes 1");
    if (launch_.team != 256 && launch_.team != 128 && launch_.team != 64)
      throw Unsupported("team size " + std::to_string(launch_.team) + ": the tile takes 64, 128 or 256");
    if (launch_.league == 0) launch_.league = league_of(tiles({0, this->block_rows()}, nullptr).items);
    return launch_;
  }

 private:
  using Term = std::conditional_t<method == Method::product, blocks::ProductTerm, blocks::DifferenceTerm>;

  static Form form(const DistanceMatrix& problem) {
    const blocks::Panels panels(problem.n, problem.dimension);
    return {.expanded = method == Method::product,
            .blocked = method != Method::symmetric,
            .extra_bytes = (panels.size() + panels.rows) * std::int64_t{sizeof(T)},
            .granule = blocks::Panels::width};
  }
  /// Calls `body.operator()<team>()`.
  template <class Body>
  void with_team(const Body& body) const {
    switch (launch_.team) {
      case 256:
        return body.template operator()<256>();
      case 128:
        return body.template operator()<128>();
      default:
        return body.template operator()<64>();
    }
  }
  [[nodiscard]] Tiles<T> tiles(Range range, T* out) const {
    Tiles<T> tiles{static_cast<int>(this->n_),
                   static_cast<int>(range.begin),
                   static_cast<int>(range.size()),
                   this->euclidean_,
                   panels_,
                   packed_.data(),
                   norms_.data(),
                   out};
    with_team([&]<int team>() { tiles.template share<blocks::TileFor<T, team>>(); });
    return tiles;
  }
  void block(Stages& stages, Range range, T* out) override {
    if (range.begin == this->rows().begin)
      stages.stage(this->queue(), "pack", [&] {
        blocks::pack<blocks::PlainElement<T>>(exec_, this->points_.data(), this->n_, this->dimension_, packed_.data(),
                                              norms_.data());
      });
    stages.stage(this->queue(), "distance", [&] {
      with_team([&]<int team>() {
        tile_kernel<T, team, Term, method == Method::symmetric>(exec_, launch_, tiles(range, out));
      });
    });
  }

  Exec exec_;
  Launch launch_;
  blocks::Panels panels_;
  kokkos::Array<T> packed_, norms_;
};

template <Method method>
std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    using Chosen =
        std::conditional_t<kokkos::on_gpu, Tiled<T, method>, kokkos::distance_matrix::PortableHost<T, method>>;
    return split<Chosen>(problem, context);
  });
}

const Register<DistanceMatrix> tiled{"tiled", kokkos::model, prepare<Method::tiled>};
const Register<DistanceMatrix> symmetric{"symmetric", kokkos::model, prepare<Method::symmetric>};
const Register<DistanceMatrix> product{"product", kokkos::model, prepare<Method::product>};

}  // namespace
}  // namespace league::distance_matrix
