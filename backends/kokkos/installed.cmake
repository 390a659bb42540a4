# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# An installed Kokkos, held to what the preset asks for: its options can no longer be chosen here.

# What is asked for must be read first: the package sets variables of the same names.
# Serial is not compared: no kernel runs on it beside another backend.
set(known_devices OPENMP THREADS CUDA HIP SYCL)
set(wanted_devices)
foreach(device IN LISTS known_devices)
  if(Kokkos_ENABLE_${device})
    list(APPEND wanted_devices ${device})
  endif()
endforeach()
get_cmake_property(wanted_arch CACHE_VARIABLES)
list(FILTER wanted_arch INCLUDE REGEX "^Kokkos_ARCH_")
foreach(variable IN LISTS wanted_arch)
  if(NOT ${variable})
    list(REMOVE_ITEM wanted_arch ${variable})
  endif()
endforeach()
list(TRANSFORM wanted_arch REPLACE "^Kokkos_ARCH_" "")

find_package(Kokkos 4.7...<6 CONFIG QUIET)
if(NOT Kokkos_FOUND)
  return()
endif()
set(league_kokkos_origin "installed, ${Kokkos_DIR}")

set(differences)
foreach(device IN LISTS known_devices)
  if(device IN_LIST wanted_devices AND NOT device IN_LIST Kokkos_DEVICES)
    string(APPEND differences "  backend ${device}: asked for, not in it\n")
  elseif(device IN_LIST Kokkos_DEVICES AND NOT device IN_LIST wanted_devices)
    string(APPEND differences "  backend ${device}: in it, not asked for\n")
  endif()
endforeach()
foreach(arch IN LISTS wanted_arch)
  if(NOT arch IN_LIST Kokkos_ARCH)
    string(APPEND differences "  architecture: ${arch} is asked for, it was built for '${Kokkos_ARCH}'\n")
  endif()
endforeach()
get_target_property(options Kokkos::kokkoscore INTERFACE_COMPILE_OPTIONS)
if("${options}" MATCHES "-march=([A-Za-z0-9_.+-]+)" AND NOT CMAKE_MATCH_1 STREQUAL LEAGUE_ARCH)
  string(APPEND differences "  instruction set: it adds -march=${CMAKE_MATCH_1}, everything else gets ${LEAGUE_ARCH} (LEAGUE_ARCH)\n")
endif()
if(NOT Kokkos_CXX_STANDARD EQUAL CMAKE_CXX_STANDARD)
  string(APPEND differences "  standard: C++${CMAKE_CXX_STANDARD} is asked for, it was built with C++${Kokkos_CXX_STANDARD}\n")
endif()
if(differences)
  message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is not what this preset asks for:\n${differences}"
    "Set Kokkos_ROOT to another one, or CMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON to build the pinned one here.")
endif()
if(Kokkos_COMPILE_LANGUAGE STREQUAL CUDA)
  enable_language(CUDA)
endif()

# Kernels of Kokkos' own release line are taken; of another line only if they build.
find_package(KokkosKernels CONFIG QUIET)
if(NOT KokkosKernels_FOUND)
  message(STATUS "Kokkos Kernels: none is installed beside Kokkos, its variants are skipped")
  return()
endif()
string(REGEX MATCH "^[0-9]+[.][0-9]+" kokkos_line ${Kokkos_VERSION})
set(league_kernels_usable ON)
if(NOT "${KokkosKernels_VERSION}" MATCHES "^${kokkos_line}[.]")
  set(probe [[
#include <KokkosBlas3_gemm.hpp>
#include <Kokkos_Core.hpp>
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight>;
void product(const Matrix& a, const Matrix& b, const Matrix& c) { KokkosBlas::gemm("N", "T", 1.0F, a, b, 0.0F, c); }
int main() {}
]])
  set(extension cpp)
  if(Kokkos_COMPILE_LANGUAGE STREQUAL CUDA)
    set(extension cu)
  endif()
  message(STATUS "Kokkos Kernels ${KokkosKernels_VERSION} beside Kokkos ${Kokkos_VERSION}: trying whether they build together")
  try_compile(LEAGUE_KERNELS_BUILD SOURCE_FROM_VAR probe.${extension} probe LINK_LIBRARIES Kokkos::kokkoskernels)
  set(league_kernels_usable ${LEAGUE_KERNELS_BUILD})
  if(NOT LEAGUE_KERNELS_BUILD)
    message(STATUS "Kokkos Kernels ${KokkosKernels_VERSION} does not build with Kokkos ${Kokkos_VERSION}: its variants are skipped")
  endif()
endif()
