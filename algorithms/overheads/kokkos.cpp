// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_barrier_kokkos.hpp"
#include "algorithms/overheads/rounds.hpp"
#include "backends/kokkos/submit.hpp"

// One thread of a team counts; in a reduction all its threads and lanes add, and all get the sum.
namespace league::kokkos::overheads {
namespace {

using namespace league::overheads;

constexpr int max_team_lanes = 256, barrier_teams = 8;  // of a multiprocessor
auto policy_of(const Exec& exec, Launch launch) {
  return light(Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>,
                                  Kokkos::LaunchBounds<max_team_lanes, launch_bound(barrier_teams)>>(
      exec, launch.league, launch.team, launch.vector));
}

class KokkosShard : public RoundShard {
 public:
  KokkosShard(const Overheads& problem, const Context& context, const Shard& shard)
      : RoundShard(context, shard), problem_(problem), exec_(instance(runtime(), queue())) {
    declare(count_, "overheads/count", rows().size());
    output(count_, 0);
  }
  Launch configure(Launch launch) override {
    LaunchLimits bounds = limits(queue());
    bounds.team_times_vector = on_gpu ? max_team_lanes : bounds.team_times_vector;
    return launch_ = resolved(launch, defaults(), bounds);
  }

 protected:
  /// On a GPU as many threads as a subgroup has, on a host one.
  [[nodiscard]] virtual Launch defaults() const { return {0, limits(queue()).vector, 1}; }
  const Overheads& problem_;
  const Exec exec_;
  Launch launch_;
  Array<double> count_;
};

struct Count {
  double* count;
  int repeats;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    blocks::once_per_team(team, [&] { count[team.league_rank()] = next_count(count[team.league_rank()], repeats); });
  }
};

class Launches final : public KokkosShard {
 public:
  using KokkosShard::KokkosShard;
  void take() override {
    submit(queue(), "overheads/launch", policy_of(exec_, launch_), Count{count_.data(), problem_.repeats});
  }
};

void use_memory(const Exec& exec, const Vector<double>& memory, int allocations, std::int64_t rows, double* count) {
  Kokkos::parallel_for(
      "overheads/use_memory", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(int) {
        volatile double& last = memory(memory.extent(0) - 1);
        last = allocations;
        for (std::int64_t row = 0; row < rows; ++row) count[row] = last;
      });
}

/// The host counts; the last allocation is written to and read.
class Allocations final : public KokkosShard {
 public:
  Allocations(const Overheads& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard), words_(ceil_div<std::int64_t>(problem.bytes, sizeof(double))) {
    declare(memory_, "overheads/allocation", words_);
  }
  void take() override {
    memory_ = {};
    memory_ = Array<double>(exec_, "overheads/allocation", words_);
    ++allocations_;
  }
  void finish() override {
    use_memory(exec_, memory_.view(), std::exchange(allocations_, 0), rows().size(), count_.data());
  }

 private:
  const std::int64_t words_;
  Array<double> memory_;
  int allocations_ = 0;
};

template <class T>
struct AddTeam {
  double* count;
  int repeats, lanes;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    T sum = 0;
    for (int round = 0; round < repeats; ++round) {
      const T last = sum;
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team, lanes), [&](int lane, T& mine) { mine += share_of(lane, lanes, round, last); },
          sum);
    }
    blocks::once_per_team(team, [&] { count[team.league_rank()] = static_cast<double>(sum); });
  }
};

template <class T>
class TeamSums final : public KokkosShard {
 public:
  using KokkosShard::KokkosShard;
  void take() override {
    submit(queue(), "overheads/team_reduction", policy_of(exec_, launch_),
           AddTeam<T>{count_.data(), problem_.repeats, launch_.team * launch_.vector});
  }

 private:
  [[nodiscard]] Launch defaults() const override {
    const int lanes = limits(queue()).vector;
    return on_gpu ? Launch{0, max_team_lanes / lanes, lanes} : Launch{0, limits(queue()).team_times_vector, 1};
  }
};

template <class T>
struct AddSubgroup {
  double* count;
  int repeats, lanes;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    T sum = 0;
    for (int round = 0; round < repeats; ++round) {
      const T last = sum;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](int lane, T& mine) { mine += share_of(lane, lanes, round, last); }, sum);
    }
    blocks::once_per_team(team, [&] { count[team.league_rank()] = static_cast<double>(sum); });
  }
};

template <class T>
class SubgroupSums final : public KokkosShard {
 public:
  using KokkosShard::KokkosShard;
  void take() override {
    submit(queue(), "overheads/subgroup_reduction", policy_of(exec_, launch_),
           AddSubgroup<T>{count_.data(), problem_.repeats, launch_.vector});
  }

 private:
  [[nodiscard]] Launch defaults() const override { return {0, 1, limits(queue()).vector}; }
};

struct Meet {
  double *count, *sent;
  unsigned* word;
  int repeats, lanes;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto group = blocks::team_group(team, lanes);
    const std::int64_t rank = team.league_rank(), teams = team.league_size();
    double mine = 0;
    for (int round = 0; round < repeats; ++round) {
      double* of_round = sent + (round & 1) * teams;
      if (group.rank == 0) of_round[rank] = mine + 1;
      blocks::league_barrier(team, group, word);
      mine = of_round[rank + 1 < teams ? rank + 1 : 0];
    }
    if (group.rank == 0) count[rank] = mine;
  }
};

class Barriers final : public KokkosShard {
 public:
  Barriers(const Overheads& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard) {
    declare(sent_, "overheads/sent", 2 * rows().size());
    declare_zeroed(word_, "overheads/word", 1);
  }
  Launch configure(Launch launch) override {
    KokkosShard::configure(launch);
    blocks::require_at_once(
        launch_, blocks::teams_at_once(exec_, multiprocessors(*this), max_team_lanes, barrier_teams, launch_));
    return launch_;
  }
  void take() override {
    submit(queue(), "overheads/league_barrier", policy_of(exec_, launch_),
           Meet{count_.data(), sent_.data(), word_.data(), problem_.repeats, launch_.team * launch_.vector});
  }

 private:
  [[nodiscard]] Launch defaults() const override {
    return on_gpu ? KokkosShard::defaults() : Launch{0, limits(queue()).team_times_vector, 1};
  }
  Array<double> sent_;  ///< [2 x teams], by parity of the round
  Array<unsigned> word_;
};

const RegisterRounds<Launches> launch{"launch", model, Loop::host, Clock::host, recordable};
const RegisterRounds<Launches> kernel{"kernel", model, Loop::host, Clock::device, recordable};
const RegisterRounds<Launches> fence{"fence", model, Loop::fenced, Clock::host};
const RegisterRounds<Allocations> allocation{"allocation", model, Loop::host, Clock::host};
const RegisterSums<TeamSums> team_reduction{"team_reduction", model};
const RegisterSums<SubgroupSums> subgroup_reduction{"subgroup_reduction", model};
const RegisterRounds<Barriers> league_barrier{"league_barrier", model, Loop::kernel, Clock::device};

}  // namespace
}  // namespace league::kokkos::overheads
