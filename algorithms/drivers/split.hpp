// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/variant_shard.hpp"

namespace league {

/// One variant on the rows of one shard, independent of the other shards. `split` extends it to all shards.
class IndependentShard : public VariantShard {
 public:
  using VariantShard::VariantShard;
  virtual void compute(Stages& stages) = 0;
  /// With several GPUs a host thread for each calls `compute`: worth it for many short kernels, which take the host as
  /// long to submit as the device to run. With one kernel per GPU it costs more than it saves.
  [[nodiscard]] virtual bool submits_in_parallel() const { return false; }
};

/// Calls `body(i)` for all i < count at once, each on a thread of the host. @throws what the first of them throws
void on_threads(int count, const std::function<void(int)>& body);

/// A case of independent shards, launched one after another or by a thread each, and fenced together.
std::unique_ptr<Prepared> split(const Context& context,
                                const std::function<std::unique_ptr<IndependentShard>(const Shard&)>& make);

/// `split<Direct>(problem, context)`, which makes `Direct(problem, context, shard)` for each shard.
template <class P, class Problem>
std::unique_ptr<Prepared> split(const Problem& problem, const Context& context) {
  return split(context, [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

/// A case of independent shards: `make` chooses the class by the problem's type and shape.
template <class P>
struct RegisterSplit {
  using Make = std::unique_ptr<IndependentShard> (*)(const P&, const Context&, const Shard&);
  RegisterSplit(std::string method, WrittenModel model, Make make) {
    Register<P>(std::move(method), std::move(model), [make](const P& problem, const Context& context) {
      return split(context, [&](const Shard& shard) { return make(problem, context, shard); });
    });
  }
};

}  // namespace league
