# Finds LZ4; defines the target LZ4::LZ4 and LZ4_FOUND.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_LZ4 QUIET liblz4)
endif()
find_path(LZ4_INCLUDE_DIR lz4.h HINTS ${PC_LZ4_INCLUDE_DIRS})
find_library(LZ4_LIBRARY lz4 HINTS ${PC_LZ4_LIBRARY_DIRS})
mark_as_advanced(LZ4_INCLUDE_DIR LZ4_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LZ4 REQUIRED_VARS LZ4_LIBRARY LZ4_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Install liblz4-dev, or run scripts/setup.sh")

if(LZ4_FOUND AND NOT TARGET LZ4::LZ4)
  add_library(LZ4::LZ4 UNKNOWN IMPORTED)
  set_target_properties(LZ4::LZ4 PROPERTIES
    IMPORTED_LOCATION "${LZ4_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LZ4_INCLUDE_DIR}")
endif()
