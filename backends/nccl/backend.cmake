# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# NCCL: sums and gathers between the CUDA devices of a process. Only its header is needed to build; the library is looked
# for at run time, on the target machine.
set(LEAGUE_NCCL AUTO CACHE STRING "The communicator 'nccl': ON, OFF, or AUTO: if nccl.h is found")
set_property(CACHE LEAGUE_NCCL PROPERTY STRINGS AUTO ON OFF)
if(NOT LEAGUE_CUDA OR NOT LEAGUE_NCCL)
  return()
endif()

# The platform's header wins, else that of the Python packages nvidia-nccl-cu12 and -cu13 in build/venv.
file(GLOB packaged ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/nvidia/nccl)
find_path(LEAGUE_NCCL_INCLUDE_DIR nccl.h PATHS ${packaged} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
if(NOT LEAGUE_NCCL_INCLUDE_DIR)
  set(advice "nccl.h is not found; `build/venv/bin/pip install nvidia-nccl-cu13` brings it")
  if(LEAGUE_NCCL STREQUAL AUTO)
    message(STATUS "NCCL: ${advice}. Cases with its communicator are skipped")
    return()
  endif()
  message(FATAL_ERROR "LEAGUE_NCCL is ${LEAGUE_NCCL}, but ${advice}")
endif()
# The library that belongs to the header: opened where the loader finds none.
file(REAL_PATH ${LEAGUE_NCCL_INCLUDE_DIR}/nccl.h header)
cmake_path(GET header PARENT_PATH include_dir)
find_library(LEAGUE_NCCL_LIBRARY NAMES libnccl.so.2 HINTS ${include_dir}/../lib)
message(STATUS "NCCL: ${LEAGUE_NCCL_INCLUDE_DIR}/nccl.h")

league_objects(backend_nccl SOURCES backends/nccl/*.cpp EXCLUDE names LIBRARIES CUDA::cudart_static ${CMAKE_DL_LIBS})
target_include_directories(backend_nccl SYSTEM PRIVATE ${LEAGUE_NCCL_INCLUDE_DIR})
if(LEAGUE_NCCL_LIBRARY)
  target_compile_definitions(backend_nccl PRIVATE LEAGUE_NCCL_LIBRARY="${LEAGUE_NCCL_LIBRARY}")
endif()
