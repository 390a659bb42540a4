# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# HIP: the CUDA kernels and the CUDA backend, compiled through one mapping header.
if(NOT LEAGUE_HIP)
  return()
endif()

find_package(hip REQUIRED CONFIG)
if(CMAKE_HIP_ARCHITECTURES MATCHES "gfx94" AND hip_VERSION VERSION_LESS 6.0)
  message(FATAL_ERROR "${CMAKE_HIP_ARCHITECTURES} needs ROCm 6.0 or newer, found HIP ${hip_VERSION}. "
    "Install a newer ROCm and set ROCM_PATH, or use the preset hip-gfx90a.")
endif()
enable_language(HIP)

add_library(league_hip INTERFACE)
target_include_directories(league_hip INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include) # its gpu_dialect.hpp, not CUDA's
target_link_libraries(league_hip INTERFACE hip::host)

league_objects(backend_hip SOURCES backends/hip/*.cpp backends/hip/*.hip EXCLUDE names LIBRARIES league_hip)
league_objects(backend_hip_cuda SOURCES backends/cuda/*.cu LANGUAGE HIP LIBRARIES league_hip)
league_model(hip SOURCES cuda*.cu EXCLUDE "[^/]*_(hopper|ptx)" LANGUAGE HIP LIBRARIES league_hip)

# Libraries: the files of CUDA's, through the dialects. hipCUB calls rocPRIM on these GPUs, and is not needed.
find_package(rocprim CONFIG QUIET)
if(TARGET roc::rocprim)
  league_model(rocprim SOURCES cub*.cu EXCLUDE cublas LANGUAGE HIP LIBRARIES league_hip roc::rocprim)
else()
  message(STATUS "rocPRIM: not found, its variants are skipped")
endif()
find_package(rocblas CONFIG QUIET)
if(TARGET roc::rocblas)
  league_model(rocblas SOURCES cublas*.cu LANGUAGE HIP LIBRARIES league_hip roc::rocblas)
else()
  message(STATUS "rocBLAS: not found, its variants are skipped")
endif()
message(STATUS "RCCL: not used yet")
