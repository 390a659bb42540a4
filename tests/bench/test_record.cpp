// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "bench/files.hpp"
#include "bench/ranks/places.hpp"
#include "bench/record/record.hpp"
#include "bench/record/report_lines.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

Result make_result(Status status) {
  Result result;
  result.of.algorithm = registry().algorithm("vector_add");
  result.of.method = &*std::ranges::find(result.of.algorithm->methods, "plain", &Method::name);
  result.of.model = "serial";
  result.of.parameters.values = {{"n", "8"}, {"memory", "device"}, {"stores", "non_temporal"}};
  give_names(result.of);
  result.status = status;
  result.reason = status == Status::passed ? "" : "because";
  if (status == Status::passed) result.samples = {3e-6, 1e-6, 2e-6, 4e-6};
  result.batch = 5;
  result.launch = {.league = 4, .team = 1, .vector = 1};
  result.trace.stages["add"] = 1e-6;
  result.cost = {96, 8};
  result.cost.written_bytes = 32;
  result.cost.other_operations = {{"exp", 5}};
  result.method_bytes = 120;
  result.method_operations = 24;
  result.best_operations = 9;
  return result;
}

TEST(Record, HasGoogleBenchmarksKeysAndOurs) {
  const Json row = to_json(make_result(Status::passed));
  EXPECT_EQ(row.at("name"), "vector_add/method:plain/model:serial/dtype:f32/n:8/devices:1/launch:auto");
  EXPECT_EQ(row.at("kind"), "reference");
  EXPECT_DOUBLE_EQ(row.at("real_time"), 2500);
  EXPECT_EQ(row.at("time_unit"), "ns");
  EXPECT_EQ(row.at("iterations"), 5);
  EXPECT_EQ(row.at("sizes").dump(), R"({"n":8})");
  EXPECT_EQ(row.at("parameters").dump(), R"({"seed":1,"memory":"device","stores":"non_temporal"})");
  EXPECT_EQ(row.at("launch").at("requested"), "auto");
  EXPECT_EQ(row.at("launch").at("league"), 4);
  EXPECT_EQ(row.at("cost").dump(),
            R"({"bytes":96.0,"written_bytes":32.0,"method_bytes":120.0,"operations":8.0,"chain":0.0,)"
            R"("other_operations":{"exp":5.0},"method_operations":24.0,"best_operations":8.0})");
  EXPECT_TRUE(row.at("latency_s").is_null());
  EXPECT_FALSE(row.contains("error_occurred"));
}

TEST(Record, HoldsWhatTheCheckFound) {
  Result result = make_result(Status::passed);
  EXPECT_FALSE(to_json(result).at("check").contains("curves"));
  result.verdict.figures = {{"accuracy", 3, 4}};
  result.verdict.curves = {{"accuracy", {1, 3}, 4}};
  Verdict of_other_rows;
  of_other_rows.figures = {{"accuracy", 2, 4}};
  of_other_rows.curves = {{"accuracy", {2, 2}, 4}, {"loss", {7}}};
  result.verdict += of_other_rows;
  EXPECT_EQ(to_json(result).at("check").at("figures").dump(), R"({"accuracy":0.625})");
  EXPECT_EQ(to_json(result).at("check").at("curves").dump(), R"({"accuracy":[0.375,0.625],"loss":[7.0]})");
}

TEST(Record, HoldsCountsWhereThereAreAny) {
  Result result = make_result(Status::passed);
  EXPECT_FALSE(to_json(result).contains("counts"));
  result.counts = {{"candidates", std::int64_t{1} << 40}, {"queries_by_all_rows", 0}};
  EXPECT_EQ(to_json(result).at("counts").dump(), R"({"candidates":1099511627776,"queries_by_all_rows":0})");
}

