// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "bench/json.hpp"
#include "bench/record/result.hpp"

namespace league::bench {

/// The version of what records and manifests hold, record.schema.json; `python3 -m bench.report.migrate` knows those
/// before it.
inline constexpr int record_schema = 2;

/// A unique id of a run or launch: the time and a random number.
std::string new_id();

/// The hash of this program's file.
const std::string& executable_hash();

/// The context that all records of one program launch share: Google Benchmark's context, and under "league" the build,
/// the devices, what the preflight found, and the place of each rank (`places`).
Json make_context(const Runtime& runtime, const std::string& study, const std::vector<std::string>& preflight,
                  const Json& places);

/// What a case is, before it has run.
Json case_json(const Case& that);

/// One entry of "benchmarks": Google Benchmark's keys and ours.
Json to_json(const Result& result);

/// The kinds and names of all devices; a resumed run must find the same.
Json devices_json(const Runtime& runtime);

/// The rows of a comparison, with timelines up to a few hundred events in all.
Json rows_of(const Json& context, const std::vector<Result>& results);
/// The record of a comparison, which took `seconds` in all.
Json record_of(const Json& context, const std::string& comparison, const Json& rows, double seconds);
/// The same of `rows_of`.
Json make_record(const Json& context, const std::string& comparison, const std::vector<Result>& results,
                 double seconds);

/// "007-vector_add,dtype:f32,....json".
std::string record_name(std::size_t number, const std::string& comparison);

/// Records merged into one file of Google Benchmark's schema. @pre not empty
Json merge_records(const std::vector<Json>& records);

}  // namespace league::bench
