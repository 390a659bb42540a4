# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run at build time, in the project: writes FILE from FILE.in with the commit and the hash of the sources, if that changes it.
# The commit is that of the repository whose top this is, never that of one around it; of an archive (git archive) the one
# that git wrote below; else unknown.
set(archived [[$Format:%H$]])

# A hook of Git sets GIT_DIR and more, of the repository that it is for; in a container the files are another user's.
execute_process(COMMAND git rev-parse --local-env-vars OUTPUT_VARIABLE variables ERROR_QUIET)
string(REGEX MATCHALL "[A-Z_]+" variables "${variables}")
foreach(variable IN LISTS variables)
  unset(ENV{${variable}})
endforeach()
set(Git git -c safe.directory=*)

set(git unknown)
if(archived MATCHES "^[0-9a-f]+$")
  string(SUBSTRING ${archived} 0 12 git)
endif()
execute_process(COMMAND ${Git} rev-parse --show-prefix
  RESULT_VARIABLE status OUTPUT_VARIABLE below OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(status EQUAL 0 AND below STREQUAL "")
  execute_process(COMMAND ${Git} describe --always --dirty --abbrev=12 --exclude=*
    RESULT_VARIABLE status OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0) # git describe does not look at untracked files, but what the build's GLOBs find of them is compiled
    set(git ${described})
    set(sources)
    foreach(folder algorithms backends bench)
      foreach(suffix cpp cu hpp cmake)
        list(APPEND sources ${folder}/*.${suffix})
      endforeach()
    endforeach()
    execute_process(COMMAND ${Git} ls-files --others -- ${sources} OUTPUT_VARIABLE untracked ERROR_QUIET)
    if(untracked AND NOT git MATCHES "-dirty$")
      string(APPEND git -dirty)
    endif()
  endif()
endif()

# Names and contents of all that the build's GLOBs can find, tracked or not; this file differs in an archive.
file(GLOB_RECURSE files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CMakeLists.txt algorithms/* backends/* bench/*)
list(FILTER files INCLUDE REGEX "(^CMakeLists[.]txt|[.](cpp|cu|hpp|cmake))$")
list(REMOVE_ITEM files bench/build_info.cmake)
set(hashes)
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  string(APPEND hashes "${hash} ${file}\n")
endforeach()
string(SHA256 source_hash "${hashes}")
string(SUBSTRING ${source_hash} 0 16 source_hash)

file(READ ${FILE}.in content)
string(REPLACE "<git>" "${git}" content "${content}")
string(REPLACE "<sources>" "${source_hash}" content "${content}")
file(CONFIGURE OUTPUT ${FILE} CONTENT "${content}" @ONLY) # leaves an equal file untouched