TEST(Record, HoldsMetricsUnderTheirNames) {
  Result result = make_result(Status::passed);
  EXPECT_FALSE(to_json(result).contains("metrics"));
  for (const double value : {1, 0, 0, 3}) {
    add_value(result.metrics, "sample", {.name = "dusty", .value = value, .marks = true});
    if (value > 0) add_value(result.metrics, "sample", {.name = "lost", .unit = "J", .value = value});
  }
  add_value(result.metrics, "launch", {.name = "purr", .unit = "dB", .value = 40.5});
  EXPECT_EQ(to_json(result).at("metrics").dump(),
            R"([{"name":"dusty","unit":"","of":"sample","values":[1.0,0.0,0.0,3.0],"marks":true},)"
            R"({"name":"purr","unit":"dB","of":"launch","values":[40.5]}])")
      << "without the one that was not read beside each sample";
}

TEST(Record, HoldsTheKernelsOfACompute) {
  Result result = make_result(Status::passed);
  EXPECT_FALSE(to_json(result).contains("kernels"));
  EXPECT_FALSE(to_json(result).contains("kernels_note"));
  result.kernels = {{.name = "_Z3addv",
                     .grid = {132, 1, 1},
                     .block = {256, 1, 1},
                     .registers = 40,
                     .resident_blocks = 6,
                     .count = 2}};
  result.kernels.front().shared_bytes = 1024;
  result.kernels_note = "why";
  EXPECT_EQ(to_json(result).at("kernels").dump(),
            R"([{"name":"_Z3addv","count":2,"grid":[132,1,1],"block":[256,1,1],"registers":40,"local_bytes":0,)"
            R"("shared_bytes":1024,"resident_blocks":6}])");
  EXPECT_EQ(to_json(result).at("kernels_note"), "why");
}

TEST(Record, NamesTheCommunicatorOfSeveralDevices) {
  Result result = make_result(Status::passed);
  EXPECT_FALSE(to_json(result).contains("communicator"));
  result.of.devices = 2;
  EXPECT_EQ(to_json(result).at("communicator"), "local");
  EXPECT_FALSE(to_json(result).contains("engines"));
  result.engines = {"local", "nccl"};
  EXPECT_EQ(to_json(result).at("engines").dump(), R"(["local","nccl"])") << "that one which chooses has taken";
}

TEST(Record, NamesTheArithmeticUnits) {
  Result result = make_result(Status::passed);
  EXPECT_EQ(to_json(result).at("unit"), "f32");
  EXPECT_EQ(to_json(result).at("best_unit"), "f32");
  Method method = *result.of.method;
  method.units = {{Dtype::u8, "bf16 tensor"}};
  result.of.method = &method;
  result.of.dtype = Dtype::u8;
  result.cost.best_unit = "u8 tensor";
  EXPECT_EQ(to_json(result).at("unit"), "bf16") << "a host has no tensor cores";
  result.of.model = "cuda";
  EXPECT_EQ(to_json(result).at("unit"), "bf16 tensor");
  EXPECT_EQ(to_json(result).at("best_unit"), "u8 tensor");
  EXPECT_EQ(to_json(result).at("cost").at("best_operations"), 9);
  result.method_unit = "f16 tensor";
  EXPECT_EQ(to_json(result).at("unit"), "f16 tensor") << "of these data";
  result.cost.best_unit = "f16 tensor";
  result.of.model = "serial";
  EXPECT_EQ(to_json(result).at("best_unit"), "u8") << "of the type";
}

TEST(Record, NoMethodCalculatesInBytes) {
  for (const Algorithm& algorithm : registry().algorithms)
    for (const Method& method : algorithm.methods)
      for (const Dtype dtype : method.dtypes)
        EXPECT_NE(method.unit(dtype), "u8") << algorithm.name << " " << method.name;
}

