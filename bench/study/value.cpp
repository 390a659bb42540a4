// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/value.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

/// A copy of a node with the place of each value; `line` says whether lines mean anything in `source`.
Value convert(const toml::node& node, const std::string& source, bool line) {
  Value value{.place = line ? source + ":" + std::to_string(node.source().begin.line) : source, .content = {}};
  if (const auto* table = node.as_table()) {
    auto& entries = value.content.emplace<Value::Table>();
    for (const auto& [key, child] : *table) entries.push_back({std::string(key.str()), convert(child, source, line)});
    // toml++ sorts keys; the order of the file says which size comes first.
    std::ranges::sort(entries, {}, [&](const Value::Entry& entry) {
      const toml::source_position at = table->find(entry.key)->first.source().begin;
      return std::pair(at.line, at.column);
    });
  } else if (const auto* array = node.as_array()) {
    auto& list = value.content.emplace<Value::List>();
    for (const toml::node& child : *array) list.push_back(convert(child, source, line));
  } else if (const auto* truth = node.as_boolean()) {
    value.content = truth->get();
  } else if (const auto* integer = node.as_integer()) {
    value.content = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    value.content = real->get();
  } else if (const auto* word = node.as_string()) {
    value.content = word->get();
  } else {
    value.content = Value::Other{"a date or time"};
  }
  return value;
}

/// Where something that is not ASCII stands outside strings and comments; the end if nothing does. TOML has no such
/// thing, and what toml++ 3.3 does with it is not defined.
std::size_t find_stray(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::string_view quote;  // that ends the string
  std::size_t i = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  for (; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (quote.size() == 1 && rest.front() == '\n') quote = {};
    if (!quote.empty()) {
      if (quote.front() == '"' && rest.front() == '\\') ++i;
      if (rest.starts_with(quote)) i += quote.size() - 1, quote = {};
    } else if (rest.front() == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.front() == '"' || rest.front() == '\'') {
      quote = rest.substr(0, rest.starts_with("\"\"\"") || rest.starts_with("'''") ? 3 : 1);
      i += quote.size() - 1;
    } else if (static_cast<unsigned char>(rest.front()) > 0x7f) {
      return i;
    }
  }
  return text.size();
}

/// Cuts at commas that stand outside brackets, braces and quotes.
std::vector<std::string> cut_at_commas(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted) depth += (c == '[' || c == '{') ? 1 : (c == ']' || c == '}') ? -1 : 0;
    if (c == ',' && depth == 0 && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_bare_word(std::string_view text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, plain);
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

Value read_one(std::string_view text, const std::string& place) {
  const std::string word = trimmed(text);
  if (find_stray(word) < word.size())
    throw BadInput(place + ": '" + word + "' is no TOML value: what is not ASCII stands in quotes");
  try {
    const toml::table table = toml::parse("value = " + word);
    return convert(*table.get("value"), place, false);
  } catch (const toml::parse_error& error) {
    if (is_bare_word(word)) return {.place = place, .content = word};
    throw BadInput(place + ": '" + word + "' is neither a TOML value nor a word: " + std::string(error.description()));
  }
}

/// "file:3: `sizes`: " for an error in the file itself: the place, and the key that begins on this line or the last
/// before.
std::string parse_place(const std::filesystem::path& file, std::size_t line) {
  std::string place = file.string() + ":" + std::to_string(line) + ": ", key, text;
  std::ifstream stream(file);
  for (std::size_t number = 1; number <= line && std::getline(stream, text); ++number) {
    const std::string before = trimmed(text.substr(0, text.find('=')));
    if (text.find('=') != std::string::npos && is_bare_word(before)) key = before;
  }
  return key.empty() ? place : place + "`" + key + "`: ";
}

}  // namespace

std::vector<const Value*> Value::each(std::string_view key) const {
  const List* list = get<List>();
  if (list == nullptr) return {this};
  if (list->empty()) refuse(key, "is an empty list: name at least one value, or leave the key out");
  std::vector<const Value*> all;
  for (const Value& value : *list) all.push_back(&value);
  return all;
}

std::int64_t Value::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const auto* number = get<std::int64_t>();
  if (number == nullptr) refuse(key, "takes integers, not " + type());
  if (*number < least || *number > most)
    refuse(key, "is " + std::to_string(*number) + ": it must lie in " + std::to_string(least) + " to " +
                    std::to_string(most));
  return *number;
}

double Value::real(std::string_view key, const Interval& interval) const {
  const std::string range = "takes " + interval.words();
  const auto* integer = get<std::int64_t>();
  const auto* real = get<double>();
  if (integer == nullptr && real == nullptr) refuse(key, range + ", not " + type());
  const double number = integer != nullptr ? static_cast<double>(*integer) : *real;
  if (!interval.contains(number)) refuse(key, "is " + shortest(number) + ": it " + range);
  return number;
}

bool Value::truth(std::string_view key) const {
  const auto* truth = get<bool>();
  if (truth == nullptr) refuse(key, "takes true or false, not " + type());
  return *truth;
}

const std::string& Value::word(std::string_view key) const {
  const auto* text = get<std::string>();
  if (text == nullptr) refuse(key, "takes strings, not " + type());
  return *text;
}

void Value::refuse(std::string_view key, std::string_view why) const {
  throw BadInput(place + ": `" + std::string(key) + "` " + std::string(why));
}

std::string Value::type() const {
  if (const Other* other = get<Other>()) return other->type;
  static constexpr const char* types[] = {"",         "a boolean", "an integer", "a floating-point number",
                                          "a string", "a list",    "a table"};
  return types[content.index()];
}

void require_few(std::size_t count, const Value& value, std::string_view key) {
  if (count > max_cases)
    value.refuse(key, "makes more than " + std::to_string(max_cases) +
                          " cases with the lists beside it: shorten one, or make several studies of it");
}

const Value* find(const Value::Table& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &Value::Entry::key);
  return found == table.end() ? nullptr : &found->value;
}

Value::Table read_toml(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) throw BadInput("there is no study '" + file.string() + "'");
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (const std::size_t stray = find_stray(text); stray < text.size())
    throw BadInput(parse_place(file, 1 + static_cast<std::size_t>(std::count(
                                             text.begin(), text.begin() + static_cast<std::ptrdiff_t>(stray), '\n'))) +
                   "what is not ASCII stands in quotes");
  try {
    const toml::table table = toml::parse(text, file.string());
    return std::get<Value::Table>(convert(table, file.string(), true).content);
  } catch (const toml::parse_error& error) {
    throw BadInput(parse_place(file, error.source().begin.line) + std::string(error.description()));
  }
}

Value read_value(std::string_view text, const std::string& place) {
  const std::vector<std::string> parts = cut_at_commas(text);
  if (parts.size() == 1) return read_one(text, place);
  Value::List list;
  for (const std::string& part : parts) list.push_back(read_one(part, place));
  return {.place = place, .content = std::move(list)};
}

}  // namespace league::bench
