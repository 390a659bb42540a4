// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/sanitizers.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "backends/split.hpp"
#include "bench/peers/answer.hpp"
#include "bench/try/description.hpp"

namespace league::bench {
namespace {

constexpr int slower = 20;  // than without the sanitizer
constexpr int end_s = 60;   // until it has summed up

/// On the PATH, or where CUDA is installed; its name where it is on neither.
std::string compute_sanitizer() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin", ':'))
    if (const auto file = std::filesystem::path(folder) / "compute-sanitizer"; std::filesystem::exists(file))
      return file.string();
  return "compute-sanitizer";
}

/// The part of a line from a word on, without the sanitizer's frame.
std::string finding_in(const std::string& line) {
  for (const char* begin : {"AddressSanitizer: ", "ThreadSanitizer: ", "LeakSanitizer: ", "Invalid __", "Race reported",
                            "Uninitialized __", "Barrier error detected", "Out-of-range", "Misaligned", "Program hit "})
    if (const std::size_t at = line.find(begin); at != std::string::npos) return line.substr(at);
  return {};
}

/// Without the process and address at the end: "heap-buffer-overflow on address 0x...", "data race (pid=7)".
std::string brief(std::string finding) {
  for (const char* rest : {" on address", " on unknown address", " (pid=", " between "})
    finding.resize(std::min(finding.size(), finding.find(rest)));
  return finding;
}

}  // namespace

std::string first_finding(const std::string& log, const std::string& file) {
  std::istringstream lines(log);
  std::string found;
  const std::string name = std::filesystem::path(file).filename().string() + ":";
  for (std::string line; std::getline(lines, line);) {
    if (found.empty()) found = brief(finding_in(line));
    const std::size_t at = line.find(name);
    if (found.empty() || at == std::string::npos) continue;
    const std::size_t digits = line.find_first_not_of("0123456789", at + name.size());
    return found + ", " + line.substr(at, digits - at);
  }
  return found;
}

void require_clean(SanitizedRun run) {
  run.request["own"]["guard"] = 0;  // the sanitizer sees the ends of arrays
  std::string ended;
  python::Process process(run.interpreter, run.start);
  std::string log;
  try {
    for (const char* call : {"prepare", "upload", "reset", "compute", "fence", "download"}) {
      Json request = run.request;
      request["call"] = call;
      process.send(text_of(request));
      const Answer answer(process.receive(run.limit_s * slower));
    }
    log = process.finish(end_s);
  } catch (const Unsupported&) {
    throw;
  } catch (const std::exception& error) {
    ended = error.what();
    log = process.log();
  }
  if (ended.find("cannot start ") != std::string::npos)
    throw Unsupported(run.sanitizer + ": no such program on the PATH or in /usr/local/cuda/bin");
  const std::string found = first_finding(log, run.file);
  const bool named = found.starts_with(run.sanitizer);
  if (!found.empty()) throw std::runtime_error((named ? "" : run.sanitizer + ": ") + found);
  if (!ended.empty()) throw std::runtime_error("under " + run.sanitizer + ": " + ended);
  std::cerr << "league: " << run.sanitizer << " found nothing in " << run.file << "\n";
}

std::vector<Sanitizer> sanitizers_of(Language language, bool on_gpu, const std::string& sources) {
  if (language == Language::python) return {};
  std::vector<Sanitizer> all;
  if (on_gpu) {
    for (const char* tool : {"memcheck", "racecheck", "synccheck", "initcheck"})
      all.push_back({.name = std::string("compute-sanitizer ") + tool,
                     .flags = {"-lineinfo"},
                     .before = {compute_sanitizer(), "--tool", tool, "--target-processes", "all"}});
    return all;
  }
  all.push_back({.name = "AddressSanitizer",
                 .flags = {"-fsanitize=address", "-g", "-fno-omit-frame-pointer"},
                 .linked = {"-fsanitize=address"}});
  all.push_back({.name = "ThreadSanitizer",
                 .flags = {"-fsanitize=thread", "-g"},
                 .linked = {"-fsanitize=thread", "-Wl,--wrap=GOMP_parallel", "-Wl,--wrap=GOMP_barrier",
                            sources + "/bench/try/worker/openmp_threads.cpp"}});
  return all;
}

}  // namespace league::bench
