// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "backends/runtime.hpp"

namespace league::serial {
namespace {
const RegisterBackend registered{"serial", 0, [](const Runtime&) { return std::make_unique<Backend>(); }};
}  // namespace
}  // namespace league::serial
