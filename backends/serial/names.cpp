// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel serial{{.name = "serial", .order = 0, .kind = ModelKind::reference}};

}  // namespace
}  // namespace league
