// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

namespace league::bench {
namespace fs = std::filesystem;

std::set<int> numbers_of(std::string_view list) {
  std::set<int> numbers;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0;
    const auto number = std::from_chars(at, end, first);
    if (number.ec != std::errc()) break;
    at = number.ptr;
    int last = first;
    if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    while (first <= last) numbers.insert(first++);
    if (at < end && *at == ',') ++at;
  }
  return numbers;
}

std::string list_of(const std::set<int>& numbers) {
  std::string list;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    list += (list.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
  }
  return list;
}

std::set<int> cores_here() {
  std::set<int> cores;
#pragma omp parallel
  {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
#pragma omp critical
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(static_cast<std::size_t>(core), &mine)) cores.insert(core);
  }
  return cores;
}

std::set<int> numa_nodes_of(const std::set<int>& cores) {
  std::set<int> nodes;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", none)) {
    const std::string name = entry.path().filename();
    std::string list;
    if (!name.starts_with("node") || !(std::ifstream(entry.path() / "cpulist") >> list)) continue;
    const std::set<int> there = numbers_of(list);
    if (std::ranges::any_of(cores, [&](int core) { return there.contains(core); }))
      nodes.merge(numbers_of(std::string_view(name).substr(4)));
  }
  return nodes;
}

std::vector<std::set<int>> kinds_of(const std::set<int>& cores, const fs::path& root) {
  std::map<std::string, std::set<int>> kinds;
  std::string list;
  for (const char* kind : {"cpu_core", "cpu_atom", "cpu_lowpower"})  // x86
    if (std::ifstream(root / "sys/devices" / kind / "cpus") >> list)
      for (const int core : numbers_of(list))
        if (cores.contains(core)) kinds[kind].insert(core);
  for (const int core : cores) {  // Arm
    const fs::path folder = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(core));
    if (std::string capacity; std::ifstream(folder / "cpu_capacity") >> capacity) kinds[capacity].insert(core);
  }
  std::vector<std::set<int>> found;
  for (auto& [kind, members] : kinds) found.push_back(std::move(members));
  return found;
}

}  // namespace league::bench
