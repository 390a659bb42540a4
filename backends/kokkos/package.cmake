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

# Kokkos 4.7.00 knows CUDA up to 12: every file that sees its headers, its own too, gets the calls it misses.
if(Kokkos_COMPILE_LANGUAGE STREQUAL CUDA AND Kokkos_VERSION VERSION_EQUAL 4.7.0
   AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  set(missing_calls "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/cuda13.hpp>")
  if(TARGET kokkoscore)
    target_compile_options(kokkoscore PUBLIC "$<BUILD_INTERFACE:${missing_calls}>")
  else()
    target_compile_options(Kokkos::kokkoscore INTERFACE "${missing_calls}")
  endif()
endif()

# For the record: the version as Kokkos writes it (4.7.00, 5.2.2), and what it adds to the compile lines of the files that use it.
string(REGEX REPLACE "^4[.]([0-9]+)[.]([0-9])$" "4.\\1.0\\2" league_kokkos_version "${Kokkos_VERSION}")
get_target_property(options Kokkos::kokkoscore INTERFACE_COMPILE_OPTIONS)
string(REGEX REPLACE "[$]<[$]<COMPILE_LANGUAGE:[A-Z]+>:|[$]<BUILD_INTERFACE:|SHELL:|${PROJECT_SOURCE_DIR}/|>" "" options "${options}")
list(REMOVE_ITEM options "")
list(JOIN options " " league_kokkos_flags)
