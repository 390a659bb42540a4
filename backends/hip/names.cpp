// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel hip{{.name = "hip", .order = 5, .device = DeviceKind::gpu}};
const RegisterModel rocprim{{.name = "rocprim", .order = 6, .kind = ModelKind::library, .device = DeviceKind::gpu}};
const RegisterModel rocblas{{.name = "rocblas", .order = 7, .kind = ModelKind::library, .device = DeviceKind::gpu}};

}  // namespace
}  // namespace league
