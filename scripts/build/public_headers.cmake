# The public headers: clearformer/clearformer.h and everything it includes, directly or indirectly.
cmake_minimum_required(VERSION 3.22)  # an install script has no policies of its own

# Paths relative to `root`.
function(clearformer_public_headers root result)
  set(open clearformer/clearformer.h)
  set(found "")
  while(open)
    list(POP_FRONT open header)
    if(header IN_LIST found)
      continue()
    endif()
    list(APPEND found ${header})
    file(STRINGS ${root}/${header} lines REGEX "^#include \"clearformer/")
    foreach(line ${lines})
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included ${line})
      list(APPEND open ${included})
    endforeach()
  endwhile()
  list(SORT found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# A macro: file(INSTALL) appends to install_manifest.txt's variable in the scope that it is called in.
macro(clearformer_install_headers root destination)
  clearformer_public_headers(${root} headers)
  foreach(header ${headers})
    get_filename_component(folder ${header} DIRECTORY)
    file(INSTALL DESTINATION ${destination}/${folder} TYPE FILE FILES ${root}/${header})
  endforeach()
endmacro()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)  # cmake -P: prints them, one per line
  clearformer_public_headers(${CMAKE_CURRENT_LIST_DIR}/../../cpp headers)
  list(JOIN headers "\n" lines)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${lines}")
endif()
