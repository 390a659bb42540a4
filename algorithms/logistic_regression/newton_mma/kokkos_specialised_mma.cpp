// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/logistic_regression/common/kokkos_specialised_newton.hpp"
#include "algorithms/logistic_regression/newton_mma/units.hpp"

// One or two subgroups take a run of rows, from memory to registers, and compute its Hessian by matrix units. Then one
// team per sum adds the partials, and one team takes the step. On a host a thread is a subgroup.
namespace league::kokkos::logistic_regression {
namespace {

using Unit = blocks::mma::Native<blocks::mma::Element::f64>;

template <class T, int blocks_>
void newton_units(Queue& queue, const Exec& exec, Launch launch, const Rows<T>& rows, const State& state, int bytes,
                  double* partials) {
  const int threads = launch.team * launch.vector, doubles = bytes / static_cast<int>(sizeof(double)) + 1;
  submit(
      queue, "logistic_regression/newton_mma", bounded_policy(exec, launch, doubles),
      KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, doubles);
        if (state.control[is_stopped] != 0) return;
        add_newton_runs<T, Unit, blocks_>(blocks::native_group(member, threads), rows, state.theta,
                                          member.league_rank(), member.league_size(), scratch, partials);
      });
}

template <class T>
class NewtonMma final : public IterativeShard {
 public:
  NewtonMma(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), exec_(instance(context.runtime, queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    with_unit_blocks(memory_.features, [&]<int blocks_>() {
      launch_ = resolve_for(*this, launch, unit_team<blocks_>(rows().size()), unit_teams,
                            [](int threads) { return unit_rows<T, Unit, blocks_>(threads); });
      const int threads = launch_.team * launch_.vector;
      launch_.tile = unit_rows<T, Unit, blocks_>(threads);
      bytes_ = unit_scratch_bytes<T, Unit, blocks_>(threads);
      if (on_gpu) require_scratch(static_cast<std::size_t>(bytes_) + 64, "a team of " + std::to_string(threads));
    });
    memory_.declare_partials(launch_.league, newton_sums(memory_.features));
    return launch_;
  }
  void begin() const override { begin_solve(exec_, memory_); }
  void accumulate() const override {
    const Rows<T> rows = memory_.all_rows();
    with_unit_blocks(rows.features, [&]<int blocks_>() {
      newton_units<T, blocks_>(queue(), exec_, launch_, rows, memory_.state(), bytes_, memory_.partials.data());
    });
    add_partials_of(exec_, memory_, launch_.league);
  }
  [[nodiscard]] Buffer sums() const override { return memory_.buffer(); }
  void update() const override { take_newton_step(exec_, memory_); }

 private:
  Exec exec_;
  SolveMemory<Array, T> memory_;
  Launch launch_;
  int bytes_ = 0;
};

const RegisterSolve<LogisticRegression> newton_mma{"newton_mma", kokkos::specialised_model, by_type<NewtonMma>};

}  // namespace
}  // namespace league::kokkos::logistic_regression
