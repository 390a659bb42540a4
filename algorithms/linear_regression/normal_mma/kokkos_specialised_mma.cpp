// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/linear_regression/common/kokkos_specialised_direct.hpp"
#include "algorithms/linear_regression/normal_mma/units.hpp"

// A subgroup takes runs of rows, of which its lanes have 16 bytes of some columns, and adds X^T X by matrix units and
// the rest by multiply-adds; a team adds those of its subgroups, then a thread a sum those of all teams. Then one team
// solves. On a host a thread is a subgroup and takes consecutive rows.
namespace league::kokkos::linear_regression::specialised {
namespace {

using Unit = blocks::mma::Native<blocks::mma::Element::f64>;

template <class T, int blocks_>
void add_rows(const Exec& exec, Launch launch, const Columns<T>& data, double* partials) {
  const int size = unit_scratch<Unit, blocks_>, threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "linear_regression/gram", policy_of<max_unit_threads>(exec, launch, scratch_bytes(size)),
      KOKKOS_LAMBDA(const Member& team) {
        const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(size));
        add_unit_rows<T, Unit, blocks_>(blocks::native_group(team, threads), data, team.league_rank(),
                                        team.league_size(), blocks::kept_shared<alignof(double)>(scratch.data()),
                                        partials);
      });
}

template <int blocks_>
void add_teams_of(const Exec& exec, const Gram& gram, int teams, const double* partials, double* sums) {
  Kokkos::parallel_for(
      "linear_regression/sums", Kokkos::RangePolicy<Exec>(exec, 0, column_pairs(gram.features)),
      KOKKOS_LAMBDA(int pair) { add_teams<blocks_>(gram, pair, teams, partials, sums); });
}

template <class T>
class Mma final : public Specialised<SpecialisedDirect> {
 public:
  Mma(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Specialised(problem, context, shard), rows_(*this, problem) {}
  Launch configure(Launch launch) override {
    const UnitThreads automatic = unit_threads(problem_.features, rows().size());
    launch_ = resolved(launch, automatic.team, max_unit_threads, 8 / std::int64_t{sizeof(T)});
    if (on_gpu && launch.league == 0) launch_.league = unit_league(*this, launch_, automatic);
    require_subgroups<Unit>(launch_);
    with_unit_blocks(problem_.features, [&]<int blocks_>() {
      require_scratch(launch_, unit_scratch<Unit, blocks_>);
      declare(partials_, "linear_regression/partials", std::int64_t{launch_.league} * UnitSums<blocks_>::size);
    });
    return launch_;
  }
  void accumulate() const override {
    queue().submit([exec = exec_, launch = launch_, gram = gram_, data = rows_.here(), partials = partials_.data(),
                    sums = sums_.data()] {
      with_unit_blocks(gram.features, [&]<int blocks_>() {
        add_rows<T, blocks_>(exec, launch, data, partials);
        add_teams_of<blocks_>(exec, gram, launch.league, partials, sums);
      });
    });
  }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
  Array<double> partials_;
};

const RegisterWholeSolve<LinearRegression> normal_mma{"normal_mma", several_bodies(specialised_model, true),
                                                      by_type<Mma>};

}  // namespace
}  // namespace league::kokkos::linear_regression::specialised
