// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include "algorithms/contract/registry.hpp"

namespace league {

namespace softmax_regression {
class Oracle;
}

/// Multinomial logistic regression: logits z = W^T x + b for each row x, probabilities p = softmax(z), and W and b by
/// gradient descent from zero on the mean over rows of logsumexp(z) - z[label], plus l2 / 2 |W|^2. Pixels count 1 / 255
/// each, other numbers as they are.
class SoftmaxRegression final : public Problem {
 public:
  static constexpr const char* algorithm = "softmax_regression";
  enum Output { theta, loss, steps_taken };  ///< f64 [features + 1 x classes], b last; f64 [steps]; i64 [1]
  /// `Output::form` of theta where a library adds the rows' gradients in f32, all of a batch in an order of its own.
  static constexpr const char* product = "product";
  static constexpr std::int64_t most_features = 4096;
  static constexpr int most_classes = 64;

  /// @throws std::invalid_argument naming the key and its limit
  explicit SoftmaxRegression(const Making& making);
  ~SoftmaxRegression() override;
  [[nodiscard]] std::int64_t extent() const override { return data.train.rows(); }
  [[nodiscard]] std::int64_t batch_rows() const override { return batch; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  /// @throws std::invalid_argument naming the row with a bad label or feature
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;
  /// Whether all features are whole numbers from 0 to 255, whatever type kernels take them in.
  [[nodiscard]] bool pixels() const { return data.train.dtype() == Dtype::u8; }
  /// Right answers, made at first use.
  [[nodiscard]] softmax_regression::Oracle& oracle() const { return *oracle_; }

  /// Training rows as kernels take them, and their labels, by global number. @pre the rows are here
  template <class T>
  [[nodiscard]] std::span<const T> stored_rows(Range which) const {
    return std::as_const(stored).values<T>(which.begin - rows.begin, which.end - rows.begin);
  }
  [[nodiscard]] std::span<const std::int32_t> labels_of(Range which) const {
    return std::as_const(data.train_labels).values<std::int32_t>(which.begin, which.end);
  }

  Dataset data;               ///< as it was given: all of it in every process
  std::int64_t steps, batch;  ///< rows of a step, at most all; batches follow one another in the order of the rows
  double learning_rate, l2;
  int classes;
  std::int64_t features;
  double scale;        ///< what a stored feature counts: 1 / 255 for pixels
  std::int64_t pitch;  ///< values of a stored row: the features, the number that counts 1, zeros
  Range rows{};        ///< that are here
  HostArray stored{};  ///< dtype [rows x pitch]

  /// Stored rows are of whole vectors of a host, and of whole 16-byte words of a GPU.
  static constexpr std::int64_t pitch_step = 16;

 private:
  [[nodiscard]] double rows_taken() const;
  std::unique_ptr<softmax_regression::Oracle> oracle_;
};

}  // namespace league
