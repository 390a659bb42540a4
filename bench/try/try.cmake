# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# `league try`: a worker program per runtime with no kernel in it, and the commands that built it, as a script that puts a user's
# file in the place of that kernel: try/<runtime>.sh in the build folder.
add_custom_target(league_try ALL)

# league_try(<runtime> KERNEL <source> MACHINE <source> [LANGUAGE <language>] LIBRARIES <library>...)
function(league_try runtime)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KERNEL;MACHINE;LANGUAGE" "LIBRARIES")
  set(folder ${PROJECT_SOURCE_DIR}/bench/try/worker)
  if(arg_LANGUAGE)
    set_source_files_properties(${folder}/${arg_KERNEL} ${folder}/${arg_MACHINE} PROPERTIES LANGUAGE ${arg_LANGUAGE})
  endif()
  add_library(try_${runtime}_kernel OBJECT ${folder}/${arg_KERNEL})
  add_executable(try_${runtime} ${folder}/worker.cpp ${folder}/call.cpp ${folder}/${arg_MACHINE} ${PROJECT_SOURCE_DIR}/bench/json.cpp)
  target_include_directories(try_${runtime}_kernel PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(try_${runtime} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(try_${runtime}_kernel PRIVATE league_kernel_flags league_openmp ${arg_LIBRARIES})
  target_link_libraries(try_${runtime} PRIVATE league_warnings league_openmp try_${runtime}_kernel league_backends
    backend_serial ${arg_LIBRARIES} nlohmann_json::nlohmann_json)
  target_compile_options(try_${runtime} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O1>")
  target_link_options(try_${runtime} PRIVATE -Wl,--as-needed)
  set_target_properties(try_${runtime} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/try
    OUTPUT_NAME ${runtime} LINKER_LANGUAGE CXX)
  set(script ${PROJECT_BINARY_DIR}/try/${runtime}.sh)
  set(recorder ${PROJECT_SOURCE_DIR}/bench/try/commands.cmake)
  add_custom_command(OUTPUT ${script} DEPENDS try_${runtime} ${recorder} VERBATIM WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -D NINJA=${CMAKE_MAKE_PROGRAM} -D PROGRAM=try/${runtime} -D SOURCE=${folder}/${arg_KERNEL}
      -D SCRIPT=${script} -P ${recorder})
  add_custom_target(try_${runtime}_script DEPENDS ${script})
  add_dependencies(league_try try_${runtime}_script)
endfunction()

if(CMAKE_GENERATOR STREQUAL Ninja)
  set(devices)
  if(LEAGUE_CUDA)
    foreach(backend backend_cuda backend_mpi backend_nccl league_cuda) # what the queues of GPUs are linked with
      if(TARGET ${backend})
        list(APPEND devices ${backend})
      endif()
    endforeach()
    league_try(cuda KERNEL cuda_none.cu MACHINE cuda_machine.cu LIBRARIES ${devices})
  endif()
  if(LEAGUE_KOKKOS AND NOT LEAGUE_HIP)
    league_try(kokkos KERNEL kokkos_none.cpp MACHINE kokkos_machine.cpp LANGUAGE ${Kokkos_COMPILE_LANGUAGE}
      LIBRARIES backend_kokkos Kokkos::kokkos ${devices})
  endif()
else()
  message(STATUS "league try: takes the generator Ninja, which tells its commands")
endif()
