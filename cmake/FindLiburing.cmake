# Finds liburing; defines the target Liburing::Liburing and Liburing_FOUND.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_Liburing QUIET liburing)
endif()
find_path(Liburing_INCLUDE_DIR liburing.h HINTS ${PC_Liburing_INCLUDE_DIRS})
find_library(Liburing_LIBRARY uring HINTS ${PC_Liburing_LIBRARY_DIRS})
mark_as_advanced(Liburing_INCLUDE_DIR Liburing_LIBRARY)
set(Liburing_IS_NEW)  # from 2.2 on
if(Liburing_INCLUDE_DIR)
  file(STRINGS ${Liburing_INCLUDE_DIR}/liburing.h Liburing_IS_NEW REGEX io_uring_submit_and_wait_timeout)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Liburing REQUIRED_VARS Liburing_LIBRARY Liburing_INCLUDE_DIR Liburing_IS_NEW
  REASON_FAILURE_MESSAGE "Install liburing-dev 2.2 or newer, or run scripts/setup.sh")

if(Liburing_FOUND AND NOT TARGET Liburing::Liburing)
  add_library(Liburing::Liburing UNKNOWN IMPORTED)
  set_target_properties(Liburing::Liburing PROPERTIES
    IMPORTED_LOCATION "${Liburing_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Liburing_INCLUDE_DIR}")
endif()
