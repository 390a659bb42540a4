// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "algorithms/contract/problem.hpp"

namespace league::bench {

/// Verdicts on the latest results of one problem. A result with the same bits has the same verdict, so that the oracle,
/// which may take seconds, judges it once: a case's next computes and other launches mostly leave the same bits.
class KnownResults {
 public:
  /// Results of more bytes are not kept: to compare them takes as long as most checks.
  static constexpr std::size_t max_bytes = std::size_t{64} << 20, max_bytes_in_all = 8 * max_bytes;

  /// The verdict on results with these bits and forms, if they are known.
  [[nodiscard]] std::optional<Verdict> find(const Outputs& results) const;
  /// Keeps a copy, and drops the oldest results beyond `max_bytes_in_all`.
  void keep(const Outputs& results, const Verdict& verdict);

 private:
  struct Known {
    std::vector<std::vector<std::byte>> values;
    std::vector<std::string> forms;
    Verdict verdict;
    std::size_t bytes;
  };
  std::deque<Known> known_;
  std::size_t bytes_ = 0;
};

}  // namespace league::bench
