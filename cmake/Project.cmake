# Settings of the whole project.
include_guard(GLOBAL)
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})

# Programs and libraries are in two folders, so that build/<preset>/bin/thalweg works without installing.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# 64-bit file offsets; the GNU system interfaces (O_DIRECT, fallocate, statx, fopencookie).
add_compile_definitions(_FILE_OFFSET_BITS=64 _GNU_SOURCE)

find_program(TW_CCACHE ccache)
mark_as_advanced(TW_CCACHE)
if(TW_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT TW_WITH_COVERAGE)
  # Adds the settings that precompiled headers need to the user's own.
  execute_process(COMMAND ${TW_CCACHE} --get-config sloppiness OUTPUT_VARIABLE sloppiness ERROR_QUIET)
  string(REGEX MATCHALL "[a-z_]+" sloppiness "${sloppiness}")
  list(APPEND sloppiness pch_defines time_macros)
  list(REMOVE_DUPLICATES sloppiness)
  list(JOIN sloppiness "," sloppiness)
  # Paths are relative to the build folder, so that presets with equal flags share compiled files.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${sloppiness} CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${TW_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# include/thalweg/*.h.in -> <build>/include/thalweg/*.h
file(GLOB templates CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/thalweg/*.in)
foreach(template IN LISTS templates)
  cmake_path(GET template STEM LAST_ONLY header)
  configure_file(${template} ${PROJECT_BINARY_DIR}/include/thalweg/${header} @ONLY)
endforeach()

# Sets `result` to the targets defined in these folders and below. A folder outside the build has none.
function(tw_targets_below result)
  set(all)
  foreach(folder IN LISTS ARGN)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    get_property(inner DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    tw_targets_below(below ${inner})
    list(APPEND all ${targets} ${below})
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

# With TW_PRECOMPILE_HEADERS, the sources of `target` use precompiled standard headers (and HEADERS). FROM names a
# target whose precompiled headers are reused.
function(tw_precompile target)
  cmake_parse_arguments(arg "" "FROM" "HEADERS" ${ARGN})
  if(NOT TW_PRECOMPILE_HEADERS)
    return()
  endif()
  # For ccache: GCC names the precompiled file it uses, Clang records no time stamp in it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
    return()
  endif()
  foreach(header ${arg_HEADERS} algorithm array atomic chrono condition_variable cstdint cstring functional map memory mutex
          new numeric optional span string string_view utility vector fmt/core.h)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
endfunction()
