// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "bench/json.hpp"
#include "bench/peers/peer.hpp"

namespace league::bench {

/// A worker under a sanitizer, and what it is asked.
struct SanitizedRun {
  const python::Interpreter& interpreter;
  python::Process::Start start;
  Json request;  ///< that prepares it
  std::string sanitizer, file;
  int limit_s;
};

/// Computes once under the sanitizer, and says on stderr that it found nothing.
/// @throws std::runtime_error with its first finding
void require_clean(SanitizedRun run);

/// The first finding in the output of a sanitizer, with the first line of `file` that it names: "ThreadSanitizer: data
/// race, mine.cpp:12"; empty if there is none.
std::string first_finding(const std::string& log, const std::string& file);

enum class Language;
/// What --sanitize runs for a language, and the flags of its programs (bench/try/try.cmake).
struct Sanitizer {
  std::string name;
  std::vector<std::string> flags{};   ///< of the compiler
  std::vector<std::string> linked{};  ///< words of the link command
  std::vector<std::string> before{};  ///< words before the program: compute-sanitizer
};
std::vector<Sanitizer> sanitizers_of(Language language, bool on_gpu, const std::string& sources);

}  // namespace league::bench