TEST(Record, HoldsShortTimelines) {
  Result shown = make_result(Status::passed), endless = shown, late = shown;
  shown.trace.timeline = {{0, "add", 1e-6, 2e-6}, {1, "add", 1.5e-6, 3e-6}};
  endless.trace.timeline.resize(1000);
  late.trace.timeline = {{0, "add", 0, 1e-6, 1}};
  const Json rows = make_record({}, "c", {shown, endless, late, make_result(Status::passed)}, 1).at("benchmarks");
  EXPECT_EQ(rows[0].at("timeline").dump(), R"([{"device":0,"stage":"add","begin_s":1e-06,"end_s":2e-06},)"
                                           R"({"device":1,"stage":"add","begin_s":1.5e-06,"end_s":3e-06}])");
  EXPECT_FALSE(rows[1].contains("timeline"));
  EXPECT_EQ(rows[2].at("timeline").dump(), R"([{"device":0,"stage":"add","begin_s":0.0,"end_s":1e-06,"queue":1}])");
  EXPECT_FALSE(rows[3].contains("timeline"));
}

TEST(Record, SaysWhyACaseDidNotPass) {
  const Json row = to_json(make_result(Status::failed));
  EXPECT_EQ(row.at("status"), "failed");
  EXPECT_EQ(row.at("reason"), "because");
  EXPECT_EQ(row.at("error_message"), "failed: because");
  EXPECT_TRUE(row.at("samples").empty());
  EXPECT_EQ(case_line(row),
            "FAILED  vector_add/method:plain/model:serial/dtype:f32/n:8/devices:1/launch:auto: because");
}

TEST(Record, DecidesTheExitCode) {
  const auto record = [](std::initializer_list<Status> all) {
    std::vector<Result> results;
    for (const Status status : all) results.push_back(make_result(status));
    return make_record({}, "c", results, 1);
  };
  EXPECT_EQ(exit_code({record({Status::passed, Status::skipped})}), ExitCode::passed);
  EXPECT_EQ(exit_code({record({Status::passed}), record({Status::failed})}), ExitCode::failed);
  EXPECT_EQ(exit_code({record({Status::skipped})}), ExitCode::failed);
  EXPECT_EQ(exit_code({}), ExitCode::failed);
}

TEST(Record, ContextDescribesTheMachineAndTheBuild) {
  const Json places = places_of(tests::runtime());
  const Json context = make_context(tests::runtime(), "quick", {"busy"}, places);
  EXPECT_EQ(context.at("league").at("study"), "quick");
  EXPECT_EQ(context.at("league").at("preflight").at(0), "busy");
  EXPECT_EQ(context.at("league").at("devices").at(0).at("kind"), "host");
  EXPECT_EQ(context.at("league").at("executable_hash"), file_hash("/proc/self/exe"));
  EXPECT_EQ(context.at("league").at("source_hash").get<std::string>().size(), 16U);
  EXPECT_TRUE(context.at("league").at("machine").is_string());
  EXPECT_NE(context.at("league").at("launch_id"),
            make_context(tests::runtime(), "quick", {}, places).at("league").at("launch_id"));
}

TEST(Record, TakesBytesThatAreNotUtf8) {
  Result result = make_result(Status::failed);
  result.reason = "cut inside a character: \xc3";
  const Json record = make_record({}, "c", {result}, 2.5);
  EXPECT_EQ(record.at("schema"), record_schema);
  EXPECT_EQ(record.at("seconds"), 2.5);
  EXPECT_EQ(Json::parse(text_of(record)).at("benchmarks").at(0).at("reason"), "cut inside a character: \xef\xbf\xbd");
  std::ostringstream out;
  print_all(BenchmarkFlags::Format::json, {Json{{"context", "\xff"}, {"benchmarks", record.at("benchmarks")}}}, out);
  EXPECT_EQ(Json::parse(out.str()).at("context"), valid_utf8("\xff"));
  EXPECT_EQ(valid_utf8("ab\xff \xc3\xa9"), "ab\xef\xbf\xbd \xc3\xa9");
}

TEST(Json, NestedDeeperThanAnyRecordIsNone) {
  const auto nested = [](int levels) {
    const auto count = static_cast<std::size_t>(levels);
    return parse_json(std::string(count, '[') + std::string(count, ']'));
  };
  EXPECT_TRUE(nested(100));
  EXPECT_FALSE(nested(101));
  EXPECT_FALSE(nested(1'000'000)) << "going through it would overflow the stack";
}

}  // namespace
}  // namespace league::bench
