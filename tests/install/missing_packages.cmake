# Configures where libraries are missing: one sentence names the packages that have them.
#
#   cmake -DSCRATCH=<folder> -DCOMPILER=<c++> -P missing_packages.cmake
file(REMOVE_RECURSE ${SCRATCH})
set(ENV{PKG_CONFIG_LIBDIR} ${SCRATCH}/nowhere)
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/../.. -B ${SCRATCH} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DKWEAVE_BUILD_TESTS=OFF -DKWEAVE_BUILD_PYTHON=ON -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_Python=ON
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
set(packages "libfmt-dev libzstd-dev libhwy-dev libopenblas-dev coinor-libclp-dev python3-dev")
if(status EQUAL 0 OR NOT output MATCHES "not installed; on Debian: apt-get install ${packages} ")
  message(FATAL_ERROR "expected the missing packages, found: ${output}")
endif()
