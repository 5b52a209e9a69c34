# Finds liburing; gives the target Liburing::Liburing and Liburing_FOUND.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_Liburing QUIET liburing)
endif()
find_path(Liburing_INCLUDE_DIR liburing.h HINTS ${PC_Liburing_INCLUDE_DIRS})
find_library(Liburing_LIBRARY uring HINTS ${PC_Liburing_LIBRARY_DIRS})
mark_as_advanced(Liburing_INCLUDE_DIR Liburing_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Liburing REQUIRED_VARS Liburing_LIBRARY Liburing_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Install liburing-dev, or run scripts/setup.sh")

if(Liburing_FOUND AND NOT TARGET Liburing::Liburing)
  add_library(Liburing::Liburing UNKNOWN IMPORTED)
  set_target_properties(Liburing::Liburing PROPERTIES
    IMPORTED_LOCATION "${Liburing_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Liburing_INCLUDE_DIR}")
endif()
