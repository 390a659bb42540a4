// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/faults/faults.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "algorithms/contract/registry.hpp"

// Variants that are wrong on purpose: a real one of each model of this build, with one fault planted. `league_faults
// run` must call each of them FAILED.
namespace league::faults {
namespace {

/// A real case with something done to it; each fault overrides one step.
class Broken : public Prepared {
 public:
  explicit Broken(std::unique_ptr<Prepared> real) : real_(std::move(real)) {}
  Launch configure(Launch launch) override { return real_->configure(launch); }
  [[nodiscard]] Timing timing() const override { return real_->timing(); }
  void upload() override { real_->upload(); }
  void reset() override { real_->reset(); }
  void compute(Stages& stages) override { real_->compute(stages); }
  void download() override { real_->download(); }
  void fence() override { real_->fence(); }

 private:
  std::unique_ptr<Prepared> real_;
};

class WritesNothing final : public Broken {
  using Broken::Broken;
  void compute(Stages&) override {}
};

/// Computes once, and then believes that this was all.
class Stale final : public Broken {
  using Broken::Broken;
  void compute(Stages& stages) override {
    if (!done_) Broken::compute(stages);
    done_ = true;
  }
  bool done_ = false;
};

/// Changes the results on their way to the host.
class Edited final : public Broken {
 public:
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

Context on_other(Context context, std::span<const Shard> shards) {
  return {context.runtime,  shards, context.world, context.communicator, context.outputs, context.memory_budget_bytes,
          context.execution};
}

/// The real variant on other rows than the harness asked for.
class Shifted final : public Broken {
 public:
  Shifted(const Variant& real, const Problem& problem, const Context& context, std::vector<Shard> shards)
      : Shifted(real, problem, context, std::make_shared<std::vector<Shard>>(std::move(shards))) {}

 private:
  Shifted(const Variant& real, const Problem& problem, const Context& context,
          std::shared_ptr<std::vector<Shard>> shards)
      : Broken(real.prepare(problem, on_other(context, *shards))), shards_(std::move(shards)) {}
  std::shared_ptr<std::vector<Shard>> shards_;
};

std::vector<Shard> without_last_row(const Context& context) {
  std::vector<Shard> shards(context.shards.begin(), context.shards.end());
  for (Shard& shard : shards)
    if (shard.rows.size() > 0 && &shard == &shards.back()) --shard.rows.end;
  return shards;
}

/// Every shard but for its first row: where one device's rows end and the next one's begin is off by one.
std::vector<Shard> one_row_late(const Context& context) {
  std::vector<Shard> shards(context.shards.begin(), context.shards.end());
  for (Shard& shard : shards)
    if (shard.rows.size() > 0) ++shard.rows.begin;
  return shards;
}

template <class T>
std::unique_ptr<Prepared> wrap(const Variant& real, const Problem& problem, const Context& context) {
  return std::make_unique<T>(real.prepare(problem, context));
}

}  // namespace

std::unique_ptr<Prepared> edited(const Variant& real, const Problem& problem, const Context& context, Edit edit) {
  return std::make_unique<Edited>(real.prepare(problem, context), context.outputs, std::move(edit));
}

const std::vector<Fault>& common_faults() {
  static const std::vector<Fault> all{
      {"nothing", "writes nothing", wrap<WritesNothing>},
      {"stale", "computes only once", wrap<Stale>},
      {"last_row", "the last row is missing",
       [](const Variant& real, const Problem& problem, const Context& context) -> std::unique_ptr<Prepared> {
         return std::make_unique<Shifted>(real, problem, context, without_last_row(context));
       }},
      {"shard_offset", "every shard begins one row late",
       [](const Variant& real, const Problem& problem, const Context& context) -> std::unique_ptr<Prepared> {
         return std::make_unique<Shifted>(real, problem, context, one_row_late(context));
       }}};
  return all;
}

void plant(const std::string& algorithm_name, const std::string& method_name, const std::vector<Fault>& faults) {
  Registry& all = registry();
  const auto algorithm = std::ranges::find(all.algorithms, algorithm_name, &Algorithm::name);
  if (algorithm == all.algorithms.end()) return;
  const Method real = *std::ranges::find(algorithm->methods, method_name, &Method::name);
  std::vector<Variant> variants;
  for (const Variant& variant : all.variants)
    if (variant.algorithm == algorithm_name && variant.method == method_name) variants.push_back(variant);
  for (const Fault& fault : faults) {
    Method broken = real;
    broken.name = "fault_" + fault.name;
    broken.description = fault.description;
    algorithm->methods.push_back(broken);
    for (const Variant& variant : variants) {
      Variant planted = variant;
      planted.method = broken.name;
      planted.prepare = [variant, fault](const Problem& problem, const Context& context) {
        return fault.prepare(variant, problem, context);
      };
      all.variants.push_back(std::move(planted));
    }
  }
}

namespace {

/// Plants once all that is real has registered: backends start after that, the last of them last.
const RegisterBackend planted{"faults", 99, [](const Runtime&) -> std::unique_ptr<Backend> {
                                plant_in_vector_add();
                                plant_in_knn();
                                plant_launches();
                                return std::make_unique<Backend>();
                              }};

}  // namespace
}  // namespace league::faults
