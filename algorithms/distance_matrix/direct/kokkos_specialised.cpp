// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/host/kokkos_specialised.hpp"

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/distance_matrix/direct/strips.hpp"

// A team takes a strip of 8 rows and 16 bytes of columns per lane. A lane keeps its columns' points in registers and
// loops over the rows, one 16-byte store per row.
namespace league::distance_matrix::kokkos_model {
namespace {

using kokkos::Exec;

/// The largest team: two doubles of four coordinates and their sums take more registers than 1,024 lanes have.
template <class T>
constexpr int max_lanes = sizeof(T) == 8 ? 512 : 1024;

/// DIMENSION 0: any.
template <class T, int dimension>
void direct(const Exec& exec, Launch launch, Strips<T> strips) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_lanes<T>, 1>>;
  Kokkos::parallel_for(
      "distance_matrix/direct", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const auto store = [](blocks::Pack<T>* to, const blocks::Pack<T>& value) {
          blocks::NativeWords::store_streaming(to, value);
        };
        const int lane = blocks::team_group(team, launch.team * launch.vector).rank;
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < strips.items;
             item += static_cast<unsigned>(team.league_size()))
          if constexpr (dimension > 0)
            walk_strip<dimension>(strips, item, lane, store);
          else
            walk_strip_any(strips, item, lane, store);
      });
}

template <class T>
class DirectOnGpu final : public DistanceShard {
 public:
  DirectOnGpu(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this) {}
  Launch configure(Launch launch) override {
    LaunchLimits limits = kokkos::limits(queue());
    limits.team_times_vector = std::min(limits.team_times_vector, max_lanes<T>);
    // Kokkos sets shared memory aside for each thread of a team, not for its lanes: more is left to the cache
    return launch_ = memory_.configure(launch, limits, block_rows(), kokkos::on_gpu ? 8 : 1);
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
using Direct = std::conditional_t<kokkos::on_gpu, DirectOnGpu<T>, SpecialisedHost<T, Kind::direct>>;
const RegisterSplit<DistanceMatrix> direct_variant{"direct", several_bodies(kokkos::specialised_model, true),
                                                   by_type<Direct>};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
