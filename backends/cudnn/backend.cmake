# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cuDNN: convolutions. Only its header is needed to build; the library is looked for at run time, on the target machine.
set(LEAGUE_CUDNN AUTO CACHE STRING "The model 'cudnn': ON, OFF, or AUTO: if cudnn.h is found")
set_property(CACHE LEAGUE_CUDNN PROPERTY STRINGS AUTO ON OFF)
if(NOT LEAGUE_CUDA OR NOT LEAGUE_CUDNN)
  return()
endif()

# The toolkit's header wins, else that of the Python packages nvidia-cudnn-cu12 and -cu13 in build/venv.
file(GLOB packaged ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/nvidia/cudnn)
find_path(LEAGUE_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS ${packaged} PATH_SUFFIXES include)
if(NOT LEAGUE_CUDNN_INCLUDE_DIR OR NOT TARGET CUDA::cublas)
  set(advice "cudnn.h or cuBLAS is not found; `build/venv/bin/pip install nvidia-cudnn-cu13` brings the header")
  if(LEAGUE_CUDNN STREQUAL AUTO)
    message(STATUS "cuDNN: ${advice}. Its variants are skipped")
    return()
  endif()
  message(FATAL_ERROR "LEAGUE_CUDNN is ${LEAGUE_CUDNN}, but ${advice}")
endif()
# The library that belongs to the header: opened where the loader finds none. Its parts lie beside it, and it finds them.
file(REAL_PATH ${LEAGUE_CUDNN_INCLUDE_DIR}/cudnn.h header)
cmake_path(GET header PARENT_PATH include_dir)
find_library(LEAGUE_CUDNN_LIBRARY NAMES libcudnn.so.9 HINTS ${include_dir}/../lib ${CUDAToolkit_LIBRARY_DIR})
message(STATUS "cuDNN: ${LEAGUE_CUDNN_INCLUDE_DIR}/cudnn.h")

add_library(league_cudnn INTERFACE)
target_include_directories(league_cudnn SYSTEM INTERFACE ${LEAGUE_CUDNN_INCLUDE_DIR})
target_link_libraries(league_cudnn INTERFACE league_cuda ${CMAKE_DL_LIBS})
league_objects(backend_cudnn SOURCES backends/cudnn/*.cpp EXCLUDE names LIBRARIES league_cudnn)
if(LEAGUE_CUDNN_LIBRARY)
  target_compile_definitions(backend_cudnn PRIVATE LEAGUE_CUDNN_LIBRARY="${LEAGUE_CUDNN_LIBRARY}")
endif()
league_model(cudnn SOURCES cudnn*.cu LIBRARIES league_cudnn CUDA::cublas) # dense layers are cuBLAS'
