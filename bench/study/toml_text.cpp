// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/toml_text.hpp"

#include <array>
#include <cstdio>

#include "bench/json.hpp"

namespace league::bench {
namespace {

/// With a point or an exponent, so that it reads back as a real number.
std::string real_text(double number) {
  const std::string text = shortest(number);
  return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
}

template <class Items, class Text>
std::string enclosed(char open, const Items& items, char close, const Text& text) {
  std::string inside;
  for (const auto& item : items) inside += (inside.empty() ? "" : ", ") + text(item);
  return open + inside + close;
}

}  // namespace

std::string toml_text(const std::string& words) {
  std::string text = "\"";
  for (const char c : valid_utf8(words)) {
    std::array<char, 8> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\u%04X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? escaped.data() : std::string(1, c);
  }
  return text + "\"";
}

std::string toml_key(const std::string& key) {
  static constexpr const char* bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !key.empty() && key.find_first_not_of(bare) == std::string::npos ? key : toml_text(key);
}

std::string toml_text(const Value& value) {
  if (const auto* truth = value.get<bool>()) return *truth ? "true" : "false";
  if (const auto* integer = value.get<std::int64_t>()) return std::to_string(*integer);
  if (const auto* real = value.get<double>()) return real_text(*real);
  if (const auto* list = value.get<Value::List>())
    return enclosed('[', *list, ']', [](const Value& one) { return toml_text(one); });
  if (const auto* table = value.get<Value::Table>())
    return enclosed('{', *table, '}',
                    [](const Value::Entry& one) { return toml_key(one.key) + " = " + toml_text(one.value); });
  return toml_text(std::get<std::string>(value.content));
}

std::string toml_text(std::span<const Settings> settings) {
  std::string text;
  for (const Settings& one : settings) {
    text += (text.empty() ? "[[cases]]\nalgorithm = " : "\n[[cases]]\nalgorithm = ") + toml_text(one.algorithm->name) +
            "\n";
    for (const auto& [key, value] : one.values)
      if (key != "algorithm") text += toml_key(key) + " = " + toml_text(value) + "\n";
  }
  return text;
}

}  // namespace league::bench
