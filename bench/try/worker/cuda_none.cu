// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/worker/call.hpp"

// In place of a user's kernel: its compile command is the one that `league try` uses.
namespace league::own {

void run(const Call& call, const void* /*queue*/) { refuse(call); }

}  // namespace league::own
