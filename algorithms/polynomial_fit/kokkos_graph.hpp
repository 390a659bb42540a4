// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Graph.hpp>
#include <algorithm>
#include <optional>

#include "algorithms/solve.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos::polynomial_fit {

/// A solve on one device as a Kokkos Graph: a chain of steps, submitted until there were enough of them. P is a
/// `StepPart` whose `record(exec, after)` adds a step, one node on `exec`, behind node `after` and returns it; steps
/// beyond the last one must change nothing. The graph has an instance of its own: what its nodes take of it (slots for
/// team scratch memory) is not missed elsewhere.
template <class P>
class GraphSolve final : public ShardParts<P> {
 public:
  using Node = Kokkos::Experimental::GraphNodeRef<Exec>;
  static constexpr std::int64_t most_nodes = 100;

  template <class Problem>
  GraphSolve(const Problem& problem, const Context& context, std::int64_t steps)
      : ShardParts<P>(problem, context,
                      [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); }),
        exec_(own_instance(part().queue())),
        steps_(steps) {
    if (context.shards.size() > 1) throw Unsupported("a Kokkos Graph runs on one device");
  }
  Launch configure(Launch launch) override {
    graph_.reset();
    const Launch effective = ShardParts<P>::configure(launch);
    graph_.emplace(exec_);
    Node last = graph_->root_node();
    steps_a_graph_ = 0;
    for (; steps_a_graph_ < std::min(most_nodes, steps_); ++steps_a_graph_) last = part().record(exec_, last);
    graph_->instantiate();
    return effective;
  }
  void compute(Stages& stages) override {
    stages.stage(part().queue(), "begin", [this] { part().begin(); });
    stages.stage(part().queue(), "steps", [this] {
      for (std::int64_t step = 0; step < steps_; step += steps_a_graph_) graph_->submit(exec_);
    });
  }

 private:
  [[nodiscard]] P& part() const { return *this->parts().front(); }
  Exec exec_;
  std::int64_t steps_, steps_a_graph_ = 1;
  std::optional<Kokkos::Experimental::Graph<Exec>> graph_;
};

}  // namespace league::kokkos::polynomial_fit
