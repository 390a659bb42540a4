// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/direct.hpp"
#include "algorithms/distance_matrix/kokkos_host.hpp"
#include "algorithms/distance_matrix/part.hpp"
#include "backends/kokkos/for_teams.hpp"

// A team takes a strip of 8 rows and 16 bytes of columns a lane; a lane keeps its columns' points in registers and
// walks down the rows, one 16-byte store a row.
namespace league::distance_matrix {
namespace {

using kokkos::Exec, kokkos::Member, kokkos::Team;

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
class Direct final : public DistancePart<kokkos::Array<T>> {
 public:
  Direct(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistancePart<kokkos::Array<T>>(problem, context, shard, {},
                                       [&](const char* label, std::int64_t size) {
                                         return kokkos::Array<T>(
                                             kokkos::instance(context.runtime, context.runtime.queue(shard.device)),
                                             label, size);
                                       }),
        exec_(kokkos::instance(context.runtime, this->queue())) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 256, 1}, kokkos::limits(this->queue()));
    if (launch_.league == 0) launch_.league = league_of(strips({0, this->block_rows()}, nullptr).items);
    launch_.tile = direct_rows;
    return launch_;
  }

 private:
  [[nodiscard]] Strips<T> strips(Range range, T* out) const {
    Strips<T> strips{static_cast<int>(this->n_),
                     static_cast<int>(this->dimension_),
                     static_cast<int>(range.begin),
                     static_cast<int>(range.size()),
                     this->euclidean_,
                     this->points_.data(),
                     out};
    strips.share(launch_.team * launch_.vector);
    return strips;
  }
  void block(Stages& stages, Range range, T* out) override {
    const Strips<T> all = strips(range, out);
    stages.stage(this->queue(), "distance", [&] {
      switch (this->dimension_) {
        case 1:
          return direct<T, 1>(exec_, launch_, all);
        case 2:
          return direct<T, 2>(exec_, launch_, all);
        case 3:
          return direct<T, 3>(exec_, launch_, all);
        case 4:
          return direct<T, 4>(exec_, launch_, all);
        default:
          return direct<T, 0>(exec_, launch_, all);
      }
    });
  }
  Exec exec_;
  Launch launch_;
};

std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    using Chosen =
        std::conditional_t<kokkos::on_gpu, Direct<T>, kokkos::distance_matrix::PortableHost<T, Method::direct>>;
    return split<Chosen>(problem, context);
  });
}

const Register<DistanceMatrix> variant{"direct", kokkos::model, prepare};

}  // namespace
}  // namespace league::distance_matrix
