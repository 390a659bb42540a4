# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Ranks: processes that a launcher starts. Executables need no MPI: what they take of it is a small library beside them,
# built where CMake finds MPI and opened at run time.
set(LEAGUE_MPI AUTO CACHE STRING "Runs of several processes: ON, OFF, or AUTO: if MPI is found")
set_property(CACHE LEAGUE_MPI PROPERTY STRINGS AUTO ON OFF)
league_objects(backend_mpi UNITY SOURCES backends/mpi/*.cpp EXCLUDE calls
  LIBRARIES Threads::Threads ${CMAKE_DL_LIBS})
if(LEAGUE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON) # its C calls will do
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(NOT LEAGUE_MPI OR NOT MPI_CXX_FOUND)
  if(LEAGUE_MPI AND NOT LEAGUE_MPI STREQUAL AUTO)
    message(FATAL_ERROR "LEAGUE_MPI is ${LEAGUE_MPI}, but no MPI is found; on Debian: apt-get install libopenmpi-dev openmpi-bin")
  endif()
  message(STATUS "MPI: none found. A run has one process")
  return()
endif()
message(STATUS "MPI: ${MPI_CXX_LIBRARIES}")
add_library(league_mpi SHARED backends/mpi/calls.cpp)
target_include_directories(league_mpi PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(league_mpi PRIVATE league_warnings MPI::MPI_CXX)
target_compile_definitions(backend_mpi PRIVATE LEAGUE_MPI_LIBRARY="$<TARGET_FILE:league_mpi>")
add_dependencies(league_carried league_mpi)
