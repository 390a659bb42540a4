// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/ledger.hpp"

#include <algorithm>

#include "algorithms/contract/budget.hpp"

namespace league {

void Ledger::enter(Entry entry) {
  const auto known = std::ranges::find(entries_, entry.array, &Entry::array);
  if (known == entries_.end()) {
    entries_.push_back(std::move(entry));
    return;
  }
  const bool same = known->there && known->bytes == entry.bytes;
  if (known->there && !same) known->set(false);
  *known = std::move(entry);
  known->there = same;
}

std::int64_t Ledger::bytes() const {
  std::int64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.bytes;
  return sum;
}

void Ledger::require_budget() const { require_memory(bytes(), budget_bytes_); }

void Ledger::allocate() {
  require_budget();
  for (Entry& entry : entries_) {
    if (entry.there) continue;
    entry.set(true);
    entry.there = true;
  }
}

}  // namespace league
