// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace league::bench {

using Json = nlohmann::ordered_json;

/// A JSON value as text, `indent` spaces a level (-1: all on one line). Use it instead of dump(): file
/// names and output of other programs may hold any bytes; what is not UTF-8 becomes U+FFFD, where dump() would throw.
std::string text_of(const Json& json, int indent = -1);

/// A text with what is not UTF-8 replaced in the same way.
std::string valid_utf8(const std::string& bytes);

/// A text as JSON; nothing if it is none, or nested deeper than 100 levels: functions on it are recursive.
std::optional<Json> parse_json(std::string_view text);

/// The contents of a JSON file; nothing if it is absent, incomplete, nested too deep, or larger than the memory.
std::optional<Json> read_json(const std::filesystem::path& file);

}  // namespace league::bench
