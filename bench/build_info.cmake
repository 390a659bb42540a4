# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run at build time: writes HEADER from HEADER.in with the commit of the working folder, if that changes it.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
  RESULT_VARIABLE status OUTPUT_VARIABLE git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT status EQUAL 0)
  set(git unknown)
endif()
file(READ ${HEADER}.in content)
string(REPLACE "<git>" "${git}" content "${content}")
file(CONFIGURE OUTPUT ${HEADER} CONTENT "${content}" @ONLY) # leaves an equal file untouched
