// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/variables.hpp"

#include <strings.h>

#include <array>
#include <cstdlib>
#include <set>

#include "backends/split.hpp"

namespace league::bench {
namespace {

constexpr std::array choosing{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

/// What is recorded without a word: how threads are bound, how libraries of GPUs compute and communicate.
constexpr std::array setting{
    "OMP_NUM_THREADS",   "OMP_PROC_BIND",    "OMP_PLACES",          "OMP_THREAD_LIMIT", "OMP_MAX_ACTIVE_LEVELS",
    "GOMP_CPU_AFFINITY", "KMP_AFFINITY",     "KMP_BLOCKTIME",       "NCCL_ALGO",        "NCCL_P2P_DISABLE",
    "NCCL_PROTO",        "NCCL_SHM_DISABLE", "NVIDIA_TF32_OVERRIDE"};

/// A variable that changes times, how, and with which value it does not.
struct Changing {
  const char *name, *how, *harmless = "0";
};
constexpr const char* tool = "Kokkos calls this tool at each of its kernels, which takes time";
constexpr const char* blocking = "the host waits for each kernel on a GPU";
constexpr const char* waiting = "threads sleep between kernels, and each kernel waits until they are awake";
constexpr const char* allocating = "each allocation is checked, filled or placed in another way";
constexpr const char* instructions = "libraries use fewer instructions than this processor has";
constexpr const char* printing = "oneDNN prints a line for each of its kernels";
constexpr const char* rounding = "oneDNN may compute f32 in fewer bits";
constexpr std::array changing{
    Changing{"KOKKOS_TOOLS_LIBS", tool},
    Changing{"KOKKOS_PROFILE_LIBRARY", tool},
    Changing{"CUDA_LAUNCH_BLOCKING", blocking},
    Changing{"HIP_LAUNCH_BLOCKING", blocking},
    Changing{"AMD_SERIALIZE_KERNEL", blocking},
    Changing{"CUDA_INJECTION64_PATH", "CUDA loads this tool"},
    Changing{"LD_PRELOAD", "its functions stand in for those of libraries"},
    Changing{"OMP_WAIT_POLICY", waiting, "active"},
    Changing{"GOMP_SPINCOUNT", waiting, "infinity"},
    Changing{"MALLOC_PERTURB_", allocating},
    Changing{"MALLOC_CHECK_", allocating},
    Changing{"GLIBC_TUNABLES", allocating},
    Changing{"DNNL_MAX_CPU_ISA", instructions, "all"},
    Changing{"ONEDNN_MAX_CPU_ISA", instructions, "all"},
    Changing{"MKL_ENABLE_INSTRUCTIONS", instructions},
    Changing{"OPENBLAS_CORETYPE", instructions},
    Changing{"NPY_DISABLE_CPU_FEATURES", instructions},
    Changing{"DNNL_VERBOSE", printing},
    Changing{"ONEDNN_VERBOSE", printing},
    Changing{"DNNL_DEFAULT_FPMATH_MODE", rounding, "strict"},
    Changing{"ONEDNN_DEFAULT_FPMATH_MODE", rounding, "strict"},
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
    if (const std::string value = value_of(variable.name);
        !value.empty() && strcasecmp(value.c_str(), variable.harmless) != 0)
      add(variable.name, std::string(variable.how) + ". Unset it for times to compare");
  for (const char* name : choosing)
    if (variables.contains(name))
      if (const std::string fault = fault_of_list(value_of(name)); !fault.empty()) add(name, fault);
  return found;
}

}  // namespace league::bench
