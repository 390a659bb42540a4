// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/list.hpp"

#include <algorithm>
#include <ostream>

#include "backends/communicator.hpp"
#include "bench/build_info.hpp"
#include "bench/json.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

Json ready_executions(const Runtime& runtime, const Algorithm& algorithm, const Method& method,
                      const std::string& model) {
  Json ready = Json::array();
  for (const Execution execution : executions_of(algorithm, method, model))
    if (availability(runtime, algorithm, method, model, execution).state == State::ready)
      ready.push_back(name(execution));
  return ready;
}

/// Adds how the code of a portable model is written: its bodies, and the numbers of each type.
void add_writing(Json& model, const Writing& writing) {
  model["bodies"] = name(writing.bodies);
  if (writing.shared) model["shared"] = *writing.shared;
  for (const auto& [dtype, numbers] : writing.numbers)
    for (const auto& [number, value] : numbers) model["numbers"][std::string(name(dtype))][number] = value;
}

Json method_json(const Runtime& runtime, const Algorithm& algorithm, const Method& method) {
  Json dtypes = Json::array(), executions = Json::array(), models = Json::array();
  for (const Dtype dtype : method.dtypes) dtypes.push_back(name(dtype));
  for (const Execution execution : registry().executions(algorithm.name, method)) executions.push_back(name(execution));
  for (const std::string& model : declared_models(algorithm, method)) {
    const Availability here = availability(runtime, algorithm, method, model);
    models.push_back({{"name", model},
                      {"device", name(device_kind(algorithm.name, method.name, model))},
                      {"state", name(here.state)},
                      {"reason", here.reason},
                      {"executions", ready_executions(runtime, algorithm, method, model)}});
    if (const Writing* writing = writing_of(algorithm.name, method.name, model)) add_writing(models.back(), *writing);
  }
  return {{"name", method.name},   {"description", method.description},
          {"dtypes", dtypes},      {"executions", executions},
          {"naive", method.naive}, {"models", models}};
}

Json parameter_json(const Parameter& parameter) {
  static constexpr const char* kinds[] = {"size", "integer", "real", "choice"};
  Json json = {{"name", parameter.name},
               {"kind", kinds[static_cast<std::size_t>(parameter.kind)]},
               {"default", parameter.default_value},
               {"min", parameter.min},
               {"max", parameter.max},
               {"choices", parameter.choices},
               {"description", parameter.description}};
  if (parameter.kind != Parameter::Kind::real) return json;
  const Interval& interval = parameter.interval;
  json["min"] = interval.has_min() ? Json(interval.min) : Json();
  json["max"] = interval.has_max() ? Json(interval.max) : Json();
  json["open_min"] = interval.open_min;
  json["open_max"] = interval.open_max;
  return json;
}

/// The communication engines, and the kinds of devices for which this build has them.
Json communicators_json() {
  Json engines = Json::array();
  for (const std::string& engine : engine_names()) {
    Json kinds = Json::array();
    for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu}) {
      const std::vector<std::string> built = engine_names(kind);
      if (std::ranges::find(built, engine) != built.end()) kinds.push_back(name(kind));
    }
    engines.push_back({{"name", engine}, {"devices", kinds}});
  }
  return engines;
}

Json listing(const Runtime& runtime) {
  Json backends = Json::array(), algorithms = Json::array(), devices = Json::array();
  for (const std::string& backend_name : runtime.backends()) {
    const Backend& backend = *runtime.backend(backend_name);
    const std::string reason = backend.unavailable();
    backends.push_back(
        {{"name", backend_name}, {"available", reason.empty()}, {"reason", reason}, {"version", backend.version()}});
  }
  devices.push_back({{"kind", "host"}, {"name", runtime.host().name}});
  for (const DeviceInfo& gpu : runtime.gpus()) devices.push_back({{"kind", "gpu"}, {"name", gpu.name}});
  for (const Algorithm& algorithm : registry().algorithms) {
    Json methods = Json::array(), parameters = Json::array();
    for (const Method& method : algorithm.methods) methods.push_back(method_json(runtime, algorithm, method));
    for (const Parameter& parameter : algorithm.parameters) parameters.push_back(parameter_json(parameter));
    algorithms.push_back({{"name", algorithm.name},
                          {"description", algorithm.description},
                          {"needs_dataset", algorithm.needs_dataset},
                          {"between_shards", algorithm.between_shards},
                          {"methods", methods},
                          {"parameters", parameters},
                          {"edge_cases", algorithm.edge_cases}});
  }
  return {{"preset", build_info::preset},
          {"devices", devices},
          {"backends", backends},
          {"communicators", communicators_json()},
          {"algorithms", algorithms}};
}

std::string text(const Json& json, const char* key) { return json.at(key).get<std::string>(); }

/// "stream or graph".
std::string joined(const Json& names, const char* between) {
  std::string words;
  for (const Json& one : names) words += (words.empty() ? "" : between) + one.get<std::string>();
  return words;
}

/// ", stream or graph": where there is a choice.
std::string executions_text(const Json& model) {
  const Json& all = model.at("executions");
  return all.size() > 1 ? ", " + joined(all, " or ") : "";
}

/// ", one body with 3 numbers": of portable models.
std::string bodies_text(const Json& model) {
  const std::string bodies = model.value("bodies", "");
  if (bodies != "numbers") return bodies.empty() ? "" : bodies == "one" ? ", one body" : ", several bodies";
  const std::size_t count = model.at("numbers").front().size();
  return ", one body with " + std::to_string(count) + (count == 1 ? " number" : " numbers");
}

void print_method(const Json& method, std::ostream& out) {
  out << "  " << text(method, "name") << ": " << text(method, "description") << " (" << joined(method.at("dtypes"), " ")
      << ")\n";
  for (const Json& model : method.at("models")) {
    const std::string reason = text(model, "reason");
    out << "    " << text(model, "name") << std::string(16 - std::min<std::size_t>(15, text(model, "name").size()), ' ')
        << (reason.empty() ? "ready, " + text(model, "device") + bodies_text(model) + executions_text(model) : reason)
        << "\n";
  }
}

void print(const Json& all, std::ostream& out) {
  out << "preset " << text(all, "preset") << "\n";
  for (const Json& device : all.at("devices")) out << text(device, "kind") << ": " << text(device, "name") << "\n";
  for (const Json& backend : all.at("backends")) {
    out << "backend " << text(backend, "name") << " " << text(backend, "version");
    out << (backend.at("available").get<bool>() ? "" : ": " + text(backend, "reason")) << "\n";
  }
  for (const Json& engine : all.at("communicators")) {
    const std::string devices = joined(engine.at("devices"), ", ");
    out << "communicator " << text(engine, "name") << ": " << (devices.empty() ? "not in this build" : devices) << "\n";
  }
  for (const Json& algorithm : all.at("algorithms")) {
    out << "\n" << text(algorithm, "name") << ": " << text(algorithm, "description") << "\n";
    for (const Json& method : algorithm.at("methods")) print_method(method, out);
    for (const Json& parameter : algorithm.at("parameters"))
      out << "  " << (parameter.at("kind") == "size" ? "sizes." : "") << text(parameter, "name") << " = "
          << text(parameter, "default") << ": " << text(parameter, "description") << "\n";
  }
}

}  // namespace

void list(const Runtime& runtime, std::ostream& out, bool as_json) {
  const Json all = listing(runtime);
  if (as_json)
    out << text_of(all, 2) << "\n";
  else
    print(all, out);
}

}  // namespace league::bench
