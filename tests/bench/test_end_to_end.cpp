// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <set>

#include "bench/errors.hpp"
#include "bench/measure/end_to_end.hpp"
#include "bench/measure/shared_problem.hpp"
#include "bench/record/record.hpp"
#include "bench/study/study.hpp"
#include "tests/bench/peers.hpp"
#include "tests/bench/refusal.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

const std::string small = "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = \"serial\"\nsizes = 8\n";

Study read(const std::string& text) {
  const tests::TemporaryFolder folder;
  Datasets datasets({}, tests::runtime().host_memory());
  return read_study(folder.write("study.toml", text), {}, tests::runtime(), datasets);
}
std::vector<HostMemory> memories(const std::string& text) {
  return read(text).comparisons.at(0).cases.at(0).end_to_end;
}

TEST(EndToEndTimes, AreTakenWhereAStudyAsksForThem) {
  using enum HostMemory;
  EXPECT_EQ(memories(small), std::vector<HostMemory>{});
  EXPECT_EQ(memories(small + "end_to_end = false\n"), std::vector<HostMemory>{});
  EXPECT_EQ(memories(small + "end_to_end = true\n"), (std::vector{pageable, pinned}));
  EXPECT_EQ(memories(small + "end_to_end = true\nhost_memory = \"pinned\"\n"), std::vector{pinned});
  EXPECT_EQ(memories(small + "end_to_end = true\nhost_memory = [\"pinned\", \"pageable\"]\n"),
            (std::vector{pageable, pinned}));
  EXPECT_EQ(read(small + "end_to_end = true\n").comparisons[0].cases[0].name, read(small).comparisons[0].cases[0].name);
}

TEST(EndToEndTimes, AreRefusedWithWhatToWrite) {
  const auto says = [](const std::string& more, const std::string& text) {
    const std::string told = refusal([&] { read(small + more); });
    EXPECT_NE(told.find("study.toml:"), std::string::npos) << told;
    EXPECT_NE(told.find(text), std::string::npos) << told;
  };
  says("end_to_end = \"yes\"\n", "`end_to_end` takes true or false, not a string");
  says("end_to_end = true\nhost_memory = \"pined\"\n", "`host_memory` is 'pined'; did you mean 'pinned'");
  says("host_memory = \"pinned\"\n", "add `end_to_end = true`, or leave it out");
}

TEST(EndToEndTimes, AreColdAndWarmOrTheReasonIs) {
  int cold = 0, warm = 0;
  const auto found = take_passes("pinned", 6, [&](PassState state) {
    ++(state == PassState::cold ? cold : warm);
    if (state == PassState::cold) throw Unsupported("no room");
    return Pass{.total_s = static_cast<double>(warm), .parts_s = {{"compute", 0.5}}};
  });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].reason, "no room");
  EXPECT_EQ(cold, 1);
  EXPECT_TRUE(found[0].passes.empty());
  EXPECT_EQ(found[1].passes.at(0).total_s, 2) << "the first is not counted";
  EXPECT_EQ(take_passes("pinned", 20, [](PassState) { return Pass{.total_s = 25}; })[0].passes.size(), 2U);
}

TEST(EndToEndTimes, AreRecorded) {
  Result result;
  result.of.algorithm = registry().algorithm("vector_add");
  result.of.method = &result.of.algorithm->methods.front();
  result.of.parameters.values = {{"n", "8"}, {"memory", "device"}, {"stores", "non_temporal"}};
  EXPECT_FALSE(to_json(result).contains("end_to_end"));
  result.end_to_end = {{.memory = "pinned",
                        .state = PassState::warm,
                        .passes = {{.total_s = 3, .parts_s = {{"upload", 1}}}, {4, {{"upload", 2}}}},
                        .reason = {}},
                       {.memory = "pageable", .state = PassState::cold, .passes = {}, .reason = "no room"}};
  const Json list = to_json(result).at("end_to_end");
  EXPECT_EQ(list[0].dump(), R"({"memory":"pinned","state":"warm","samples":[3.0,4.0],"parts":{"upload":[1.0,2.0]}})");
  EXPECT_EQ(list[1].dump(), R"({"memory":"pageable","state":"cold","reason":"no room"})");
}

