// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

namespace league::tests {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A file with a sound peer of vector_add: the class Sound, whose method is "sound".
extern const std::string sound;

/// A project with peers of its own for vector_add, and runs of `league` with them.
class PeersTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void peer(const std::string& model, const std::string& text) const;
  /// `league` runs those methods at a size of 1000; `more` are further lines of the study.
  [[nodiscard]] std::vector<std::string> arguments(const std::string& methods, const std::string& more = "") const;
  /// The rows of a run, by method and model.
  std::map<std::string, Json> run_study(const std::string& methods, int code, const std::string& more = "");
  std::map<std::string, Json> run_study(const std::vector<std::string>& words, int code,
                                        const std::function<void()>& prepare = {});
  [[nodiscard]] fs::path root() const { return folder_.path() / "project"; }

  TemporaryFolder folder_;
  std::string python_;
  Json record_;
};

void expect_row(const Json& row, const std::string& status, const std::string& reason);

}  // namespace league::tests
