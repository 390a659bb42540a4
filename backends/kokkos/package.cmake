# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Kokkos and Kokkos Kernels: an installed Kokkos wins, else the pinned source package is built in this tree.
# Sets Kokkos_COMPILE_LANGUAGE and Kokkos_VERSION; Kokkos::kokkoskernels exists where Kernels can be used.
set(LEAGUE_KOKKOS_SOURCE_DIR "" CACHE PATH "A folder that holds kokkos/ and, if wanted, kokkos-kernels/: built instead of any other")
set(LEAGUE_KOKKOS_PACKAGE "" CACHE FILEPATH "The pinned source package, already there: no network needed")

if(NOT LEAGUE_KOKKOS_SOURCE_DIR)
  include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)
endif()
if(NOT Kokkos_FOUND)
  include(${CMAKE_CURRENT_LIST_DIR}/embedded.cmake)
endif()
message(STATUS "Kokkos ${Kokkos_VERSION} (${league_kokkos_origin}), files with its kernels are compiled as ${Kokkos_COMPILE_LANGUAGE}")

# Kokkos 4.7.00 knows CUDA up to 12.
if(Kokkos_COMPILE_LANGUAGE STREQUAL CUDA AND Kokkos_VERSION VERSION_EQUAL 4.7.0
   AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  set(compatibility "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/cuda13.hpp>")
  if(TARGET kokkoscore)
    target_compile_options(kokkoscore PUBLIC "${compatibility}")
  else()
    set_property(TARGET Kokkos::kokkoscore APPEND PROPERTY INTERFACE_COMPILE_OPTIONS "${compatibility}")
  endif()
endif()

# For the record: what Kokkos adds to the files that use it.
get_target_property(league_kokkos_flags Kokkos::kokkoscore INTERFACE_COMPILE_OPTIONS)
string(REGEX REPLACE "[$]<[$]<COMPILE_LANGUAGE:[A-Z]+>:([^>]*)>" "\\1" league_kokkos_flags "${league_kokkos_flags}")
string(REPLACE ";" " " league_kokkos_flags "${league_kokkos_flags}")
