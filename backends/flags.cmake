# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compile flags. What all code must share (instruction set, sanitizers) is set for the whole tree, embedded Kokkos included;
# the rest is two INTERFACE targets: league_warnings, and league_kernel_flags for everything that computes.

if(LEAGUE_CUDA OR Kokkos_ENABLE_CUDA)
  include(backends/cuda/architecture.cmake)
endif()
if(LEAGUE_ARCH MATCHES "^x86-64" AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  message(FATAL_ERROR "LEAGUE_ARCH is ${LEAGUE_ARCH}, but the host is ${CMAKE_SYSTEM_PROCESSOR}: "
    "use the preset cuda or openmp, or -D LEAGUE_ARCH=native.")
endif()
set(host -march=${LEAGUE_ARCH})
if(LEAGUE_SANITIZE)
  list(APPEND host -fsanitize=${LEAGUE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LEAGUE_SANITIZE})
endif()
list(JOIN host "," host_nvcc)
list(TRANSFORM host PREPEND "SHELL:-Xarch_host " OUTPUT_VARIABLE host_hip)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU) # the compiler's garbage collector: beyond 1 GB only, which saves 5 to 10 % of its time
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>")
endif()
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:${host}>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_nvcc}>"
  "$<$<COMPILE_LANGUAGE:HIP>:${host_hip}>")

# One optimisation level and one contraction for every model: a * b + c may become one multiply-add, and roots
# leave errno alone (setting it keeps them from vectors); nothing else is relaxed.
set(optimisation -O3)
if(LEAGUE_SANITIZE)
  set(optimisation -O1)
endif()
# The build type Quick is for seeing that everything compiles and links: nothing is optimised, and device code little.
foreach(language CXX CUDA HIP)
  set(CMAKE_${language}_FLAGS_QUICK -DNDEBUG)
endforeach()
if(CMAKE_BUILD_TYPE STREQUAL "Quick")
  set(optimisation -O0)
  set(optimisation_cuda -Ofc=max) # -O is of nvcc's host code
endif()
set(kernel ${optimisation} -ffp-contract=fast -fno-fast-math -fno-math-errno)
set(kernel_cuda ${optimisation} ${optimisation_cuda} --fmad=true -Xcompiler=-ffp-contract=fast,-fno-fast-math,-fno-math-errno)
add_library(league_kernel_flags INTERFACE)
target_compile_definitions(league_kernel_flags INTERFACE $<$<BOOL:${LEAGUE_SWAP_NUMBERS}>:LEAGUE_SWAP_NUMBERS>)
target_compile_options(league_kernel_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX,HIP>:${kernel}>" "$<$<COMPILE_LANGUAGE:CUDA>:${kernel_cuda}>")

# OpenMP in every file: a template of a shared header (first touch, oracles) must be the same function wherever it is instantiated.
find_package(OpenMP REQUIRED)
add_library(league_openmp INTERFACE)
target_link_libraries(league_openmp INTERFACE OpenMP::OpenMP_CXX)
target_compile_options(league_openmp INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${OpenMP_CXX_FLAGS}>" "$<$<COMPILE_LANGUAGE:HIP>:${OpenMP_CXX_FLAGS}>")

# -Wpedantic is for host C++ only: nvcc's own line directives break it.
# Designated initialisers leave the rest at its defaults on purpose; Clang's -Wconversion is held to what GCC's means.
set(warnings -Wall -Wextra -Wshadow -Wconversion -Wno-missing-field-initializers -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict) # GCC 12 is wrong about std::string's operator+ (GCC bug 105651)
  if(LEAGUE_PRECOMPILE) # and with precompiled headers takes the same call for more
    list(APPEND warnings -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endif()
list(JOIN warnings "," warnings_nvcc)
add_library(league_warnings INTERFACE)
target_compile_options(league_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic>" "$<$<COMPILE_LANGUAGE:HIP>:${warnings}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${warnings_nvcc}>")
if(LEAGUE_WERROR)
  target_compile_options(league_warnings INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX,HIP>:-Werror>" "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()

# For the record.
set(league_CXX_flags ${host} ${kernel})
set(league_CUDA_flags -arch=${CMAKE_CUDA_ARCHITECTURES} -Xcompiler=${host_nvcc} ${kernel_cuda})
set(league_HIP_flags --offload-arch=${CMAKE_HIP_ARCHITECTURES} ${host} ${kernel})
