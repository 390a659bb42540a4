# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The GPU that a CUDA build is for. A preset for one GPU sets CMAKE_CUDA_ARCHITECTURES and Kokkos_ARCH_<name> itself; the preset
# `cuda` asks for LEAGUE_CUDA_ARCH=native, and both are chosen here. Also sets league_no_units: which files (beginning of the
# name, as a regular expression) need matrix units that the architecture does not have.
set(LEAGUE_CUDA_ARCH "" CACHE STRING
  "The GPU to build for, where the preset does not say: native (asks nvidia-smi), or a compute capability, as 8.9")

# Compute capability, architecture of the code, Kokkos' name. Code for 10.0 runs on 10.3, code for 12.0 on 12.1.
set(league_cuda_architectures
  "7.5 75 TURING75" "8.0 80 AMPERE80" "8.6 86 AMPERE86" "8.7 87 AMPERE87" "8.9 89 ADA89" "9.0 90 HOPPER90"
  "10.0 100 BLACKWELL100" "10.3 100 BLACKWELL100" "12.0 120 BLACKWELL120" "12.1 120 BLACKWELL120")

# league_answering_gpu(<variable>): the compute capability that nvidia-smi reports, the newest of several; empty if none answers.
function(league_answering_gpu result)
  set(found)
  find_program(nvidia_smi nvidia-smi NO_CACHE)
  if(nvidia_smi)
    execute_process(COMMAND ${nvidia_smi} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE status)
    string(REGEX MATCHALL "[0-9]+[.][0-9]+" found "${found}")
    if(NOT status EQUAL 0)
      set(found)
    endif()
  endif()
  list(REMOVE_DUPLICATES found)
  list(SORT found COMPARE NATURAL ORDER DESCENDING)
  list(LENGTH found kinds)
  if(kinds GREATER 1)
    list(JOIN found ", " all)
    list(GET found 0 found)
    message(WARNING "GPUs of several kinds answer (compute capability ${all}): this build is for ${found} and does not run on the "
      "others. Hide them by CUDA_VISIBLE_DEVICES, or name one by -D LEAGUE_CUDA_ARCH=<compute capability>.")
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# league_choose_gpu(<compute capability>): sets CMAKE_CUDA_ARCHITECTURES and Kokkos_ARCH_<name>, in place of those chosen before.
function(league_choose_gpu capability)
  if(capability MATCHES "^([0-9]+)([0-9])$") # 89 for 8.9
    set(capability ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
  endif()
  foreach(entry IN LISTS league_cuda_architectures)
    string(REPLACE " " ";" entry ${entry})
    list(GET entry 0 known)
    list(APPEND all ${known})
    if(known STREQUAL capability)
      list(GET entry 1 architecture)
      list(GET entry 2 kokkos)
    endif()
  endforeach()
  list(JOIN all ", " all)
  if(NOT architecture)
    message(FATAL_ERROR "A GPU of compute capability ${capability}: there is no build for it, only for ${all}.\n"
      "Name another GPU of this machine by -D LEAGUE_CUDA_ARCH=<compute capability>, or use the preset openmp.")
  endif()
  find_program(nvcc nvcc HINTS $ENV{CUDA_PATH}/bin PATHS /usr/local/cuda/bin NO_CACHE)
  foreach(named ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX})
    set(nvcc ${named})
    break()
  endforeach()
  if(nvcc)
    execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE compiled ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND NOT compiled MATCHES "compute_${architecture}[^0-9]")
      message(FATAL_ERROR "${nvcc} does not compile for compute capability ${capability} (sm_${architecture}).\n"
        "CUDA 12.2 does up to 9.0, CUDA 12.8 and newer up to 12.0: put a newer nvcc first on PATH, or name it by CUDACXX.")
    endif()
  endif()
  if(LEAGUE_CUDA_KOKKOS AND NOT LEAGUE_CUDA_KOKKOS STREQUAL kokkos)
    unset(Kokkos_ARCH_${LEAGUE_CUDA_KOKKOS} CACHE)
  endif()
  set(LEAGUE_CUDA_CAPABILITY ${capability} CACHE INTERNAL "chosen by LEAGUE_CUDA_ARCH")
  set(LEAGUE_CUDA_KOKKOS ${kokkos} CACHE INTERNAL "its name in Kokkos")
  set(CMAKE_CUDA_ARCHITECTURES ${architecture} CACHE STRING "chosen by LEAGUE_CUDA_ARCH" FORCE)
  set(Kokkos_ARCH_${kokkos} ON CACHE BOOL "chosen by LEAGUE_CUDA_ARCH" FORCE)
  message(STATUS "GPU: compute capability ${capability}: sm_${architecture}, Kokkos_ARCH_${kokkos}")
endfunction()

if(LEAGUE_CUDA_ARCH STREQUAL native)
  league_answering_gpu(league_capability)
  if(NOT league_capability AND LEAGUE_CUDA_CAPABILITY) # configured before, where the GPU answered
    set(league_capability ${LEAGUE_CUDA_CAPABILITY})
    message(STATUS "GPU: none answers now")
  endif()
  if(NOT league_capability)
    message(FATAL_ERROR "No NVIDIA GPU answers (nvidia-smi --query-gpu=compute_cap).\n"
      "To build for a GPU of another machine, name its compute capability: -D LEAGUE_CUDA_ARCH=8.9; without one, use the preset openmp.")
  endif()
  league_choose_gpu(${league_capability})
elseif(LEAGUE_CUDA_ARCH)
  league_choose_gpu(${LEAGUE_CUDA_ARCH})
endif()

# mma.sync as the block `mma` uses it is of Ampere and newer.
set(league_no_units)
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  if(architecture MATCHES "^[0-9]+" AND CMAKE_MATCH_0 LESS 80)
    set(league_no_units "[^/]*_(mma|tensor)")
  endif()
endforeach()
