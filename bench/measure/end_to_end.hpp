// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/study/case.hpp"

namespace league::bench {

/// One pass from inputs to results that both lie on the host, on the host's clock. Parts are "allocation", "upload",
/// "compute" and "download", as far as there are such; their sum is at most the total.
struct Pass {
  double total_s = 0;
  std::map<std::string, double> parts_s;
};

/// Whether the arrays on the device are made for the pass, or kept.
enum class PassState { cold, warm };
std::string_view name(PassState state);

/// All passes of a case in one state and one kind of host memory, or the reason why there are none.
struct EndToEnd {
  std::string memory;  ///< "pageable", "pinned"; "host": the device is the host, nothing is copied
  PassState state = PassState::cold;
  std::vector<Pass> passes;
  std::string reason;
};

/// Takes the passes of one case in one kind of host memory, cold ones first. Passes that take seconds are few.
/// @returns cold and warm; an Unsupported pass becomes the reason of its state
std::vector<EndToEnd> take_passes(const std::string& memory, int samples, const std::function<Pass(PassState)>& pass);

}  // namespace league::bench
