// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/common/kokkos.hpp"

#include "algorithms/logistic_regression/common/features.hpp"
#include "algorithms/logistic_regression/common/kokkos_sums.hpp"
#include "algorithms/logistic_regression/common/row.hpp"

// Three passes, as libraries take them: logits, terms, gradient. A lane takes packs of rows.
namespace league::logistic::kokkos_model {
namespace {

// A lane keeps `sums` partial sums of a value side by side in the data's type, for `depth` packs, then in double.
template <class T>
constexpr Numbers numbers =
    blocks::by_kind({.width = 16 / int{sizeof(T)}, .depth = 4, .sums = 1, .team = 256, .teams = 3},
                    {.width = 64 / int{sizeof(T)}, .depth = 8, .sums = 64 / int{sizeof(T)}, .team = 1});
constexpr int max_lanes = 256;
constexpr int at_once = 8;  ///< features of a gradient pass

template <class T>
constexpr int width = numbers<T>.width;

/// The share of a lane of a league in the packs.
struct Worker {
  std::int64_t rank, of;
  KOKKOS_FORCEINLINE_FUNCTION Worker(const Member& team, int lane, int lanes)
      : rank(std::int64_t{team.league_rank()} * lanes + lane), of(std::int64_t{team.league_size()} * lanes) {}
};

/// The sums of `n` values over a lane's packs, whose terms `add(pack, sums)` adds.
template <class T, int n, class Add>
KOKKOS_FORCEINLINE_FUNCTION void add_packs(Worker worker, std::int64_t packs, double (&total)[n], const Add& add) {
  PackSums<T, n, width<T>, numbers<T>.sums> sums;
  const auto mine = blocks::share(worker.rank, worker.of, packs);
  std::int64_t pack = mine.first;
  while (pack < mine.end) {
    for (int step = 0; step < numbers<T>.depth && pack < mine.end; ++step, pack += mine.stride) add(pack, sums);
    sums.flush(n);
  }
  sums.leave(total);
}

template <class T>
using OfRows = blocks::Packs<T, width<T>>;

template <class T, class Policy>
void logits_of(Queue& queue, const Policy& policy, int lanes, const Rows<T, width<T>>& rows, const State& state,
               const OfRows<T>& logits) {
  kokkos::submit(
      queue, "logistic_regression/logits", policy, KOKKOS_LAMBDA(const Member& team) {
        if (state.stopped()) return;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
          const Worker worker(team, lane, lanes);
          const auto mine = blocks::share(worker.rank, worker.of, rows.packs);
          for (std::int64_t pack = mine.first; pack < mine.end; pack += mine.stride) {
            blocks::PackOf<T, width<T>> z;
            for (int k = 0; k < width<T>; ++k) z.values[k] = static_cast<T>(state.theta(0));
            for (int d = 0; d < rows.features; ++d) {
              const T weight = static_cast<T>(state.theta(d + 1));
              const blocks::LoadedPack<T, width<T>> x = rows.columns(d * rows.packs + pack);
              LEAGUE_VECTORISED
              for (int k = 0; k < width<T>; ++k) z.values[k] += weight * x.values[k];
            }
            logits(pack) = z;
          }
        });
      });
}

// Logits become residuals, 0 where there is no row; the sums of loss and residuals.
template <class T, class Policy>
void terms_of(Queue& queue, const Policy& policy, int lanes, const Rows<T, width<T>>& rows, const State& state,
              const OfRows<T>& logits, const Vector<double>& partials, const Vector<unsigned>& ticket) {
  kokkos::submit(
      queue, "logistic_regression/terms", policy, KOKKOS_LAMBDA(const Member& team) {
        if (state.stopped()) return;
        const auto add = [&](std::int64_t pack, auto& sums) {
          const auto z = logits(pack);
          T y[width<T>];
          rows.labels_of(pack, y);
          const std::int64_t rest = rows.count - pack * width<T>;
          const int left = rest < width<T> ? static_cast<int>(rest) : width<T>;
          T loss[width<T>];
          blocks::PackOf<T, width<T>> residual;
          LEAGUE_VECTORISED
          for (int k = 0; k < width<T>; ++k) {
            const RowTerms<T> of_row = row_terms(z.values[k], y[k]);
            loss[k] = of_row.loss;
            residual.values[k] = of_row.residual;
          }
          LEAGUE_VECTORISED
          for (int k = 0; k < width<T>; ++k) {
            loss[k] = k < left ? loss[k] : T{0};
            residual.values[k] = k < left ? residual.values[k] : T{0};
          }
          sums.add(0, loss);
          sums.add(1, residual.values);
          logits(pack) = residual;
        };
        blocks::TeamSums<2>(team, lanes)
            .over_league(
                partials, ticket,
                [&](int lane, double (&mine)[2]) { add_packs<T>(Worker(team, lane, lanes), rows.packs, mine, add); },
                [&](int i, double sum) { state.sums(i) = sum; });
      });
}

