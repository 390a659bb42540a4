// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel hip{{.name = "hip", .order = 5, .device = DeviceKind::gpu}};
const RegisterModel rocprim{{.name = "rocprim", .order = 6, .device = DeviceKind::gpu, .own = false}};
const RegisterModel rocblas{{.name = "rocblas", .order = 7, .device = DeviceKind::gpu, .own = false}};

}  // namespace
}  // namespace league
