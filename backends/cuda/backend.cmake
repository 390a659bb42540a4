# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Raw CUDA: links no Kokkos. The run-time library is static, the driver library is the target machine's own.
if(NOT LEAGUE_CUDA)
  return()
endif()

enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

add_library(league_cuda INTERFACE)
target_include_directories(league_cuda INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include) # its gpu_dialect.hpp, not HIP's
target_link_libraries(league_cuda INTERFACE CUDA::cudart_static)

# Files with PTX or Hopper instructions stand apart: never compiled as HIP, and for Hopper with its own feature set (90a).
set(special "[^/]*_(hopper|ptx)")
list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^90$" "90a" OUTPUT_VARIABLE special_architectures)

league_objects(backend_cuda SOURCES backends/cuda/*.cpp backends/cuda/*.cu EXCLUDE names LIBRARIES league_cuda)
set(without ${special})
if(league_no_units)
  string(APPEND without "|${league_no_units}")
  message(STATUS "CUDA: variants on matrix units need Ampere or newer, and are left out")
endif()
league_model(cuda SOURCES cuda*.cu EXCLUDE ${without} LIBRARIES league_cuda)
league_model(cuda_ptx SOURCES cuda*_ptx*.cu EXCLUDE "${league_no_units}" ARCHITECTURES ${special_architectures} LIBRARIES league_cuda)
if(special_architectures MATCHES "90a")
  league_model(cuda_hopper SOURCES cuda*_hopper*.cu ARCHITECTURES 90a LIBRARIES league_cuda)
endif()
league_model(cub SOURCES cub*.cu EXCLUDE cublas LIBRARIES league_cuda)
if(TARGET CUDA::cublas)
  league_model(cublas SOURCES cublas*.cu LIBRARIES league_cuda CUDA::cublas)
else()
  message(STATUS "cuBLAS: not found, its variants are skipped")
endif()

# Where the driver is absent, executables start with the toolkit's stub: ctest and bench/run put this folder on the library path.
find_library(LEAGUE_CUDA_DRIVER NAMES libcuda.so.1)
if(NOT LEAGUE_CUDA_DRIVER)
  set(LEAGUE_STUB_DIR ${PROJECT_BINARY_DIR}/stub)
  file(MAKE_DIRECTORY ${LEAGUE_STUB_DIR})
  file(CREATE_LINK ${CUDA_cuda_driver_LIBRARY} ${LEAGUE_STUB_DIR}/libcuda.so.1 SYMBOLIC)
endif()
