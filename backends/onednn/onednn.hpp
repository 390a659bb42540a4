// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "backends/backend.hpp"

namespace league::onednn {

inline constexpr Model model{"onednn", "onednn", DeviceKind::host};

/// During its lifetime, the library creates and runs primitives with this number of threads.
class Threads {
 public:
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace league::onednn
