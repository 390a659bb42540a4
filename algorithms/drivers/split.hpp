// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/shard_part.hpp"

namespace league {

/// One variant on the rows of one shard, independent of the other shards. `split` extends it to all shards.
class Part : public ShardPart {
 public:
  using ShardPart::ShardPart;
  virtual void compute(Stages& stages) = 0;
};

/// A case made of one independent part per shard, launched one after another and fenced together.
std::unique_ptr<Prepared> split(const Context& context, const std::function<std::unique_ptr<Part>(const Shard&)>& make);

/// `split<Part>(problem, context)` where the part is made from (problem, context, shard).
template <class P, class Problem>
std::unique_ptr<Prepared> split(const Problem& problem, const Context& context) {
  return split(context, [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

/// A case of independent parts: `make` chooses the part by the problem's type and shape.
template <class P>
struct RegisterSplit {
  using Make = std::unique_ptr<Part> (*)(const P&, const Context&, const Shard&);
  RegisterSplit(std::string method, Model model, Make make) {
    Register<P>(std::move(method), model, [make](const P& problem, const Context& context) {
      return split(context, [&](const Shard& shard) { return make(problem, context, shard); });
    });
  }
};

}  // namespace league
