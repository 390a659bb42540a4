// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/communicator.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterEngine nccl{"nccl", DeviceKind::gpu};

}  // namespace
}  // namespace league
