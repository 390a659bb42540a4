// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the field summary of everythingsreduced (University of Bristol, src/kokkos/field_summary.cpp), several sums in
// one reduction, written anew for as many as there are features.
#include "algorithms/linear_regression/common/kokkos.hpp"

#include "backends/kokkos/flat.hpp"

namespace league::kokkos::linear_regression {
namespace {

/// The terms of a row, added to an array of sums.
template <class T>
struct AddRow {
  using value_type = double[];  // Kokkos' reduction of an array, whose length is known at run time
  unsigned value_count;
  Vector<const T> x[LinearRegression::max_features], y;
  Values<const double> theta;

  KOKKOS_FUNCTION void operator()(std::int64_t row, double* sums) const {
    const int features = static_cast<int>(value_count) - 2;
    T error = static_cast<T>(theta(features)) - y(row);
    for (int f = 0; f < features; ++f) error += static_cast<T>(theta(f)) * x[f](row);
    for (int f = 0; f < features; ++f) sums[f] += static_cast<double>(error) * static_cast<double>(x[f](row));
    sums[features] += static_cast<double>(error);
    sums[features + 1] += static_cast<double>(error) * static_cast<double>(error);
  }
};

template <class T>
class Flat final : public KokkosShard {
 public:
  Flat(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, problem.features), rows_(*this, problem) {}
  Launch configure(Launch launch) override { return launch_ = resolve_flat(launch); }
  void accumulate() const override {
    const Columns<T> data = rows_.here();
    const auto rows = static_cast<std::size_t>(data.rows);
    AddRow<T> body{.value_count = static_cast<unsigned>(data.features) + 2,
                   .y = Vector<const T>(data.y, rows),
                   .theta = theta_.view()};
    for (int f = 0; f < data.features; ++f) body.x[f] = Vector<const T>(data.x[f], rows);
    queue().submit([this, body, count = data.rows] {
      with_range(exec_, launch_.team, count, [&](const auto& range) {
        Kokkos::parallel_reduce("linear_regression/flat", range, body, Values<double>(sums_.view()));
      });
    });
  }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
};

const RegisterSolve<LinearRegression> flat{"flat", written_once(model), by_type<Flat>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::linear_regression
