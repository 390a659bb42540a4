// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/pack_cuda.hpp"
#include "algorithms/blocks/product_tile_cuda.hpp"
#include "algorithms/distance_matrix/part.hpp"
#include "algorithms/distance_matrix/tiles.hpp"

// A block takes a tile of rows x columns at a time; a thread keeps a square of sums in registers, while both operands
// come through shared memory (blocks/product_tile). `tiled` adds squared differences, `symmetric` does so above the
// diagonal and stores twice, `product` adds products and finishes with the norms.
namespace league::distance_matrix {
namespace {

template <class T, int team, class Term, bool mirror>
__global__ void __launch_bounds__(team, cuda::launch_bound(512 / team)) tile_kernel(const Tiles<T> tiles) {
  using Shape = blocks::TileFor<T, team>;
  alignas(16) __shared__ T scratch[2 * Shape::buffer];
  const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) { blocks::store_past_caches(to, value); };
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned item = blockIdx.x; item < tiles.items; item += gridDim.x) {
    const int row = tiles.row(item, Shape::rows), column = tiles.column(item, Shape::columns);
    if (mirror && column < row) continue;
    T sum[Shape::thread_rows][Shape::thread_columns];
    blocks::product_tile<Shape, blocks::PlainElement<T>, Term>(tiles.packed + tiles.panels.first(row),
                                                               tiles.packed + tiles.panels.first(column),
                                                               tiles.panels.depth, scratch, sum);
    store_tile<Shape, Term>(tiles, thread, row, column, sum, mirror && column >= row + Shape::rows, store);
  }
}

enum class Method { tiled, symmetric, product };

template <class T, Method method>
class Tiled final : public DistancePart<cuda::Array<T>> {
 public:
  Tiled(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistancePart<cuda::Array<T>>(
            problem, context, shard, form(problem),
            [&](const char*, std::int64_t size) { return cuda::Array<T>(context.runtime.queue(shard.device), size); }),
        panels_(problem.n, problem.dimension),
        packed_(this->queue(), panels_.size()),
        norms_(this->queue(), panels_.rows) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 256, 1}, cuda::limits);
    const int lanes = launch_.team * launch_.vector;
    if (lanes != 256 && lanes != 128 && lanes != 64)
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": the tile takes 64, 128 or 256");
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
    switch (launch_.team * launch_.vector) {
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
    const cudaStream_t stream = cuda::stream(this->queue());
    if (range.begin == this->rows().begin)
      stages.stage(this->queue(), "pack", [&] {
        blocks::pack<blocks::PlainElement<T>>(stream, this->points_.data(), this->n_, this->dimension_, packed_.data(),
                                              norms_.data());
      });
    stages.stage(this->queue(), "distance", [&] {
      const auto league = static_cast<unsigned>(launch_.league);
      const dim3 threads(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
      with_team([&]<int team>() {
        tile_kernel<T, team, Term, method == Method::symmetric><<<league, threads, 0, stream>>>(tiles(range, out));
      });
      cuda::check_launch();
    });
  }

  Launch launch_;
  blocks::Panels panels_;
  cuda::Array<T> packed_, norms_;
};

template <Method method>
std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() { return split<Tiled<T, method>>(problem, context); });
}

const Register<DistanceMatrix> tiled{"tiled", cuda::model, prepare<Method::tiled>};
const Register<DistanceMatrix> symmetric{"symmetric", cuda::model, prepare<Method::symmetric>};
const Register<DistanceMatrix> product{"product", cuda::model, prepare<Method::product>};

}  // namespace
}  // namespace league::distance_matrix
