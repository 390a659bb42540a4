# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
if(LEAGUE_OPENMP)
  league_objects(backend_openmp SOURCES backends/openmp/*.cpp LIBRARIES OpenMP::OpenMP_CXX)
  league_model(openmp SOURCES openmp*.cpp LIBRARIES OpenMP::OpenMP_CXX)
endif()
