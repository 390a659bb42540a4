// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/known_results.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace league::bench {
namespace {

std::size_t bytes_of(const Outputs& results) {
  std::size_t bytes = 0;
  for (const Output& result : results) bytes += result.values.bytes().size();
  return bytes;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace

std::optional<Verdict> KnownResults::find(const Outputs& results) const {
  const auto found = std::ranges::find_if(known_, [&](const Known& known) {
    if (known.values.size() != results.size()) return false;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (known.forms[i] != results[i].form || !same(known.values[i], results[i].values.bytes())) return false;
    return true;
  });
  if (found == known_.end()) return {};
  return found->verdict;
}

void KnownResults::keep(const Outputs& results, const Verdict& verdict) {
  Known known{.verdict = verdict, .bytes = bytes_of(results)};
  if (known.bytes > max_bytes) return;
  for (const Output& result : results) {
    const auto bytes = result.values.bytes();
    known.values.emplace_back(bytes.begin(), bytes.end());
    known.forms.push_back(result.form);
  }
  bytes_ += known.bytes;
  known_.push_back(std::move(known));
  for (; bytes_ > max_bytes_in_all; known_.pop_front()) bytes_ -= known_.front().bytes;
}

}  // namespace league::bench
