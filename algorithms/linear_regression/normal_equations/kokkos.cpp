// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_gram.hpp"

namespace league::kokkos::linear_regression {
namespace {

/// Threads of the solve, as many as of a team that adds rows.
constexpr int solve_team = gram_numbers<double>.team;

// One team, in scratch memory: Gauss-Jordan elimination without pivoting of [H | r]. Step k makes column k zero in all
// other rows; lanes share what is right of it. A pivot that is not above zero gives NaN.
struct Solve {
  using Matrix =
      Kokkos::View<double**, Kokkos::LayoutRight, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Gram gram;
  double rows;
  int row_bits;  ///< of a row, 2^row_bits lanes
  Values<double> sums, theta;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double element(int i, int j) const {
    if (i == gram.features && j == gram.features) return rows;
    return sums(gram.at(i < j ? i : j, i < j ? j : i));
  }
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int n = gram.features + 1;
    const Matrix system(team.team_scratch(0), n, n + 1);
    blocks::for_cells(team, n, n + 1, row_bits, [&](int i, int j) { system(i, j) = element(i, j); });
    for (int k = 0; k < n; ++k) {
      team.team_barrier();
      const double pivot = system(k, k);
      const double inverse = pivot > 0 ? 1 / pivot : Kokkos::Experimental::quiet_NaN_v<double>;
      blocks::for_cells(team, n, n - k, row_bits, [&](int i, int right) {
        const int j = k + 1 + right;
        if (i != k) system(i, j) -= system(i, k) * inverse * system(k, j);
      });
    }
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
      theta(i) = system(i, i) > 0 ? system(i, n) / system(i, i) : Kokkos::Experimental::quiet_NaN_v<double>;
    });
  }
};

class Direct : public KokkosShard {
 public:
  Direct(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, Gram(problem.features).sums() - 2) {}
  void begin() const override {}
  void update() const override {
    const int n = problem_.features + 1, team = std::min(solve_team, exec_.concurrency());
    const int row_bits = std::bit_width(static_cast<unsigned>(n));
    submit(queue(), "linear_regression/solve",
           policy_of<solve_team>(exec_, {1, team, 1}, Solve::Matrix::shmem_size(n, n + 1)),
           Solve{Gram(problem_.features), static_cast<double>(problem_.rows), row_bits, sums_.view(), theta_.view()});
  }
};

template <class T, int width>
using NormalEquations = GramPass<T, width, Direct>;
const RegisterWholeSolve<LinearRegression> normal_equations{"normal_equations", once_gram(),
                                                            by_block_width<NormalEquations>};

}  // namespace
}  // namespace league::kokkos::linear_regression
