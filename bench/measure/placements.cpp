// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/placements.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace league::bench {
namespace {

void require_right(const Checked& checked, const char* when) {
  if (!checked.verdict.passed())
    throw std::runtime_error(std::string("wrong at another placement of its arrays, ") + when + ": " +
                             fault_of(checked.verdict));
}

/// The same case once more, checked. @throws std::runtime_error if the result is wrong; else as PreparedCase
Instance prepare_again(const Ready& ready, std::int64_t memory_budget_bytes) {
  Instance made;
  const PreparedCase& first = *ready.prepared_case;
  made.prepared_case = std::make_unique<PreparedCase>(first.of(), first.problem(), first.runtime(), memory_budget_bytes,
                                                      Preparation{.known = first.known()});
  Stages untraced;
  require_right(check_fresh(*made.prepared_case, untraced), "before sampling");
  made.meter = std::make_unique<Meter>(*made.prepared_case, *ready.meter);
  return made;
}

bool can_move(const Ready& ready) { return !ready.meter->times_itself() && ready.prepared_case->world().alone(); }

}  // namespace

int placements_needed(const Ready& ready) {
  if (!can_move(ready)) return 1;
  if (ready.result->of.placements > 0) return ready.result->of.placements;
  PreparedCase& first = *ready.prepared_case;
  const std::int64_t bytes = first.prepared().device_bytes();  // 0: unknown
  const std::int64_t cache_bytes = first.runtime().info(first.shards().front().device).llc_bytes;
  const bool is_short = ready.meter->metric() == Metric::device_time && ready.meter->solve_s() <= short_case_s;
  return is_short && bytes > 0 && bytes <= cache_bytes ? short_case_placements : 1;
}

void open_placements(std::vector<Ready>& group,
                     const std::function<bool(Ready&, const std::function<void()>&)>& attempt,
                     const std::function<std::int64_t(const Case&)>& memory_budget_bytes) {
  std::map<Alike, int> wanted;
  for (const Ready& ready : group) wanted[alike(ready)] = std::max(wanted[alike(ready)], placements_needed(ready));
  bool goes_on = true;
  while (std::exchange(goes_on, false))
    for (auto ready = group.begin(); ready != group.end();) {
      const int limit = can_move(*ready) ? std::min(wanted[alike(*ready)], ready->max_samples()) : 1;
      const auto open = [&] { ready->others.push_back(prepare_again(*ready, memory_budget_bytes(ready->result->of))); };
      const bool lacks_one = ready->placements() < limit;
      goes_on |= lacks_one;
      ready = !lacks_one || attempt(*ready, open) ? ready + 1 : group.erase(ready);
    }
}

void check_placements(const Ready& ready) {
  for (const Instance& other : ready.others) require_right(check_left(*other.prepared_case), "after sampling");
}

}  // namespace league::bench
