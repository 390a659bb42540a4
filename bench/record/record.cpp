// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/record.hpp"

#include <array>
#include <cstdio>

#include "backends/model.hpp"
#include "bench/files.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/interval.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

constexpr std::size_t max_events = 400;  // of all timelines of a record: as many as a figure can show

Json object_of(const Readings& readings) {
  Json object = Json::object();
  for (const auto& [key, value] : readings) object[key] = value;
  return object;
}

Json parameters_of(const Case& that) {
  Json parameters = {{"seed", that.seed}};
  if (that.threads > 0) parameters["threads"] = that.threads;
  for (const Parameter& parameter : that.algorithm->parameters) {
    if (parameter.kind == Parameter::Kind::choice) parameters[parameter.name] = that.parameters.choice(parameter.name);
    if (parameter.kind == Parameter::Kind::integer)
      parameters[parameter.name] = that.parameters.integer(parameter.name);
    if (parameter.kind == Parameter::Kind::real) parameters[parameter.name] = that.parameters.real(parameter.name);
  }
  if (!that.algorithm->needs_dataset) return parameters;
  parameters["dataset"] = that.data.dataset;
  if (!that.data.is_generated()) {
    parameters["split"] = that.data.split;
    parameters["split_seed"] = that.data.split_seed;
  }
  return parameters;
}

Json check_of(const Verdict& verdict) {
  Json figures = Json::object();
  for (const Figure& figure : verdict.figures) figures[figure.name] = figure.value();
  Json curves = Json::object();
  for (const Curve& curve : verdict.curves) curves[curve.name] = curve.values();
  Json check = {{"rows", verdict.rows_checked},
                {"worst", verdict.worst},
                {"ties", verdict.ties},
                {"message", verdict.message},
                {"figures", figures}};
  if (!curves.empty()) check["curves"] = curves;
  if (verdict.ill_posed) check["ill_posed"] = true;
  return check;
}

Json launch_of(const Result& result) {
  const Launch& launch = result.launch;
  return {{"requested", launch_label(result.of)},
          {"league", launch.league},
          {"team", launch.team},
          {"vector", launch.vector},
          {"tile", launch.tile}};
}

/// The unit of the method, the best unit for the problem, and the operations in either. On hosts, the same without
/// " tensor"; floats of 16 bits have no unit of their own there.
void add_units(Json& row, const Result& result) {
  const std::string of_type{name(result.of.dtype)}, &best = result.cost.best_unit;
  row["unit"] = result.method_unit.empty() ? unit_of(result.of) : result.method_unit;
  row["best_unit"] = best.empty() ? of_type : best;
  row["cost"]["method_operations"] = result.method_operations;
  row["cost"]["best_operations"] = result.best_operations;
  if (row.at("device_kind") == "gpu") return;
  for (const char* key : {"unit", "best_unit"}) {
    const auto unit = row.at(key).get<std::string>();
    row[key] = unit.substr(0, unit.find(' '));
  }
  if (best == "f16 tensor" || best == "bf16 tensor") row["best_unit"] = of_type;
  row["cost"]["best_operations"] = result.cost.operations;
}

/// Of a portable model: how its code is written, with the numbers of this type.
void add_writing(Json& row, const Case& that) {
  const Writing* writing = writing_of(that.algorithm->name, that.method->name, that.model);
  if (writing == nullptr) return;
  row["bodies"] = name(writing->bodies);
  if (writing->shared) row["shared"] = *writing->shared;
  if (const auto found = writing->numbers.find(that.dtype); found != writing->numbers.end())
    for (const auto& [number, value] : found->second) row["numbers"][number] = value;
}

Json timeline_of(const std::vector<Event>& timeline) {
  Json events = Json::array();
  for (const Event& event : timeline) {
    events.push_back(
        {{"device", event.device}, {"stage", event.stage}, {"begin_s", event.begin_s}, {"end_s", event.end_s}});
    if (event.queue != 0) events.back()["queue"] = event.queue;
  }
  return events;
}

