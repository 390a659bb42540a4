// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/kokkos_part.hpp"

// The passes of `unfused`, all rows each: logits, what is left of the labels, gradient. A thread takes every
// (teams x threads)-th pack of 4 rows (2 in f64), 8 features at a time; on a host, neighbouring blocks of 512 rows.
namespace league::kokkos::logistic_regression {

/// Calls `body(pack)` for the packs of a thread.
template <class T, class Barrier, class Body>
KOKKOS_INLINE_FUNCTION void for_packs(const Rows<T>& rows, const Lanes<Barrier>& team, std::int64_t rank,
                                      std::int64_t teams, const Body& body) {
  const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
  for (std::int64_t pack = rank * team.count + team.lane; pack < packs; pack += teams * team.count) body(pack);
}

template <class T>
void logits_of(const Exec& exec, Launch launch, Rows<T> rows, State state, blocks::Pack<T, 16>* logits) {
  constexpr int most = LogisticRegression::most_features + 1;
  const int threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "logistic_regression/logits", bounded_policy<1, T>(exec, launch, 0, most), KOKKOS_LAMBDA(const Member& member) {
        T* weights = scratch_of<T>(member, most);
        const auto team = team_lanes(member, threads);
        if (state.control[is_stopped] != 0) return;
        load_weights(team, state, rows.features, most, weights);
        for_packs(rows, team, member.league_rank(), member.league_size(),
                  [&](std::int64_t pack) { logits[pack] = pack_logits(rows, pack, weights); });
      });
}

/// In place. The intercept is added to the logits first, where they came without it.
template <class T>
struct Terms {
  Rows<T> rows;
  State state;
  bool add_intercept;
  blocks::Pack<T, 16>* logits;
  double* partials;
  int threads;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    double* scratch = scratch_of<double>(member, scratch_size(2, threads));
    const auto team = team_lanes(member, threads);
    if (state.control[is_stopped] != 0) return;
    const T intercept = add_intercept ? static_cast<T>(state.theta[0]) : T{0};
    ThreadSum<T> mine[2];
    for_packs(rows, team, member.league_rank(), member.league_size(),
              [&](std::int64_t pack) { logits[pack] = pack_terms(rows, pack, logits[pack], intercept, mine); });
    double* partial = partials + std::int64_t{member.league_rank()} * gradient_sums(rows.features);
    team_sums<2>(
        team, [&](int i) { return mine[i].value(); }, scratch, [&](int i, int, double sum) { partial[i] = sum; });
  }
};

template <class T>
void gradient_of(const Exec& exec, Launch launch, Rows<T> rows, State state, const blocks::Pack<T, 16>* excess,
                 double* partials) {
  const int threads = launch.team * launch.vector;
  Kokkos::parallel_for(
      "logistic_regression/gradient", bounded_policy(exec, launch, scratch_size(features_a_pass, threads)),
      KOKKOS_LAMBDA(const Member& member) {
        double* scratch = scratch_of<double>(member, scratch_size(features_a_pass, threads));
        const auto team = team_lanes(member, threads);
        if (state.control[is_stopped] != 0) return;
        double* partial = partials + std::int64_t{member.league_rank()} * gradient_sums(rows.features) + 2;
        for (int d = 0; d < rows.features; d += features_a_pass) {
          ThreadSum<T> mine[features_a_pass];
          for_packs(rows, team, member.league_rank(), member.league_size(),
                    [&](std::int64_t pack) { pack_gradient(rows, pack, d, excess[pack], mine); });
          team_sums<features_a_pass>(
              team, [&](int i) { return mine[i].value(); }, scratch,
              [&](int i, int, double sum) {
                if (d + i < rows.features) partial[d + i] = sum;
              });
        }
      });
}

/// One team: the sums of all teams; where a library has added up the gradient, `gradient` [features] instead of theirs.
template <class T>
struct Finish {
  int features;
  State state;
  std::int64_t teams;
  const double* partials;
  const T* gradient;
  double* sums;
  int threads;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    double* scratch = scratch_of<double>(member, scratch_size(gradient_sums(features), threads));
    const auto team = team_lanes(member, threads);
    if (state.control[is_stopped] != 0) return;
    const int n = gradient_sums(features);
    add_partials(team, gradient == nullptr ? n : 2, teams, n, partials, scratch, sums);
    for (int d = team.lane; gradient != nullptr && d < features; d += team.count)
      sums[d + 2] = static_cast<double>(gradient[d]);
  }
};

/// What our own kernels and a library share.
template <class T>
class UnfusedPart : public PortablePart<T> {
 public:
  UnfusedPart(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : PortablePart<T>(problem, context, shard, shard.rows.size() * std::int64_t{sizeof(T)}),
        excess_(this->exec_, "logistic_regression/excess", this->pitch_) {}
  void upload() override {
    PortablePart<T>::upload();
    excess_.poison();  // a library leaves what lies behind the last row
  }
  void update() override { this->descend_alone(); }

 protected:
  Launch choose(Launch launch) {
    launch_ = this->resolve_for(launch, most_threads, 4, [](int threads) { return rows_at_once<T> * threads; });
    teams_ = on_gpu ? launch_.league : std::int64_t{launch_.league} * launch_.team;
    this->make_partials(teams_, gradient_sums(this->features_));
    return launch_;
  }
  void terms(bool add_intercept) {
    const Rows<T> rows = this->all_rows();
    T* excess = excess_.data();
    if constexpr (on_gpu)
      Kokkos::parallel_for(
          "logistic_regression/terms", bounded_policy(this->exec_, launch_, scratch_size(2, launch_threads())),
          Terms<T>{rows, this->state(), add_intercept, packs(), this->partials_.data(), launch_threads()});
    else
      host_accumulate(this->exec_, "logistic_regression/terms", launch_, this->state(), rows.count,
                      gradient_sums(this->features_), this->partials_.data(),
                      [=, intercept = add_intercept ? this->theta_.data() : nullptr](Blocks blocks, double* sums) {
                        host_terms_of_rows(rows, blocks, excess, sums, intercept);
                      });
  }
  void finish(const T* gradient) {
    const Launch one = this->small(most_threads);
    Kokkos::parallel_for("logistic_regression/finish",
                         bounded_policy(this->exec_, one, scratch_size(gradient_sums(this->features_), one.team)),
                         Finish<T>{this->features_, this->state(), teams_, this->partials_.data(), gradient,
                                   this->sums_.data(), one.team});
  }
  [[nodiscard]] int launch_threads() const { return launch_.team * launch_.vector; }
  [[nodiscard]] blocks::Pack<T, 16>* packs() { return reinterpret_cast<blocks::Pack<T, 16>*>(excess_.data()); }
  Launch launch_;
  std::int64_t teams_ = 1;
  Array<T> excess_;
};

}  // namespace league::kokkos::logistic_regression
