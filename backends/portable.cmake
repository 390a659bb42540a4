# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What makes an executable run on another machine than the one that built it: libgomp, RE2, zlib and the CUDA run-time inside,
# Google Benchmark beside it. libstdc++ stays shared: Google Benchmark brings it in any case, and two copies would be in one process.

set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_BUILD_RPATH $ORIGIN)
set(ZLIB_USE_STATIC_LIBS ON)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT LEAGUE_SANITIZE)
  # The archive satisfies all references first; --as-needed then drops the libgomp.so that -fopenmp adds.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a
    OUTPUT_VARIABLE libgomp OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${libgomp}")
    set(OpenMP_gomp_LIBRARY ${libgomp} CACHE FILEPATH "libgomp, static so that executables can be carried")
  endif()
endif()
find_package(Threads REQUIRED)

# league_carry(<imported library>): if it is shared, a copy goes into the build folder, where $ORIGIN finds it.
add_custom_target(league_carried)
function(league_carry library)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    string(MAKE_C_IDENTIFIER ${library}.copied stamp)
    add_custom_command(OUTPUT ${stamp} DEPENDS $<TARGET_FILE:${library}> VERBATIM
      COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:${library}> ${PROJECT_BINARY_DIR}/$<TARGET_SONAME_FILE_NAME:${library}>
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp})
    add_custom_target(carry_${stamp} DEPENDS ${stamp})
    add_dependencies(league_carried carry_${stamp})
  endif()
endfunction()

# league_executable(<target> <source>...): links every object library.
function(league_executable target)
  add_executable(${target} ${ARGN})
  get_property(objects GLOBAL PROPERTY LEAGUE_OBJECTS)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE league_warnings league_openmp ${objects})
  target_compile_options(${target} PRIVATE -O1)
  target_link_options(${target} PRIVATE -Wl,--as-needed)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  add_dependencies(${target} league_carried)
endfunction()
