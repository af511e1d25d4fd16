# Users' programs with every method of linking the library, with the compiler that built it, and with the other one of
# g++ and clang++ if it is installed: a library built by one can be used with the other.

set(compilers ${CMAKE_CXX_COMPILER})
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  find_program(CLEARFORMER_OTHER_COMPILER NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15)
else()
  find_program(CLEARFORMER_OTHER_COMPILER NAMES g++)
endif()
find_program(CLEARFORMER_PKG_CONFIG NAMES pkg-config pkgconf)
mark_as_advanced(CLEARFORMER_OTHER_COMPILER CLEARFORMER_PKG_CONFIG)
if(CLEARFORMER_OTHER_COMPILER)
  list(APPEND compilers ${CLEARFORMER_OTHER_COMPILER})
else()
  message(STATUS "Neither of g++ and clang++ beside ${CMAKE_CXX_COMPILER}: users' programs are tested with that alone")
endif()

set(folder ${CMAKE_CURRENT_BINARY_DIR}/consumers)

function(clearformer_consumer name way compiler)
  add_test(NAME consumer.${name} COMMAND ${CMAKE_COMMAND} -DWAY=${way} -DCOMPILER=${compiler} -DFOLDER=${folder}/${name}
    -DINSTALLED=${folder}/installed -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DBUILT=$<TARGET_FILE:clearformer> -DXSIMD=${CLEARFORMER_XSIMD_INCLUDE} -DRAPIDJSON=${CLEARFORMER_RAPIDJSON_INCLUDE}
    -DVERSION=${CLEARFORMER_VERSION}
    -DMODEL=${PROJECT_SOURCE_DIR}/web/demo/public/models/stories260K -DPKG_CONFIG=${CLEARFORMER_PKG_CONFIG}
    -DGENERATOR=${CMAKE_GENERATOR} -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -P ${CMAKE_CURRENT_LIST_DIR}/test.cmake)
  set_tests_properties(consumer.${name} PROPERTIES ${ARGN})
endfunction()

clearformer_consumer(install install ${CMAKE_CXX_COMPILER} FIXTURES_SETUP installed)
clearformer_consumer(headers headers ${CMAKE_CXX_COMPILER} FIXTURES_REQUIRED installed)
foreach(compiler ${compilers})
  get_filename_component(short ${compiler} NAME)
  foreach(way find_package pkg_config)
    if(way STREQUAL find_package OR CLEARFORMER_PKG_CONFIG)
      clearformer_consumer(${way}.${short} ${way} ${compiler} FIXTURES_REQUIRED installed)
    else()
      message(STATUS "No pkg-config: clearformer.pc is not tested")
    endif()
  endforeach()
  foreach(way add_subdirectory fetch_content)
    clearformer_consumer(${way}.${short} ${way} ${compiler} LABELS consumer)
  endforeach()
endforeach()
