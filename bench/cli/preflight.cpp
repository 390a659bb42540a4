// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/preflight.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "algorithms/contract/budget.hpp"
#include "backends/host_limits.hpp"
#include "backends/host_settings.hpp"
#include "backends/python/start.hpp"
#include "bench/cli/threads.hpp"
#include "bench/cli/unused_gpus.hpp"
#include "bench/ranks/cores.hpp"
#include "bench/ranks/places.hpp"
#include "bench/ranks/variables.hpp"

namespace league::bench {
namespace {

std::string first_word(const char* file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// "1.5"
std::string readable_number(double number) { return std::to_string(number).substr(0, 4); }

void look_at_host(const Runtime& runtime, std::vector<std::string>& found) {
  if (omp_get_proc_bind() == omp_proc_bind_false)
    found.emplace_back("threads may move between cores: set OMP_PROC_BIND=close and OMP_PLACES=cores");
  double load = 0;
  if (getloadavg(&load, 1) == 1 && load > 0.5 * runtime.host_threads())
    found.push_back("the machine is busy: load " + readable_number(load) + " on " +
                    std::to_string(runtime.host_threads()) + " threads");
  const std::string governor = first_word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty() && governor != "performance")
    found.push_back("the CPU frequency governor is '" + governor + "'");
}

/// What control groups and resource limits leave of the host.
void look_at_limits(const Runtime& runtime, std::vector<std::string>& found) {
  const int threads = runtime.host_threads();
  if (const double quota = cpu_quota(); quota > 0 && quota < threads)
    found.push_back("the control group has a quota of " + readable_number(quota) + " processors for " +
                    std::to_string(threads) + " threads, which are stopped when it is used up");
  if (const FreeMemory memory = free_host_memory(); !memory.limit.empty())
    found.push_back("the host has " + readable_bytes(memory.free_bytes) + " of free memory under " + memory.limit);
}

/// Hybrid processors: a loop whose threads have equal shares waits for the slowest core.
void look_at_kinds(std::vector<std::string>& found) {
  const std::vector<std::set<int>> kinds = kinds_of(cores_here());
  if (kinds.size() < 2) return;
  std::string lists;
  for (const std::set<int>& kind : kinds) lists += (lists.empty() ? "" : "; ") + list_of(kind);
  found.push_back("the threads are on cores of " + std::to_string(kinds.size()) + " kinds (" + lists +
                  "), and wait for the slowest: choose one kind by taskset or OMP_PLACES");
}

void look_at_backends(const Runtime& runtime, std::vector<std::string>& found) {
  for (const std::string& backend_name : runtime.backends())
    for (const auto& [key, value] : runtime.backend(backend_name)->facts())
      if (key == "ignored_variables" && !value.empty())
        found.push_back(value +
                        ": ignored, all models get the same threads and devices (OMP_NUM_THREADS, "
                        "CUDA_VISIBLE_DEVICES)");
}

void look_at_peers(std::vector<std::string>& found) {
  const std::string ignored = python::ignored_variables();
  if (!ignored.empty()) found.push_back(ignored + ": ignored, Python and its libraries compile and optimise as usual");
}

/// What NCCL needs between several GPUs, and containers have little of.
void look_at_shared_memory(const Runtime& runtime, std::vector<std::string>& found) {
  const Backend* nccl = runtime.backend("nccl");
  if (nccl == nullptr || !nccl->unavailable().empty() || runtime.gpus_of_all_ranks() < 2) return;
  if (std::string fault = shared_memory_fault(); !fault.empty()) found.push_back(std::move(fault));
}

/// Findings of the first rank of each host, without repetitions of those of rank 0.
std::vector<std::string> of_all_hosts(Ranks& ranks, const std::vector<std::string>& mine) {
  if (ranks.place().alone()) return mine;
  const Json here = {{"host", ranks.place().host}, {"found", mine}};
  std::vector<std::string> all = mine, hosts;
  for (const std::string& text : ranks.texts(text_of(here))) {
    const Json there = Json::parse(text);
    const std::string host = there.at("host");
    if (std::ranges::find(hosts, host) != hosts.end()) continue;
    hosts.push_back(host);
    for (const std::string sentence : there.at("found"))
      if (std::ranges::find(all, sentence) == all.end()) all.push_back(host + ": " + sentence);
  }
  return all;
}

}  // namespace

std::vector<std::string> gpu_faults(const DeviceInfo& gpu, std::size_t gpus) {
  std::vector<std::string> found;
  const std::string which = "GPU " + std::to_string(gpu.device.index) + ": ";
  const auto fact = [&](const std::string& key) {
    const auto entry = std::ranges::find(gpu.facts, key, &std::pair<std::string, std::string>::first);
    return entry == gpu.facts.end() ? std::string() : entry->second;
  };
  if (const std::string count = fact("other_processes"); !count.empty() && count != "0")
    found.push_back(which + count + " other processes use it");
  if (fact("compute_mode") == "exclusive")
    found.push_back(which + "only one process may use it, and Python peers are others (nvidia-smi -c DEFAULT)");
  if (fact("mig") == "on") found.push_back(which + "MIG is on: it is a part of a device");
  const std::string cap = fact("power_limit_W"), default_cap = fact("power_limit_default_W");
  if (!cap.empty() && !default_cap.empty() && cap != default_cap)
    found.push_back(which + "its power is capped at " + cap + " W (default " + default_cap + " W)");
  if (const std::string broken = fact("broken_peers"); !broken.empty())
    found.push_back(which + "what it copies to GPU " + broken + " does not arrive, though the driver reports access: " +
                    "an IOMMU or ACS is between them. NCCL needs NCCL_P2P_DISABLE=1");
  if (const std::string peers = fact("peers"); !peers.empty() && peers != std::to_string(gpus - 1))
    found.push_back(which + "has direct access to " + peers + " of the " + std::to_string(gpus - 1) +
                    " other GPUs only");
  return found;
}

std::vector<std::string> preflight(const Runtime& runtime, const Json& places) {
  std::vector<std::string> found;
  look_at_host(runtime, found);
  std::ranges::move(thread_faults(runtime.host_threads()), std::back_inserter(found));
  look_at_limits(runtime, found);
  if (std::string fault = openmp_library_fault(); !fault.empty()) found.push_back(std::move(fault));
  std::ranges::move(process_faults(), std::back_inserter(found));
  look_at_kinds(found);
  std::ranges::move(variable_faults(variables_here()), std::back_inserter(found));
  look_at_backends(runtime, found);
  look_at_shared_memory(runtime, found);
  look_at_peers(found);
  if (std::string unused = unused_gpus(runtime); !unused.empty()) found.push_back(std::move(unused));
  for (const DeviceInfo& gpu : runtime.gpus())
    std::ranges::move(gpu_faults(gpu, runtime.gpus().size()), std::back_inserter(found));
  found = of_all_hosts(runtime.ranks(), found);
  std::ranges::move(binding_faults(places), std::back_inserter(found));
  return found;
}

}  // namespace league::bench
