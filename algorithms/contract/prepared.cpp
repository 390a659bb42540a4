// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/prepared.hpp"

#include <array>

namespace league {

std::string_view name(Execution execution) {
  static constexpr std::array names{"stream", "graph", "kokkos_graph"};
  return names[static_cast<std::size_t>(execution)];
}

Stages::Scope::Scope(Stages& stages, Queue& queue, const char* name) : stages_(stages), queue_(queue), name_(name) {
  queue.push_range(name);
  stages.begin(queue, name);
}

Stages::Scope::~Scope() {
  stages_.end(queue_, name_);
  queue_.pop_range();
}

}  // namespace league
