# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Everything that registers itself is an OBJECT library and is linked whole: a static archive would drop the registrations.

# Headers that most files include.
set(league_standard_headers <algorithm> <cmath> <functional> <map> <memory> <span> <string> <vector>)

# league_precompile(<target> <header>...): with LEAGUE_PRECOMPILE, in builds for hosts. Targets with the same headers must have
# the same flags: they share one file. ccache would share objects between build folders, which precompiled headers prevent.
function(league_precompile target)
  if(NOT LEAGUE_PRECOMPILE OR LEAGUE_CUDA OR LEAGUE_HIP OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    return()
  endif()
  string(MAKE_C_IDENTIFIER "LEAGUE_PRECOMPILED ${ARGN}" group)
  get_property(first GLOBAL PROPERTY ${group})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY ${group} ${target})
  endif()
endfunction()

# league_unity(<target> <source>...): with LEAGUE_UNITY, files of one folder are compiled as one, `names.cpp` of all folders too:
# headers are parsed and templates instantiated once. Unnamed namespaces of a folder become one, and each name in it is used once.
# Not for kernels: what is inlined depends on the size of the whole file.
function(league_unity target)
  if(NOT LEAGUE_UNITY)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM name)
    if(NOT name STREQUAL "names")
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME name)
    endif()
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${name})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes included files for headers, where a type of an unnamed namespace would be an error.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# league_objects(<target> [FOLDERS <folder>...] SOURCES <glob>... [EXCLUDE <regex>] [LANGUAGE <language>]
#                [ARCHITECTURES <CUDA architecture>] [LIBRARIES <library>...] [HEADERS <header>...] [UNITY] [HARNESS])
# The files of each folder (default: the root) that a SOURCES pattern fits; no file, no target. EXCLUDE is matched against the
# beginning of file names. HEADERS: precompiled; default:
# the standard ones. UNITY: the files of a folder may be compiled as one. HARNESS: holds no kernel, compiled quickly.
# The target joins the global property LEAGUE_OBJECTS, which the executables link.
function(league_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HARNESS;UNITY" "EXCLUDE;LANGUAGE;ARCHITECTURES" "FOLDERS;SOURCES;LIBRARIES;HEADERS")
  set(sources)
  set(folders ${PROJECT_SOURCE_DIR}/)
  if(arg_FOLDERS)
    list(TRANSFORM arg_FOLDERS REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/" OUTPUT_VARIABLE folders)
  endif()
  foreach(folder IN LISTS folders)
    list(TRANSFORM arg_SOURCES PREPEND ${folder} OUTPUT_VARIABLE patterns)
    file(GLOB found CONFIGURE_DEPENDS ${patterns})
    list(APPEND sources ${found})
  endforeach()
  if(arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "/(${arg_EXCLUDE})[^/]*$")
  endif()
  if(NOT sources)
    return()
  endif()
  if(arg_LANGUAGE)
    set_source_files_properties(${sources} PROPERTIES LANGUAGE ${arg_LANGUAGE})
  endif()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE league_warnings league_openmp ${arg_LIBRARIES})
  if(arg_HARNESS)
    target_compile_options(${target} PRIVATE -Og)
  else()
    target_link_libraries(${target} PRIVATE league_kernel_flags)
  endif()
  if(NOT arg_HEADERS)
    set(arg_HEADERS ${league_standard_headers})
  endif()
  league_precompile(${target} ${arg_HEADERS})
  if(arg_UNITY OR CMAKE_BUILD_TYPE STREQUAL "Quick")
    league_unity(${target} ${sources})
  endif()
  if(arg_ARCHITECTURES)
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${arg_ARCHITECTURES}")
  endif()
  set_property(GLOBAL APPEND PROPERTY LEAGUE_OBJECTS ${target})
endfunction()

# league_model(<model> SOURCES <glob>... ...): a backend says which files of an algorithm's folder are one of its models,
# and how they are compiled: the arguments of league_objects.
function(league_model model)
  set_property(GLOBAL APPEND PROPERTY LEAGUE_MODELS ${model})
  set_property(GLOBAL PROPERTY LEAGUE_MODEL_${model} ${ARGN})
endfunction()

# league_algorithm(<folder>): <a>.problem, with the oracle, and a target <a>.<model> for each model that has files there or in
# the folder of a method.
function(league_algorithm folder)
  get_filename_component(name ${folder} NAME)
  league_objects(${name}.problem FOLDERS ${folder} SOURCES ${name}*.cpp oracle*.cpp UNITY)
  get_property(models GLOBAL PROPERTY LEAGUE_MODELS)
  foreach(model IN LISTS models)
    get_property(arguments GLOBAL PROPERTY LEAGUE_MODEL_${model})
    league_objects(${name}.${model} FOLDERS ${folder} ${folder}/* ${arguments})
  endforeach()
endfunction()
