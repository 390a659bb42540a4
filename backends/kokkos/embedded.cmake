# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The pinned package: Kokkos 4.7.00 and Kokkos Kernels 4.4.00, whole and as released, in the source distribution of GenTen.
# Unpacked once for all presets, only the two libraries and their licences.
set(package pygenten-0.1.5)
set(package_sha256 e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7)
set(package_requirement pygenten==0.1.5)

# Runs the first python3 that has pip, the project's own environment before the system's.
function(league_download_package folder result)
  find_program(LEAGUE_PYTHON NAMES python3 HINTS ${PROJECT_SOURCE_DIR}/build/venv/bin)
  file(WRITE ${folder}/requirements.txt "${package_requirement} --hash=sha256:${package_sha256}\n")
  execute_process(COMMAND ${LEAGUE_PYTHON} -m pip download --quiet --disable-pip-version-check --no-deps --no-binary pygenten
      --require-hashes -d ${folder} -r ${folder}/requirements.txt
    RESULT_VARIABLE status OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "No Kokkos 4.7...<6 is installed where CMake looks, and the source package could not be fetched:\n${log}\n"
      "Name one of these:\n"
      "  -DKokkos_ROOT=PREFIX or -DKokkos_DIR=FOLDER of KokkosConfig.cmake   an installed Kokkos\n"
      "  -DLEAGUE_KOKKOS_SOURCE_DIR=FOLDER   that holds kokkos/ and kokkos-kernels/, the sources\n"
      "  -DLEAGUE_KOKKOS_PACKAGE=FILE        ${package}.tar.gz, fetched elsewhere (bench/setup --download DIR)\n"
      "  -DLEAGUE_KOKKOS=OFF                 do without the portable kernels")
  endif()
  file(GLOB file ${folder}/*.tar.gz)
  set(${result} ${file} PARENT_SCOPE)
endfunction()

function(league_unpack_package destination)
  set(scratch ${destination}.unpacking)
  file(LOCK ${destination}.lock GUARD FUNCTION) # several presets may be configured at once
  if(EXISTS ${destination}/kokkos/CMakeLists.txt)
    return()
  endif()
  file(REMOVE_RECURSE ${scratch})
  set(downloaded ${PROJECT_SOURCE_DIR}/build/downloads/${package}.tar.gz) # by bench/setup --offline
  if(LEAGUE_KOKKOS_PACKAGE)
    set(file ${LEAGUE_KOKKOS_PACKAGE})
  elseif(EXISTS ${downloaded})
    set(file ${downloaded})
  else()
    message(STATUS "Kokkos: fetching the source package ${package}")
    league_download_package(${scratch} file)
  endif()
  file(SHA256 ${file} sha256)
  if(NOT sha256 STREQUAL package_sha256)
    message(FATAL_ERROR "${file}: sha256 is ${sha256}, not ${package_sha256}")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${file} DESTINATION ${scratch}
    PATTERNS "${package}/tpls/kokkos/*" "${package}/tpls/kokkos-kernels/*")
  file(RENAME ${scratch}/${package}/tpls ${destination})
  file(REMOVE_RECURSE ${scratch})
endfunction()

if(LEAGUE_KOKKOS_SOURCE_DIR)
  set(sources ${LEAGUE_KOKKOS_SOURCE_DIR})
else()
  set(sources ${PROJECT_SOURCE_DIR}/build/kokkos-src)
  league_unpack_package(${sources})
endif()
set(league_kokkos_origin "built here from ${sources}")

set(CMAKE_MESSAGE_LOG_LEVEL WARNING) # hundreds of lines otherwise

set(Kokkos_COMPILE_LANGUAGE CXX)
if(Kokkos_ENABLE_CUDA AND Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE)
  set(Kokkos_COMPILE_LANGUAGE CUDA)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Quick" OR NOT (LEAGUE_CUDA OR LEAGUE_HIP))
  set(CMAKE_UNITY_BUILD ${LEAGUE_UNITY}) # its 25 files parse the same headers
endif()
add_subdirectory(${sources}/kokkos ${PROJECT_BINARY_DIR}/kokkos EXCLUDE_FROM_ALL SYSTEM)
unset(CMAKE_UNITY_BUILD)
get_directory_property(Kokkos_VERSION DIRECTORY ${sources}/kokkos DEFINITION Kokkos_VERSION)

# Kernels: BLAS alone, nothing instantiated beforehand (over 20 minutes), no vendor library behind it: these have variants of their own.
if(EXISTS ${sources}/kokkos-kernels/CMakeLists.txt)
  set(KokkosKernels_ENABLE_ALL_COMPONENTS OFF CACHE BOOL "")
  set(KokkosKernels_ENABLE_COMPONENT_BLAS ON CACHE BOOL "")
  foreach(option ADD_DEFAULT_ETI INST_DOUBLE INST_LAYOUTLEFT ENABLE_TPL_BLAS ENABLE_TPL_LAPACK ENABLE_TPL_CUBLAS
      ENABLE_TPL_CUSPARSE ENABLE_TPL_CUSOLVER ENABLE_TPL_ROCBLAS ENABLE_TPL_ROCSPARSE ENABLE_TPL_ROCSOLVER)
    set(KokkosKernels_${option} OFF CACHE BOOL "")
  endforeach()
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR) # it warns of what is switched off here
  add_subdirectory(${sources}/kokkos-kernels ${PROJECT_BINARY_DIR}/kokkos-kernels EXCLUDE_FROM_ALL SYSTEM)
  set(league_kernels_usable ON)
endif()
unset(CMAKE_MESSAGE_LOG_LEVEL)
