// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/end_to_end.hpp"

#include <array>
#include <new>

#include "bench/measure/measure.hpp"
#include "bench/measure/memory_limit.hpp"

namespace league::bench {

std::string_view name(PassState state) {
  static constexpr std::array names{"cold", "warm"};
  return names[static_cast<std::size_t>(state)];
}

std::vector<EndToEnd> take_passes(const std::string& memory, int samples, const std::function<Pass(PassState)>& pass) {
  std::vector<EndToEnd> all;
  for (const PassState state : {PassState::cold, PassState::warm}) {
    EndToEnd& found = all.emplace_back(EndToEnd{.memory = memory, .state = state, .passes = {}, .reason = {}});
    try {
      if (state == PassState::warm) static_cast<void>(pass(state));  // the first is not counted
      for (int left = samples; left > 0; --left) {
        found.passes.push_back(pass(state));
        left = std::min(left, samples_for(samples, found.passes.back().total_s));
      }
    } catch (const Unsupported& reason) {
      found.reason = reason.what();
    } catch (const std::bad_alloc& error) {
      found.reason = out_of_host_memory(error);
    }
    if (!found.reason.empty()) found.passes.clear();
  }
  return all;
}

}  // namespace league::bench
