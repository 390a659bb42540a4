// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/unused_gpus.hpp"

#include <fstream>

#include "bench/build_info.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;

std::string counted(int count, const std::string& maker) {
  return count == 0 ? "" : std::to_string(count) + " " + maker + (count == 1 ? " GPU" : " GPUs");
}

/// A processor has 0 there.
bool is_gpu(const fs::path& node) {
  unsigned long long id = 0;
  return std::ifstream(node / "gpu_id") >> id && id != 0;
}

}  // namespace

std::string gpus_of_drivers(const fs::path& root) {
  std::error_code none;
  int nvidia = 0, amd = 0;
  for ([[maybe_unused]] const auto& gpu : fs::directory_iterator(root / "proc/driver/nvidia/gpus", none)) ++nvidia;
  for (const auto& node : fs::directory_iterator(root / "sys/class/kfd/kfd/topology/nodes", none))
    amd += is_gpu(node.path()) ? 1 : 0;
  const std::string first = counted(nvidia, "NVIDIA"), second = counted(amd, "AMD");
  return first + (first.empty() || second.empty() ? "" : " and ") + second;
}

std::string unused_gpus(const Runtime& runtime, const fs::path& root) {
  const std::string there = gpus_of_drivers(root);
  if (there.empty() || !runtime.gpus().empty()) return {};
  for (const char* name : {"cuda", "hip"})
    if (const Backend* backend = runtime.backend(name); backend != nullptr)
      return there + " here, and NONE IS USED: " + name + ": " + backend->unavailable();
  return there + " here, and NONE IS USED: this build is for hosts (preset " + build_info::preset + ")";
}

}  // namespace league::bench
