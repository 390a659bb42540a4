// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "bench/measure/measure.hpp"
#include "bench/tune/search.hpp"
#include "bench/tune/verified.hpp"

namespace league::bench {

/// A trial of a real variant: uploaded once, configured for each candidate.
class VariantTrial final : public Trial {
 public:
  /// `before_each` is called before every step: to check for an interrupt and to show progress.
  VariantTrial(PreparedCase& prepared_case, std::function<void(const Launch&)> before_each);

  Launch configure(const Launch& launch) override;
  /// A result with the same bits as one that passed is accepted; any other goes to the oracle.
  Verdict check() override;
  /// All launches have the batch size that the first one needs.
  double sample() override;

  [[nodiscard]] Metric metric() const { return first_->metric(); }
  [[nodiscard]] bool held() const { return first_->holds(); }
  [[nodiscard]] int batch() const { return batch_; }
  /// Whether `sample` has been called.
  [[nodiscard]] bool was_timed() const { return first_ != nullptr; }

 private:
  Meter& meter();

  PreparedCase& prepared_case_;
  std::function<void(const Launch&)> before_each_;
  Launch configured_;
  double checked_s_ = 0;
  std::map<std::string, std::unique_ptr<Meter>> meters_;  // by the label of the requested launch
  Meter* first_ = nullptr;
  int batch_ = 0;
  Verified verified_;
};

}  // namespace league::bench
