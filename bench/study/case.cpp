// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/case.hpp"

#include <array>

namespace league::bench {
namespace {

bool is_size(const Parameter& parameter) { return parameter.kind == Parameter::Kind::size; }

/// Whether the data determine a parameter: the number of features, except of generated rows.
bool follows_from_data(const Case& that, const Parameter& parameter) {
  return that.algorithm->needs_dataset && parameter.name == "features" && !that.data.is_generated();
}

/// "/n:1024/memory:unified/seed:2": sizes, and what is not at its default.
std::string work_label(const Case& that) {
  std::string text;
  const auto add = [&](const std::string& key, const std::string& value) { text += "/" + key + ":" + value; };
  for (const Parameter& parameter : that.algorithm->parameters)
    if (is_size(parameter) && !follows_from_data(that, parameter))
      add(parameter.name, that.parameters.choice(parameter.name));
  for (const Parameter& parameter : that.algorithm->parameters)
    if (!is_size(parameter) && that.parameters.choice(parameter.name) != parameter.default_value)
      add(parameter.name, that.parameters.choice(parameter.name));
  const Selection defaults;
  if (that.algorithm->needs_dataset) {
    if (that.data.dataset != defaults.dataset) add("dataset", that.data.dataset);
    if (that.data.split != defaults.split) add("split", that.data.split);
    if (that.data.split_seed != defaults.split_seed) add("split_seed", std::to_string(that.data.split_seed));
  }
  if (that.seed != Case{}.seed) add("seed", std::to_string(that.seed));
  return text;
}

}  // namespace

std::string default_communicator(const Case& that) { return that.ranks > 1 ? "auto" : Case{}.communicator; }

std::string method_label(const Case& that) {
  const bool is_default = that.execution == Case{}.execution;
  return that.method->name + (is_default ? "" : " " + std::string(name(that.execution)));
}

Execution compared_as(Execution execution) {
  return execution == Execution::kokkos_graph ? Execution::graph : execution;
}

std::string label(const Launch& launch) {
  std::string text;
  const auto add = [&](const char* key, int value) {
    if (value > 0) text += (text.empty() ? "" : ",") + std::string(key) + "=" + std::to_string(value);
  };
  add("league", launch.league);
  add("team", launch.team);
  add("vector", launch.vector);
  add("tile", launch.tile);
  return text.empty() ? "auto" : text;
}

std::string_view name(HostMemory memory) { return memory == HostMemory::pinned ? "pinned" : "pageable"; }

std::string_view name(LaunchSource source) {
  static constexpr std::array names{"auto", "auto", "tuned", "explicit"};
  return names[static_cast<std::size_t>(source)];
}

std::string launch_label(const Case& that) {
  return that.launch_source == LaunchSource::tuned ? "tuned" : label(that.launch);
}

std::vector<std::pair<std::string, std::int64_t>> sizes_of(const Case& that) {
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  for (const Parameter& parameter : that.algorithm->parameters)
    if (is_size(parameter)) sizes.emplace_back(parameter.name, that.parameters.integer(parameter.name));
  return sizes;
}

void give_names(Case& that) {
  const std::string problem = that.method->problem.empty() ? "" : "/problem:" + that.method->problem;
  const std::string threads = that.threads == 0 ? "" : "/threads:" + std::to_string(that.threads);
  const std::string work = "/dtype:" + std::string(name(that.dtype)) + work_label(that) + threads +
                           "/devices:" + std::to_string(that.devices) +
                           (that.ranks > 1 ? "/ranks:" + std::to_string(that.ranks) : "");
  that.comparison = that.algorithm->name + problem + work;
  const std::string engine =
      that.communicator == default_communicator(that) ? "" : "/communicator:" + that.communicator;
  const std::string execution =
      that.execution == Case{}.execution ? "" : "/execution:" + std::string(name(that.execution));
  that.name = that.algorithm->name + "/method:" + that.method->name + execution + "/model:" + that.model + work +
              engine + "/launch:" + launch_label(that);
}

}  // namespace league::bench
