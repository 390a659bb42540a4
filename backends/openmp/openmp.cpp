// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <omp.h>

#include <cstdlib>

#include "backends/runtime.hpp"

namespace league::openmp {
namespace {

class OpenMp final : public Backend {
 public:
  [[nodiscard]] std::string version() const override { return std::to_string(_OPENMP); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override {
    std::vector<std::pair<std::string, std::string>> facts{{"max_threads", std::to_string(omp_get_max_threads())}};
    for (const char* variable : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "OMP_PROC_BIND", "OMP_PLACES"}) {
      const char* value = std::getenv(variable);
      facts.emplace_back(variable, value ? value : "unset");
    }
    return facts;
  }
};

const RegisterBackend registered{"openmp", 0,
                                 [](const Runtime&) -> std::unique_ptr<Backend> { return std::make_unique<OpenMp>(); }};

}  // namespace
}  // namespace league::openmp
