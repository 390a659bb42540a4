// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace league::bench {

using Json = nlohmann::ordered_json;

/// A JSON value as text, `indent` spaces a level (-1: all on one line). The only place that makes one: names of files
/// and the words of other programs may hold any bytes, and what is not UTF-8 becomes U+FFFD, where nlohmann-json would
/// throw.
std::string text_of(const Json& json, int indent = -1);

/// A text with what is not UTF-8 replaced in the same way.
std::string valid_utf8(const std::string& bytes);

/// A text as JSON; nothing if it is none, or nested deeper than what is made here ever is: what goes through a value
/// calls itself for every level.
std::optional<Json> parse_json(std::string_view text);

/// The contents of a JSON file; nothing if it is not there, not whole, nested too deep, or too large for this machine.
std::optional<Json> read_json(const std::filesystem::path& file);

}  // namespace league::bench
