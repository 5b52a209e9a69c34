# Embeds files in a program.
#
#   tw_embed_files(TARGET t OUTPUT file.cpp HEADER header SYMBOL asset NAMESPACE ns FILES name=path ...)
#
# makes at build time `std::string_view SYMBOL(std::string_view name)`, which returns an empty view for unknown names.
# With -P this file is the script that generates it (-D OUTPUT, HEADER, SYMBOL, NAMESPACE, FILES, separated by |).
if(CMAKE_SCRIPT_MODE_FILE)
  set(arrays)
  set(entries)
  set(number 0)
  string(REPLACE "|" ";" FILES "${FILES}")
  foreach(entry IN LISTS FILES)
    string(REGEX MATCH "^([^=]+)=(.*)$" matched "${entry}")
    set(name ${CMAKE_MATCH_1})
    file(READ "${CMAKE_MATCH_2}" bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    # The terminating byte allows empty files, as an array cannot be empty.
    string(APPEND arrays "constexpr unsigned char k${number}[] = {\n${bytes}\n0x00};\n")
    string(APPEND entries "    {\"${name}\", text(k${number})},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE "${OUTPUT}" "// Made of files when the program was built, by cmake/EmbedFiles.cmake.
#include \"${HEADER}\"

#include <cstddef>

namespace ${NAMESPACE} {
namespace {

template <std::size_t n>
std::string_view text(const unsigned char (&bytes)[n]) {
  return {reinterpret_cast<const char*>(bytes), n - 1};
}

struct Entry {
  std::string_view name, text;
};

${arrays}
}  // namespace

std::string_view ${SYMBOL}(std::string_view name) {
  static const Entry kEntries[] = {
${entries}  };
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.text;
  }
  return {};
}

}  // namespace ${NAMESPACE}
")
  return()
endif()

include_guard(GLOBAL)
set(TW_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(tw_embed_files)
  cmake_parse_arguments(arg "" "TARGET;OUTPUT;HEADER;SYMBOL;NAMESPACE" "FILES" ${ARGN})
  set(paths)
  foreach(entry IN LISTS arg_FILES)
    string(REGEX REPLACE "^[^=]+=" "" path "${entry}")
    list(APPEND paths "${path}")
  endforeach()
  list(JOIN arg_FILES "|" files)
  add_custom_command(OUTPUT ${arg_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${arg_OUTPUT} -D HEADER=${arg_HEADER} -D SYMBOL=${arg_SYMBOL}
            -D NAMESPACE=${arg_NAMESPACE} "-DFILES=${files}" -P ${TW_EMBED_SCRIPT}
    DEPENDS ${paths} ${TW_EMBED_SCRIPT}
    COMMENT "Files that become part of ${arg_TARGET}"
    VERBATIM)
  target_sources(${arg_TARGET} PRIVATE ${arg_OUTPUT})
endfunction()
