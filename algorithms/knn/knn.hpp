// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "algorithms/contract/registry.hpp"
#include "algorithms/knn/common/vote.hpp"

namespace league {

namespace knn {
class Oracle;
}

/// Classification of test rows by the votes of the k nearest training rows: the smallest squared Euclidean distances,
/// equal ones by the lower index; equal votes by the lowest label.
class Knn final : public Problem {
 public:
  static constexpr const char* algorithm = "knn";
  enum Output { labels, neighbours, distances };  ///< i32 [test], i64 [test x k], f64 [test x k]

  /// @throws std::invalid_argument naming the key and its limit
  explicit Knn(const Making& making);
  ~Knn() override;
  [[nodiscard]] std::int64_t extent() const override { return data_.test.rows(); }
  /// One per distance.
  [[nodiscard]] std::int64_t max_teams() const override { return extent() * data_.train.rows(); }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  [[nodiscard]] std::string method_unit(std::string_view method) const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  int k;
  knn::Votes votes;
  std::int64_t features;
  /// Pixels: whole numbers from 0 to 255, few enough features that all arithmetic is exact.
  bool exact;
  Range rows{};                             ///< local rows to classify
  HostArray train{}, test{};                ///< dtype [rows x features]: all training rows, `rows` to classify
  HostArray train_labels{}, test_labels{};  ///< i32, one per row

  static constexpr std::int64_t exact_features = 1024;  ///< 1024 * 128^2 = 2^24: a float is exact up to there

 private:
  Dataset data_;
  std::unique_ptr<knn::Oracle> oracle_;
};

}  // namespace league
