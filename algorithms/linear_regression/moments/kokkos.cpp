// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_specialised_gram.hpp"
#include "algorithms/linear_regression/common/moments.hpp"

// One pass adds the products of all columns; then one thread takes all steps on them in its registers.
namespace league::kokkos::linear_regression {
namespace {

template <int width>
struct TakeAllSteps {
  MomentSolve solve;
  State state;
  const double* sums;
  KOKKOS_FUNCTION void operator()(int) const { solve.take_all_steps<width>(sums, state); }
};

class Descend : public KokkosShard {
 public:
  Descend(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, Gram(problem.features).sums() - 2) {}
  void begin() const override {}
  void update() const override {
    with_block_width(problem_.features, [&]<int width>() {
      submit(queue(), "linear_regression/moments", one_item(exec_),
             TakeAllSteps<width>{MomentSolve(problem_), state(), sums_.data()});
    });
  }
};
template <class T, int width>
using Moments = GramPass<T, width, Descend>;

const RegisterWholeSolve<LinearRegression> moments{"moments", model, by_moment_width<Moments>};

}  // namespace
}  // namespace league::kokkos::linear_regression