// The gradient of up to `known` features from `first` on; those that are not there repeat the last one.
template <class T, int known, class Policy>
void gradient_of_some(Queue& queue, const Policy& policy, int lanes, const Rows<T, width<T>>& rows, const State& state,
                      int first, const OfRows<T>& residuals, const Vector<double>& partials,
                      const Vector<unsigned>& ticket) {
  kokkos::submit(
      queue, "logistic_regression/gradient", policy, KOKKOS_LAMBDA(const Member& team) {
        if (state.stopped()) return;
        const int last = rows.features - 1;
        const auto add = [&](std::int64_t pack, auto& sums) {
          const blocks::LoadedPack<T, width<T>> residual = residuals(pack);
          for (int i = 0; i < known; ++i) {
            const blocks::LoadedPack<T, width<T>> x =
                rows.columns((first + i < last ? first + i : last) * rows.packs + pack);
            T terms[width<T>];
            LEAGUE_VECTORISED
            for (int k = 0; k < width<T>; ++k) terms[k] = residual.values[k] * x.values[k];
            sums.add(i, terms);
          }
        };
        blocks::TeamSums<known>(team, lanes)
            .over_league(
                partials, ticket,
                [&](int lane, double (&mine)[known]) {
                  add_packs<T>(Worker(team, lane, lanes), rows.packs, mine, add);
                },
                [&](int i, double sum) {
                  if (first + i <= last) state.sums(gradient_at(first + i + 1)) = sum;
                });
      });
}

template <class T>
class Unfused final : public Solve<T, width<T>> {
  using Base = Solve<T, width<T>>;

 public:
  Unfused(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard) {
    Base::declare(residuals_, "logistic_regression/residual", Base::all_rows().packs * width<T>);
  }
  Launch configure(Launch launch) override {
    launch_ = Base::template planned<at_once>(launch, numbers<T>, max_lanes);
    Base::declare(partials_, "logistic_regression/partials", std::int64_t{launch_.league} * at_once);
    Base::declare_zeroed(ticket_, "logistic_regression/ticket", 1);
    return launch_;
  }
  void accumulate() const override {
    const auto rows = Base::all_rows();
    const State state = Base::state();
    const auto residuals = blocks::packs<width<T>>(residuals_.view());
    const int lanes = launch_.team * launch_.vector;
    const auto policy = Base::template policy<at_once, max_lanes, numbers<T>.teams>(launch_);
    logits_of<T>(Base::queue(), policy, lanes, rows, state, residuals);
    terms_of<T>(Base::queue(), policy, lanes, rows, state, residuals, partials_.view(), ticket_.view());
    for (int first = 0; first < rows.features; first += at_once)
      with_features(std::min(rows.features - first, at_once), [&]<int known>() {
        if constexpr (known <= at_once)
          gradient_of_some<T, known>(Base::queue(), policy, lanes, rows, state, first, residuals, partials_.view(),
                                     ticket_.view());
      });
  }

 private:
  Launch launch_;
  kokkos::Array<T> residuals_;
  kokkos::Array<double> partials_;
  kokkos::Array<unsigned> ticket_;
};

const RegisterSolve<LogisticRegression> unfused{
    "unfused",
    written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers<T>); }),
    by_type<Unfused>,
    {Execution::stream}};

}  // namespace
}  // namespace league::logistic::kokkos_model
