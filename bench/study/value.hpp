// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "algorithms/contract/parameter.hpp"

namespace league::bench {

/// A value of a study and the place where it is written: "configs/quick.toml:3" or "--set n=3".
struct Value {
  struct Entry;
  using List = std::vector<Value>;
  using Table = std::vector<Entry>;  // in the order of the file
  struct Other {                     // a type that no key accepts
    std::string type;
  };

  std::string place;
  std::variant<Other, bool, std::int64_t, double, std::string, List, Table> content;

  template <class T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&content);
  }
  /// The values of a list, or the value itself as a list of one.
  /// @throws BadInput if the list is empty
  [[nodiscard]] std::vector<const Value*> each(std::string_view key) const;
  /// @throws BadInput if it is no integer in [min, max]
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t min, std::int64_t max) const;
  /// @throws BadInput if it is no number of the interval
  [[nodiscard]] double real(std::string_view key, const Interval& interval) const;
  /// @throws BadInput if it is neither true nor false
  [[nodiscard]] bool truth(std::string_view key) const;
  /// @throws BadInput if it is no string
  [[nodiscard]] const std::string& word(std::string_view key) const;
  /// @throws BadInput, naming the place and the key
  [[noreturn]] void refuse(std::string_view key, std::string_view why) const;
  /// What it is: "a string".
  [[nodiscard]] std::string type() const;
};

struct Value::Entry {
  std::string key;
  Value value;
};

/// The maximum number of cases of a study, and of the products of its lists.
inline constexpr std::size_t max_cases = 100'000;
/// @throws BadInput if `count`, a product of lists, is greater
void require_few(std::size_t count, const Value& value, std::string_view key);

/// The value of `key`; null if the table has none.
const Value* find(const Value::Table& table, std::string_view key);

/// Reads a TOML file. @throws BadInput naming file and line
Value::Table read_toml(const std::filesystem::path& file);

/// Reads a value as TOML writes it, a bare word (a string), or several of them with commas between (a list).
/// @throws BadInput naming `place`
Value read_value(std::string_view text, const std::string& place);

}  // namespace league::bench
