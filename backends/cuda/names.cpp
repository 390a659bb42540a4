// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/communicator.hpp"
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel cuda{{.name = "cuda", .order = 4, .device = DeviceKind::gpu}};
const RegisterModel cub{{.name = "cub", .order = 6, .kind = ModelKind::library, .device = DeviceKind::gpu}};
const RegisterModel cublas{{.name = "cublas", .order = 7, .kind = ModelKind::library, .device = DeviceKind::gpu}};
const RegisterEngine local_serialized{"local_serialized", DeviceKind::gpu};

}  // namespace
}  // namespace league
