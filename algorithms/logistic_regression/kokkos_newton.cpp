// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/kokkos_part.hpp"
#include "algorithms/logistic_regression/newton_rows.hpp"

// Up to 8 features a thread takes neighbouring rows and keeps all sums of its own; beyond, a team takes tiles of 64
// rows (32 in f64), a thread a square of the Hessian. Then a team a sum adds those of all teams, and one team makes the
// step. On a host a thread takes neighbouring blocks of 512 rows.
namespace league::kokkos::logistic_regression {
namespace {

template <class T, int features>
void newton_rows(const Exec& exec, Launch launch, Rows<T> rows, State state, double* partials) {
  constexpr int n = newton_values<features>;
  const int threads = launch.team * launch.vector;
  const auto policy = bounded_policy<1, T>(exec, launch, scratch_size(n, threads), features + 1);
  Kokkos::parallel_for(
      "logistic_regression/newton", policy, KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, scratch_size(n, threads));
        T* weights = scratch_of<T>(member, features + 1);
        const auto team = team_lanes(member, threads);
        const std::int64_t rank = member.league_rank(), teams = member.league_size();
        if (state.control[is_stopped] != 0) return;
        load_weights(team, state, rows.features, features + 1, weights);
        ThreadSum<T> mine[n];
        const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
        for (std::int64_t pack = rank * team.count + team.lane; pack < packs; pack += teams * team.count)
          add_hessian(Neighbours<T, features>(rows, pack, 0), weights, mine);
        team_sums<n>(
            team, [&](int i) { return mine[i].value(); }, scratch,
            [&](int i, int, double sum) {
              const int place = newton_place<features>(i, rows.features);
              if (place >= 0) partials[place * teams + rank] = sum;
            });
      });
}

template <class T>
void newton_tiles(const Exec& exec, Launch launch, Rows<T> rows, State state, double* partials) {
  const int threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "logistic_regression/newton", bounded_policy(exec, launch, tiles_scratch<T>(rows.features, threads)),
      KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, tiles_scratch<T>(rows.features, threads));
        const auto team = team_lanes(member, threads);
        if (state.control[is_stopped] != 0) return;
        add_tiles(team, rows, state.theta, member.league_rank(), member.league_size(), scratch, partials);
      });
}

/// A team adds `count` neighbours. (A template: hosts do without.)
template <class E>
void add_rows_of(const E& exec, Launch launch, State state, std::int64_t count, const double* partials, double* sums) {
  const int threads = launch.team;
  Kokkos::parallel_for(
      "logistic_regression/add_rows", bounded_policy(exec, launch, scratch_size(1, threads)),
      KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, scratch_size(1, threads));
        const auto team = team_lanes(member, threads);
        const std::int64_t rank = member.league_rank();
        if (state.control[is_stopped] != 0) return;
        double mine = 0;
        for (std::int64_t i = team.lane; i < count; i += team.count) mine += partials[rank * count + i];
        team_sums<1>(team, [&](int) { return mine; }, scratch, [&](int, int, double sum) { sums[rank] = sum; });
      });
}

void newton_once(const Exec& exec, Launch launch, Rule rule, State state) {
  const int doubles = newton_scratch(rule.features), threads = launch.team;
  Kokkos::parallel_for(
      "logistic_regression/newton_step", bounded_policy(exec, launch, doubles), KOKKOS_LAMBDA(const Member& member) {
        newton_step(team_lanes(member, threads), rule, state, scratch_of<double>(member, doubles));
      });
}

template <class T>
class Newton final : public PortablePart<T> {
 public:
  Newton(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : PortablePart<T>(problem, context, shard) {}
  Launch configure(Launch launch) override {
    if (!on_gpu || in_threads()) {
      launch_ = this->resolve_for(launch, most_threads, 1, [](int all) { return rows_at_once<T> * all; });
    } else {
      launch_ = this->resolve_for(launch, most_threads, 2, [](int) { return Tile<T>::rows; });
      if (threads() < Tile<T>::threads(this->features_))
        throw Unsupported("newton with " + std::to_string(this->features_) + " features takes " +
                          std::to_string(Tile<T>::threads(this->features_)) + " threads of a team together, not " +
                          std::to_string(threads()));
      groups_ = Tile<T>::groups(this->features_, threads());
    }
    this->make_partials(partials_a_sum(), newton_sums(this->features_));
    return launch_;
  }
  void accumulate() override {
    if constexpr (on_gpu) {
      if (in_threads())
        with_few_features([&]<int features>() {
          newton_rows<T, features>(this->exec_, launch_, this->all_rows(), this->state(), this->partials_.data());
        });
      else
        newton_tiles<T>(this->exec_, launch_, this->all_rows(), this->state(), this->partials_.data());
      Launch a_team_a_sum = this->small();
      a_team_a_sum.league = newton_sums(this->features_);
      add_rows_of(this->exec_, a_team_a_sum, this->state(), partials_a_sum(), this->partials_.data(),
                  this->sums_.data());
    } else {
      accumulate_on_host();
    }
  }
  void update() override { newton_once(this->exec_, this->small(most_threads), this->rule_, this->state()); }

 private:
  [[nodiscard]] bool in_threads() const { return this->features_ <= most_features_a_thread; }
  [[nodiscard]] int threads() const { return launch_.team * launch_.vector; }
  [[nodiscard]] std::int64_t partials_a_sum() const {
    return std::int64_t{launch_.league} * (on_gpu ? groups_ : threads());
  }
  template <class Body>
  void with_few_features(const Body& body) {
    if (this->features_ <= 4) return body.template operator()<4>();
    body.template operator()<8>();
  }
  void accumulate_on_host() {
    const Rows<T> rows = this->all_rows();
    const State state = this->state();
    const int n = newton_sums(this->features_);
    host_accumulate(
        this->exec_, "logistic_regression/newton", launch_, state, rows.count, n, this->partials_.data(),
        [=](Blocks blocks, double* sums) { host_add_rows(rows, blocks, state.theta, sums, host_add_newton_block<T>); });
    host_finish(this->exec_, launch_, state, n, this->partials_.data(), this->sums_.data());
  }
  Launch launch_;
  int groups_ = 1;
};

std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Newton<T>>(problem, context, problem.steps, Execution::stepwise); });
}

const Register<LogisticRegression> newton{"newton", kokkos::model, prepare};

}  // namespace
}  // namespace league::kokkos::logistic_regression
