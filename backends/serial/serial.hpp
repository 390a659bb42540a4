// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/backend.hpp"

namespace league::serial {
inline constexpr Model model{"serial", "serial", DeviceKind::host};
}  // namespace league::serial
