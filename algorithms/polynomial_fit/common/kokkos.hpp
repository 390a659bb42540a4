// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/polynomial_fit/common/shard.hpp"
#include "backends/kokkos/submit.hpp"

/// What the kernels in Kokkos share: the steps that are the same for all methods.
namespace league::kokkos::polynomial_fit {

using namespace league::polynomial_fit;
using blocks::Numbers;

/// Values on the device, without a count of their users.
template <class T>
using Values = Kokkos::View<T*, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

struct Begin {
  Rule rule;
  State state;
  KOKKOS_FUNCTION void operator()(int i) const { begin_state(rule, state, i); }
};
struct Update {
  Rule rule;
  State state;
  Values<double> sums;
  KOKKOS_FUNCTION void operator()(int i) const { take_step(rule, state, sums, i); }
};
struct Descend {
  Rule rule;
  double points;
  Values<double> sums;
  State state;
  KOKKOS_FUNCTION void operator()(int) const { descend(rule, points, sums, state); }
};

class KokkosShard : public FitShard<Array> {
 public:
  KokkosShard(const PolynomialFit& problem, const Context& context, const Shard& shard, int sums = sums_per_step)
      : FitShard(problem, context, shard, sums), exec_(instance(runtime(), queue())) {}
  void begin() const override { submit_positions("polynomial_fit/begin", Begin{rule_, state()}); }

 protected:
  template <class Kernel>
  void submit_positions(const char* name, const Kernel& kernel) const {
    submit(queue(), name, Kokkos::RangePolicy<Exec>(exec_, 0, sums_per_step), kernel);
  }
  const Exec exec_;
};

/// The descent on moments, but for the pass over the points.
class Descent : public KokkosShard {
 public:
  Descent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, moment_sums) {}
  void begin() const override {}
  void update() const override {
    submit(queue(), "polynomial_fit/moments", one_item(exec_), Descend{rule_, points_, sums_.view(), state()});
  }
};

}  // namespace league::kokkos::polynomial_fit
