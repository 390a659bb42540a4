// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/record/floors.hpp"

namespace league::bench {
namespace {

constexpr double cache_bytes = 1e6;

Json row_of(const std::string& algorithm, double bytes, double operations, double seconds,
            const std::string& unit = "f32") {
  return {{"algorithm", algorithm},
          {"model", algorithm == "ceilings" ? "cuda" : "your_kokkos"},
          {"status", "passed"},
          {"reason", ""},
          {"devices", 1},
          {"device_kind", "gpu"},
          {"unit", unit},
          {"best_unit", unit},
          {"samples", {seconds, seconds, seconds}},
          {"cost", {{"bytes", bytes}, {"operations", operations}}}};
}
Json on_host(Json row) {
  row["device_kind"] = "host";
  return row;
}
Floors floors_with(const std::vector<Json>& peaks) {
  const Json gpu = {{"kind", "gpu"}, {"llc_bytes", cache_bytes}}, host = {{"kind", "host"}, {"llc_bytes", cache_bytes}};
  const Json context = {{"league", {{"devices", Json::array({gpu, host})}}}};
  Floors floors(context);
  for (const Json& peak : peaks) floors.learn(peak);
  return floors;
}
bool fails(const Floors& floors, Json row) {
  const bool failed = floors.judge(row);
  EXPECT_EQ(row.at("status") == "failed", failed);
  EXPECT_EQ(row.contains("error_message"), failed);
  return failed;
}

TEST(Floors, ATimeBelowFourFifthsOfThatOfItsBytesFailsWithBothNumbers) {
  const Floors floors = floors_with({row_of("ceilings", 1e9, 0, 0.1), row_of("ceilings", 1e9, 0, 0.2)});  // 10 GB/s
  EXPECT_FALSE(fails(floors, row_of("vector_add", 12e6, 1e6, 1.2e-3)));
  EXPECT_FALSE(fails(floors, row_of("vector_add", 12e6, 1e6, 0.97e-3)));
  EXPECT_TRUE(fails(floors, row_of("vector_add", 12e6, 1e6, 0.95e-3)));
  Json row = row_of("vector_add", 12e6, 1e6, 163e-9);
  EXPECT_TRUE(floors.judge(row));
  EXPECT_EQ(row.at("reason"),
            "163 ns for 12 MB: less than 0.8 of the 1.2 ms that they take at the measured 10 GB/s; it has not done its "
            "work");
}
TEST(Floors, DataThatMayStayInACacheAreHeldAgainstBandwidthsOfTheirSize) {
  const Floors in_memory = floors_with({row_of("ceilings", 1e9, 0, 0.1)});
  EXPECT_FALSE(fails(in_memory, row_of("vector_add", 3.9e6, 0, 1e-9)));
  EXPECT_TRUE(fails(in_memory, row_of("vector_add", 4e6, 0, 1e-9)));
  const Floors in_cache = floors_with({row_of("ceilings", 2e6, 0, 2.02e-4)});  // 10 GB/s, and 2 us to start
  EXPECT_TRUE(fails(in_cache, row_of("vector_add", 2e6, 0, 1.59e-4)));
  EXPECT_FALSE(fails(in_cache, row_of("vector_add", 2e6, 0, 1.61e-4)));
  EXPECT_FALSE(fails(in_cache, row_of("vector_add", 4.1e6, 0, 1e-9)));
  EXPECT_FALSE(fails(in_cache, row_of("vector_add", 0.9e6, 0, 1e-9)));
}
TEST(Floors, WhatSharesAHostHoldsItsPeaksDown) {
  const Floors floors = floors_with({on_host(row_of("ceilings", 1e9, 0, 0.1)),        // 10 GB/s
                                     on_host(row_of("ceilings", 2e6, 0, 2.05e-4))});  // the same, and 5 us to start
  EXPECT_TRUE(fails(floors, on_host(row_of("vector_add", 12e6, 0, 2.9e-4))));
  EXPECT_FALSE(fails(floors, on_host(row_of("vector_add", 12e6, 0, 3.1e-4))));
  EXPECT_TRUE(fails(floors, on_host(row_of("vector_add", 2e6, 0, 4.9e-5))));
  EXPECT_FALSE(fails(floors, on_host(row_of("vector_add", 2e6, 0, 5.1e-5))));
  const Floors of_starting = floors_with({on_host(row_of("ceilings", 49152, 0, 9e-5))});
  EXPECT_FALSE(fails(of_starting, on_host(row_of("vector_add", 49152, 0, 5e-7))));
}
TEST(Floors, OperationsAreHeldAgainstTheFastestUnitThatCanSolveTheProblem) {
  const Floors floors = floors_with({row_of("ceilings", 10, 1e9, 0.01, "f32"), row_of("ceilings", 10, 1e9, 0.02, "f64"),
                                     row_of("ceilings", 10, 1e9, 0.001, "u8 tensor")});
  EXPECT_TRUE(fails(floors, row_of("knn", 10, 1e9, 0.0079, "f32")));
  EXPECT_FALSE(fails(floors, row_of("knn", 10, 1e9, 0.0081, "f32")));
  EXPECT_FALSE(fails(floors, row_of("knn", 10, 1e9, 0.0081, "f64")));  // f32 may be enough
  EXPECT_FALSE(fails(floors, row_of("knn", 10, 1e9, 0.00081, "u8 tensor")));
  EXPECT_TRUE(fails(floors, row_of("knn", 10, 1e9, 0.00079, "u8 tensor")));
  EXPECT_FALSE(fails(floors, row_of("knn", 10, 1e9, 1e-9, "i64")));  // not measured
}
TEST(Floors, OwnKernelsThatOnlyMoveDataSetThePeakToo) {
  Json own = row_of("vector_add", 1e9, 1e8, 0.05);
  own["model"] = "cuda";
  const Floors floors = floors_with({row_of("ceilings", 1e9, 0, 0.1), own, row_of("vector_add", 1e9, 1e8, 1e-9)});
  EXPECT_FALSE(fails(floors, row_of("vector_add", 12e6, 1e6, 0.49e-3)));
  EXPECT_TRUE(fails(floors, row_of("vector_add", 12e6, 1e6, 0.47e-3)));
  EXPECT_FALSE(fails(floors_with({own}), row_of("vector_add", 1e9, 1e8, 1e-9)));  // they raise one that was measured
}
TEST(Floors, PeersSetNoPeak) {
  Json peer = row_of("ceilings", 1e9, 0, 0.1);
  peer["model"] = "numpy";
  EXPECT_FALSE(fails(floors_with({peer}), row_of("vector_add", 12e6, 0, 1e-9)));
}
TEST(Floors, PeaksOfABusyMachineFailNothing) {
  Json unsteady = row_of("ceilings", 1e9, 0, 0.2);
  unsteady["samples"] = {0.1, 0.2, 0.2};
  EXPECT_FALSE(fails(floors_with({unsteady}), row_of("vector_add", 12e6, 0, 1e-9)));
}
TEST(Floors, PassedRowsOnOneDeviceOfTheSameKindAreJudged) {
  const Floors floors = floors_with({row_of("ceilings", 1e9, 0, 0.1)});
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{
           {"status", "skipped"}, {"devices", 2}, {"device_kind", "host"}, {"algorithm", "ceilings"}}) {
    Json row = row_of("vector_add", 12e6, 0, 1e-9);
    row[key] = value;
    EXPECT_FALSE(floors.judge(row)) << key;
  }
  Json failed = row_of("ceilings", 1e9, 0, 0.1);
  failed["status"] = "failed";
  EXPECT_FALSE(fails(floors_with({failed}), row_of("vector_add", 12e6, 0, 1e-9)));
}

}  // namespace
}  // namespace league::bench
