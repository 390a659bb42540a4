// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/oracle/agree.hpp"

namespace league {

void judge_agreement(Verdict& verdict, std::span<const Output> replicated, Reduce& reduce) {
  for (const Output& output : replicated) {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (const std::byte byte : output.values.bytes())
      hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
    if (!reduce.agree(hash)) verdict.fail("processes disagree on " + output.name);
  }
}

}  // namespace league
