// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

// Names for studies, compiled in every build.
namespace league {
namespace {

const RegisterModel kokkos{{.name = "kokkos", .order = 2, .portable = true}};
const RegisterModel kokkos_specialised{{.name = "kokkos_specialised", .order = 3, .portable = true, .expected = false}};
const RegisterModel kokkos_kernels{{.name = "kokkos_kernels", .order = 9, .own = false}};

}  // namespace
}  // namespace league
