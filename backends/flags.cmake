# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compile flags. What all code must share (instruction set, sanitizers) is set for the whole tree, embedded Kokkos included;
# the rest is two INTERFACE targets: league_warnings, and league_kernel_flags for everything that computes.

set(league_host_flags -march=${LEAGUE_ARCH})
if(LEAGUE_SANITIZE)
  list(APPEND league_host_flags -fsanitize=${LEAGUE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LEAGUE_SANITIZE})
endif()
list(JOIN league_host_flags "," league_host_flags_nvcc)
list(TRANSFORM league_host_flags PREPEND "SHELL:-Xarch_host " OUTPUT_VARIABLE league_host_flags_hip)
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:${league_host_flags}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${league_host_flags_nvcc}>"
  "$<$<COMPILE_LANGUAGE:HIP>:${league_host_flags_hip}>")

# One optimisation level and one contraction for every model: a * b + c may become one multiply-add, nothing else is relaxed.
set(league_optimisation -O3)
if(LEAGUE_SANITIZE)
  set(league_optimisation -O1)
endif()
set(league_CXX_flags ${league_optimisation} -ffp-contract=fast -fno-fast-math)
set(league_CUDA_flags ${league_optimisation} --fmad=true -Xcompiler=-ffp-contract=fast,-fno-fast-math)
set(league_HIP_flags ${league_CXX_flags})
add_library(league_kernel_flags INTERFACE)
target_compile_options(league_kernel_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX,HIP>:${league_CXX_flags}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:${league_CUDA_flags}>")

# -Wpedantic is for host C++ only: nvcc's own line directives break it.
# Designated initialisers leave the rest at its default on purpose.
set(warnings -Wall -Wextra -Wshadow -Wconversion -Wno-missing-field-initializers)
list(JOIN warnings "," warnings_nvcc)
add_library(league_warnings INTERFACE)
target_compile_options(league_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic>"
  "$<$<COMPILE_LANGUAGE:HIP>:${warnings}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${warnings_nvcc}>")
if(LEAGUE_WERROR)
  target_compile_options(league_warnings INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX,HIP>:-Werror>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()
