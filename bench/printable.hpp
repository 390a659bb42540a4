// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace league::bench {

/// Text for a terminal: control characters but line ends and tabs are escaped, as `\u001B`.
std::string printable(std::string_view text);

}  // namespace league::bench
