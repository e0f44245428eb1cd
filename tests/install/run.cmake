# Installs a build into a scratch folder and builds and runs a user's project against it.
#
#   cmake -DBUILD=<build folder> -DSCRATCH=<folder> -DCOMPILER=<c++> -P run.cmake
set(prefix ${SCRATCH}/prefix)
set(consumer ${SCRATCH}/consumer)
file(REMOVE_RECURSE ${SCRATCH})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
cmake_path(SET source NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
file(GLOB headers RELATIVE ${source}/include ${source}/include/kweave/*.h)
foreach(header IN LISTS headers)
  if(NOT EXISTS ${prefix}/include/${header})
    message(FATAL_ERROR "${header} is public, but not installed: add it to the header set in src/CMakeLists.txt")
  endif()
endforeach()
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${consumer} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${consumer})
run(${consumer}/consumer)
run(${consumer}/learn_your_kernel)
run(${prefix}/bin/kweave --version)
