// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/worker/call.hpp"

#include "backends/backend.hpp"

namespace league::own {

void Call::require(const char* name, Dtype wanted) const {
  const Dtype here = arrays.find(name)->second.dtype;
  if (here != wanted)
    throw Unsupported(std::string("`") + name + "` is " + std::string(league::name(here)) +
                      " here, the function takes " + std::string(league::name(wanted)));
}

void refuse(const Call& call) {
  throw Unsupported("no function for " + std::string(name(call.dtype)) + " in this file");
}

}  // namespace league::own
