# Writes OUTPUT, a header with the commit of SOURCE, only when it has changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Made by the build: the commit of the sources.\n#pragma once\ninline constexpr const char* kCommit = \"${commit}\";\n")
