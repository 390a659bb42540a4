// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace league::bench {

using Json = nlohmann::ordered_json;

/// A JSON value as text, `indent` spaces a level (-1: all on one line). The only place that makes one: names of files
/// and the words of other programs may hold any bytes, and what is not UTF-8 becomes U+FFFD, where nlohmann-json would
/// throw.
std::string text_of(const Json& json, int indent = -1);

/// A text with what is not UTF-8 replaced in the same way.
std::string valid_utf8(const std::string& bytes);

/// The contents of a JSON file; nothing if it is not there, not whole, or too large for this machine.
std::optional<Json> read_json(const std::filesystem::path& file);

}  // namespace league::bench
