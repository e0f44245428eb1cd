# kweave_folder(NAME folder SOURCES ... [USES folders...] [LINKS targets...] [TESTS ...] [COST seconds])
#
# Declares one folder of src/ as an object library `kweave_<folder>_objects` and a static library
# `kweave_<folder>` that links only the folders in USES, so that a forbidden dependency fails to link.
# TESTS become one program `<folder>_test` that links this folder and what it uses, nothing else. COST is what it takes, roughly;
# ctest starts with the most expensive, so that no core waits for the last one. Give it where it is above ten seconds.
function(kweave_folder)
  cmake_parse_arguments(ARG "" "NAME;COST" "SOURCES;USES;LINKS;TESTS" ${ARGN})
  set(objects kweave_${ARG_NAME}_objects)
  add_library(${objects} OBJECT ${ARG_SOURCES})
  target_include_directories(${objects} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(${objects} PUBLIC ${ARG_LINKS} PRIVATE kweave_compile_options)
  kweave_precompile(${objects})
  add_library(kweave_${ARG_NAME} STATIC $<TARGET_OBJECTS:${objects}>)
  set_target_properties(kweave_${ARG_NAME} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(kweave_${ARG_NAME} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(kweave_${ARG_NAME} PUBLIC ${ARG_LINKS})
  foreach(used IN LISTS ARG_USES)
    target_link_libraries(kweave_${ARG_NAME} PUBLIC kweave_${used})
    get_target_property(links kweave_${used} KWEAVE_EXTERNAL)
    target_link_libraries(${objects} PUBLIC ${links})
  endforeach()
  set(external ${ARG_LINKS})
  foreach(used IN LISTS ARG_USES)
    get_target_property(links kweave_${used} KWEAVE_EXTERNAL)
    list(APPEND external ${links})
  endforeach()
  list(REMOVE_DUPLICATES external)
  set_target_properties(kweave_${ARG_NAME} PROPERTIES KWEAVE_EXTERNAL "${external}")
  set_property(GLOBAL APPEND PROPERTY KWEAVE_OBJECTS ${objects})
  set_property(GLOBAL APPEND PROPERTY KWEAVE_EXTERNAL_LIBRARIES ${external})
  if(KWEAVE_BUILD_TESTS AND ARG_TESTS)
    kweave_test(NAME ${ARG_NAME}_test COST ${ARG_COST} SOURCES ${ARG_TESTS} LINKS kweave_${ARG_NAME})
  endif()
endfunction()

# kweave_test(NAME program [COST seconds] SOURCES ... LINKS ...): a GoogleTest program whose cases ctest runs as one.
function(kweave_test)
  cmake_parse_arguments(ARG "" "NAME;COST" "SOURCES;LINKS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}
    ${RAPIDCHECK_INCLUDE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest_main ${RAPIDCHECK_LIBRARY}
    kweave_compile_options)
  # What is tested is compiled as users get it; the test around it only has to compile soon.
  target_compile_options(${ARG_NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  kweave_precompile(${ARG_NAME} TEST)
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(ARG_COST)
    set_tests_properties(${ARG_NAME} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()

# kweave_test_with_simd(program): ctest runs a GoogleTest program again with the instructions of older machines; it has
# tests/support/simd_environment.cc among its sources. Debug builds do not have these instructions.
function(kweave_test_with_simd program)
  if(NOT TARGET ${program} OR CMAKE_BUILD_TYPE STREQUAL "Debug" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  foreach(simd AVX2 SSE4)
    add_test(NAME ${program}_${simd} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${program}_${simd} PROPERTIES ENVIRONMENT KWEAVE_TEST_SIMD=${simd})
  endforeach()
endfunction()

# kweave_thread_test(program filter): the cases of a GoogleTest program that run loops on several threads. In a build with
# ThreadSanitizer the target `thread_tests` builds these programs and ctest runs these cases under the label `threads`.
function(kweave_thread_test program filter)
  if(NOT TARGET ${program} OR NOT KWEAVE_SANITIZE STREQUAL "thread")
    return()
  endif()
  if(NOT TARGET thread_tests)
    add_custom_target(thread_tests)
  endif()
  add_dependencies(thread_tests ${program})
  add_test(NAME ${program}_threads COMMAND ${program} --gtest_filter=${filter} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # A filter that no case matches any more tests nothing.
  set_tests_properties(${program}_threads PROPERTIES LABELS threads FAIL_REGULAR_EXPRESSION "Running 0 tests" TIMEOUT 600
    ENVIRONMENT "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/thread_sanitizer.supp")
endfunction()

# kweave_fuzz(NAME program SOURCES ... LINKS ... [CORPUS folder]): a libFuzzer program, built by the target `fuzzers`. ctest
# lets it search for KWEAVE_FUZZ_SECONDS, from the files in CORPUS; KWEAVE_FUZZ_SEED (0: by the clock) makes a search that
# found something repeatable.
function(kweave_fuzz)
  cmake_parse_arguments(ARG "" "NAME;CORPUS" "SOURCES;LINKS" ${ARGN})
  add_executable(${ARG_NAME} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LINKS} kweave_compile_options)
  target_link_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${ARG_NAME})
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}_found)
  file(MAKE_DIRECTORY ${found})
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} -max_total_time=${KWEAVE_FUZZ_SECONDS}
    -seed=${KWEAVE_FUZZ_SEED} -timeout=10 -rss_limit_mb=3000 -artifact_prefix=${found}/ -print_final_stats=1 -verbosity=0 ${found} ${ARG_CORPUS})
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS fuzz)
endfunction()
