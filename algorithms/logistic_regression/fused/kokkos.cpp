// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/team_sums_kokkos.hpp"
#include "algorithms/blocks/vectorised.hpp"
#include "algorithms/logistic_regression/common/features.hpp"
#include "algorithms/logistic_regression/common/kokkos.hpp"
#include "algorithms/logistic_regression/common/row.hpp"

namespace league::logistic::kokkos_model {
namespace {

// A lane takes `width` neighbouring rows: a load of 16 bytes on a GPU, a cache line on a host, whose vector registers
// hold as many sums side by side for `depth` packs, before they are added in double.
template <class T>
constexpr Numbers numbers =
    blocks::by_kind({.width = 16 / int{sizeof(T)}, .depth = 1, .sums = 1, .team = 256, .teams = 2},
                    {.width = 64 / int{sizeof(T)}, .depth = 8, .sums = 64 / int{sizeof(T)}, .team = 1});
constexpr int max_lanes = 256;

/// Sums in the data's type, `side` of them next to each other for each of n.
template <class T, int n, int width, int side>
struct Parts {
  T values[n][side] = {};

  KOKKOS_FORCEINLINE_FUNCTION void add(int i, const T (&terms)[width]) {
    constexpr int runs = width / side;
    T sums[side];
    LEAGUE_VECTORISED
    for (int s = 0; s < side; ++s) {
      sums[s] = terms[s];
      for (int run = 1; run < runs; ++run) sums[s] += terms[run * side + s];
    }
    LEAGUE_VECTORISED
    for (int s = 0; s < side; ++s) values[i][s] += sums[s];
  }
  KOKKOS_FORCEINLINE_FUNCTION void flush(double (&total)[n], int used) {
    for (int i = 0; i < n; ++i) {
      if (i >= used) break;
      for (int half = side / 2; half > 0; half /= 2)
        for (int s = 0; s < half; ++s) values[i][s] += values[i][s + half];
      total[i] += values[i][0];
      LEAGUE_VECTORISED
      for (int s = 0; s < side; ++s) values[i][s] = 0;
    }
  }
};

/// The sums of a lane's packs, of `known` features or fewer.
template <int known, class T, int width>
KOKKOS_FORCEINLINE_FUNCTION void add_rows(const Rows<T, width>& rows, const State& state, std::int64_t worker,
                                          std::int64_t workers, double (&total)[known + 2]) {
  constexpr int depth = numbers<T>.depth, side = numbers<T>.sums;
  for (double& sum : total) sum = 0;
  T weights[known + 1];
  for (int j = 0; j <= known; ++j) weights[j] = j <= rows.features ? static_cast<T>(state.theta(j)) : T{0};
  Parts<T, known + 2, width, side> parts;
  const auto mine = blocks::share(worker, workers, rows.packs);
  std::int64_t pack = mine.first;
  while (pack < mine.end) {
    for (int step = 0; step < depth && pack < mine.end; ++step, pack += mine.stride) {
      T logits[width], losses[width], terms[width];
      for (int k = 0; k < width; ++k) logits[k] = weights[0];
      for (int d = 0; d < known; ++d) {
        if (d >= rows.features) break;
        const auto x = rows.columns(d * rows.packs + pack);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) logits[k] += weights[d + 1] * x.values[k];
      }
      const auto labels = rows.labels(pack);
      const int left = rows.count - pack * width < width ? static_cast<int>(rows.count - pack * width) : width;
      for (int k = 0; k < width; ++k) terms[k] = static_cast<T>(labels.values[k]);
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) {
        const RowTerms<T> of_row = row_terms(logits[k], terms[k]);
        losses[k] = of_row.loss;
        logits[k] = of_row.residual;
      }
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) {
        losses[k] = k < left ? losses[k] : T{0};
        logits[k] = k < left ? logits[k] : T{0};
      }
      parts.add(0, losses);
      parts.add(1, logits);
      for (int d = 0; d < known; ++d) {
        if (d >= rows.features) break;
        const auto x = rows.columns(d * rows.packs + pack);
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) terms[k] = logits[k] * x.values[k];
        parts.add(d + 2, terms);
      }
    }
    parts.flush(total, rows.features + 2);
  }
}

// A team adds the sums of its lanes once, at its end; the last team to arrive adds those of all.
template <int known, class T, int width>
void accumulate_rows(Queue& queue, const Exec& exec, Launch launch, const Rows<T, width>& rows, const State& state,
                     const Vector<double>& partials, const Vector<unsigned>& ticket) {
  using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(numbers<T>.teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  using Sums = blocks::TeamSums<known + 2>;
  const int lanes = launch.team * launch.vector;
  kokkos::submit(
      queue, "logistic_regression/fused",
      Policy(exec, launch.league, launch.team, launch.vector)
          .set_scratch_size(Sums::level, Kokkos::PerTeam(Sums::bytes(lanes))),
      KOKKOS_LAMBDA(const Member& team) {
        if (state.stopped()) return;
        Sums(team, lanes)
            .over_league(
                partials, ticket,
                [&](int lane, double (&mine)[known + 2]) {
                  add_rows<known>(rows, state, std::int64_t{team.league_rank()} * lanes + lane,
                                  std::int64_t{team.league_size()} * lanes, mine);
                },
                [&](int i, double sum) {
                  if (i < rows.features + 2) state.sums(i) = sum;
                });
      });
}

template <class T>
class Fused final : public Solve<T, numbers<T>.width> {
  using Base = Solve<T, numbers<T>.width>;

 public:
  using Base::Base;
  /// As many teams as the device holds at once, no larger than their scratch memory allows.
  Launch configure(Launch launch) override {
    with_features(Base::features(), [&]<int known>() {
      using Sums = blocks::TeamSums<known + 2>;
      LaunchLimits most = kokkos::limits(Base::queue());
      most.team_times_vector = std::min(most.team_times_vector, max_lanes);
      const auto scratch = static_cast<std::size_t>(Team::scratch_size_max(Sums::level));
      int team = std::min(numbers<T>.team, most.team_times_vector);
      while (team > 1 && Sums::bytes(team) > scratch) team /= 2;
      launch_ = resolve(launch, {0, team, 1}, most);
      const int lanes = launch_.team * launch_.vector;
      league::require_scratch(Sums::bytes(lanes), scratch, "the sums of this team");
      launch_.tile = numbers<T>.width * lanes;
      if (launch_.league == 0)
        launch_.league = static_cast<int>(
            std::clamp<std::int64_t>(ceil_div<std::int64_t>(Base::rows().size(), launch_.tile), 1,
                                     std::max(1, blocks::lanes_at_once(Base::exec_, numbers<T>, max_lanes) / lanes)));
      Base::declare(partials_, "logistic_regression/partials", std::int64_t{launch_.league} * (known + 2));
    });
    Base::declare_zeroed(ticket_, "logistic_regression/ticket", 1);
    return launch_;
  }
  void accumulate() const override {
    with_features(Base::features(), [&]<int known>() {
      accumulate_rows<known>(Base::queue(), Base::exec_, launch_, Base::all_rows(), Base::state(), partials_.view(),
                             ticket_.view());
    });
  }

 private:
  Launch launch_;
  kokkos::Array<double> partials_;
  kokkos::Array<unsigned> ticket_;
};

const RegisterSolve<LogisticRegression> fused{
    "fused", written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers<T>); }),
    by_type<Fused>};

}  // namespace
}  // namespace league::logistic::kokkos_model
