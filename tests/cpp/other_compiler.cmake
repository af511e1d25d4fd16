# The library's source, read by the other compiler of g++ and clang++ if it is installed: each refuses some of what the other
# accepts. Without code generation, so that it takes seconds.

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  find_program(CLEARFORMER_OTHER_COMPILER NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15)
else()
  find_program(CLEARFORMER_OTHER_COMPILER NAMES g++)
endif()
mark_as_advanced(CLEARFORMER_OTHER_COMPILER)
if(NOT CLEARFORMER_OTHER_COMPILER)
  message(STATUS "Neither of g++ and clang++ beside ${CMAKE_CXX_COMPILER}: only that is tested")
endif()

# `prefix` before each of a target's values of `property`.
function(clearformer_arguments target prefix property result)
  set(values $<TARGET_PROPERTY:${target},${property}>)
  set(${result} "$<$<BOOL:${values}>:${prefix}$<JOIN:${values},$<SEMICOLON>${prefix}>>" PARENT_SCOPE)
endfunction()

function(clearformer_other_compiler target)
  clearformer_arguments(${target} "" COMPILE_OPTIONS options)
  clearformer_arguments(${target} -D COMPILE_DEFINITIONS definitions)
  clearformer_arguments(${target} -I INCLUDE_DIRECTORIES folders)
  get_target_property(units ${target} SOURCES)
  list(FILTER units INCLUDE REGEX "/units/")  # without the kernels' objects
  foreach(unit ${units})
    get_filename_component(folder ${unit} NAME_WE)
    add_test(NAME other_compiler.${target}.${folder} COMMAND_EXPAND_LISTS
      COMMAND ${CLEARFORMER_OTHER_COMPILER} -std=c++20 -fsyntax-only ${options} ${definitions} ${folders} ${unit})
  endforeach()
endfunction()

if(CLEARFORMER_OTHER_COMPILER AND CLEARFORMER_UNITY)
  clearformer_other_compiler(clearformer)
  foreach(target ${instruction_sets})
    clearformer_other_compiler(clearformer_kernels_${target})
  endforeach()
endif()
