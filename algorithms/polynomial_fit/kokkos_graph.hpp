// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Graph.hpp>
#include <algorithm>
#include <optional>

#include "algorithms/polynomial_fit/kokkos_part.hpp"

namespace league::kokkos::polynomial_fit {

using GraphNode = Kokkos::Experimental::GraphNodeRef<Exec>;

/// A part that adds a step, one node on `exec`, behind node `after`. Steps beyond the last one must change nothing.
class GraphPart : public KokkosPart {
 public:
  using KokkosPart::KokkosPart;
  [[nodiscard]] virtual GraphNode record(const Exec& exec, const GraphNode& after) const = 0;
};

/// A solve on one device as a Kokkos Graph: a chain of steps, submitted until there were enough of them. The graph has
/// an instance of its own: what its nodes take of it (slots for team scratch memory) is not missed elsewhere.
class GraphSolve final : public ShardParts<GraphPart> {
 public:
  static constexpr std::int64_t max_nodes = 100;

  GraphSolve(const Context& context, std::int64_t steps,
             const std::function<std::unique_ptr<GraphPart>(const Shard&)>& make)
      : ShardParts(context, make), exec_(own_instance(part().queue())), steps_(steps) {
    if (!context.world.alone()) throw Unsupported("a Kokkos Graph runs on one device");
  }
  Launch configure(Launch launch) override {
    graph_.reset();
    const Launch effective = ShardParts::configure(launch);
    if (context().dry) return effective;
    graph_.emplace(exec_);
    GraphNode last = graph_->root_node();
    steps_per_graph_ = 0;
    for (; steps_per_graph_ < std::min(max_nodes, steps_); ++steps_per_graph_) last = part().record(exec_, last);
    graph_->instantiate();
    return effective;
  }
  void compute(Stages& stages) override {
    stages.stage(part().queue(), "begin", [this] { part().begin(); });
    stages.stage(part().queue(), "steps", [this] {
      for (std::int64_t step = 0; step < steps_; step += steps_per_graph_) graph_->submit(exec_);
    });
  }

 private:
  [[nodiscard]] GraphPart& part() const { return *parts().front(); }
  Exec exec_;
  std::int64_t steps_, steps_per_graph_ = 1;
  std::optional<Kokkos::Experimental::Graph<Exec>> graph_;
};

}  // namespace league::kokkos::polynomial_fit
