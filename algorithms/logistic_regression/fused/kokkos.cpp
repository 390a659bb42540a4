// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/vectorised.hpp"
#include "algorithms/logistic_regression/common/kokkos_solve.hpp"
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

/// The loss, the gradient's intercept and its features.
template <int n>
struct Sums {
  double values[n] = {};
  KOKKOS_FORCEINLINE_FUNCTION Sums& operator+=(const Sums& other) {
    for (int i = 0; i < n; ++i) values[i] += other.values[i];
    return *this;
  }
};

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
  KOKKOS_FORCEINLINE_FUNCTION void flush(Sums<n>& total, int used) {
    for (int i = 0; i < n; ++i) {
      if (i >= used) break;
      for (int half = side / 2; half > 0; half /= 2)
        for (int s = 0; s < half; ++s) values[i][s] += values[i][s + half];
      total.values[i] += values[i][0];
      LEAGUE_VECTORISED
      for (int s = 0; s < side; ++s) values[i][s] = 0;
    }
  }
};

/// The sums of a lane's packs, of `known` features or fewer.
template <int known, class T, int width>
KOKKOS_FORCEINLINE_FUNCTION void add_rows(const Rows<T, width>& rows, const State& state, std::int64_t worker,
                                          std::int64_t workers, Sums<known + 2>& total) {
  constexpr int depth = numbers<T>.depth, side = numbers<T>.sums;
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

// A team adds the sums of its lanes once, at its end.
template <int known, class T, int width>
void accumulate_rows(Queue& queue, const Exec& exec, Launch launch, const Rows<T, width>& rows, const State& state,
                     const Vector<double>& partials) {
  using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(numbers<T>.teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  const int lanes = launch.team * launch.vector, sums = rows.features + 2;
  kokkos::submit(
      queue, "logistic_regression/fused", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        if (state.stopped()) return;
        Sums<known + 2> total;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes),
            [&](int lane, Sums<known + 2>& mine) {
              add_rows<known>(rows, state, std::int64_t{team.league_rank()} * lanes + lane,
                              std::int64_t{team.league_size()} * lanes, mine);
            },
            total);
        blocks::once_per_team(team, [&] {
          for (int i = 0; i < known + 2; ++i)
            if (i < sums) partials(std::int64_t{team.league_rank()} * sums + i) = total.values[i];
        });
      });
}

template <class T>
class Fused final : public Solve<T, numbers<T>.width> {
  using Base = Solve<T, numbers<T>.width>;

 public:
  using Base::Base;
  /// As many teams as the device holds at once.
  Launch configure(Launch launch) override {
    LaunchLimits most = kokkos::limits(Base::queue());
    most.team_times_vector = std::min(most.team_times_vector, max_lanes);
    launch_ = resolve(launch, {0, std::min(numbers<T>.team, most.team_times_vector), 1}, most);
    const int lanes = launch_.team * launch_.vector;
    launch_.tile = numbers<T>.width * lanes;
    if (launch_.league == 0)
      launch_.league = static_cast<int>(
          std::clamp<std::int64_t>(ceil_div<std::int64_t>(Base::rows().size(), launch_.tile), 1,
                                   std::max(1, blocks::lanes_at_once(Base::exec_, numbers<T>, max_lanes) / lanes)));
    Base::declare(partials_, "logistic_regression/partials", std::int64_t{launch_.league} * (Base::features() + 2));
    return launch_;
  }
  void accumulate() const override {
    const auto rows = Base::all_rows();
    const auto run = [&]<int known>() {
      accumulate_rows<known>(Base::queue(), Base::exec_, launch_, rows, Base::state(), partials_.view());
    };
    if (rows.features <= 2)
      run.template operator()<2>();
    else if (rows.features <= 4)
      run.template operator()<4>();
    else if (rows.features <= 8)
      run.template operator()<8>();
    else if (rows.features <= 16)
      run.template operator()<16>();
    else if (rows.features <= 32)
      run.template operator()<32>();
    else
      run.template operator()<64>();
    add_partials(Base::queue(), Base::exec_, Base::state(), partials_.view(), launch_.league);
  }

 private:
  Launch launch_;
  kokkos::Array<double> partials_;
};

template <class T>
std::unique_ptr<IterativeShard> make_fused(const LogisticRegression& problem, const Context& context,
                                           const Shard& shard) {
  return std::make_unique<Fused<T>>(problem, context, shard);
}
const RegisterSolve<LogisticRegression> fused{
    "fused", written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers<T>); }),
    [](const LogisticRegression& problem, const Context& context,
       const Shard& shard) -> std::unique_ptr<IterativeShard> {
      return with_type<float, double>(problem.dtype, [&]<class T>() { return make_fused<T>(problem, context, shard); });
    }};

}  // namespace
}  // namespace league::logistic::kokkos_model
