// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Graph.hpp>
#include <algorithm>
#include <optional>

#include "algorithms/polynomial_fit/common/kokkos.hpp"

namespace league::kokkos::polynomial_fit {

using GraphNode = Kokkos::Experimental::GraphNodeRef<Exec>;

/// A shard whose step is one node on `exec`, behind node `after`. Steps beyond the last one must change nothing.
class GraphShard : public KokkosShard {
 public:
  using KokkosShard::KokkosShard;
  [[nodiscard]] virtual GraphNode record(const Exec& exec, const GraphNode& after) const = 0;
  void update() const override {
    if (!is_alone()) submit_positions("polynomial_fit/update", Update{rule_, state(), sums_.view()});
  }
};

/// A solve on one device as a Kokkos Graph: a chain of steps, submitted until there were enough of them. The graph has
/// an instance of its own: what its nodes take of it (slots for team scratch memory) is not missed elsewhere.
class GraphSolve final : public VariantShards<GraphShard> {
 public:
  static constexpr std::int64_t max_nodes = 100;

  GraphSolve(const Context& context, std::int64_t steps,
             const std::function<std::unique_ptr<GraphShard>(const Shard&)>& make)
      : VariantShards(context, make), exec_(own_instance(shard().queue())), steps_(steps) {
    if (!context.world.alone()) throw Unsupported("a Kokkos Graph runs on one device");
  }
  Launch configure(Launch launch) override {
    graph_.reset();
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    graph_ = Kokkos::Experimental::Graph<Exec>({exec_});  // 5.2 takes a handle, whose one member it is
    // 5.2 demands the default instance of a node's policy, and takes the handle's; 4.7 takes the policy's.
    const Exec of_nodes = std::is_constructible_v<Kokkos::Experimental::Graph<Exec>, Exec> ? exec_ : Exec();
    GraphNode last = graph_->root_node();
    steps_per_graph_ = 0;
    for (; steps_per_graph_ < std::min(max_nodes, steps_); ++steps_per_graph_) last = shard().record(of_nodes, last);
    graph_->instantiate();
    return effective;
  }
  void compute(Stages& stages) override {
    stages.stage(shard().queue(), "begin", [this] { shard().begin(); });
    stages.stage(shard().queue(), "steps", [this] {
      for (std::int64_t step = 0; step < steps_; step += steps_per_graph_) graph_->submit(exec_);
    });
  }

 private:
  [[nodiscard]] GraphShard& shard() const { return *shards().front(); }
  Exec exec_;
  std::int64_t steps_, steps_per_graph_ = 1;
  std::optional<Kokkos::Experimental::Graph<Exec>> graph_;
};

/// A solve with shards of class P, by the execution.
template <template <class> class P>
static std::unique_ptr<Prepared> prepare_graphs(const PolynomialFit& problem, const Context& context) {
  const auto make = [&](const Shard& shard) { return by_type<P, GraphShard>(problem, context, shard); };
  if (context.execution == Execution::kokkos_graph) return std::make_unique<GraphSolve>(context, problem.steps, make);
  return solve(context, problem.steps, make);
}

}  // namespace league::kokkos::polynomial_fit
