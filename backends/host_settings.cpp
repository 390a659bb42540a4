// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/host_settings.hpp"

#include <dlfcn.h>
#include <omp.h>

#include <fstream>

namespace league {
namespace {

namespace fs = std::filesystem;

#ifdef __clang__
constexpr bool of_llvm = true;
#else
constexpr bool of_llvm = false;
#endif

std::string first_line(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  return line;
}

/// Of "always [madvise] never", "madvise".
std::string chosen(const std::string& line) {
  const std::size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close < open ? line : line.substr(open + 1, close - open - 1);
}

fs::path openmp_library() {
  Dl_info info{};
  std::error_code none;
  if (dladdr(reinterpret_cast<void*>(&omp_get_max_threads), &info) == 0 || info.dli_fname == nullptr) return {};
  return fs::canonical(info.dli_fname, none);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> host_settings(const fs::path& root) {
  std::vector<std::pair<std::string, std::string>> all{
      {"openmp_library", openmp_library().string()},
      {"huge_pages", chosen(first_line(root / "sys/kernel/mm/transparent_hugepage/enabled"))},
      {"numa_balancing", first_line(root / "proc/sys/kernel/numa_balancing")}};
  std::erase_if(all, [](const auto& fact) { return fact.second.empty(); });
  return all;
}

std::string openmp_library_fault() {
  const bool llvm = dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != nullptr;
  if (llvm == of_llvm) return {};
  return std::string("OpenMP is that of ") + (llvm ? "LLVM" : "GCC") + " (" + openmp_library().string() +
         "), this build's compiler has another: unset LD_LIBRARY_PATH, or take its environment from it (conda)";
}

}  // namespace league
