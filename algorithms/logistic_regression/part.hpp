// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/budget.hpp"
#include "algorithms/logistic_regression/pack_rows.hpp"
#include "algorithms/solve.hpp"
#include "backends/launch.hpp"

namespace league::logistic {

/// The rows of a shard and the state of a solve, in the arrays of a model: `make.template operator()<T>(label, size)`
/// allocates one.
template <template <class> class Array, class T>
class LogisticPart : public StepPart {
 public:
  void upload() override {
    ShardPart::upload();
    const auto first = static_cast<std::size_t>(rows().begin), count = static_cast<std::size_t>(rows().size());
    const auto all = static_cast<std::size_t>(host_columns_.row_size());
    if (pitch_ > rows().size()) {  // kernels load the rows behind the last as well, and must not use them
      columns_.poison();
      labels_.poison();
    }
    for (int d = 0; d < features_; ++d)
      columns_.copy_from(host_columns_.values<const T>().subspan(static_cast<std::size_t>(d) * all + first, count),
                         d * pitch_);
    labels_.copy_from(host_labels_.values<const std::uint8_t>().subspan(first, count));
  }
  [[nodiscard]] std::span<double> sums() override { return {sums_.data(), static_cast<std::size_t>(sums_.size())}; }

 protected:
  /// `extra_bytes`: what the method keeps beside rows and state.
  template <class Make>
  LogisticPart(const LogisticRegression& problem, const Context& context, const Shard& shard, const Make& make,
               std::int64_t extra_bytes = 0)
      : StepPart(context, shard),
        features_(problem.features),
        alone_(context.shards.size() == 1),
        rule_(rule_of(problem)),
        pitch_(require(problem, context, extra_bytes)),
        host_columns_(problem.columns),
        host_labels_(problem.labels),
        columns_(make.template operator()<T>("columns", features_ * pitch_)),
        labels_(make.template operator()<std::uint8_t>("labels", pitch_)),
        theta_(make.template operator()<double>("theta", features_ + 1)),
        loss_(make.template operator()<double>("loss", problem.steps)),
        accepted_(make.template operator()<double>("accepted", problem.newton ? 2 * features_ + 3 : 0)),
        sums_(make.template operator()<double>("sums",
                                               problem.newton ? newton_sums(features_) : gradient_sums(features_))),
        taken_(make.template operator()<std::int64_t>("taken", 1)),
        control_(make.template operator()<std::int64_t>("control", controls)) {
    whole_output(theta_, LogisticRegression::theta);
    whole_output(loss_, LogisticRegression::loss);
    whole_output(taken_, LogisticRegression::steps_taken);
  }

  [[nodiscard]] Rows<T> all_rows() const { return {columns_.data(), labels_.data(), rows().size(), pitch_, features_}; }
  [[nodiscard]] State state() {
    return {theta_.data(), loss_.data(), taken_.data(), sums_.data(), control_.data(), accepted_.data()};
  }

  int features_;
  bool alone_;  ///< no other shard: the sums of these rows are those of all
  Rule rule_;
  std::int64_t pitch_;

 private:
  static constexpr std::int64_t granule = 4;  ///< rows: columns begin at 16 bytes
  std::int64_t require(const LogisticRegression& problem, const Context& context, std::int64_t extra_bytes) const {
    const std::int64_t pitch = ceil_div(rows().size(), granule) * granule;
    require_memory(pitch * (problem.features * std::int64_t{sizeof(T)} + 1) + 8 * problem.steps + extra_bytes,
                   context.memory_budget_bytes);
    return pitch;
  }
  HostArray host_columns_, host_labels_;

 protected:
  Array<T> columns_;
  Array<std::uint8_t> labels_;
  Array<double> theta_, loss_, accepted_, sums_;
  Array<std::int64_t> taken_, control_;
};

/// Multiprocessors of a GPU, as its backend tells them.
inline int multiprocessors(const Runtime& runtime, Device device) {
  for (const auto& [key, value] : runtime.info(device).facts)
    if (key == "multiprocessors") return std::stoi(value);
  return 1;
}

/// Calls `body.template operator()<D>()` with the least of the feature counts that kernels are made for.
template <class Body>
void with_features(int features, const Body& body) {
  if (features <= 4) return body.template operator()<4>();
  if (features <= 8) return body.template operator()<8>();
  if (features <= 16) return body.template operator()<16>();
  if (features <= 32) return body.template operator()<32>();
  body.template operator()<64>();
}

}  // namespace league::logistic
