// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/onednn/onednn.hpp"

#include <omp.h>

#include "backends/runtime.hpp"

namespace league::onednn {
namespace {

class OneDnn final : public Backend {
 public:
  [[nodiscard]] std::string version() const override {
    const dnnl_version_t* of = dnnl_version();
    return std::to_string(of->major) + "." + std::to_string(of->minor) + "." + std::to_string(of->patch);
  }
};

const RegisterBackend registered{"onednn", 0,
                                 [](const Runtime&) -> std::unique_ptr<Backend> { return std::make_unique<OneDnn>(); }};

}  // namespace

Threads::Threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
Threads::~Threads() { omp_set_num_threads(before_); }

}  // namespace league::onednn
