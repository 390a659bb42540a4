// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/oracle/agree.hpp"

#include <functional>
#include <string_view>

namespace league {

void judge_agreement(Verdict& verdict, std::span<const Output> replicated, Reduce& reduce) {
  for (const Output& output : replicated) {
    const std::span<const std::byte> bytes = output.values.bytes();
    // the processes are of one executable: the same bytes have the same hash
    const std::size_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!reduce.agree(hash)) verdict.fail("processes disagree on " + output.name);
  }
}

}  // namespace league
