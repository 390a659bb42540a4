# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The harness and the executable `league`.
find_package(benchmark REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(re2 CONFIG QUIET)
if(NOT TARGET re2::re2) # installed without a CMake package, as by Debian; the archive where there is one, to be carried inside
  find_path(LEAGUE_RE2_INCLUDE re2/re2.h REQUIRED)
  set(archive libre2.a)
  file(STRINGS ${LEAGUE_RE2_INCLUDE}/re2/re2.h abseil REGEX "^#include .absl/")
  if(abseil) # a newer RE2: its archive needs some of Abseil's, which the shared library names itself
    set(archive)
  endif()
  find_library(LEAGUE_RE2 NAMES ${archive} re2 REQUIRED)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION ${LEAGUE_RE2}
    INTERFACE_INCLUDE_DIRECTORIES ${LEAGUE_RE2_INCLUDE} INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
find_path(LEAGUE_TOMLPLUSPLUS toml++/toml.h REQUIRED) # header only: its shared library would have to be carried

# Facts about this build, in a header that only the harness sees. What is known now goes into a template;
# the commit is filled in at build time, and the header changes only if it did.
string(JOIN " " info_compiler ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}
  ${CMAKE_CUDA_COMPILER_ID} ${CMAKE_CUDA_COMPILER_VERSION})
string(TOUPPER ${CMAKE_BUILD_TYPE} type)
foreach(language CXX CUDA HIP)
  if(CMAKE_${language}_COMPILER)
    string(JOIN " " info_${language} ${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${type}}
      -std=c++${CMAKE_${language}_STANDARD} ${league_${language}_flags})
  endif()
endforeach()
set(build_info ${PROJECT_BINARY_DIR}/generated/bench/build_info)
file(CONFIGURE OUTPUT ${build_info}.hpp @ONLY CONTENT [[
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// How this executable was built. Made by bench/bench.cmake.
namespace league::build_info {
inline constexpr const char* preset = "@LEAGUE_PRESET@";
extern const char* const git;          ///< commit; with "-dirty": of edited sources; or "unknown"
extern const char* const source_hash;  ///< of the files that were compiled
extern const char* const left_out;     ///< what LEAGUE_ALGORITHMS leaves out: "knn;sum/atomic"
inline constexpr const char* sources = "@PROJECT_SOURCE_DIR@";
inline constexpr const char* compiler = "@info_compiler@";
inline constexpr const char* cxx_flags = "@info_CXX@";
inline constexpr const char* cuda_flags = "@info_CUDA@@info_HIP@";
inline constexpr const char* kokkos_version = "@league_kokkos_version@";
inline constexpr const char* kokkos_flags = "@league_kokkos_flags@";
}  // namespace league::build_info
]])
# What an edit changes is in a file of its own: nothing else is compiled again.
file(CONFIGURE OUTPUT ${build_info}.cpp.in @ONLY CONTENT [[
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/build_info.hpp"

namespace league::build_info {
const char* const git = "<git>";
const char* const source_hash = "<sources>";
const char* const left_out = "@league_left_out@";
}  // namespace league::build_info
]])
add_custom_target(league_build_info BYPRODUCTS ${build_info}.cpp VERBATIM
  COMMAND ${CMAKE_COMMAND} -D FILE=${build_info}.cpp -P ${CMAKE_CURRENT_LIST_DIR}/build_info.cmake
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})

league_objects(league_bench HARNESS UNITY TOGETHER study+data+bench measure+sample record+ranks+peers tune+try
  SOURCES bench/*.cpp bench/*/*.cpp EXCLUDE league.cpp
  HEADERS ${league_standard_headers} <filesystem> <iostream> <nlohmann/json.hpp>
  LIBRARIES benchmark::benchmark CLI11::CLI11 nlohmann_json::nlohmann_json re2::re2 ZLIB::ZLIB)
target_sources(league_bench PRIVATE ${build_info}.cpp)
set_source_files_properties(${build_info}.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
target_include_directories(league_bench PRIVATE ${PROJECT_BINARY_DIR}/generated)
target_include_directories(league_bench SYSTEM PRIVATE ${LEAGUE_TOMLPLUSPLUS})
add_dependencies(league_bench league_build_info)

league_carry(benchmark::benchmark)
league_carry(re2::re2)
league_executable(league bench/cli/league.cpp)
include(bench/try/try.cmake)
