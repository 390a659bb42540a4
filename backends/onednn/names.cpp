// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel onednn{{.name = "onednn", .order = 9, .kind = ModelKind::library}};

}  // namespace
}  // namespace league
