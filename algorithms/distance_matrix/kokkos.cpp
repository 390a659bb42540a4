// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/direct.hpp"
#include "algorithms/distance_matrix/kokkos_host.hpp"
#include "backends/kokkos/for_teams.hpp"

// A team takes a strip of 8 rows and 16 bytes of columns per lane. A lane keeps its columns' points in registers and
// loops over the rows, one 16-byte store per row.
namespace league::distance_matrix {
namespace {

using kokkos::Exec, kokkos::Member, kokkos::Team, kokkos_model::PortableHost;

/// DIMENSION 0: any.
template <class T, int dimension>
void direct(const Exec& exec, Launch launch, Strips<T> strips) {
  kokkos::for_teams(
      "distance_matrix/direct", Team(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const Member& team) {
        const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) { *to = value; };
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < strips.items;
             item += static_cast<unsigned>(team.league_size()))
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, launch.team * launch.vector), [&](int lane) {
            if constexpr (dimension > 0)
              walk_strip<dimension>(strips, item, lane, store);
            else
              walk_strip_any(strips, item, lane, store);
          });
      });
}

template <class T>
class DirectOnGpu final : public DistanceShard {
 public:
  DirectOnGpu(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this) {}
  Launch configure(Launch launch) override {
    return launch_ = memory_.with_league(resolve(launch, {0, 256, 1}, kokkos::limits(queue())), block_rows());
  }

 private:
  void block(Stages& stages, Range range) override {
    const Strips<T> strips = memory_.strips(range, launch_);
    stages.stage(queue(), "distance", [&] {
      memory_.with_dimension([&]<int dimension>() { direct<T, dimension>(exec_, launch_, strips); });
    });
  }
  const Exec& exec_;
  Launch launch_;
  StripMemory<T, kokkos::Array> memory_;
};

template <class T>
using Direct = std::conditional_t<kokkos::on_gpu, DirectOnGpu<T>, PortableHost<T, Kind::direct, blocks::PlainWords>>;
const RegisterSplit<DistanceMatrix> variant{"direct", kokkos::model, by_type<Direct>};

}  // namespace
}  // namespace league::distance_matrix
