// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the reductions with an array of results in Kokkos' Programming Guide (Parallel Dispatch), written anew.
#include "algorithms/logistic_regression/common/kokkos.hpp"

#include "algorithms/logistic_regression/common/row.hpp"
#include "backends/kokkos/flat.hpp"

namespace league::logistic::kokkos_model {
namespace {

/// Adds the loss and the gradient of a row.
template <class T>
struct RowSums {
  using value_type = double[];  // NOLINT(readability-identifier-naming): Kokkos asks for these names
  using size_type = int;        // NOLINT(readability-identifier-naming)
  size_type value_count;        // NOLINT(readability-identifier-naming)
  Rows<T, 1> rows;
  State state;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* sums) const {
    T logit = static_cast<T>(state.theta(0));
    for (int d = 0; d < rows.features; ++d)
      logit += static_cast<T>(state.theta(d + 1)) * rows.columns(d * rows.packs + i).values[0];
    const RowTerms<T> terms = row_terms(logit, static_cast<T>(rows.labels(i).values[0]));
    sums[0] += terms.loss;
    sums[1] += terms.residual;
    for (int d = 0; d < rows.features; ++d) sums[d + 2] += terms.residual * rows.columns(d * rows.packs + i).values[0];
  }
  KOKKOS_FUNCTION void init(double* sums) const {
    for (int i = 0; i < value_count; ++i) sums[i] = 0;
  }
  KOKKOS_FUNCTION void join(double* sums, const double* others) const {
    for (int i = 0; i < value_count; ++i) sums[i] += others[i];
  }
};

template <class T>
class Flat final : public Solve<T, 1> {
  using Base = Solve<T, 1>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override { return launch_ = kokkos::resolve_flat(launch); }
  void accumulate() const override {
    const auto rows = Base::all_rows();
    const State state = Base::state();
    kokkos::with_range(Base::exec_, launch_.team, rows.count, [&](const auto& range) {
      Kokkos::parallel_reduce("logistic_regression/flat", range, RowSums<T>{rows.features + 2, rows, state},
                              state.sums);
    });
  }

 private:
  Launch launch_;
};

const RegisterSolve<LogisticRegression> flat{"flat", written_once(kokkos::model), by_type<Flat>, {Execution::stream}};

}  // namespace
}  // namespace league::logistic::kokkos_model
