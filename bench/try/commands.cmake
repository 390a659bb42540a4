# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run at build time: writes SCRIPT, which compiles a file in the place of SOURCE and links it to a copy of PROGRAM.
execute_process(COMMAND ${NINJA} -t commands ${PROGRAM} OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "\\;" commands "${commands}")
string(REGEX REPLACE "\n" ";" commands "${commands}")
list(REMOVE_ITEM commands "")
list(GET commands -1 link)
list(FILTER commands INCLUDE REGEX " -c ${SOURCE}( |$)")
list(GET commands 0 compile)
string(REGEX MATCH " -o ([^ ]+)" matched "${compile}")
set(object ${CMAKE_MATCH_1})
string(REPLACE " -c ${SOURCE}" " -c \"$source\" \"$@\"" compile "${compile}")
string(REPLACE " ${PROGRAM} " " \"$program\" \${LINKED:-} " link "${link}")
foreach(command compile link)
  string(REPLACE "${object}" "\"$program.o\"" ${command} "${${command}}")
endforeach()
get_filename_component(folder ${SCRIPT} DIRECTORY)
get_filename_component(folder ${folder} DIRECTORY)
file(WRITE ${SCRIPT} "# Usage: sh ${PROGRAM}.sh SOURCE PROGRAM [FLAG...]; LINKED: more words of the link command.
set -e
cd '${folder}'
source=$1 program=$2
shift 2
${compile}
${link}
")
