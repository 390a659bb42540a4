# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
if(NOT LEAGUE_KOKKOS)
  return()
endif()

if(Kokkos_ENABLE_CUDA)
  enable_language(CUDA)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)

set(headers HEADERS ${league_standard_headers} <Kokkos_Core.hpp>)
# Files with Kokkos kernels are compiled in the language that Kokkos was: CUDA, or C++ (OpenMP, HIP, nvcc_wrapper).
league_objects(backend_kokkos SOURCES backends/kokkos/*.cpp EXCLUDE names|kernels LANGUAGE ${Kokkos_COMPILE_LANGUAGE}
  LIBRARIES Kokkos::kokkos ${headers})
league_model(kokkos SOURCES kokkos*.cpp EXCLUDE kokkos_kernels|kokkos_specialised LANGUAGE ${Kokkos_COMPILE_LANGUAGE}
  LIBRARIES Kokkos::kokkos ${headers})
# Over blocks that have bodies for an architecture; `kokkos_specialised_host*`: where Kokkos runs on the host.
if(Kokkos_ENABLE_CUDA OR Kokkos_ENABLE_HIP)
  set(other_sources "[^/]*_host" ${league_no_units})
  list(JOIN other_sources "|" other_sources)
  list(PREPEND other_sources EXCLUDE)
endif()
league_model(kokkos_specialised SOURCES kokkos_specialised*.cpp ${other_sources} LANGUAGE ${Kokkos_COMPILE_LANGUAGE}
  LIBRARIES Kokkos::kokkos ${headers})
if(league_kernels_usable)
  league_objects(backend_kokkos_kernels ON_DEMAND SOURCES backends/kokkos/kernels.cpp LANGUAGE ${Kokkos_COMPILE_LANGUAGE}
    LIBRARIES Kokkos::kokkoskernels ${headers})
  league_model(kokkos_kernels SOURCES kokkos_kernels*.cpp LANGUAGE ${Kokkos_COMPILE_LANGUAGE}
    LIBRARIES Kokkos::kokkoskernels ${headers})
endif()
add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/findings findings EXCLUDE_FROM_ALL)
