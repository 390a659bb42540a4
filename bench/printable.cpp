// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/printable.hpp"

#include <array>
#include <cstdio>

namespace league::bench {
namespace {

bool is_control(unsigned char byte) { return (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f; }

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool second_set = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F in UTF-8
    if (!is_control(byte) && !second_set) {
      shown += text[i];
      continue;
    }
    std::array<char, 8> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\u%04X", static_cast<unsigned>(second_set ? next : byte));
    shown += escaped.data();
    i += second_set ? 1 : 0;
  }
  return shown;
}

}  // namespace league::bench