/// The source of the launch and, of a tuned one, the file and the search.
void add_source(Json& row, const Result& result) {
  const Case& that = result.of;
  row["launch_source"] = name(result.launch_note.empty() ? that.launch_source : LaunchSource::automatic);
  if (!result.launch_note.empty()) row["launch_note"] = result.launch_note;
  if (that.launch_source == LaunchSource::tuned)
    row["tuned"] = {{"launch", label(that.launch)},
                    {"file", that.tuning.file},
                    {"hash", that.tuning.hash},
                    {"search", that.tuning.search}};
}

/// Of `samples = "auto"`: limits, result and the reason why sampling stopped.
Json sampling_of(const Result& result) {
  const bool known = result.samples.size() >= Stopping::first_batch;
  return {{"max_noise", result.of.precision->max_noise},
          {"time_limit_s", result.of.precision->time_limit_s},
          {"noise", known ? Json(relative_noise(result.samples, result.placements)) : Json()},
          {"stopped_by", name(result.stopped)}};
}

/// The placement of each sample.
Json placements_of(const Result& result) {
  Json placements = Json::array();
  for (int i = 0; i < std::ssize(result.samples); ++i) placements.push_back(placement_of(i, result.placements));
  return placements;
}

/// Google Benchmark's own keys, for its tools.
void add_google_keys(Json& row, const Result& result) {
  const double real_ns = result.samples.empty() ? 0 : median(result.samples) * 1e9;
  row = {{"name", result.of.name},     {"run_name", result.of.name},
         {"run_type", "iteration"},    {"repetitions", result.samples.size()},
         {"repetition_index", 0},      {"threads", 1},
         {"iterations", result.batch}, {"real_time", real_ns},
         {"cpu_time", real_ns},        {"time_unit", "ns"}};
  if (result.status == Status::passed) return;
  row["error_occurred"] = true;
  row["error_message"] = std::string(name(result.status)) + ": " + result.reason;
}

Json kernels_of(const std::vector<KernelFacts>& kernels) {
  Json list = Json::array();
  for (const KernelFacts& one : kernels)
    list.push_back({{"name", one.name},
                    {"count", one.count},
                    {"grid", one.grid},
                    {"block", one.block},
                    {"registers", one.registers},
                    {"local_bytes", one.local_bytes},
                    {"shared_bytes", one.shared_bytes},
                    {"resident_blocks", one.resident_blocks}});
  return list;
}

/// The energy of one compute, or the reason why there is none.
Json energy_of(const Energy& energy) {
  if (!energy.reason.empty()) return {{"reason", energy.reason}, {"counter", energy.counter}};
  return {{"joules", energy.joules},
          {"counter", energy.counter},
          {"seconds", energy.seconds},
          {"window_s", energy.window_s},
          {"updates", energy.updates},
          {"power_W", energy.watts},
          {"read_power_W", energy.read_watts ? Json(*energy.read_watts) : Json()}};
}

/// Passes from host to host: totals, and parts of the same order; or the reason why there are none.
Json end_to_end_of(const std::vector<EndToEnd>& all) {
  Json list = Json::array();
  for (const EndToEnd& one : all) {
    Json entry = {{"memory", one.memory}, {"state", name(one.state)}};
    if (!one.reason.empty()) entry["reason"] = one.reason;
    for (const Pass& pass : one.passes) {
      entry["samples"].push_back(pass.total_s);
      for (const auto& [part, seconds] : pass.parts_s) entry["parts"][part].push_back(seconds);
    }
    list.push_back(entry);
  }
  return list;
}

}  // namespace

Json case_json(const Case& that) {
  Json sizes = Json::object();
  for (const auto& [size, value] : sizes_of(that)) sizes[size] = value;
  Json json = {{"name", that.name},
               {"algorithm", that.algorithm->name},
               {"method", that.method->name},
               {"execution", name(that.execution)},
               {"model", that.model},
               {"kind", name(kind_of_model(that.model))},
               {"dtype", name(that.dtype)},
               {"sizes", sizes},
               {"parameters", parameters_of(that)},
               {"devices", that.devices},
               {"device_kind", name(device_kind(that))}};
  if (that.ranks > 1) json["ranks"] = that.ranks;
  if (that.devices > 1) json["communicator"] = that.communicator;
  if (that.drawn) json["drawn"] = true;
  for (const Band& band : that.expected) json["expected"][band.figure] = {band.low, band.high};
  return json;
}

