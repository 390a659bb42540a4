# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
if(LEAGUE_SERIAL)
  # OpenMP for the first touch of host arrays only: the same memory for every model.
  league_objects(backend_serial SOURCES backends/serial/*.cpp LIBRARIES OpenMP::OpenMP_CXX)
  league_model(serial SOURCES serial*.cpp LIBRARIES OpenMP::OpenMP_CXX)
endif()
