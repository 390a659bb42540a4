// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/definite_solve_kokkos.hpp"
#include "algorithms/linear_regression/common/kokkos_gram.hpp"

namespace league::kokkos::linear_regression {
namespace {

/// Threads of the solve, as many as of a team that adds rows.
constexpr int solve_team = gram_numbers<double>.team;

struct Solve {
  Gram gram;
  double rows;
  Values<double> sums, theta;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const blocks::ScratchSystem system(team, gram.features + 1);
    system.fill([&](int i, int j) { return i == gram.features && j == i ? rows : sums(gram.at(i, j)); });
    system.solve([](int) { return 0.0; }, [&](int i, double value) { theta(i) = value; });
  }
};

class Direct : public KokkosShard {
 public:
  Direct(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, Gram(problem.features).sums() - 2) {}
  void begin() const override {}
  void update() const override {
    const int team = std::min(solve_team, exec_.concurrency());
    submit(queue(), "linear_regression/solve",
           policy_of<solve_team>(exec_, {1, team, 1}, blocks::ScratchSystem::bytes(problem_.features + 1)),
           Solve{Gram(problem_.features), static_cast<double>(problem_.rows), sums_.view(), theta_.view()});
  }
};

template <class T, int width>
using NormalEquations = GramPass<T, width, Direct>;
const RegisterWholeSolve<LinearRegression> normal_equations{"normal_equations", once_gram(),
                                                            by_block_width<NormalEquations>};

}  // namespace
}  // namespace league::kokkos::linear_regression
