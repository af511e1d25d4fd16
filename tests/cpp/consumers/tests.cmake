# Users' programs with every method of linking the library, with the compiler that built it; and one with the other compiler,
# if it is installed: a library built by one can be used with the other.

find_program(CLEARFORMER_PKG_CONFIG NAMES pkg-config pkgconf)
mark_as_advanced(CLEARFORMER_PKG_CONFIG)

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
clearformer_consumer(find_package find_package ${CMAKE_CXX_COMPILER} FIXTURES_REQUIRED installed)
if(CLEARFORMER_OTHER_COMPILER)
  clearformer_consumer(other_compiler find_package ${CLEARFORMER_OTHER_COMPILER} FIXTURES_REQUIRED installed)
endif()
if(CLEARFORMER_PKG_CONFIG)
  clearformer_consumer(pkg_config pkg_config ${CMAKE_CXX_COMPILER} FIXTURES_REQUIRED installed)
else()
  message(STATUS "No pkg-config: clearformer.pc is not tested")
endif()
foreach(way absolute add_subdirectory fetch_content)
  clearformer_consumer(${way} ${way} ${CMAKE_CXX_COMPILER} LABELS consumer)
endforeach()
