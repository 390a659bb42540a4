# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
if(LEAGUE_SERIAL)
  league_objects(backend_serial SOURCES backends/serial/*.cpp EXCLUDE names)
  league_model(serial SOURCES serial*.cpp)
endif()
