// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/split.hpp"

namespace league {
namespace {

class Split final : public ShardParts<Part> {
 public:
  using ShardParts::ShardParts;
  void compute(Stages& stages) override {
    for (const auto& part : parts())
      if (part->rows().size() > 0) part->compute(stages);
  }
};

}  // namespace

std::unique_ptr<Prepared> split(const Context& context,
                                const std::function<std::unique_ptr<Part>(const Shard&)>& make) {
  return std::make_unique<Split>(context, make);
}

}  // namespace league
