// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/shard_part.hpp"

namespace league {

/// One variant on the rows of one shard, independent of the other shards: what a kernel file writes. `split` lifts it
/// to all shards.
class Part : public ShardPart {
 public:
  using ShardPart::ShardPart;
  virtual void compute(Stages& stages) = 0;
};

/// A case made of one independent part a shard, launched one after another and fenced together.
std::unique_ptr<Prepared> split(const Problem& problem, const Context& context,
                                const std::function<std::unique_ptr<Part>(const Shard&)>& make);

/// `split<Part>(problem, context)` where the part is made from (problem, context, shard).
template <class P, class Problem>
std::unique_ptr<Prepared> split(const Problem& problem, const Context& context) {
  return split(problem, context, [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

}  // namespace league
