// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/distance_matrix/host/shard.hpp"
#include "backends/host_array.hpp"

// A thread takes rows of tiles (12 x 2 vectors with AVX-512, 6 x 2 otherwise), its vector lanes neighbouring columns.
namespace league::distance_matrix {
namespace {

template <class T, Kind kind>
class OpenMp final : public DistanceShard {
 public:
  OpenMp(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), tiles_(*this) {}
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(queue(), launch);
    return {threads_, 1, 1};
  }

 private:
  void block(Stages& stages, Range range) override {
    const auto each = [threads = threads_](const char*, std::int64_t items, const auto& body) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
      for (std::int64_t item = 0; item < items; ++item) body(item);
    };
    tiles_.block(stages, range, tiles_.group(threads_), each);
  }
  int threads_ = 1;
  HostTiles<T, kind, host::Array, blocks::NativeWords> tiles_;
};

using Registered = RegisterSplit<DistanceMatrix>;
const Registered direct{"direct", openmp::model, by_type<OpenMp, Kind::direct>};
const Registered tiled{"tiled", openmp::model, by_type<OpenMp, Kind::tiled>};
const Registered symmetric{"symmetric", openmp::model, by_type<OpenMp, Kind::symmetric>};
const Registered product{"product", openmp::model, by_type<OpenMp, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix
