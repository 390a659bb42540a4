// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/softmax_regression/part.hpp"
#include "backends/host_array.hpp"

namespace league::softmax_regression {

/// A shard on host threads, with a gradient and a loss for each of them.
template <class T>
class HostPart : public SoftmaxPart<T, host::Array> {
 public:
  HostPart(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : SoftmaxPart<T, host::Array>(problem, context, shard, on_queue(context, shard)) {
    this->make_weights(static_cast<int>(problem.pitch), on_queue(context, shard));
  }
  void begin() override {
    std::fill_n(this->theta_.data(), this->theta_.size(), 0.0);
    std::fill_n(this->weights_.data(), this->weights_.size(), 0.0F);
    *this->taken_.data() = 0;
  }
  void update() override {
    const Descent descent = this->descent();
    for (int column = 0; column < descent.columns(); ++column) descent.take(column, this->sums_.data()[column]);
  }

 protected:
  void make_partials(int count) {
    require_memory(this->bytes_ + std::int64_t{count} * partial_pitch() * 8, this->budget_bytes_);
    partial_count_ = count;
    partials_ = {this->queue(), std::int64_t{count} * partial_pitch()};
  }
  /// Values of one partial gradient: whole turns of classes, the loss behind them.
  [[nodiscard]] int partial_pitch() const {
    return turns(this->problem_.classes) * classes_together * static_cast<int>(this->problem_.pitch) + 1;
  }
  void add_column(int column) {
    const bool is_loss = column == this->problem_.classes * this->problem_.pitch;
    const double* values = partials_.data() + (is_loss ? partial_pitch() - 1 : column);
    double sum = 0;
    for (int i = 0; i < partial_count_; ++i) sum += values[std::int64_t{i} * partial_pitch()];
    this->sums_.data()[column] = sum;
  }

  int partial_count_ = 0;
  host::Array<double> partials_;  ///< [threads x partial_pitch]
};

}  // namespace league::softmax_regression
