# A user's program, built with COMPILER against the library in one WAY and run on MODEL:
#   install           into INSTALLED, which the next two use; only public headers are there
#   find_package, headers, pkg_config
#   absolute          an installation whose folder for headers is no part of the prefix
#   add_subdirectory, fetch_content   from SOURCE; with the library BUILT, or without that built by the project
cmake_minimum_required(VERSION 3.22)
set(here ${CMAKE_CURRENT_LIST_DIR})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(failed)
    message(FATAL_ERROR "${ARGV}: ${failed}\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(configure way)
  file(REMOVE_RECURSE ${FOLDER})
  run(${CMAKE_COMMAND} -S ${here}/${way} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} ${ARGN})
endfunction()

if(WAY STREQUAL install)
  file(REMOVE_RECURSE ${INSTALLED})  # remains of an earlier installation would be found as well
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${INSTALLED})
  foreach(private kernels/matmul.h simd/vec.h architectures/known.h)
    if(EXISTS ${INSTALLED}/include/clearformer/${private})
      message(FATAL_ERROR "${private} is private, and installed")
    endif()
  endforeach()
  if(NOT EXISTS ${INSTALLED}/share/licenses/clearformer/THIRD_PARTY_LICENSES)
    message(FATAL_ERROR "the licences are not installed")
  endif()
  file(GLOB_RECURSE unlisted ${INSTALLED}/*)
  file(STRINGS ${BUILD}/install_manifest.txt listed)
  list(REMOVE_ITEM unlisted ${listed})
  if(unlisted)
    message(FATAL_ERROR "installed, and not in install_manifest.txt: ${unlisted}")
  endif()
  return()
elseif(WAY STREQUAL absolute)
  file(REMOVE_RECURSE ${FOLDER})
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -DCLEARFORMER_BUILD_TESTS=OFF -DCLEARFORMER_BUILD_EXAMPLES=OFF
    -DCLEARFORMER_XSIMD_INCLUDE=${XSIMD} -DCLEARFORMER_RAPIDJSON_INCLUDE=${RAPIDJSON}
    -DCMAKE_INSTALL_INCLUDEDIR=/headers)
  file(COPY ${BUILT} DESTINATION ${FOLDER}/build)
  run(${CMAKE_COMMAND} -E env DESTDIR=${FOLDER}/stage ${CMAKE_COMMAND} --install ${FOLDER}/build --prefix /prefix)
  if(NOT EXISTS ${FOLDER}/stage/headers/clearformer/clearformer.h)
    message(FATAL_ERROR "the headers are not in the absolute CMAKE_INSTALL_INCLUDEDIR")
  endif()
  return()
elseif(WAY STREQUAL headers)
  configure(find_package -DCMAKE_PREFIX_PATH=${INSTALLED} -DCLEARFORMER_WANTED=${VERSION})
  run(${CMAKE_COMMAND} --build ${FOLDER} --target headers)
  return()
elseif(WAY STREQUAL find_package)
  configure(find_package -DCMAKE_PREFIX_PATH=${INSTALLED} -DCLEARFORMER_WANTED=${VERSION} -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${FOLDER} --target story)
elseif(WAY STREQUAL pkg_config)
  file(GLOB_RECURSE file ${INSTALLED}/clearformer.pc)
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${FOLDER})
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} --validate clearformer)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} --modversion clearformer)
  string(STRIP "${output}" output)
  if(NOT output STREQUAL VERSION)
    message(FATAL_ERROR "clearformer.pc states the version ${output}, which is ${VERSION}")
  endif()
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} --cflags --libs --static clearformer)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${COMPILER} -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror ${here}/story.cpp -o ${FOLDER}/story ${flags})
else()
  configure(${WAY} -DCLEARFORMER_SOURCE=${SOURCE} -DCLEARFORMER_BUILT=${BUILT}
    -DCLEARFORMER_XSIMD_INCLUDE=${XSIMD} -DCLEARFORMER_RAPIDJSON_INCLUDE=${RAPIDJSON})
  run(${CMAKE_COMMAND} --build ${FOLDER} --target story)
endif()

run(${FOLDER}/story ${MODEL})
# ", there was a little", as in tests/fixtures/stories260K.
if(NOT output STREQUAL "5 keys: 432 383 286 261 376 298\n")
  message(FATAL_ERROR "the program said: ${output}")
endif()
