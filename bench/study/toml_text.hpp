// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>

#include "bench/study/settings.hpp"

/// Writes values and settings as TOML.
namespace league::bench {

/// A string in its quotes. What is not UTF-8 is replaced.
std::string toml_text(const std::string& words);

/// A key: bare, or in quotes where it must be.
std::string toml_key(const std::string& key);

/// A value on one line: it reads back as the same value. @pre no date or time is in it
std::string toml_text(const Value& value);

/// A study: a table for each of `settings`, with its defaults and what --set says in their places. It reads back as the
/// same settings, and these are the same text again.
std::string toml_text(std::span<const Settings> settings);

}  // namespace league::bench
