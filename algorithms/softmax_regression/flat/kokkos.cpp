// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the reductions and ranges of Kokkos' Programming Guide (Parallel Dispatch), written anew.
#include "algorithms/softmax_regression/common/kokkos.hpp"

#include "backends/kokkos/flat.hpp"

namespace league::softmax_regression::kokkos_model {
namespace {

/// Turns a row into its residuals, and adds its loss.
template <class T>
struct TakeRow {
  State state;
  Vector<const T> x;
  Vector<const std::int32_t> labels;
  Vector<float> residuals;  ///< [rows of a step x classes]

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& loss) const {
    const int classes = state.rule.classes, pitch = state.rule.pitch;
    const Rows rows = state.rule.own_rows(state.taken(0));
    const std::int64_t row = rows.first + i, z = i * classes;
    if (row >= rows.last) return;
    float largest = no_logit, sum = 0;
    for (int c = 0; c < classes; ++c) {
      float logit = 0;
      for (int f = 0; f < pitch; ++f) logit += static_cast<float>(x(row * pitch + f)) * state.weights(c * pitch + f);
      residuals(z + c) = logit;
      largest = logit > largest ? logit : largest;
    }
    const int label = labels(row);
    loss += static_cast<double>(largest - residuals(z + label));
    for (int c = 0; c < classes; ++c) sum += residuals(z + c) = Kokkos::exp(residuals(z + c) - largest);
    for (int c = 0; c < classes; ++c) residuals(z + c) = residuals(z + c) / sum - (c == label ? 1.0F : 0.0F);
    loss += static_cast<double>(Kokkos::log(sum));
  }
};

/// Adds the residuals of a class times a feature, over the rows of the step; the last column is the loss.
template <class T>
struct AddColumn {
  TakeRow<T> of;
  KOKKOS_FUNCTION void operator()(int column) const {
    const State& state = of.state;
    const std::int64_t step = state.taken(0);
    if (column == state.rule.columns() - 1) {
      state.current(0) = step;
      if (state.rule.l2 > 0) state.sums(column) += state.penalty(step) * state.squares(0, 1);
      return;
    }
    const Rows rows = state.rule.own_rows(step);
    const int pitch = state.rule.pitch, c = column / pitch, f = column % pitch;
    double sum = 0;
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      sum += static_cast<double>(of.residuals((row - rows.first) * state.rule.classes + c)) *
             static_cast<double>(of.x(row * pitch + f));
    state.sums(column) = sum;
  }
};

struct TakeColumn {
  State state;
  KOKKOS_FUNCTION void operator()(int column) const { state.take(state.current(0), column, state.sums(column)); }
};

template <class T>
class Flat final : public Solve<T> {
  using Base = Solve<T>;

 public:
  Flat(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard, problem.pitch) {
    Base::declare(residuals_, "softmax/residuals", Base::max_rows() * problem.classes);
  }
  Launch configure(Launch launch) override { return launch_ = kokkos::resolve_flat(launch); }
  void accumulate() const override {
    const TakeRow<T> rows{Base::state(), Base::x(), Base::labels(), residuals_.view()};
    const int columns = rows.state.rule.columns();
    kokkos::with_range(Base::exec_, launch_.team, Base::max_rows(), [&](const auto& range) {
      Kokkos::parallel_reduce("softmax/flat", range, rows, Kokkos::subview(rows.state.sums, columns - 1));
    });
    kokkos::with_range(Base::exec_, launch_.team, columns, [&](const auto& range) {
      Kokkos::parallel_for("softmax/flat_columns", range, AddColumn<T>{rows});
    });
  }
  void update() const override {
    const State state = Base::state();
    kokkos::with_range(Base::exec_, launch_.team, state.rule.columns(),
                       [&](const auto& range) { Kokkos::parallel_for("softmax/flat_step", range, TakeColumn{state}); });
  }

 private:
  Launch launch_;
  kokkos::Array<float> residuals_;
};

const RegisterSolve<SoftmaxRegression> flat{"flat", written_once(kokkos::model), by_type<Flat>, {Execution::stream}};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
