// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/kokkos_specialised.hpp"

// A lane adds powers of every lanes-th pack, on a host of consecutive points; then one thread takes all steps.
namespace league::kokkos::polynomial_fit::specialised {
namespace {

template <class T>
KOKKOS_INLINE_FUNCTION Sums<double, moment_sums> powers_of(const Points<T>& points, std::int64_t lane,
                                                           std::int64_t lanes) {
  if constexpr (on_gpu)
    return lane_powers(points, lane, lanes);
  else
    return range_powers(points, piece(points.count, lane, lanes));
}

template <class T>
struct AddPowers {
  Points<T> points;
  int in_team, values;  ///< lanes, and scratch in doubles
  double *partials, *sums;
  unsigned* ticket;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const Scratch scratch(member.team_scratch(0), static_cast<std::size_t>(values));
    const auto team = blocks::team_group(member, in_team);
    const auto mine = powers_of(points, std::int64_t{member.league_rank()} * in_team + team.rank,
                                std::int64_t{member.league_size()} * in_team);
    const auto of_team = blocks::sums_for_all(team, mine, scratch.data());
    blocks::league_sums(member, team, of_team, partials, ticket, sums, scratch.data());
  }
};
template <class T>
class Moments final : public Specialised<Descent> {
 public:
  Moments(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : Specialised(problem, context, shard), memory_(*this, problem) {
    declare_zeroed(ticket_, "polynomial_fit/ticket", 1);
  }
  Launch configure(Launch launch) override {
    const int lanes = limits(queue()).vector;
    launch_ =
        this->template resolved<T>(launch, on_gpu ? Launch{0, 256 / lanes, lanes} : Launch{0, 1, 1}, moment_share);
    values_ = blocks::team_sums_size<moment_sums>(launch_.team * launch_.vector);
    require_scratch(launch_, values_);
    declare(partials_, "polynomial_fit/partials", std::int64_t{launch_.league} * moment_sums);
    return launch_;
  }
  void accumulate() const override {
    submit(queue(), "polynomial_fit/powers", policy_of<T>(exec_, launch_, values_),
           AddPowers<T>{memory_.points(), launch_.team * launch_.vector, values_, partials_.data(), sums_.data(),
                        ticket_.data()});
  }

 private:
  PointMemory<T, Array> memory_;
  Launch launch_;
  int values_ = 0;  ///< of scratch memory
  Array<double> partials_;
  Array<unsigned> ticket_;
};

const RegisterWholeSolve<PolynomialFit> moments{"moments", several_bodies(specialised_model, true), by_type<Moments>};

}  // namespace
}  // namespace league::kokkos::polynomial_fit::specialised
