// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/shard_sums.hpp"
#include "algorithms/drivers/iterative.hpp"
#include "algorithms/logistic_regression/common/features.hpp"
#include "algorithms/logistic_regression/common/pack_rows.hpp"
#include "backends/launch.hpp"

namespace league::logistic {

using blocks::ShardSums;

/// The rows of a shard and the state of a solve, in the arrays of a model.
template <template <class> class Array, class T>
struct SolveMemory {
  SolveMemory(VariantShard& of, const LogisticRegression& problem)
      : shard(of),
        features(problem.features),
        pitch(ceil_div(shard.rows().size(), granule) * granule),
        rule(rule_of(problem)) {
    declare_padded(columns, "logistic_regression/columns", features * pitch);
    declare_padded(labels, "logistic_regression/labels", pitch);
    for (int d = 0; d < features; ++d) shard.input(columns, problem.column<T>(d, shard.rows()), d * pitch);
    shard.input(labels, problem.labels_of(shard.rows()));
    shard.declare(theta, "logistic_regression/theta", features + 1);
    shard.declare(loss, "logistic_regression/loss", problem.steps);
    shard.declare(accepted, "logistic_regression/accepted", problem.newton ? 2 * features + 3 : 0);
    shard.declare(sums, "logistic_regression/sums", problem.newton ? newton_sums(features) : gradient_sums(features));
    shard.declare(taken, "logistic_regression/taken", 1);
    shard.declare(control, "logistic_regression/control", controls);
    shard.whole_output(theta, LogisticRegression::theta);
    shard.whole_output(loss, LogisticRegression::loss);
    shard.whole_output(taken, LogisticRegression::steps_taken);
  }
  /// Kernels load the padding after the last row too, but must not use it: filled with NaN.
  template <class Values>
  void declare_padded(Values& values, const char* label, std::int64_t size) {
    shard.ledger().declare(values, label, size, [&values] { values.poison(); });
  }
  /// For the partial sums of all teams, `a_team` each.
  void declare_partials(std::int64_t teams, int a_team) {
    shard.declare(partials, "logistic_regression/partials", partials_size(teams, a_team));
    shard.declare_zeroed(tickets, "logistic_regression/tickets", tickets_of(teams));
  }
  [[nodiscard]] Rows<T> all_rows() const {
    return {columns.data(), labels.data(), shard.rows().size(), pitch, features};
  }
  [[nodiscard]] State state() const {
    return {theta.data(), loss.data(), taken.data(), sums.data(), control.data(), accepted.data()};
  }
  [[nodiscard]] Buffer buffer() const { return buffer_of(sums.data(), sums.size()); }

  static constexpr std::int64_t granule = 4;  ///< rows: 16-byte alignment of columns
  VariantShard& shard;
  int features;
  std::int64_t pitch;
  Rule rule;
  Array<T> columns;
  Array<std::uint8_t> labels;
  Array<double> theta, loss, accepted, sums, partials;
  Array<std::int64_t> taken, control;
  Array<unsigned> tickets;
};

/// The class for the type of the data.
template <template <class> class P>
static std::unique_ptr<IterativeShard> by_type(const LogisticRegression& problem, const Context& context,
                                               const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IterativeShard> {
    return std::make_unique<P<T>>(problem, context, shard);
  });
}

}  // namespace league::logistic
