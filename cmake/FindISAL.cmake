# Finds ISA-L; defines the target ISAL::ISAL and ISAL_FOUND.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_ISAL QUIET libisal)
endif()
find_path(ISAL_INCLUDE_DIR isa-l/crc.h HINTS ${PC_ISAL_INCLUDE_DIRS})
find_library(ISAL_LIBRARY isal HINTS ${PC_ISAL_LIBRARY_DIRS})
mark_as_advanced(ISAL_INCLUDE_DIR ISAL_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ISAL REQUIRED_VARS ISAL_LIBRARY ISAL_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Install libisal-dev, or run scripts/setup.sh")

if(ISAL_FOUND AND NOT TARGET ISAL::ISAL)
  add_library(ISAL::ISAL UNKNOWN IMPORTED)
  set_target_properties(ISAL::ISAL PROPERTIES
    IMPORTED_LOCATION "${ISAL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ISAL_INCLUDE_DIR}")
endif()
