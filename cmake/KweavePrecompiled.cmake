# kweave_precompile(target [TEST]): lets a target begin from the headers that nearly every source (or test) includes, compiled
# once. Only headers of the standard library and of other projects are among them, so no change of ours compiles them again.
#
# A source still includes what it uses: builds by clang (`make fuzz`, `make lint`) and the preset `developer` go without.
option(KWEAVE_PRECOMPILE "Precompile the headers of libraries (GCC)" ON)

function(kweave_precompiled_headers name)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled/${name}.cc "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${name}.cc)
  target_link_libraries(${name} PRIVATE fmt::fmt kweave_compile_options)
  # Without it ccache would not see the precompiled header.
  target_compile_options(${name} PRIVATE -fpch-preprocess)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

if(KWEAVE_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(standard_headers <algorithm> <cmath> <cstddef> <cstdint> <functional> <limits> <map> <memory> <numeric> <optional>
    <span> <string> <string_view> <utility> <vector>)
  kweave_precompiled_headers(kweave_headers ${standard_headers} <fmt/format.h>)
  if(KWEAVE_BUILD_TESTS)
    kweave_precompiled_headers(kweave_test_headers ${standard_headers} <fstream> <sstream> <gmock/gmock.h>
      <gtest/gtest.h>)
    target_link_libraries(kweave_test_headers PRIVATE GTest::gmock)
    # As kweave_test compiles its sources: code of programs, hardly optimised.
    set_target_properties(kweave_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(kweave_test_headers PRIVATE -fPIE $<$<CONFIG:Release>:-O1>)
  endif()
endif()

function(kweave_precompile target)
  if(NOT TARGET kweave_headers)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess)
  if("TEST" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM kweave_test_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM kweave_headers)
  endif()
endfunction()
