// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/split.hpp"

namespace league {
namespace {

class Split final : public VariantShards<IndependentShard> {
 public:
  using VariantShards::VariantShards;
  void compute(Stages& stages) override {
    for (const auto& shard : shards())
      if (shard->rows().size() > 0) shard->compute(stages);
  }
};

}  // namespace

std::unique_ptr<Prepared> split(const Context& context,
                                const std::function<std::unique_ptr<IndependentShard>(const Shard&)>& make) {
  return std::make_unique<Split>(context, make);
}

}  // namespace league
