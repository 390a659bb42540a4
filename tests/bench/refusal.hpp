// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "bench/errors.hpp"

namespace league::bench {

/// What a body that gets bad input says of it; "accepted" if it says nothing.
inline std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace league::bench
