// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/split.hpp"

#include <exception>

namespace league {
namespace {

class Split final : public VariantShards<IndependentShard> {
 public:
  using VariantShards::VariantShards;
  void compute(Stages& stages) override {
    const int count = static_cast<int>(shards().size());
    const IndependentShard& first = *shards().front();
    const auto submit = [&](int i) {
      IndependentShard& shard = *shards()[static_cast<std::size_t>(i)];
      if (shard.rows().size() > 0) shard.compute(stages);
    };
    if (count > 1 && first.queue().device().kind == DeviceKind::gpu && first.submits_in_parallel() && stages.unmarked())
      return on_threads(count, submit);
    for (int i = 0; i < count; ++i) submit(i);
  }
};

}  // namespace

void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
#pragma omp parallel for num_threads(count) schedule(static, 1)
  for (int i = 0; i < count; ++i) try {
      body(i);
    } catch (...) {
      failures[static_cast<std::size_t>(i)] = std::current_exception();
    }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

std::unique_ptr<Prepared> split(const Context& context,
                                const std::function<std::unique_ptr<IndependentShard>(const Shard&)>& make) {
  return std::make_unique<Split>(context, make);
}

}  // namespace league
