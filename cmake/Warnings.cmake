# The warning set of the project, for its own targets only.
include_guard(GLOBAL)

add_library(tw_warnings INTERFACE)
target_compile_options(tw_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wcast-align -Wcast-qual -Wformat=2 -Wundef -Wnull-dereference
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${TW_WARNINGS_AS_ERRORS}>:-Werror>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tw_warnings INTERFACE
    -Wduplicated-cond -Wlogical-op
    # False positives of GCC 12 in inlined standard containers and coroutine frames.
    -Wno-null-dereference -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-dangling-pointer -Wno-restrict
    # GCC's TSan models fences as plain accesses; the library orders by atomics, not by fences
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan -Wno-mismatched-new-delete>)
endif()
