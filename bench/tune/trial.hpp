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

/// The search's view of a real variant: uploaded once, configured again and again.
class VariantTrial final : public Trial {
 public:
  /// `before_each` is called before every step: to look for an interrupt, to tell what is being done.
  VariantTrial(Entrant& entrant, std::function<void(const Launch&)> before_each);

  Launch configure(const Launch& launch) override;
  /// A result that is bit for bit one that the oracle has passed is right; of any other, the oracle decides.
  Verdict check() override;
  /// All launches have as many computes a sample as the first one needs.
  double sample() override;

  [[nodiscard]] Metric metric() const { return first_->metric(); }
  [[nodiscard]] bool held() const { return first_->holds(); }
  [[nodiscard]] int batch() const { return batch_; }
  /// Whether `sample` has been called.
  [[nodiscard]] bool was_timed() const { return first_ != nullptr; }

 private:
  Meter& meter();

  Entrant& entrant_;
  std::function<void(const Launch&)> before_each_;
  Launch configured_;
  double checked_s_ = 0;
  std::map<std::string, std::unique_ptr<Meter>> meters_;  // by the label of the requested launch
  Meter* first_ = nullptr;
  int batch_ = 0;
  Verified verified_;
};

}  // namespace league::bench
