// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

/// Texts of programs.
namespace league::bench {

/// A text with every identifier replaced by what `change` returns for it.
std::string with_identifiers(const std::string& text, const std::function<std::string(const std::string&)>& change);

/// Whether an identifier occurs in a text.
bool mentions(const std::string& text, const std::string& identifier);

/// A text with every line indented that is not empty.
std::string indented(const std::string& text, int spaces);

/// "a, b, c".
std::string listed(const std::vector<std::string>& words, const std::string& between = ", ");

}  // namespace league::bench
