# Functions that add tests, called by tests/CMakeLists.txt for every folder. To add a test, add a file.
#
#   tw_add_gtest(name SOURCES ... LABEL l)       one GoogleTest program, every TEST a test of ctest
#   tw_add_mpi_test(name source [RANKS n ...])   one program with its own main, started once per number of ranks
#   tw_add_script_test(name file LABEL l)        a .sh or .py; exit status 0: passed, 77: skipped
include_guard(GLOBAL)
include(GoogleTest)

set(TW_TEST_ENVIRONMENT
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp"
  "THALWEG_PROFILE=none")  # tests are independent of measurements on the machine
if((TW_SANITIZE AND NOT TW_TEST_ALL) OR TW_WITH_COVERAGE)
  list(APPEND TW_TEST_ENVIRONMENT "THALWEG_KILLS=30")
endif()
set(TW_TEST_TIMEOUT 300)
if(TW_TEST_ALL)
  set(TW_TEST_TIMEOUT 14400)  # the bits of one damaged multifile take 50 minutes
endif()

# Files of an optional part have it in their names.
function(tw_without_absent_parts list)
  if(NOT TW_HAVE_OPENMP)
    list(FILTER ${list} EXCLUDE REGEX "/[^/]*(openmp|omp_)[^/]*$")
  endif()
  if(NOT TW_HAVE_URING)
    list(FILTER ${list} EXCLUDE REGEX "/[^/]*uring[^/]*$")
  endif()
  if(NOT TW_WITH_TOOLS)
    list(FILTER ${list} EXCLUDE REGEX "/[^/]*drain[^/]*$")
  endif()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

function(tw_test_program name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE TW_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE thalweg_internal GTest::gtest Threads::Threads tw_warnings)
  if(TARGET test_support)
    target_link_libraries(${name} PRIVATE test_support)
  endif()
  if(TW_HAVE_OPENMP)
    target_link_libraries(${name} PRIVATE OpenMP::OpenMP_CXX)
  endif()
  if(name STREQUAL "test_precompiled")
    tw_precompile(${name} HEADERS gtest/gtest.h)
  else()
    tw_precompile(${name} FROM test_precompiled)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

function(tw_add_gtest name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES" ${ARGN})
  tw_test_program(${name} SOURCES ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  gtest_discover_tests(${name} TEST_FILTER "${TW_TEST_FILTER}" TEST_PREFIX "${TW_TEST_PREFIX}${name}/" DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${TW_TEST_TIMEOUT})
  # Set by a script and not above: of a list, the properties above pass on the first element only. ctest reads the
  # script after the tests.
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_environment.cmake)
  file(CONFIGURE OUTPUT ${script} @ONLY CONTENT [[foreach(test IN LISTS @name@_TESTS)
  set_tests_properties("${test}" PROPERTIES ENVIRONMENT "@TW_TEST_ENVIRONMENT@")
endforeach()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

function(tw_add_mpi_test name source)
  cmake_parse_arguments(arg "" "" "RANKS" ${ARGN})
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 3 5)
  endif()
  tw_test_program(mpi_${name} SOURCES ${source} ${PROJECT_SOURCE_DIR}/tests/support/groups/mpi_main.cpp)
  target_link_libraries(mpi_${name} PRIVATE thalweg_mpi_internal tw_mpi)
  foreach(ranks IN LISTS arg_RANKS)
    tw_add_mpi_run(${name} ${ranks} "${TW_TEST_PREFIX}mpi_${name}/ranks:${ranks}")
  endforeach()
endfunction()

# One run of the program; further arguments are environment variables.
function(tw_add_mpi_run name ranks test)
  add_test(NAME ${test} COMMAND ${TW_MPI_LAUNCH} -n ${ranks} $<TARGET_FILE:mpi_${name}>)
  # Runs alone: waiting ranks poll and would starve other tests.
  set_tests_properties(${test} PROPERTIES LABELS mpi RUN_SERIAL TRUE PROCESSORS ${ranks} TIMEOUT ${TW_TEST_TIMEOUT}
    ENVIRONMENT "${TW_TEST_ENVIRONMENT};${TW_MPI_ENVIRONMENT};${ARGN}")
endfunction()

function(tw_add_script_test name file)
  cmake_parse_arguments(arg "" "LABEL" "ENVIRONMENT;ARGUMENTS" ${ARGN})
  set(test "${TW_TEST_PREFIX}${name}")
  if(file MATCHES "\\.py$")
    file(STRINGS ${file} main REGEX "__main__")
    if(NOT main)
      message(FATAL_ERROR "${file} would pass without running anything: end it with if __name__ == \"__main__\": unittest.main()")
    endif()
    add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} -B ${file} ${arg_ARGUMENTS})
  else()
    add_test(NAME ${test} COMMAND bash ${file} ${arg_ARGUMENTS})
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${TW_TEST_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "${TW_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()
