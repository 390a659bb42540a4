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
/// gradient descent from zero on the mean over rows of logsumexp(z) - z[label], plus l2 / 2 |W|^2. Pixels are scaled by
/// 1 / 255, other features are not.
class SoftmaxRegression final : public Problem {
 public:
  static constexpr const char* algorithm = "softmax_regression";
  enum Output { theta, loss, steps_taken };  ///< f64 [features + 1 x classes], b last; f64 [steps]; i64 [1]
  /// `Output::form` of theta where a library adds the rows' gradients in f32, in an unknown order over the batch.
  static constexpr const char* product = "product";
  /// `Output::form` of theta of another solver, which stops at the loss that the descent ends with: judged by its loss.
  static constexpr const char* equal_loss = "equal_loss";
  static constexpr std::int64_t max_features = 4096;
  static constexpr int max_classes = 64;

  /// @throws std::invalid_argument naming the key and its limit
  explicit SoftmaxRegression(const Making& making);
  ~SoftmaxRegression() override;
  [[nodiscard]] std::int64_t extent() const override { return data.train.rows(); }
  [[nodiscard]] std::int64_t batch_rows() const override { return batch; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  [[nodiscard]] double method_operations(std::string_view method) const override;
  [[nodiscard]] std::string method_unit(std::string_view method) const override;
  /// @throws std::invalid_argument naming the row with a bad label or feature
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;
  /// Whether all features are whole numbers from 0 to 255, for any dtype of the kernels.
  [[nodiscard]] bool pixels() const { return data.train.dtype() == Dtype::u8; }
  /// Expected results, computed at first use.
  [[nodiscard]] softmax_regression::Oracle& oracle() const { return *oracle_; }

  /// Stored training rows, and their labels, by global index. @pre the rows are local
  template <class T>
  [[nodiscard]] std::span<const T> stored_rows(Range which) const {
    return std::as_const(stored).values<T>(which.begin - rows.begin, which.end - rows.begin);
  }
  [[nodiscard]] std::span<const std::int32_t> labels_of(Range which) const {
    return std::as_const(data.train_labels).values<std::int32_t>(which.begin, which.end);
  }

  Dataset data;               ///< as given: all rows in every process
  std::int64_t steps, batch;  ///< batch: rows per step, at most all; batches take the rows in order
  double learning_rate, l2;
  int classes;
  std::int64_t features;
  double scale;        ///< factor of a stored feature: 1 / 255 for pixels
  std::int64_t pitch;  ///< values per stored row: the features, the constant for the bias, zero padding
  Range rows{};        ///< local rows
  HostArray stored{};  ///< dtype [rows x pitch]

  /// Stored rows are padded to whole vectors of a host and 16-byte words of a GPU.
  static constexpr std::int64_t pitch_step = 16;

 private:
  [[nodiscard]] double rows_taken() const;
  [[nodiscard]] double step_products() const;
  [[nodiscard]] double dual_products() const;
  [[nodiscard]] double fewest(double operations) const;
  std::unique_ptr<softmax_regression::Oracle> oracle_;
};

}  // namespace league
