// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/variables.hpp"

#include <array>
#include <cstdlib>
#include <set>

#include "backends/split.hpp"

namespace league::bench {
namespace {

constexpr std::array choosing{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

/// What is recorded without a word: how threads are bound and wait, how libraries of GPUs compute and communicate.
constexpr std::array setting{"OMP_NUM_THREADS",  "OMP_PROC_BIND",   "OMP_PLACES",       "GOMP_CPU_AFFINITY",
                             "KMP_AFFINITY",     "OMP_WAIT_POLICY", "GOMP_SPINCOUNT",   "NCCL_ALGO",
                             "NCCL_P2P_DISABLE", "NCCL_PROTO",      "NCCL_SHM_DISABLE", "NVIDIA_TF32_OVERRIDE"};

/// A variable that changes times unless it is 0, and how.
struct Changing {
  const char *name, *how;
};
constexpr const char* tool = "Kokkos calls this tool at each of its kernels, which takes time";
constexpr const char* blocking = "the host waits for each kernel on a GPU";
constexpr std::array changing{
    Changing{"KOKKOS_TOOLS_LIBS", tool},
    Changing{"KOKKOS_PROFILE_LIBRARY", tool},
    Changing{"CUDA_LAUNCH_BLOCKING", blocking},
    Changing{"HIP_LAUNCH_BLOCKING", blocking},
    Changing{"AMD_SERIALIZE_KERNEL", blocking},
    Changing{"CUDA_INJECTION64_PATH", "CUDA loads this tool"},
    Changing{"LD_PRELOAD", "its functions stand in for those of libraries"},
};

/// What a list of GPUs hides by mistake; empty: nothing.
std::string fault_of_list(const std::string& list) {
  const std::vector<std::string> entries = split(list, ',');
  if (entries.empty()) return "it is empty, and hides all GPUs";
  std::set<std::string> named;
  for (const std::string& entry : entries) {
    if (entry.empty() || entry.starts_with("-"))
      return "its entry '" + entry + "' is no GPU, and hides itself and all GPUs behind it";
    if (!named.insert(entry).second) return "it names '" + entry + "' twice, for which drivers hide GPUs";
  }
  return {};
}

}  // namespace

Json variables_here() {
  Json variables = Json::object();
  const auto take = [&](const char* name) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  };
  for (const char* name : choosing) take(name);
  for (const char* name : setting) take(name);
  for (const Changing& variable : changing) take(variable.name);
  return variables;
}

std::vector<std::string> variable_faults(const Json& variables) {
  std::vector<std::string> found;
  const auto value_of = [&](const char* name) { return variables.value(name, ""); };
  const auto add = [&](const char* name, const std::string& what) {
    found.push_back(std::string(name) + "=" + value_of(name) + ": " + what);
  };
  for (const Changing& variable : changing)
    if (const std::string value = value_of(variable.name); !value.empty() && value != "0")
      add(variable.name, std::string(variable.how) + ". Unset it for times to compare");
  for (const char* name : choosing)
    if (variables.contains(name))
      if (const std::string fault = fault_of_list(value_of(name)); !fault.empty()) add(name, fault);
  return found;
}

}  // namespace league::bench
