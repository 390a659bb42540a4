// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/kokkos_specialised.hpp"

#include "algorithms/blocks/league_all_reduce_kokkos.hpp"

// One league takes all steps, its lanes keep their points in registers; on a host one team.
namespace league::kokkos::polynomial_fit::specialised {
namespace {

using Threads = blocks::NativeSums::Threads;

template <class T, int resident, bool alone>
void take_all_steps(const Exec& exec, Launch launch, const Points<T>& points, const Rule& rule, const State& state,
                    stamped::Word* board) {
  const int in_team = launch.team * launch.vector, size = blocks::league_sums_size<sums_per_step>(in_team);
  Kokkos::parallel_for(
      "polynomial_fit/persistent", policy_of<T>(exec, launch, size), KOKKOS_LAMBDA(const Member& member) {
        const Scratch memory(member.team_scratch(0), static_cast<std::size_t>(size));
        double* scratch = Threads::template kept_shared<alignof(double)>(memory.data());
        const auto team = Threads::of(member, in_team);  // outside of vector ranges every lane runs
        const std::int64_t rank = member.league_rank(), teams = member.league_size();
        const std::int64_t lane = rank * in_team + team.rank, lanes = teams * in_team;
        ResidentPoints<T, resident> mine;
        mine.load(points, lane, lanes, [](T power) { return Threads::kept(power); });
        double theta[terms];
        for (int p = 0; p < terms; ++p) theta[p] = state.theta[p];
        for (std::int64_t step = 0; step < rule.steps; ++step) {
          const auto cubic = Cubic<T>::of(theta);
          Sums<LaneType<T, resident>, sums_per_step> of_lane;
          if constexpr (resident > 0)
            of_lane = mine.sums(cubic);
          else
            of_lane = sums_of(points, cubic, lane, lanes);
          const auto sums = blocks::league_sums_for_all<alone>(team, rank, teams, of_lane, scratch, board, step);
          for (int p = 0; p < terms; ++p) theta[p] -= rule.scale * sums.values[p];
          if (lane == 0) state.loss[step] = sums.values[terms];
        }
        if (lane != 0) return;
        for (int p = 0; p < terms; ++p) state.theta[p] = theta[p];
        *state.taken = rule.steps;
      });
}

template <class T>
class Persistent final : public Specialised<KokkosShard> {
 public:
  Persistent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : Specialised(problem, context, shard), memory_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    const Launch automatic{0, on_gpu ? 128 : limits(queue()).team_times_vector, 1};
    launch_ = this->template resolved<T>(launch, automatic, 1, max_resident);
    blocks::NativeSums::require(launch_.team * launch_.vector);
    const int values = blocks::league_sums_size<sums_per_step>(launch_.team * launch_.vector);
    require_scratch(launch_, values);
    const int held =
        blocks::teams_at_once(exec_, multiprocessors(*this), max_persistent_lanes, 1, launch_, scratch_bytes(values));
    if (chosen) launch_.league = std::min(launch_.league, held);
    blocks::require_at_once(launch_, held);
    declare(board_, "polynomial_fit/board", blocks::league_sums_words<sums_per_step>(launch_.league));
    return launch_;
  }
  void begin() const override {
    KokkosShard::begin();
    queue().submit([exec = exec_, board = board_.view()] { Kokkos::deep_copy(exec, board, 0); });
  }
  void accumulate() const override {
    queue().submit([take = kernel(), exec = exec_, launch = launch_, points = memory_.points(), rule = rule_,
                    state = state(), board = board_.data()] { take(exec, launch, points, rule, state, board); });
  }
  void update() const override {}

 private:
  using Steps = void (*)(const Exec&, Launch, const Points<T>&, const Rule&, const State&, stamped::Word*);
  [[nodiscard]] Steps kernel() const {
    if constexpr (on_gpu)
      if (rows().size() <= std::int64_t{max_resident} * launch_.league * launch_.team * launch_.vector)
        return launch_.league == 1 ? take_all_steps<T, max_resident, true> : take_all_steps<T, max_resident, false>;
    return take_all_steps<T, 0, !on_gpu>;
  }
  PointMemory<T, Array> memory_;
  Launch launch_;
  Array<stamped::Word> board_;
};

const RegisterWholeSolve<PolynomialFit> persistent{"persistent", several_bodies(specialised_model, true),
                                                   by_type<Persistent>};

}  // namespace
}  // namespace league::kokkos::polynomial_fit::specialised
