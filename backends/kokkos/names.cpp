// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel kokkos{{.name = "kokkos", .order = 2, .kind = ModelKind::portable}};
const RegisterModel kokkos_specialised{{.name = "kokkos_specialised", .order = 3, .kind = ModelKind::specialised}};
const RegisterModel kokkos_kernels{{.name = "kokkos_kernels", .order = 9, .kind = ModelKind::portable_library}};

}  // namespace
}  // namespace league
