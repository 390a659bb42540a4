# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run at build time: writes HEADER from HEADER.in with the commit of the working folder, if that changes it.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
  RESULT_VARIABLE status OUTPUT_VARIABLE git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT status EQUAL 0)
  set(git unknown)
else() # git describe does not look at untracked files, but what the build's GLOBs find of them is compiled
  set(sources)
  foreach(folder algorithms backends bench)
    foreach(suffix cpp cu hpp cmake)
      list(APPEND sources ${folder}/*.${suffix})
    endforeach()
  endforeach()
  execute_process(COMMAND git ls-files --others -- ${sources} OUTPUT_VARIABLE untracked ERROR_QUIET)
  if(untracked AND NOT git MATCHES "-dirty$")
    string(APPEND git -dirty)
  endif()
endif()
file(READ ${HEADER}.in content)
string(REPLACE "<git>" "${git}" content "${content}")
file(CONFIGURE OUTPUT ${HEADER} CONTENT "${content}" @ONLY) # leaves an equal file untouched
