// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/description.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "bench/errors.hpp"
#include "bench/study/nearest.hpp"
#include "bench/study/value.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;
constexpr const char* file_name_of_all = "template.toml";

const std::map<std::string, std::string>& cpp_types() {
  static const std::map<std::string, std::string> types{
      {"f32", "float"}, {"f64", "double"}, {"i32", "std::int32_t"}, {"i64", "std::int64_t"}, {"u8", "std::uint8_t"}};
  return types;
}

/// Without the line breaks at its ends.
std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of('\n');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of('\n') + 1 - begin);
}

std::string word_of(const Value::Table& table, const char* key, const fs::path& file) {
  const Value* value = find(table, key);
  if (value == nullptr) throw BadInput(file.string() + ": no `" + key + "`");
  return trimmed(value->word(key));
}

std::vector<std::string> words_of(const Value::Table& table, const char* key) {
  std::vector<std::string> words;
  if (const Value* value = find(table, key))
    for (const Value* each : value->each(key)) words.push_back(each->word(key));
  return words;
}

const Value::Table& table_of(const Value& value, const char* key) {
  const auto* table = value.get<Value::Table>();
  if (table == nullptr) value.refuse(key, "takes a table");
  return *table;
}

/// "f64 theta [features + 1]", "i64 taken [1] of steps", "T other [n] like values".
Argument array_of(const std::string& text, Argument::Role role) {
  std::istringstream words(text.substr(0, text.find('[')));
  Argument array{.role = role, .type = "", .name = ""};
  words >> array.type >> array.name;
  const std::size_t begin = text.find('['), end = text.find(']', begin);
  if (end == std::string::npos || !(array.type == "T" || cpp_types().contains(array.type)))
    throw BadInput("an array is written as `f64 theta [features + 1]`, not '" + text + "'");
  array.shape = text.substr(begin, end + 1 - begin);
  std::istringstream rest(text.substr(end + 1));
  std::string relation;
  if (!(rest >> relation >> array.source)) array.source = array.name;
  return array;
}

/// "n = sum 0": an extent of an array.
Argument size_of(const std::string& text) {
  std::istringstream words(text);
  std::string equals;
  Argument size{.role = Argument::Role::size, .type = "i64", .name = ""};
  if (!(words >> size.name >> equals >> size.source >> size.dimension))
    throw BadInput("a size is written as `n = sum 0`, not '" + text + "'");
  return size;
}

Argument number_of(const std::string& text) {
  std::istringstream words(text);
  Argument number{.role = Argument::Role::number, .type = "", .name = ""};
  if (!(words >> number.type >> number.name)) throw BadInput("a number is written as `i64 k`, not '" + text + "'");
  number.source = number.name;
  return number;
}

std::vector<Argument> read_arguments(const Value::Table& table) {
  using Role = Argument::Role;
  std::vector<Argument> all;
  const std::array<std::pair<const char*, Role>, 3> arrays{
      {{"inputs", Role::input}, {"outputs", Role::output}, {"scratch", Role::scratch}}};
  for (const auto& [key, role] : arrays)
    for (const std::string& text : words_of(table, key)) all.push_back(array_of(text, role));
  for (const std::string& text : words_of(table, "sizes")) {
    all.push_back(size_of(text));
    const auto array = std::ranges::find(all, all.back().source, &Argument::name);  // by its name in the problem
    if (array != all.end()) all.back().source = array->source;
  }
  for (const std::string& text : words_of(table, "numbers")) all.push_back(number_of(text));
  return all;
}

std::vector<std::string> described(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& folder : fs::directory_iterator(root / "algorithms", none))
    if (fs::exists(folder.path() / file_name_of_all)) names.push_back(folder.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::vector<Argument> Description::arguments_of(Argument::Role role) const {
  std::vector<Argument> found;
  std::ranges::copy_if(arguments, std::back_inserter(found),
                       [role](const Argument& argument) { return argument.role == role; });
  return found;
}

std::string cpp_type(const std::string& type, const std::string& element) {
  return type == "T" ? element : cpp_types().at(type);
}

Description read_description(const fs::path& root, const std::string& algorithm) {
  const std::vector<std::string> known = described(root);
  if (std::ranges::find(known, algorithm) == known.end())
    throw BadInput("'" + algorithm + "' takes no kernels of your own: " + joined(known) + " do (algorithms/*/" +
                   file_name_of_all + " in " + root.string() + ")");
  const fs::path file = root / "algorithms" / algorithm / file_name_of_all;
  const Value::Table table = read_toml(file);
  Description read{.algorithm = algorithm,
                   .does = word_of(table, "does", file),
                   .arguments = read_arguments(table),
                   .locals = words_of(table, "locals"),
                   .solve = word_of(table, "solve", file),
                   .python = word_of(table, "python", file)};
  if (const Value* only = find(table, "only"))
    for (const auto& [key, value] : table_of(*only, "only")) read.only[key] = value.word(key);
  if (const Value* kernels = find(table, "kernels"))
    for (const Value* kernel : kernels->each("kernels")) {
      const Value::Table& entries = table_of(*kernel, "kernels");
      read.kernels.push_back(
          {word_of(entries, "name", file), word_of(entries, "range", file), word_of(entries, "body", file)});
    }
  return read;
}

Language language_named(const std::string& name) {
  return name == "cuda" ? Language::cuda : name == "python" ? Language::python : Language::kokkos;
}

Language language_of(const fs::path& file) {
  static const std::map<std::string, Language> endings{
      {".cu", Language::cuda}, {".cpp", Language::kokkos}, {".py", Language::python}};
  const auto found = endings.find(file.extension().string());
  if (found == endings.end())
    throw BadInput(file.string() + ": a kernel is a .cu file (CUDA), a .cpp file (Kokkos) or a .py file (Python)");
  return found->second;
}

}  // namespace league::bench
