// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace league::bench {

/// The name that needs the fewest edits (insert, delete, replace, swap neighbours) to become `wrong`; empty if there is
/// none.
std::string nearest(std::string_view wrong, std::span<const std::string> names);

/// "did you mean 'sizes'? Known: algorithm, ..., sizes".
std::string suggestion(std::string_view wrong, std::span<const std::string> names);

/// "a, b, c".
std::string joined(std::span<const std::string> names);

}  // namespace league::bench