Json to_json(const Result& result) {
  const Case& that = result.of;
  Json row;
  add_google_keys(row, result);
  row.update(case_json(that));
  if (!result.engines.empty()) row["engines"] = result.engines;
  if (!that.repeats.empty()) row["null"] = true;
  row["device_name"] = result.device_name;
  add_writing(row, that);
  row["status"] = name(result.status);
  row["reason"] = result.reason;
  row["metric"] = name(result.metric);
  row["samples"] = result.samples;
  if (result.placements > 1 && result.status == Status::passed) row["placements"] = placements_of(result);
  if (that.precision && result.status == Status::passed) row["sampling"] = sampling_of(result);
  row["latency_s"] = result.latency_s ? Json(*result.latency_s) : Json();
  row["stages"] = Json::object();
  for (const auto& [stage, seconds] : result.trace.stages) row["stages"][stage] = seconds;
  if (!result.stages_note.empty()) row["stages_note"] = result.stages_note;
  if (!result.counts.empty()) row["counts"] = result.counts;
  if (const Json metrics = metrics_json(result.metrics, result.samples.size()); !metrics.empty())
    row["metrics"] = metrics;
  if (!result.kernels.empty()) row["kernels"] = kernels_of(result.kernels);
  if (!result.kernels_note.empty()) row["kernels_note"] = result.kernels_note;
  row["launch"] = launch_of(result);
  add_source(row, result);
  row["batch"] = result.batch;
  row["group"] = result.group;
  row["held"] = result.held;
  if (that.ranks > 1) row["begin_skew_s"] = result.begin_skew_s;
  row["cost"] = {{"bytes", result.cost.bytes},
                 {"written_bytes", result.cost.written_bytes},
                 {"method_bytes", result.method_bytes},
                 {"operations", result.cost.operations},
                 {"chain", result.cost.chain}};
  for (const auto& [unit, operations] : result.cost.other_operations)
    row["cost"]["other_operations"][unit] = operations;
  add_units(row, result);
  row["per_device_s"] = result.trace.per_device_s;
  row["readings_before"] = object_of(result.readings_before);
  row["readings_after"] = object_of(result.readings_after);
  if (result.energy) row["energy"] = energy_of(*result.energy);
  if (!result.end_to_end.empty()) row["end_to_end"] = end_to_end_of(result.end_to_end);
  row["check"] = check_of(result.verdict);
  const Inspections& inspections = result.inspections;
  row["inspections"] = {
      {"results", inspections.results}, {"poisoned", inspections.poisoned}, {"altered", inspections.altered}};
  return row;
}

Json rows_of(const Json& context, const std::vector<Result>& results) {
  Json rows = Json::array();
  std::size_t events = 0;
  for (const Result& result : results) {
    rows.push_back(to_json(result));
    if (result.of.ranks > 1) rows.back()["nodes"] = context.at("league").at("nodes");
    const std::vector<Event>& timeline = result.trace.timeline;
    if (events + timeline.size() > max_events) continue;
    events += timeline.size();
    if (!timeline.empty()) rows.back()["timeline"] = timeline_of(timeline);
  }
  return rows;
}

Json make_record(const Json& context, const std::string& comparison, const std::vector<Result>& results,
                 double seconds) {
  return record_of(context, comparison, rows_of(context, results), seconds);
}

Json record_of(const Json& context, const std::string& comparison, const Json& rows, double seconds) {
  return {{"schema", record_schema},
          {"context", context},
          {"comparison", comparison},
          {"seconds", seconds},
          {"benchmarks", rows}};
}

std::string record_name(std::size_t number, const std::string& comparison) {
  std::array<char, 24> prefix{};
  std::snprintf(prefix.data(), prefix.size(), "%03zu-", number);
  return prefix.data() + file_name(comparison) + ".json";
}

Json merge_records(const std::vector<Json>& records) {
  Json rows = Json::array();
  for (const Json& record : records)
    for (const Json& row : record.at("benchmarks")) rows.push_back(row);
  return {{"context", records.front().at("context")}, {"benchmarks", rows}};
}

}  // namespace league::bench
