// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the field summary of everythingsreduced (University of Bristol, src/kokkos/field_summary.cpp), several sums in
// one reduction, written anew for the terms of a point.
#include "algorithms/polynomial_fit/common/kokkos.hpp"

#include "backends/kokkos/flat.hpp"

namespace league::kokkos::polynomial_fit {
namespace {

/// The terms of a point, added to an array of sums.
template <class T>
struct AddPoint {
  using value_type = double[];  // Kokkos' reduction of an array
  unsigned value_count = sums_per_step;
  Vector<const T> x, y;
  Values<const double> theta;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* sums) const {
    T point[sums_per_step] = {};
    Cubic<T> cubic;
    for (int p = 0; p < terms; ++p) cubic.values[p] = static_cast<T>(theta(p));
    add_point(cubic, x(i), y(i), point);
    for (int s = 0; s < sums_per_step; ++s) sums[s] += static_cast<double>(point[s]);
  }
};

template <class T>
class Flat final : public KokkosShard {
 public:
  Flat(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override { return launch_ = resolve_flat(launch); }
  void accumulate() const override {
    queue().submit([this, body = AddPoint<T>{.x = memory_.x.view(), .y = memory_.y.view(), .theta = theta_.view()}] {
      with_range(exec_, launch_.team, memory_.x.size(), [&](const auto& range) {
        Kokkos::parallel_reduce("polynomial_fit/flat", range, body, Values<double>(sums_.view()));
      });
    });
  }
  void update() const override { submit_positions("polynomial_fit/update", Update{rule_, state(), sums_.view()}); }

 private:
  PointMemory<T, Array> memory_;
  Launch launch_;
};

const RegisterSolve<PolynomialFit> flat{"flat", written_once(model), by_type<Flat>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::polynomial_fit
