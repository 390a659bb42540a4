# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# oneDNN on hosts. Debian's CMake package asks for OpenCL's headers, which nothing here needs: header and library are looked for.
set(LEAGUE_ONEDNN AUTO CACHE STRING "The model 'onednn': ON, OFF, or AUTO: in builds without a GPU, if oneDNN 2 is found")
set_property(CACHE LEAGUE_ONEDNN PROPERTY STRINGS AUTO ON OFF)
# An executable for a GPU is carried to other machines, and the library is larger than it.
if(NOT LEAGUE_ONEDNN OR (LEAGUE_ONEDNN STREQUAL AUTO AND (LEAGUE_CUDA OR LEAGUE_HIP)))
  return()
endif()

find_path(LEAGUE_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(LEAGUE_ONEDNN_LIBRARY dnnl)
set(advice "")
if(NOT LEAGUE_ONEDNN_INCLUDE_DIR OR NOT LEAGUE_ONEDNN_LIBRARY)
  set(advice "it is not found; `apt-get install libdnnl-dev` brings it")
else()
  file(STRINGS ${LEAGUE_ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h version REGEX "define DNNL_VERSION_MAJOR")
  if(NOT version MATCHES " 2$")
    set(advice "${LEAGUE_ONEDNN_INCLUDE_DIR} is not version 2")
  endif()
endif()
if(advice)
  if(LEAGUE_ONEDNN STREQUAL AUTO)
    message(STATUS "oneDNN: ${advice}. Its variants are skipped")
    return()
  endif()
  message(FATAL_ERROR "LEAGUE_ONEDNN is ${LEAGUE_ONEDNN}, but ${advice}")
endif()
message(STATUS "oneDNN: ${LEAGUE_ONEDNN_LIBRARY}")

# Linked, not loaded at run time, and with the OpenMP runtime that it brings: one more inside the executable would find the
# first thread bound already (OMP_PROC_BIND) and take that processor for all there are.
get_target_property(libraries OpenMP::OpenMP_CXX INTERFACE_LINK_LIBRARIES)
list(TRANSFORM libraries REPLACE "^.*/libgomp[.]a$" gomp)
set_target_properties(OpenMP::OpenMP_CXX PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
add_library(league_onednn SHARED IMPORTED)
set_target_properties(league_onednn PROPERTIES IMPORTED_LOCATION ${LEAGUE_ONEDNN_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${LEAGUE_ONEDNN_INCLUDE_DIR})
league_objects(backend_onednn ON_DEMAND SOURCES backends/onednn/*.cpp EXCLUDE names LIBRARIES league_onednn)
league_model(onednn SOURCES onednn*.cpp LIBRARIES league_onednn)
