// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel cudnn{{.name = "cudnn", .order = 8, .kind = ModelKind::library, .device = DeviceKind::gpu}};

}  // namespace
}  // namespace league
