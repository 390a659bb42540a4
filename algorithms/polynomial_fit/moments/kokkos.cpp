// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/kokkos_points.hpp"

namespace league::kokkos::polynomial_fit {
namespace {

struct MomentTerms {
  static constexpr int n = moment_sums;
  using Value = double;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void add(T x, T y, double (&sums)[n]) const {
    add_powers(static_cast<double>(x), static_cast<double>(y), sums);
  }
};

// A lane adds the powers of its packs of points, the last team those of all teams; then one thread takes all steps.
template <class T>
struct AddPowers {
  PointViews<T> points;
  int lanes;  ///< of a team
  Values<double> partials, sums;
  Values<unsigned> ticket;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const blocks::TeamSums<moment_sums> adder(team, lanes);
    const std::int64_t first = std::int64_t{team.league_rank()} * lanes;
    adder.over_league(
        partials, ticket,
        [&](int lane, double (&mine)[moment_sums]) {
          PointSums<T, MomentTerms> of_lane;
          of_lane.add_all(points, MomentTerms{}, first + lane, std::int64_t{team.league_size()} * lanes);
          of_lane.leave(mine);
        },
        [&](int i, double sum) { sums(i) = sum; });
  }
};

template <class T>
class Moments final : public PointShard<T, MomentTerms, Descent> {
 public:
  using PointShard<T, MomentTerms, Descent>::PointShard;
  void accumulate() const override {
    submit(
        this->queue(), "polynomial_fit/powers", this->policy(this->exec_),
        AddPowers<T>{this->points(), this->lanes(), this->partials_.view(), this->sums_.view(), this->ticket_.view()});
  }
};

const RegisterWholeSolve<PolynomialFit> moments{"moments", once(), by_type<Moments>};

}  // namespace
}  // namespace league::kokkos::polynomial_fit
