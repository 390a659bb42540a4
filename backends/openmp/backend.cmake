# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
if(LEAGUE_OPENMP)
  league_objects(backend_openmp SOURCES backends/openmp/*.cpp EXCLUDE names)
  league_model(openmp SOURCES openmp*.cpp)
endif()
