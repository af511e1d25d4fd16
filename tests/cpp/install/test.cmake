# Installs the build that lies in BUILD into FOLDER, builds the project beside this file against it and runs it on MODEL.
# A fresh folder: what an earlier installation left would be found too.
file(REMOVE_RECURSE ${FOLDER}/installed)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGV}: ${failed}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/installed)
foreach(private kernels/matmul.h simd/vec.h architectures/known.h)
  if(EXISTS ${FOLDER}/installed/include/clearformer/${private})
    message(FATAL_ERROR "${private} is private, and installed")
  endif()
endforeach()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${FOLDER}/installed
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
run(${FOLDER}/build/consumer ${MODEL})
if(NOT output MATCHES "^model_type: llama\n")
  message(FATAL_ERROR "the program said: ${output}")
endif()
