// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune/trial.hpp"

#include <algorithm>

#include "bench/measure/clock.hpp"

namespace league::bench {

VariantTrial::VariantTrial(PreparedCase& prepared_case, std::function<void(const Launch&)> before_each)
    : prepared_case_(prepared_case), before_each_(std::move(before_each)) {}

Launch VariantTrial::configure(const Launch& launch) {
  before_each_(launch);
  configured_ = launch;
  return prepared_case_.configure(launch);
}

Verdict VariantTrial::check() {
  before_each_(configured_);
  Prepared& prepared = prepared_case_.prepared();
  Stages stages;
  prepared.reset();
  prepared.fence();
  checked_s_ = seconds_of([&] {
    prepared.compute(stages);
    prepared.fence();
  });
  prepared.download();
  prepared.fence();
  const Outputs& outputs = prepared_case_.outputs();
  if (const Verdict* known = verified_.find(outputs)) return *known;
  const Verdict verdict = prepared_case_.problem().check_alone(outputs);
  if (verdict.passed() && verified_.empty()) verified_.keep(outputs, verdict);
  return verdict;
}

double VariantTrial::sample() {
  before_each_(configured_);
  Meter& its_own = meter();
  return its_own.sample(std::min(batch_, its_own.batch_affordable()));
}

Meter& VariantTrial::meter() {
  std::unique_ptr<Meter>& meter = meters_[label(configured_)];
  if (!meter) meter = std::make_unique<Meter>(prepared_case_, checked_s_);
  if (first_ == nullptr) {
    first_ = meter.get();
    batch_ = first_->batch_needed();
  }
  return *meter;
}

}  // namespace league::bench
