// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/common/kokkos_specialised.hpp"

// The passes of `unfused` over all rows: logits, residuals, gradient. A thread takes every
// (teams x threads)-th pack of 4 rows (2 in f64), 8 features at a time; on a host, neighbouring blocks of 512 rows.
namespace league::kokkos::logistic_regression {

/// Calls `body(pack)` for the packs of a thread.
template <class T, class Barrier, class Body>
KOKKOS_INLINE_FUNCTION void for_packs(const Rows<T>& rows, const Group<Barrier>& team, std::int64_t rank,
                                      std::int64_t teams, const Body& body) {
  const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
  for (std::int64_t pack = rank * team.size + team.rank; pack < packs; pack += teams * team.size) body(pack);
}

/// Logits to residuals, in place. The intercept is added first, if the logits lack it.
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
    const auto team = team_group(member, threads);
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

/// One team: adds the partials of all teams. If a library has computed the gradient, `gradient` [features] replaces
/// them.
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
    const auto team = team_group(member, threads);
    if (state.control[is_stopped] != 0) return;
    const int n = gradient_sums(features);
    add_partials(team, gradient == nullptr ? n : 2, teams, n, partials, scratch, sums);
    for (int d = team.rank; gradient != nullptr && d < features; d += team.size)
      sums[d + 2] = static_cast<double>(gradient[d]);
  }
};

/// Memory for our own kernels and for a library.
template <class T>
struct UnfusedMemory {
  UnfusedMemory(VariantShard& shard, const LogisticRegression& problem) : rows(shard, problem) {
    rows.declare_padded(residual, "logistic_regression/residual", rows.pitch);
  }
  Launch choose(Launch requested) {
    launch = resolve_for(rows.shard, requested, max_threads, 4, [](int all) { return rows_at_once<T> * all; });
    teams = on_gpu ? launch.league : std::int64_t{launch.league} * launch.team;
    rows.declare_partials(teams, gradient_sums(rows.features));
    return launch;
  }
  [[nodiscard]] int threads() const { return launch.team * launch.vector; }
  [[nodiscard]] blocks::Pack<T, 16>* packs() const { return reinterpret_cast<blocks::Pack<T, 16>*>(residual.data()); }

  SolveMemory<Array, T> rows;
  Launch launch;
  std::int64_t teams = 1;
  Array<T> residual;
};

template <class T>
void put_terms(const Exec& exec, const UnfusedMemory<T>& memory, bool add_intercept) {
  const Rows<T> rows = memory.rows.all_rows();
  const State state = memory.rows.state();
  double* partials = memory.rows.partials.data();
  Queue& queue = memory.rows.shard.queue();
  if constexpr (on_gpu)
    submit(queue, "logistic_regression/terms", bounded_policy(exec, memory.launch, scratch_size(2, memory.threads())),
           Terms<T>{rows, state, add_intercept, memory.packs(), partials, memory.threads()});
  else
    host_accumulate(queue, exec, "logistic_regression/terms", memory.launch, state, rows.count,
                    gradient_sums(rows.features), partials,
                    [rows, residual = memory.residual.data(), intercept = add_intercept ? state.theta : nullptr](
                        Blocks blocks, double* sums) { host_terms_of_rows(rows, blocks, residual, sums, intercept); });
}

template <class T>
void finish(const Exec& exec, const UnfusedMemory<T>& memory, const T* gradient) {
  const SolveMemory<Array, T>& rows = memory.rows;
  const Launch one = small(max_threads);
  submit(
      rows.shard.queue(), "logistic_regression/finish",
      bounded_policy(exec, one, scratch_size(gradient_sums(rows.features), one.team)),
      Finish<T>{rows.features, rows.state(), memory.teams, rows.partials.data(), gradient, rows.sums.data(), one.team});
}

}  // namespace league::kokkos::logistic_regression
