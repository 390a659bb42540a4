// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "backends/launch.hpp"
#include "bench/errors.hpp"
#include "bench/measure/check.hpp"
#include "bench/record/record.hpp"
#include "bench/study/models.hpp"
#include "bench/tune/launches.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/bench/tuned.hpp"
#include "tests/runtime.hpp"

// Which launches a run takes, from the study or from a tuned file.
namespace league::bench {
namespace {

using tests::TemporaryFolder;

TEST(TunedMatch, IsOfTheNearestSizesWithinAFactorOfTwo) {
  TunedFile file;
  file.merge({"1", {}}, {entry(key("cuda", 100), {.team = 1}), entry(key("cuda", 150), {.team = 2})});
  const auto team = [&](std::int64_t n) {
    const TunedMatch found = match(file, {key("cuda", n)});
    return found.entries.empty() ? 0 : found.entries[0]->best.team;
  };
  EXPECT_EQ(team(100), 1);
  EXPECT_EQ(team(150), 2);
  EXPECT_EQ(team(110), 1);
  EXPECT_EQ(team(130), 2);
  EXPECT_EQ(team(50), 1);
  EXPECT_EQ(team(49), 0);
  EXPECT_EQ(team(300), 2);
  EXPECT_EQ(team(301), 0);
  EXPECT_EQ(team(0), 0);
}

TEST(TunedMatch, TakesOneSearchThatHasThemAll) {
  TunedFile file;
  file.merge({"1", {}}, {entry(key("cuda", 100), {.team = 1}), entry(key("kokkos", 100), {.team = 2})});
  EXPECT_EQ(match(file, {key("kokkos", 100), key("cuda", 100)}).entries.at(1)->best.team, 1);
  EXPECT_TRUE(match(file, {key("kokkos", 100), key("cuda", 100), key("cuda", 100, "wide")}).entries.empty());
  file.merge({"2", {}}, {entry(key("kokkos", 100), {.team = 3})});
  const TunedMatch torn = match(file, {key("kokkos", 100), key("cuda", 100)});
  EXPECT_TRUE(torn.entries.empty());
  EXPECT_NE(torn.reason.find("was not in the search of n = 100"), std::string::npos) << torn.reason;
  EXPECT_EQ(match(file, {key("kokkos", 100)}).entries.at(0)->best.team, 3);
  file.merge({"3", {}}, {entry(key("kokkos", 120), {.team = 4}), entry(key("cuda", 120), {.team = 5})});
  EXPECT_EQ(match(file, {key("kokkos", 100), key("cuda", 100)}).entries.at(0)->best.team, 4) << "near, but whole";
}

TEST(TunedMatch, IsOfTheSameParametersTypeAndDevices) {
  TunedFile file;
  file.merge({"1", {}}, {entry(key("cuda", 100), {.team = 1})});
  for (const auto& change : std::vector<std::function<void(TunedKey&)>>{
           [](TunedKey& other) { other.dtype = "f64"; }, [](TunedKey& other) { other.devices = 2; },
           [](TunedKey& other) { other.parameters[0].second = "unified"; },
           [](TunedKey& other) { other.algorithm = "sum"; }, [](TunedKey& other) { other.sizes[0].first = "m"; }}) {
    TunedKey other = key("cuda", 100);
    change(other);
    EXPECT_TRUE(match(file, {other}).entries.empty());
  }
}

/// A study of vector_add in serial and openmp, and a file of this machine.
class LaunchesTest : public ::testing::Test {
 protected:
  void tune(const std::vector<std::pair<std::string, Launch>>& best, std::int64_t n = 64) {
    TunedFile file = TunedFile::read(path_, tests::runtime().host());
    std::vector<TunedEntry> entries;
    for (const auto& [model, launch] : best) entries.push_back(entry(key(model, n), launch));
    file.merge({"s1", {}}, entries);
    file.write(path_);
  }
  Study read(const std::string& more, LaunchChoice choice = LaunchChoice::tuned) {
    const std::string text =
        "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = [\"serial\", \"openmp\"]\nsizes = 64\n" + more;
    Study study = read_study(folder_.write("study.toml", text), {}, tests::runtime(), datasets_);
    notes_.str("");
    choose_launches(study, choice, folder_.path(), tests::runtime(), notes_);
    return study;
  }
  static std::vector<std::string> launches(const Study& study) {
    std::vector<std::string> all;
    for (const Comparison& comparison : study.comparisons)
      for (const Case& that : comparison.cases) all.push_back(that.name.substr(that.name.rfind(':') + 1));
    return all;
  }
  using Texts = std::vector<std::string>;

  TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
  std::filesystem::path path_ = folder_.path() / tuned_file_name(tests::runtime().host());
  std::ostringstream notes_;
};

TEST_F(LaunchesTest, AreTunedWhereAFileHasAllOfAComparison) {
  EXPECT_EQ(launches(read("")), (Texts{"auto", "auto"})) << "no folder, no file";
  EXPECT_EQ(notes_.str(), "");
  tune({{"openmp", {.league = 1}}});
  EXPECT_EQ(launches(read("")), (Texts{"auto", "auto"})) << "serial was not in the search";
  EXPECT_NE(notes_.str().find("plain in serial was not in the search"), std::string::npos) << notes_.str();
  tune({{"openmp", {.league = 1}}, {"serial", {}}});
  const Study study = read("");
  EXPECT_EQ(launches(study), (Texts{"tuned", "tuned"}));
  EXPECT_EQ(notes_.str(), "");
  const Case& openmp = study.comparisons[0].cases[1];
  EXPECT_EQ(openmp.launch, Launch{.league = 1});
  EXPECT_EQ(openmp.tuning.search, "s1");
  EXPECT_EQ(openmp.tuning.file, path_.filename());
  EXPECT_EQ(openmp.tuning.hash.size(), 16U);
  EXPECT_EQ(launches(read("", LaunchChoice::automatic)), (Texts{"auto", "auto"}));
}

TEST_F(LaunchesTest, OfAStudyWinOverBoth) {
  tune({{"openmp", {.league = 1}}, {"serial", {}}});
  EXPECT_EQ(launches(read("launches = \"auto\"\n")), (Texts{"auto", "auto"}));
  EXPECT_EQ(launches(read("launches = { team = 2 }\n", LaunchChoice::automatic)), (Texts{"team=2", "team=2"}));
  const Study both = read("launches = [\"auto\", \"tuned\"]\n", LaunchChoice::automatic);
  EXPECT_EQ(launches(both), (Texts{"auto", "tuned", "auto", "tuned"}));
  EXPECT_TRUE(read("", LaunchChoice::given).comparisons.empty());
  EXPECT_EQ(launches(read("launches = { team = 2 }\n", LaunchChoice::given)), (Texts{"team=2", "team=2"}));
  EXPECT_THROW(read("launches = \"fast\"\n"), BadInput);
}

TEST_F(LaunchesTest, ThatAStudyWantsTunedAndAreNotAreSkipped) {
  const Study study = read("launches = \"tuned\"\n");
  EXPECT_EQ(study.comparisons[0].cases[0].skip, "no tuned launch: no file for this device");
  EXPECT_EQ(launches(study), (Texts{"tuned", "tuned"}));
}

TEST_F(LaunchesTest, OfTheSameNameAreRefused) {
  tune({{"openmp", {}}, {"serial", {}}});
  const std::string twice =
      "[[cases]]\nlaunches = \"tuned\"\nalgorithm = \"vector_add\"\n[[cases]]\nalgorithm = \"vector_add\"\n";
  const std::string text = "methods = \"plain\"\nmodels = [\"serial\", \"openmp\"]\nsizes = 64\n" + twice;
  Study study = read_study(folder_.write("study.toml", text), {}, tests::runtime(), datasets_);
  EXPECT_THROW(choose_launches(study, LaunchChoice::tuned, folder_.path(), tests::runtime(), notes_), BadInput);
}

TEST_F(LaunchesTest, AreInTheRecord) {
  tune({{"openmp", {.league = 1}}, {"serial", {}}});
  Result result{.of = read("").comparisons[0].cases[1], .reason = {}};
  const Json row = to_json(result);
  EXPECT_EQ(row.at("launch_source"), "tuned");
  EXPECT_EQ(row.at("launch").at("requested"), "tuned");
  EXPECT_EQ(row.at("tuned").at("launch"), "league=1");
  EXPECT_EQ(row.at("tuned").at("search"), "s1");
  result.launch_note = "refused";
  EXPECT_EQ(to_json(result).at("launch_source"), "auto");
  EXPECT_EQ(to_json(result).at("launch_note"), "refused");
  result = {.of = read("launches = [{ team = 2 }]\n").comparisons[0].cases[0], .reason = {}};
  EXPECT_EQ(to_json(result).at("launch_source"), "explicit");
  EXPECT_FALSE(to_json(result).contains("tuned"));
}

/// A variant that refuses every launch but the automatic one.
class Choosy final : public Prepared {
 public:
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("too many");
    return {7, 1, 1};
  }
  void upload() override {}
  void reset() override {}
  void compute(Stages&) override {}
  void download() override {}
  void fence() override {}
};

TEST_F(LaunchesTest, ThatAreRefusedFallBackToTheAutomaticOne) {
  tune({{"openmp", {.league = 2}}, {"serial", {.league = 2}}});
  Case that = read("").comparisons[0].cases[0];
  auto& variants = registry().variants;
  const auto serial = std::ranges::find_if(variants, [](const Variant& variant) {
    return variant.algorithm == "vector_add" && variant.method == "plain" && variant.model.name == "serial";
  });
  const Variant real = *serial;
  serial->prepare = [](const Problem&, const Context&) { return std::make_unique<Choosy>(); };
  const std::unique_ptr<Problem> problem =
      that.algorithm->make_whole({that.parameters, that.dtype, 1, nullptr, ""}, tests::runtime().host_memory());
  const PreparedCase tuned(that, *problem, tests::runtime(), 1 << 30);
  EXPECT_EQ(tuned.launch().league, 7);
  EXPECT_NE(tuned.launch_note().find("league=2, is refused: too many"), std::string::npos) << tuned.launch_note();
  that.launch_source = LaunchSource::given;
  EXPECT_THROW(PreparedCase(that, *problem, tests::runtime(), 1 << 30), Unsupported);
  *serial = real;
}

class LeagueTest : public LaunchesTest {
 protected:
  /// What a league of vector_add on 64 elements comes to: the effective one, or why it is refused.
  std::string run(const std::string& model, int league, LaunchSource source = LaunchSource::given) {
    Case that = read("").comparisons[0].cases[0];
    that.model = model;
    that.launch = {.league = league};
    that.launch_source = source;
    const std::unique_ptr<Problem> problem =
        that.algorithm->make_whole({that.parameters, that.dtype, 1, nullptr, ""}, tests::runtime().host_memory());
    try {
      PreparedCase prepared_case(that, *problem, tests::runtime(), 1 << 30);
      Stages stages;
      EXPECT_TRUE(check_fresh(prepared_case, stages).verdict.passed());
      const std::string refused_later = refusal([&] { prepared_case.configure({.league = 65}); });
      EXPECT_EQ(refused_later, "league 65: the problem has work for 64 teams") << "a search configures again";
      return std::to_string(prepared_case.launch().league) + prepared_case.launch_note();
    } catch (const Unsupported& refused) {
      return refused.what();
    }
  }
  template <class Body>
  static std::string refusal(const Body& body) {
    try {
      body();
    } catch (const Unsupported& refused) {
      return refused.what();
    }
    return "accepted";
  }
};

TEST_F(LeagueTest, BeyondTheWorkIsRefused) {
  for (const Variant& variant : registry().variants) {
    if (variant.algorithm != "vector_add" || variant.method != "plain" || !variant.unavailable.empty()) continue;
    const std::string model(variant.model.name);
    if (availability(tests::runtime(), *registry().algorithm("vector_add"),
                     *std::ranges::find(registry().algorithm("vector_add")->methods, "plain", &Method::name), model)
            .state != State::ready)
      continue;
    SCOPED_TRACE(model);
    for (const int league : {65, 2147483647})
      EXPECT_EQ(run(model, league), "league " + std::to_string(league) + ": the problem has work for 64 teams");
    EXPECT_EQ(run(model, 64).find("league"), std::string::npos) << run(model, 64);
    EXPECT_NE(run(model, 65, LaunchSource::tuned).find("is refused: league 65: the problem has work for 64 teams"),
              std::string::npos);
  }
}

TEST(Resolve, RefusesALeagueThatKernelsCannotCount) {
  const LaunchLimits limits{1024, 32, "this kernel"};
  EXPECT_EQ(resolve({.league = max_league}, {0, 256, 1}, limits).league, max_league);
  EXPECT_THROW(resolve({.league = max_league + 1}, {0, 256, 1}, limits), Unsupported);
  for (const Launch& launch : {Launch{.team = 2147483647}, Launch{.team = 2147483647, .vector = 32},
                               Launch{.vector = 2147483647}, Launch{.vector = 1 << 30}})
    EXPECT_THROW(resolve(launch, {0, 256, 1}, limits), Unsupported);
}

}  // namespace
}  // namespace league::bench
