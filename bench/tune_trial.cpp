// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune_trial.hpp"

#include <algorithm>
#include <cstring>

#include "bench/clock.hpp"

namespace league::bench {

VariantTrial::VariantTrial(Entrant& entrant, std::function<void(const Launch&)> before_each)
    : entrant_(entrant), before_each_(std::move(before_each)) {}

Launch VariantTrial::configure(const Launch& launch) {
  before_each_(launch);
  configured_ = launch;
  return entrant_.prepared().configure(launch);
}

Verdict VariantTrial::check() {
  before_each_(configured_);
  Prepared& prepared = entrant_.prepared();
  Stages stages;
  prepared.reset();
  prepared.fence();
  checked_s_ = seconds_of([&] {
    prepared.compute(stages);
    prepared.fence();
  });
  const Outputs& outputs = prepared.download();
  prepared.fence();
  if (equals_verified(outputs)) return verdict_;
  const Verdict verdict = entrant_.problem().check(outputs);
  if (verdict.passed() && verified_.empty()) keep_verified(outputs, verdict);
  return verdict;
}

double VariantTrial::sample() {
  before_each_(configured_);
  Meter& its_own = meter();
  return its_own.sample(std::min(batch_, its_own.batch_affordable()));
}

bool VariantTrial::equals_verified(const Outputs& outputs) const {
  if (verified_.size() != outputs.size()) return false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto bytes = outputs[i].values.bytes();
    if (outputs[i].form != verified_forms_[i] || bytes.size() != verified_[i].size()) return false;
    if (!bytes.empty() && std::memcmp(bytes.data(), verified_[i].data(), bytes.size()) != 0) return false;
  }
  return true;
}

void VariantTrial::keep_verified(const Outputs& outputs, const Verdict& verdict) {
  try {
    for (const Output& output : outputs) {
      verified_.emplace_back(output.values.bytes().begin(), output.values.bytes().end());
      verified_forms_.push_back(output.form);
    }
    verdict_ = verdict;
  } catch (const std::bad_alloc&) {  // then the oracle judges every candidate
    verified_.clear();
    verified_forms_.clear();
  }
}

Meter& VariantTrial::meter() {
  std::unique_ptr<Meter>& meter = meters_[label(configured_)];
  if (!meter) meter = std::make_unique<Meter>(entrant_, checked_s_);
  if (first_ == nullptr) {
    first_ = meter.get();
    batch_ = first_->batch_needed();
  }
  return *meter;
}

}  // namespace league::bench
