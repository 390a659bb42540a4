# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# league_tests: the tests and everything that league links; runs without ctest, so that it can be carried to a GPU machine.
find_package(GTest REQUIRED)

if(EXISTS ${PROJECT_SOURCE_DIR}/tests/faults) # `league` with planted faults, each of which must come out as FAILED
  file(GLOB faults CONFIGURE_DEPENDS tests/faults/*.cpp)
  list(FILTER faults EXCLUDE REGEX "/test_[^/]*$")
  league_executable(league_faults bench/cli/league.cpp ${faults})
  if(LEAGUE_CUDA AND EXISTS ${PROJECT_SOURCE_DIR}/tests/injected) # calls of CUDA's run-time library that fail
    add_library(injected_cuda OBJECT tests/injected/cuda_calls.cu tests/injected/cuda_illegal.cu)
    set_source_files_properties(tests/injected/cuda_calls.cu PROPERTIES LANGUAGE CXX) # nvcc's headers overload the calls
    target_include_directories(injected_cuda PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(injected_cuda PRIVATE league_warnings league_cuda)
    target_link_libraries(league_faults PRIVATE injected_cuda)
    file(STRINGS tests/injected/cuda_calls.cu wrapped REGEX "^cudaError_t __wrap_")
    list(TRANSFORM wrapped REPLACE "^cudaError_t __wrap_([A-Za-z_]+).*" "LINKER:--wrap=\\1")
    target_link_options(league_faults PRIVATE ${wrapped})
  endif()
endif()

if(LEAGUE_SANITIZE MATCHES fuzzer) # the parsers under libFuzzer (tests/fuzz/run); what it found is replayed by league_tests
  file(GLOB targets CONFIGURE_DEPENDS tests/fuzz/fuzz_*.cpp)
  league_executable(league_fuzz tests/fuzz/league_fuzz.cpp tests/bench/temporary.cpp ${targets})
  target_link_options(league_fuzz PRIVATE -fsanitize=fuzzer)
  return()
endif()

file(GLOB tests CONFIGURE_DEPENDS tests/*.cpp tests/algorithms/*.cpp tests/backends/*.cpp tests/bench/*.cpp tests/faults/test_*.cpp
  tests/fuzz/fuzz_*.cpp tests/fuzz/test_*.cpp)
if(NOT tests)
  return()
endif()
if(NOT LEAGUE_SANITIZE AND EXISTS ${PROJECT_SOURCE_DIR}/tests/injected) # stands before the C library, and lets calls fail
  add_library(league_failing SHARED tests/injected/failing.cpp tests/injected/interposed.cpp tests/injected/clock.cpp)
  target_include_directories(league_failing PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(league_failing PRIVATE league_warnings ${CMAKE_DL_LIBS})
endif()
# The worked example of algorithms/README.md: known to the tests only.
league_algorithm(tests/algorithms/axpy)
if(LEAGUE_CUDA) # what tests need on GPUs; their own files see no CUDA
  league_objects(tests_cuda SOURCES tests/backends/cuda*.cu EXCLUDE "${league_no_units}" LIBRARIES league_cuda)
endif()
league_executable(league_tests ${tests})
target_link_libraries(league_tests PRIVATE GTest::gtest)
league_precompile(league_tests ${league_standard_headers} <chrono> <random> <thread> <nlohmann/json.hpp> <gtest/gtest.h>)
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/main.cpp)
  target_link_libraries(league_tests PRIVATE GTest::gtest_main)
endif()

# In four processes, of which ctest runs as many at once as there are cores; threads that wait leave theirs to others.
# One takes the planted faults, which share a run without any, and each of the others a third of the rest. Memory that
# one check has freed is kept for the next: an eighth of the time went into new pages (glibc; others ignore it).
set(test_environment OMP_WAIT_POLICY=passive MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=1073741824)
function(league_test name filter)
  add_test(NAME league_tests.${name} COMMAND league_tests --gtest_filter=${filter} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(league_tests.${name} PROPERTIES ENVIRONMENT "${test_environment};${ARGN}")
  if(LEAGUE_STUB_DIR)
    set_tests_properties(league_tests.${name} PROPERTIES
      ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=path_list_append:${LEAGUE_STUB_DIR})
  endif()
endfunction()
set(faults "Faults.*:All/Faults.*")
league_test(faults "${faults}")
foreach(shard RANGE 2)
  league_test(${shard} "-${faults}" GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=${shard})
endforeach()
