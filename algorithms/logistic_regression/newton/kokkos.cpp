// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/definite_solve_kokkos.hpp"
#include "algorithms/logistic_regression/common/features.hpp"
#include "algorithms/logistic_regression/common/kokkos_rows.hpp"
#include "algorithms/logistic_regression/newton/kokkos_tiles.hpp"

namespace league::logistic::kokkos_model {
namespace {

constexpr int few_features = 8;  ///< whose sums a lane keeps
/// `values`: of all columns that it keeps from the logits to the sums.
template <class T>
constexpr Numbers kept_numbers = blocks::by_kind({.values = few_features * newton_numbers<T>.width}, {.values = 0});

/// The step has a kernel of its own.
struct NoStep {
  KOKKOS_FUNCTION void operator()(const Member&) const {}
};

// A step from the sums of all rows. One that made the loss grow is taken back, and halved.
inline void take_step(Queue& queue, const Exec& exec, int lanes, const State& state, const Rule& rule) {
  const int n = rule.features + 1;
  kokkos::submit(
      queue, "logistic_regression/newton_step",
      Team(exec, 1, lanes, 1).set_scratch_size(0, Kokkos::PerTeam(blocks::ScratchSystem::bytes(n))),
      KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t halved = state.control(2);
        const Found found = look(team, state, rule);
        const double highest = found.step > 0 ? state.accepted(2 * n) * (1 + newton_slack) : found.loss;
        const bool back = !found.stopped && found.step > 0 && !(found.loss <= highest) && halved < newton_halvings;
        team.team_barrier();
        note(team, state, found, !back && found.small);
        if (found.stopped) return;
        blocks::once_per_team(team, [&] {
          state.control(2) = back ? halved + 1 : 0;
          if (!back) state.accepted(2 * n) = found.loss;
        });
        if (back) {
          const double share = 1 / static_cast<double>(std::int64_t{2} << halved);
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n),
                               [&](int j) { state.theta(j) = state.accepted(j) + state.accepted(n + j) * share; });
          return;
        }
        const auto matrix = [&](int i, int j) {
          return state.sums(hessian_at(rule.features, i, j)) * rule.share + (i == j && i > 0 ? rule.l2 : 0.0);
        };
        const blocks::ScratchSystem system(team, n);
        system.fill([&](int i, int j) { return j == n ? -gradient_of(state, rule, i) : matrix(j, i); });
        system.solve([&](int i) { return 16 * n * 0x1p-53 * matrix(i, i); },
                     [&](int j, double change) {
                       state.accepted(j) = state.theta(j);
                       state.accepted(n + j) = change;
                       state.theta(j) += change;
                     });
      });
}

template <class T>
class Newton final : public Solve<T, newton_numbers<T>.width> {
  using Base = Solve<T, newton_numbers<T>.width>;
  template <int known>
  using Sums = RowSums<known, true, T, newton_numbers<T>.width, newton_numbers<T>.depth, newton_numbers<T>.sums,
                       kept_numbers<T>.values / newton_numbers<T>.width>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override {
    launch_ = Base::features() <= few_features ? of_rows(launch) : of_tiles(launch);
    return launch_;
  }
  void accumulate() const override {
    const auto rows = Base::all_rows();
    if (Base::features() <= few_features)
      return with_features_up_to<few_features>(Base::features(), [&]<int known>() {
        add_rows<Sums<known>>(Base::queue(), "logistic_regression/newton",
                              Base::template policy<Sums<known>::n, max_newton_lanes, newton_numbers<T>.teams>(launch_),
                              launch_.team * launch_.vector, rows, Base::state(), partials_.view(), ticket_.view(),
                              NoStep{});
      });
    add_tiles<T>(Base::queue(), Base::exec_, launch_, groups_, rows, Base::state(), partials_.view());
    add_partials(Base::queue(), Base::exec_, step_lanes(), std::int64_t{launch_.league} * groups_, Base::state(),
                 partials_.view());
  }
  void update() const override { take_step(Base::queue(), Base::exec_, step_lanes(), Base::state(), Base::rule_); }

 private:
  /// Of the kernels behind the rows.
  [[nodiscard]] int step_lanes() const { return std::min(newton_numbers<T>.team, Base::exec_.concurrency()); }
  [[nodiscard]] Launch of_rows(Launch launch) {
    with_features_up_to<few_features>(Base::features(), [&]<int known>() {
      launch = Base::template planned<Sums<known>::n>(launch, newton_numbers<T>, max_newton_lanes);
      Base::declare(partials_, "logistic_regression/partials", std::int64_t{launch.league} * Sums<known>::n);
    });
    Base::declare_zeroed(ticket_, "logistic_regression/ticket", 1);
    return launch;
  }
  /// Threads that have no square to themselves share its rows.
  [[nodiscard]] Launch of_tiles(Launch launch) {
    const LaunchLimits most = blocks::sharing_limits(kokkos::limits(Base::queue()), newton_numbers<T>.team);
    launch = resolve(launch, {0, newton_numbers<T>.team, 1}, most);
    const int items = Squares{Base::features()}.items();
    if (launch.vector != 1 || launch.team * newton_numbers<T>.values < items)
      throw Unsupported("a team of " + std::to_string(launch.team) + " threads with " + std::to_string(launch.vector) +
                        " lanes each: " + std::to_string(Base::features()) + " features take " +
                        std::to_string(ceil_div(items, newton_numbers<T>.values)) + " threads or more, with one lane");
    groups_ = std::clamp(launch.team / items, 1, Tile<T>::packs / 4);
    kokkos::require_scratch(Tile<T>::bytes(Base::features()), "a tile of rows");
    launch.tile = Tile<T>::rows;
    if (launch.league == 0)
      launch.league =
          Base::teams(launch, blocks::lanes_at_once(Base::exec_, newton_numbers<T>, tile_teams * max_newton_lanes));
    Base::declare(partials_, "logistic_regression/partials",
                  sums_of(Base::features(), true) * std::int64_t{launch.league} * groups_);
    return launch;
  }

  Launch launch_;
  int groups_ = 1;
  kokkos::Array<double> partials_;
  kokkos::Array<unsigned> ticket_;
};

const RegisterSolve<LogisticRegression> newton{
    "newton",
    written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(newton_numbers<T>); }),
    by_type<Newton>};

}  // namespace
}  // namespace league::logistic::kokkos_model
