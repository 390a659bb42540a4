// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backends/runtime.hpp"

namespace league::cuda {

/// As `Backend::record`, of queues of this backend.
std::unique_ptr<Graph> record_graph(std::span<Queue* const> queues, const std::function<void()>& body);
/// As `Backend::kernels`.
std::vector<KernelFacts> recorded_kernels(std::span<Queue* const> queues, const std::function<void()>& body);

}  // namespace league::cuda
