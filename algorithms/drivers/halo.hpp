// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/variant_shard.hpp"

namespace league {

/// One variant of an iterative method on planes (the rows), where a plane's next values depend on its neighbour planes.
/// There are three buffers: the initial state, and a double buffer that steps write in turn. Each has a ghost plane
/// before the shard's first plane and after its last, for the neighbours' planes.
class HaloShard : public VariantShard {
 public:
  using VariantShard::VariantShard;
  static constexpr int buffers = 3;
  struct Planes {
    std::byte* first;  ///< this shard's first plane
    std::int64_t plane_bytes;
  };
  [[nodiscard]] virtual Planes planes(int buffer) const = 0;
  /// Submits one step of some of the shard's planes, from one buffer to another. It must not change host state, since
  /// it is recorded into graphs.
  virtual void advance(int from, int to, Range planes) const = 0;
};

/// The buffer that step `step` (from 0) writes; the initial state is in buffer 0.
constexpr int written_by(std::int64_t step) { return step % 2 == 0 ? 1 : 2; }

/// `steps` steps on all shards. In each step a shard computes its first and last plane, then the interior while those
/// two are sent to the neighbours' ghost planes.
std::unique_ptr<Prepared> solve_with_halo(const Context& context, std::int64_t steps,
                                          const std::function<std::unique_ptr<HaloShard>(const Shard&)>& make);

/// A solve of `problem.steps` steps: `make` chooses the class by the problem's type and shape.
template <class P>
struct RegisterHalo {
  using Make = std::unique_ptr<HaloShard> (*)(const P&, const Context&, const Shard&);
  RegisterHalo(std::string method, WrittenModel model, Make make, std::vector<Execution> executions = recordable) {
    Register<P>(
        std::move(method), std::move(model),
        [make](const P& problem, const Context& context) {
          return solve_with_halo(context, problem.steps,
                                 [&](const Shard& shard) { return make(problem, context, shard); });
        },
        std::move(executions));
  }
};

}  // namespace league
