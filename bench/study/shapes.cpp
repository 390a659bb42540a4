// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "bench/sample/draw.hpp"
#include "bench/study/axes.hpp"
#include "bench/study/nearest.hpp"

namespace league::bench {
namespace {

constexpr const char* distribution = "log_uniform";
constexpr std::int64_t max_shapes = 1000;  // of a table
constexpr int max_repeated_draws = 2000;

/// Whether a value is a distribution: only those are tables.
bool is_drawn(const Value& value) { return value.get<Value::Table>() != nullptr; }

std::int64_t max_integer() { return std::numeric_limits<std::int64_t>::max(); }

/// Integers from `first` to `last`.
struct Bounds {
  std::int64_t first, last;
};

/// `[1, 100000]`. @throws BadInput
Bounds read_bounds(const Value& value, const std::string& key, std::int64_t min, std::int64_t max) {
  const auto* ends = value.get<Value::List>();
  if (ends == nullptr || ends->size() != 2)
    value.refuse(key, "takes the minimum and the maximum, as [1, 100000], not " +
                          (ends == nullptr ? value.type() : "a list of " + std::to_string(ends->size())));
  const Bounds bounds{ends->front().integer(key, min, max), ends->back().integer(key, min, max)};
  if (bounds.first > bounds.last)
    value.refuse(key, "is empty: " + std::to_string(bounds.first) + " is above " + std::to_string(bounds.last) +
                          "; write the minimum first");
  return bounds;
}

/// `{ log_uniform = [1, 100000] }` within the bounds of a parameter. @throws BadInput
Bounds read_distribution(const Value& value, const std::string& key, const Parameter& parameter) {
  const auto& table = *value.get<Value::Table>();
  const std::vector<std::string> known{distribution};
  for (const auto& [name, bounds] : table)
    if (name != distribution) bounds.refuse(key + "." + name, "is no distribution; " + suggestion(name, known));
  if (table.empty()) value.refuse(key, "says no distribution: write { log_uniform = [1, 100000] }");
  return read_bounds(table.front().value, key + "." + distribution, std::max<std::int64_t>(parameter.min, 1),
                     parameter.max);
}

/// A size, or an integer beside the sizes: fixed where both bounds are the same.
struct Extent {
  const Parameter* parameter;
  Bounds bounds;
  bool drawn;
  [[nodiscard]] bool is_size() const { return parameter->kind == Parameter::Kind::size; }
};

std::int64_t draw_extent(Random& random, const Extent& extent) {
  if (!extent.drawn) return extent.bounds.first;
  const double low = std::log2(static_cast<double>(extent.bounds.first)),
               high = std::log2(static_cast<double>(extent.bounds.last));
  return draw_extent(random, low + random.real() * (high - low), extent.bounds.first, extent.bounds.last);
}

/// The sizes of a table by name; those of `--set sizes.n=3` come before those of `sizes`. @throws BadInput
Value::Table sizes_of(const Settings& table) {
  Value::Table sizes;
  if (const Value* value = find(table.values, "sizes")) {
    const auto* entries = value->get<Value::Table>();
    if (entries == nullptr)
      value->refuse(
          "sizes",
          "takes one table where `shapes` are drawn, as { n = { log_uniform = [1, 100000] } }, not " + value->type());
    sizes = *entries;
  }
  std::vector<std::string> known;
  for (const Parameter& parameter : table.algorithm->parameters) {
    if (parameter.kind != Parameter::Kind::size) continue;
    known.push_back(parameter.name);
    const Value* set = find(table.values, "sizes." + parameter.name);
    if (set == nullptr) continue;
    std::erase_if(sizes, [&](const Value::Entry& entry) { return entry.key == parameter.name; });
    sizes.push_back({parameter.name, *set});
  }
  for (const auto& [key, value] : sizes)
    if (std::ranges::find(known, key) == known.end())
      value.refuse("sizes." + key, "is no size of " + table.algorithm->name + "; " + suggestion(key, known));
  return sizes;
}

/// All sizes, and the integers beside them that are to be drawn. @throws BadInput
std::vector<Extent> extents_of(const Settings& table) {
  std::vector<Extent> extents;
  const Value::Table sizes = sizes_of(table);
  for (const Parameter& parameter : table.algorithm->parameters) {
    const bool is_size = parameter.kind == Parameter::Kind::size;
    if (!is_size && parameter.kind != Parameter::Kind::integer) continue;
    const std::string key = (is_size ? "sizes." : "") + parameter.name;
    const Value* value = find(is_size ? sizes : table.values, parameter.name);
    if (value != nullptr && is_drawn(*value)) {
      extents.push_back({&parameter, read_distribution(*value, key, parameter), true});
    } else if (is_size) {
      const std::int64_t fixed =
          value == nullptr ? std::stoll(parameter.default_value) : value->integer(key, parameter.min, parameter.max);
      extents.push_back({&parameter, {fixed, fixed}, false});
    }
  }
  return extents;
}

using Shape = std::vector<std::int64_t>;  ///< a value for each extent

/// The product of all sizes, of which 0 is what a dataset gives.
double elements_of(const std::vector<Extent>& extents, const Shape& shape) {
  double product = 1;
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i].is_size()) product *= static_cast<double>(std::max<std::int64_t>(shape[i], 1));
  return product;
}

