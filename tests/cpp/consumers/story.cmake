# The program of a project that builds the library as a subproject. If CLEARFORMER_BUILT names the library, already
# built from the same source, the program is linked with that, instead of building it for every method and compiler.
add_library(story_object OBJECT ${CMAKE_CURRENT_LIST_DIR}/story.cpp)
target_link_libraries(story_object PRIVATE clearformer::clearformer)
target_compile_options(story_object PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Werror)
add_executable(story $<TARGET_OBJECTS:story_object>)
if(CLEARFORMER_BUILT)
  target_link_libraries(story PRIVATE ${CLEARFORMER_BUILT} -pthread)
else()
  target_link_libraries(story PRIVATE clearformer::clearformer)
endif()

# What a project should not get unless it asks for more than the library.
if(TEST inspect OR TARGET gtest OR TARGET inspect_folder)
  message(FATAL_ERROR "a project that adds clearformer gets its tests or examples, too")
endif()
if(DEFINED CACHE{CMAKE_BUILD_TYPE} AND NOT "$CACHE{CMAKE_BUILD_TYPE}" STREQUAL "")
  message(FATAL_ERROR "a project that adds clearformer gets its CMAKE_BUILD_TYPE: $CACHE{CMAKE_BUILD_TYPE}")
endif()
