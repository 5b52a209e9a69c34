# TW_SANITIZE and TW_WITH_COVERAGE, for every target of the build. A finding ends the program.
include_guard(GLOBAL)

if(TW_SANITIZE)
  add_compile_options(-fsanitize=${TW_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TW_SANITIZE})
endif()

if(TW_WITH_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TW_WITH_FUZZ needs Clang with libFuzzer. Use the preset 'fuzz', or -DCMAKE_CXX_COMPILER=clang++-16.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(TW_WITH_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
  find_program(TW_GCOVR gcovr)
  if(TW_GCOVR)
    # Counts of an earlier build do not fit the code. Programs complain about them on stderr, and about counts of another
    # program that took an inline function from another object; tests compare what programs print.
    add_custom_target(coverage
      COMMAND find ${PROJECT_BINARY_DIR} -name "*.gcda" -delete
      COMMAND ${CMAKE_COMMAND} -E env GCOV_ERROR_FILE=${PROJECT_BINARY_DIR}/coverage.errors
              ${CMAKE_CTEST_COMMAND} --output-on-failure
      COMMAND ${TW_GCOVR} --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/src/ --filter
              ${PROJECT_SOURCE_DIR}/tools/ --exclude-throw-branches --html-details ${PROJECT_BINARY_DIR}/coverage.html
              --print-summary ${PROJECT_BINARY_DIR}
      WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
      COMMENT "Run the tests and write coverage.html"
      VERBATIM USES_TERMINAL)
  else()
    message(STATUS "gcovr not found: no target 'coverage'. Install it with 'apt install gcovr'.")
  endif()
endif()
