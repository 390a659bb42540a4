// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/axes.hpp"

#include <algorithm>
#include <limits>

#include "bench/errors.hpp"
#include "bench/peers/peers.hpp"
#include "bench/study/models.hpp"
#include "bench/study/nearest.hpp"
#include "bench/study/renamed.hpp"

namespace league::bench {
namespace {

/// A hint for names of peers in a run without peers.
std::string peers_hint(const std::string& key) {
  const bool named = key == "models" || key == "methods";
  const auto is_peer = [](const Variant& variant) { return variant.model.backend == "python"; };
  return named && std::ranges::none_of(registry().variants, is_peer) ? " (Python peers: with --python FILE)" : "";
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string choose(const Value& value, const std::string& key, const std::vector<std::string>& choices) {
  const std::string& word = value.word(key);
  if (!contains(choices, word)) value.refuse(key, "is '" + word + "'; " + suggestion(word, choices) + peers_hint(key));
  return word;
}

/// Names out of a list of all that there are.
struct Names {
  std::vector<std::string> chosen;
  bool by_name = false;  ///< listed one by one; else all but the excluded ones
};

/// Reads names; all but `unless_named` if the key is absent or "all"; a "-" before a name excludes it. Old names are
/// accepted, those of ignored peers are skipped. No model's old name is the name of anything else.
Names read_names(const Value* value, const std::string& key, const std::vector<std::string>& choices,
                 const std::vector<std::string>& old = {}, const std::vector<std::string>& unless_named = {}) {
  Names names;
  std::vector<std::string> without;
  if (value != nullptr)
    for (const Value* one : value->each(key)) {
      const std::string& word = one->word(key);
      const bool excluded = word.starts_with('-');
      const Value name{.place = one->place, .content = std::string(modern_model(excluded ? word.substr(1) : word))};
      if (word == "all") continue;
      names.by_name = names.by_name || !excluded;
      const bool is_old = contains(old, name.word(key));
      if (!contains(choices, name.word(key)) && !is_old && is_left_out(name.word(key))) continue;
      (excluded ? without : names.chosen).push_back(is_old ? name.word(key) : choose(name, key, choices));
    }
  if (!names.by_name) names.chosen = choices, without.insert(without.end(), unless_named.begin(), unless_named.end());
  std::erase_if(names.chosen, [&](const std::string& name) { return contains(without, name); });
  if (names.chosen.empty() && !names.by_name) value->refuse(key, "rules out all of " + joined(choices));
  return names;
}

Names method_names(const Value* value, const Algorithm& algorithm) {
  std::vector<std::string> known, old, naive;
  for (const Method& method : algorithm.methods) known.push_back(method.name);
  for (const Method& method : algorithm.methods)
    if (method.naive) naive.push_back(method.name);
  for (const Renamed& one : renamed_methods())
    if (one.algorithm == algorithm.name) old.emplace_back(one.method);
  return read_names(value, "methods", known, old, naive);
}

std::vector<const Parameter*> size_parameters(const Algorithm& algorithm) {
  std::vector<const Parameter*> sizes;
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.kind == Parameter::Kind::size) sizes.push_back(&parameter);
  return sizes;
}

/// The value of this size for each of `points` points.
std::vector<std::int64_t> size_values(const Value& value, const Parameter& parameter, std::size_t points) {
  std::vector<std::int64_t> values;
  for (const Value* one : value.each("sizes." + parameter.name))
    values.push_back(one->integer("sizes." + parameter.name, parameter.min, parameter.max));
  require_few(points * values.size(), value, "sizes." + parameter.name);
  return values;
}

/// A value of an algorithm's own parameter, checked, as canonical text: equal numbers have equal texts.
std::string parameter_text(const Value& value, const Parameter& parameter) {
  if (parameter.kind == Parameter::Kind::choice) return choose(value, parameter.name, parameter.choices);
  if (parameter.kind != Parameter::Kind::real)
    return std::to_string(value.integer(parameter.name, parameter.min, parameter.max));
  const double number = value.real(parameter.name, parameter.interval);
  return number == std::stod(parameter.default_value) ? parameter.default_value : shortest(number);
}

/// The product of the points with the values of one size.
void multiply(std::vector<Point>& points, const std::string& name, const std::vector<std::int64_t>& values) {
  std::vector<Point> product;
  for (const Point& point : points)
    for (const std::int64_t value : values) {
      product.push_back(point);
      std::erase_if(product.back(), [&](const auto& size) { return size.first == name; });
      product.back().emplace_back(name, value);
    }
  points = std::move(product);
}

/// Sizes that cannot be counted in 64-bit bytes are refused here, before anything runs.
void require_countable(const std::vector<Point>& points, const Value* place) {
  for (const Point& point : points) {
    std::vector<std::int64_t> extents{8};
    for (const auto& [name, value] : point) extents.push_back(std::max<std::int64_t>(value, 1));
    try {
      static_cast<void>(checked_product(extents));
    } catch (const std::overflow_error& error) {
      if (place == nullptr) throw;
      place->refuse("sizes", std::string("are too large: ") + error.what());
    }
  }
}

std::vector<WantedLaunch> launches_of(const Value& value) {
  const auto* word = value.get<std::string>();
  if (word != nullptr && *word == name(LaunchSource::automatic)) return {{{}, LaunchSource::automatic}};
  if (word != nullptr && *word == name(LaunchSource::tuned)) return {{{}, LaunchSource::tuned}};
  const auto* table = value.get<Value::Table>();
  if (table == nullptr)
    value.refuse("launches", "takes \"auto\", \"tuned\" or tables such as {league = 132, team = 8}, not " +
                                 (word != nullptr ? "'" + *word + "'" : value.type()));
  static const std::vector<std::pair<std::string, int Launch::*>> fields{
      {"league", &Launch::league}, {"team", &Launch::team}, {"vector", &Launch::vector}, {"tile", &Launch::tile}};
  std::vector<Launch> launches(1);
  for (const auto& [key, numbers] : *table) {
    const auto field = std::ranges::find(fields, key, &std::pair<std::string, int Launch::*>::first);
    if (field == fields.end()) {
      const std::vector<std::string> known{"league", "team", "vector", "tile"};
      numbers.refuse("launches." + key, "is not part of a launch; " + suggestion(key, known));
    }
    std::vector<Launch> product;
    require_few(launches.size() * numbers.each("launches." + key).size(), numbers, "launches." + key);
    for (const Launch& launch : launches)
      for (const Value* number : numbers.each("launches." + key)) {
        const std::int64_t size = number->integer("launches." + key, 1, std::numeric_limits<int>::max());
        product.push_back(launch);
        product.back().*(field->second) = static_cast<int>(size);
      }
    launches = std::move(product);
  }
  std::vector<WantedLaunch> wanted;
  for (const Launch& launch : launches)
    wanted.push_back({launch, launch == Launch{} ? LaunchSource::automatic : LaunchSource::given});
  return wanted;
}

}  // namespace

const Value* Axes::find(std::string_view key) const { return bench::find(settings_.values, key); }

std::vector<std::int64_t> Axes::integers(const std::string& key, std::vector<std::int64_t> default_values,
                                         std::int64_t min, std::int64_t max) const {
  const Value* value = find(key);
  if (value == nullptr) return default_values;
  std::vector<std::int64_t> values;
  for (const Value* one : value->each(key)) values.push_back(one->integer(key, min, max));
  return values;
}

std::vector<std::string> Axes::words(const std::string& key, const std::vector<std::string>& choices) const {
  const Value* value = find(key);
  if (value == nullptr) return {choices.front()};
  std::vector<std::string> chosen;
  for (const Value* one : value->each(key)) chosen.push_back(choose(*one, key, choices));
  return chosen;
}

std::vector<std::string> Axes::parameter(const Parameter& parameter) const {
  const Value* value = find(parameter.name);
  if (value == nullptr) return {parameter.default_value};
  std::vector<std::string> values;
  for (const Value* one : value->each(parameter.name)) values.push_back(parameter_text(*one, parameter));
  return values;
}

std::vector<Dtype> Axes::dtypes() const {
  std::vector<std::string> known;
  for (const Method& method : algorithm().methods)
    for (const Dtype dtype : method.dtypes)
      if (std::ranges::find(known, name(dtype)) == known.end()) known.emplace_back(name(dtype));
  const bool has_f32 = std::ranges::find(known, "f32") != known.end();
  const Value* value = find("dtypes");
  std::vector<Dtype> dtypes;
  for (const std::string& word :
       value != nullptr ? read_names(value, "dtypes", known).chosen : std::vector{has_f32 ? "f32" : known.at(0)})
    dtypes.push_back(dtype_from(word));
  return dtypes;
}

std::vector<Point> Axes::points(const Value& value) const {
  const std::vector<const Parameter*> sizes = size_parameters(algorithm());
  std::vector<std::string> known;
  for (const Parameter* size : sizes) known.push_back(size->name);
  const auto* table = value.get<Value::Table>();
  if (table == nullptr) {
    if (sizes.size() != 1)
      value.refuse("sizes",
                   "takes tables with " + joined(known) + " for " + algorithm().name + ", not " + value.type());
    return {{{known[0], value.integer("sizes", sizes[0]->min, sizes[0]->max)}}};
  }
  std::vector<Point> points(1);
  for (const auto& [key, numbers] : *table) {
    const auto size = std::ranges::find(sizes, key, &Parameter::name);
    if (size == sizes.end())
      numbers.refuse("sizes." + key, "is no size of " + algorithm().name + "; " + suggestion(key, known));
    multiply(points, key, size_values(numbers, **size, points.size()));
  }
  return points;
}

std::vector<Point> Axes::sizes() const {
  const Value* value = find("sizes");
  std::vector<Point> product;
  if (value == nullptr) product.emplace_back();
  if (value != nullptr)
    for (const Value* one : value->each("sizes")) std::ranges::copy(points(*one), std::back_inserter(product));
  for (const Parameter* size : size_parameters(algorithm())) {
    for (Point& point : product)
      if (std::ranges::find(point, size->name, &Point::value_type::first) == point.end())
        point.emplace_back(size->name, std::stoll(size->default_value));
    if (const Value* set = find("sizes." + size->name)) {
      // Points that differ in this size only become one.
      multiply(product, size->name, {0});
      std::ranges::sort(product);
      product.erase(std::ranges::unique(product).begin(), product.end());
      multiply(product, size->name, size_values(*set, *size, product.size()));
    }
  }
  require_countable(product, value);
  return product;
}

std::vector<WantedLaunch> Axes::launches() const {
  const Value* value = find("launches");
  if (value == nullptr) return {WantedLaunch{}};
  std::vector<WantedLaunch> launches;
  for (const Value* one : value->each("launches")) std::ranges::copy(launches_of(*one), std::back_inserter(launches));
  return launches;
}

std::vector<Execution> Axes::executions() const {
  static const std::vector<Execution> every{Execution::stream, Execution::graph, Execution::kokkos_graph};
  std::vector<std::string> names;
  for (const Execution one : every) names.emplace_back(name(one));
  std::vector<Execution> executions;
  for (const std::string& word : words("execution", names))
    executions.push_back(every[static_cast<std::size_t>(std::ranges::find(names, word) - names.begin())]);
  return executions;
}

bool Axes::has(Execution execution) const {
  const Names methods = method_names(find("methods"), algorithm());
  return std::ranges::any_of(algorithm().methods, [&](const Method& method) {
    const std::vector<Execution> its = registry().executions(algorithm().name, method);
    return contains(methods.chosen, method.name) && std::ranges::find(its, execution) != its.end();
  });
}

std::vector<Way> Axes::variants(const Runtime& runtime, std::vector<std::string>& notes) const {
  const Names models = read_names(find("models"), "models", known_models());
  const std::vector<Execution> wanted = executions();
  std::vector<Way> ways;
  const auto add = [&](const std::string& method_name, const std::string& model, const auto& chosen) {
    const auto method = std::ranges::find(algorithm().methods, method_name, &Method::name);
    if (method == algorithm().methods.end()) return false;
    const bool there =
        contains(declared_models(algorithm(), *method), model) && (models.by_name || is_built(runtime, model));
    const std::size_t before = ways.size();
    for (const Execution execution : executions_of(algorithm(), *method, model)) {
      const Way way{&*method, model, execution};
      const bool is_new = std::ranges::find(ways, way) == ways.end();
      if (!there || !is_new || std::ranges::find(chosen, execution) == chosen.end()) continue;
      ways.push_back(way);
    }
    return ways.size() > before;
  };
  const Names methods = method_names(find("methods"), algorithm());
  for (const std::string& method : methods.chosen)
    for (const std::string& model : models.chosen) {
      add(method, model, wanted);
      const Renamed* now = methods.by_name ? renamed(algorithm().name, method, model) : nullptr;
      if (now != nullptr && add(std::string(now->now), model, std::vector{now->execution}))
        notes.push_back(find("methods")->place + ": `methods` '" + method + "' of " + algorithm().name + " is now '" +
                        std::string(now->now) + "' with `execution = \"" + std::string(name(now->execution)) + "\"`");
    }
  return ways;
}

}  // namespace league::bench
