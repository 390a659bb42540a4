// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// Parsers, each fed with any bytes: `league_fuzz` makes them up, `league_tests` replays those of tests/fuzz/corpus.
namespace league::fuzz {

struct Target {
  /// Takes the bytes, or refuses them as a user's mistake. @throws anything else: a finding
  std::function<void(const std::string&)> feed;
  /// Inputs that the parser takes, to begin with.
  std::function<std::vector<std::string>()> seeds;
  std::vector<std::string> parser;                       ///< its sources, whose lines must be reached
  std::function<std::vector<std::string>()> words = {};  ///< that mean something to it
};

/// By name, each registered by a file of its own.
inline std::map<std::string, Target>& targets() {
  static std::map<std::string, Target> all;
  return all;
}
struct RegisterTarget {
  RegisterTarget(const std::string& name, Target target) { targets()[name] = std::move(target); }
};

/// What holds of a parser whatever it is fed with.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace league::fuzz
