// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel openmp{{.name = "openmp", .order = 1}};

}  // namespace
}  // namespace league