/// Notes what it allocates.
class Noted final : public std::pmr::memory_resource {
 public:
  [[nodiscard]] bool has(const HostArray& array) const { return there_.contains(array.bytes().data()); }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* data = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    there_.insert(data);
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  std::set<const void*> there_;
};

TEST(EndToEndTimes, HaveAllInputsInTheMemoryThatIsMeasured) {
  Runtime& runtime = tests::runtime();
  Noted noted;
  const tests::TemporaryFolder folder;
  for (const char* text :
       {"algorithm = \"knn\"\ndataset = \"generated\"\ndtypes = \"u8\"\nsizes = {train = 9, test = 5, features = 4}\n",
        "algorithm = \"vector_add\"\nsizes = 7\n"}) {
    Datasets datasets({}, runtime.host_memory());
    const Study study = read_study(folder.write("study.toml", text), {}, runtime, datasets);
    const Case& that = study.comparisons.at(0).cases.at(0);
    const auto usual = make_problem(that, runtime, datasets), other = make_problem(that, runtime, datasets, noted);
    const Outputs same = usual->inputs(), inputs = other->inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(noted.has(inputs[i].values)) << inputs[i].name;
      EXPECT_TRUE(std::ranges::equal(inputs[i].values.bytes(), same[i].values.bytes())) << inputs[i].name;
    }
  }
}

/// Of a record: as many samples as asked for, of which no part is missing or longer than the whole.
void expect_passes(const Json& row, std::set<std::string> parts) {
  const Json& list = row.at("end_to_end");
  ASSERT_EQ(list.size(), 2U) << list.dump();
  for (const Json& one : list) {
    if (one.at("state") == "warm") parts.erase("allocation");
    EXPECT_EQ(one.at("memory"), "host");
    ASSERT_EQ(one.at("samples").size(), 6U) << one.dump();
    std::set<std::string> names;
    for (const auto& [name, times] : one.at("parts").items()) names.insert(name);
    EXPECT_EQ(names, parts) << one.at("state");
    for (std::size_t i = 0; i < 6; ++i) {
      double sum = 0;
      for (const auto& [name, times] : one.at("parts").items()) sum += times.at(i).get<double>();
      EXPECT_GT(sum, 0);
      EXPECT_LE(sum, one.at("samples").at(i).get<double>() * (1 + 1e-9));
    }
  }
}

using EndToEndRun = tests::PeersTest;

TEST_F(EndToEndRun, RecordsOwnVariantsAndPeers) {
  peer("numpy", tests::sound + R"(
class Late(Sound):
    method = "late"
    made = 0
    def upload(self):
        super().upload()
        Late.made += 1
    def compute(self):
        np.add(self.a, self.b if Late.made < 3 else self.a, out=self.sum)

class Each(Sound):
    method = "each"
    reset_each = True
)");
  const auto rows = run_study("[\"sound\", \"late\", \"each\", \"plain\"]", 1,
                              "models = [\"numpy\", \"serial\", \"openmp\"]\nend_to_end = true\nnull = false\n");
  expect_passes(rows.at("plain serial"), {"allocation", "compute"});
  expect_passes(rows.at("plain openmp"), {"allocation", "compute"});
  expect_passes(rows.at("sound numpy"), {"compute", "download"});
  tests::expect_row(rows.at("late numpy"), "failed", "wrong from host to host");
  EXPECT_FALSE(rows.at("late numpy").contains("end_to_end"));
  const std::string reason = rows.at("each numpy").at("end_to_end")[0].value("reason", "");
  EXPECT_TRUE(reason.starts_with("its computes start from a state that is set before")) << reason;
  EXPECT_EQ(rows.at("sound numpy").value("stages_note", ""), "its compute is one stage");
  EXPECT_FALSE(rows.at("plain openmp").contains("stages_note"));
}

}  // namespace
}  // namespace league::bench