/// `count` distinct shapes; fewer where many draws in a row gave no new one.
std::vector<Shape> draw_shapes(Random random, const std::vector<Extent>& extents, std::size_t count,
                               const Bounds& elements) {
  std::vector<Shape> shapes;
  std::set<Shape> known;
  for (int repeated = 0; shapes.size() < count && repeated < max_repeated_draws; ++repeated) {
    Shape shape;
    for (const Extent& extent : extents) shape.push_back(draw_extent(random, extent));
    const double product = elements_of(extents, shape);
    const bool fits = static_cast<double>(elements.first) <= product && product <= static_cast<double>(elements.last);
    if (!fits || !known.insert(shape).second) continue;
    shapes.push_back(std::move(shape));
    repeated = 0;
  }
  return shapes;
}

/// The table with the distributions replaced by the numbers of one shape.
Settings settled(const Settings& table, const std::vector<Extent>& extents, const Shape& shape, std::int64_t seed) {
  const Value& shapes = *find(table.values, "shapes");
  const auto number = [&](std::int64_t value) { return Value{.place = shapes.place, .content = value}; };
  Settings one{table.algorithm, {}, true};
  Value sizes = number(0);
  auto& entries = sizes.content.emplace<Value::Table>();
  for (std::size_t i = 0; i < extents.size(); ++i)
    (extents[i].is_size() ? entries : one.values).push_back({extents[i].parameter->name, number(shape[i])});
  one.values.push_back({"sizes", sizes});
  one.values.push_back({"seed", number(seed)});
  for (const Value::Entry& entry : table.values) {
    const bool replaced = find(one.values, entry.key) != nullptr || entry.key.starts_with("sizes.");
    if (!replaced && entry.key != "shapes" && entry.key != "elements") one.values.push_back(entry);
  }
  return one;
}

/// @throws BadInput for a distribution in a table without `shapes`
void require_nothing_to_draw(const Settings& table) {
  if (const Value* elements = find(table.values, "elements"))
    elements->refuse("elements", "bounds what is drawn: say how many, as `shapes = 20`");
  const auto require = [](const std::string& key, const Value& value) {
    if (is_drawn(value)) value.refuse(key, "is to be drawn: say how many problems, as `shapes = 20`");
  };
  for (const Parameter& parameter : table.algorithm->parameters)
    if (parameter.kind == Parameter::Kind::integer)
      if (const Value* value = find(table.values, parameter.name)) require(parameter.name, *value);
  for (const auto& [key, value] : table.values) {
    if (key.starts_with("sizes.")) require(key, value);
    if (key != "sizes") continue;
    for (const Value* point : value.each(key))
      if (const auto* entries = point->get<Value::Table>())
        for (const auto& [name, size] : *entries) require("sizes." + name, size);
  }
}

/// The stream of random numbers of an algorithm's n-th table.
std::uint64_t stream_of(const Algorithm& algorithm, std::uint64_t table) {
  std::uint64_t stream = 14695981039346656037ULL;  // FNV-1a
  for (const char letter : algorithm.name) stream = (stream ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  return stream + table;
}

}  // namespace

std::vector<Settings> ShapeDraws::draw(const Settings& table) {
  const Value* shapes = find(table.values, "shapes");
  if (shapes == nullptr) {
    require_nothing_to_draw(table);
    return {table};
  }
  const auto count = static_cast<std::size_t>(shapes->integer("shapes", 1, max_shapes));
  const std::vector<Extent> extents = extents_of(table);
  if (std::ranges::none_of(extents, &Extent::drawn))
    shapes->refuse("shapes",
                   "draws problems, but nothing here is to be drawn: write a size as "
                   "{ log_uniform = [1, 100000] }, or leave the key out");
  Bounds elements{0, max_integer()};
  if (const Value* value = find(table.values, "elements")) elements = read_bounds(*value, "elements", 0, max_integer());
  const std::uint64_t stream = stream_of(*table.algorithm, tables_[table.algorithm]++);
  std::vector<Settings> all;
  for (const std::int64_t seed : Axes(table).integers("seed", {1}, 0, max_integer())) {
    const Random random(static_cast<std::uint64_t>(seed), stream);
    const std::vector<Shape> drawn = draw_shapes(random, extents, count, elements);
    if (drawn.size() < count)
      shapes->refuse("shapes", "is " + std::to_string(count) + ", but only " + std::to_string(drawn.size()) +
                                   " different ones were found: widen the ranges or `elements`, or ask for fewer");
    for (const Shape& shape : drawn) all.push_back(settled(table, extents, shape, seed));
  }
  return all;
}

}  // namespace league::bench
