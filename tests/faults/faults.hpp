// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/contract/registry.hpp"

/// Variants that are wrong on purpose: the executable `league_faults` plants the fault that the environment variable
/// LEAGUE_FAULT names in all variants of its registry.
namespace league::faults {

/// A variant, and what it is to be prepared for.
struct Site {
  const Variant& variant;
  const Problem& problem;
  const Problem* shorter;  ///< the same with one step fewer; null where it takes no steps, or one
  const Context& context;

  [[nodiscard]] std::unique_ptr<Prepared> prepare() const { return variant.prepare(problem, context); }
  /// The context with something else in place of what the harness gave.
  [[nodiscard]] Context with(Communicator& communicator, Outputs& outputs) const {
    return {context.runtime,  context.shards, context.world, communicator, outputs, context.memory_budget_bytes,
            context.execution};
  }
};

/// A wrong case in place of the real one. @throws Unsupported where the fault means nothing
struct Fault {
  std::string name;
  std::function<std::unique_ptr<Prepared>(const Site&)> plant;
};

/// Those that need to know nothing of the algorithm, and `none`.
std::vector<Fault> common_faults();
/// Those between its shards.
std::vector<Fault> communication_faults();
/// Those in the collectives themselves.
std::vector<Fault> collective_faults();
/// Those of one algorithm.
std::vector<Fault> specific_faults();

/// For rows that a fault means nothing for. @throws Unsupported
[[noreturn]] inline void means_nothing(const std::string& why) { throw Unsupported("the fault means nothing: " + why); }

/// Plants a fault in every variant of the registry.
void plant(const Fault& fault);

/// Adds the method `tunable` of vector_add: right, wrong, slow or refused, as its league says.
void plant_launches();

/// A real case; each fault overrides one step. `used`: what the real one refers to.
class Broken : public Prepared {
 public:
  explicit Broken(std::unique_ptr<Prepared> real, std::shared_ptr<const void> used = {})
      : used_(std::move(used)), real_(std::move(real)) {}
  Launch configure(Launch launch) override { return real_->configure(launch); }
  [[nodiscard]] Timing timing() const override { return real_->timing(); }
  [[nodiscard]] std::int64_t device_bytes() const override { return real_->device_bytes(); }
  void upload() override { real_->upload(); }
  void reset() override { real_->reset(); }
  void compute(Stages& stages) override { real_->compute(stages); }
  void download() override { real_->download(); }
  void fence() override { real_->fence(); }
  [[nodiscard]] Counts counts() override { return real_->counts(); }

 private:
  std::shared_ptr<const void> used_;
  std::unique_ptr<Prepared> real_;
};

/// Changes the results on their way to the host.
class Edited final : public Broken {
 public:
  using Edit = std::function<void(Outputs&)>;
  Edited(std::unique_ptr<Prepared> real, Outputs& results, Edit edit)
      : Broken(std::move(real)), results_(results), edit_(std::move(edit)) {}
  void download() override {
    Broken::download();
    fence();
    edit_(results_);
  }

 private:
  Outputs& results_;
  Edit edit_;
};

}  // namespace league::faults
