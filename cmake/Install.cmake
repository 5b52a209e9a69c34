# Installs headers, libraries and the files for find_package(thalweg) and pkg-config.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/thalweg)
set(left_out)
if(NOT TARGET thalweg_mpi)
  list(APPEND left_out PATTERN group_mpi.h EXCLUDE)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/thalweg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" ${left_out})
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} OPTIONAL)

install(TARGETS thalweg thalweg_omp_file EXPORT thalwegTargets)
install(FILES ${PROJECT_SOURCE_DIR}/frontends/omp_file/omp_file.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET thalweg_omp_file_fortran)
  install(TARGETS thalweg_omp_file_fortran EXPORT thalwegTargets)
  # A compiled module serves the compiler that made it; users of other compilers compile the installed source.
  install(FILES ${PROJECT_BINARY_DIR}/fortran/omp_file.mod ${PROJECT_SOURCE_DIR}/bindings/fortran/omp_file.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/thalweg/fortran)
endif()
if(TARGET thalweg_mpi)
  install(TARGETS thalweg_mpi EXPORT thalwegMpiTargets)
  install(EXPORT thalwegMpiTargets NAMESPACE thalweg:: DESTINATION ${package_dir})
endif()
if(TARGET thalweg_mpiio)
  install(TARGETS thalweg_mpiio LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT thalwegTargets NAMESPACE thalweg:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/thalwegConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/thalwegConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/thalwegConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/thalwegConfig.cmake ${PROJECT_BINARY_DIR}/cmake/thalwegConfigVersion.cmake
  DESTINATION ${package_dir})
if(NOT BUILD_SHARED_LIBS)
  file(GLOB finders ${PROJECT_SOURCE_DIR}/cmake/Find*.cmake)
  install(FILES ${finders} DESTINATION ${package_dir})
endif()

# A .pc file computes its prefix from its own location, so an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE TW_PC_LIBDIR)
cmake_path(APPEND TW_PC_LIBDIR pkgconfig OUTPUT_VARIABLE pc_dir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pc_dir} OUTPUT_VARIABLE TW_PC_PREFIX)
# Libraries that a program needs only with the static library.
set(TW_PC_STATIC_LIBS)
if(NOT BUILD_SHARED_LIBS)
  set(TW_PC_STATIC_LIBS " -lfmt -lisal -lzstd -llz4 -lpthread -lstdc++")
  if(TW_HAVE_URING)
    string(PREPEND TW_PC_STATIC_LIBS " -luring")
  endif()
endif()
set(TW_PC_MPI_LIBS)
set(TW_PC_MPI_CFLAGS)
if(TARGET thalweg_mpi)
  foreach(library IN LISTS MPI_C_LIBRARIES)
    string(APPEND TW_PC_MPI_LIBS " ${library}")
  endforeach()
  foreach(folder IN LISTS MPI_C_INCLUDE_DIRS)
    string(APPEND TW_PC_MPI_CFLAGS " -I${folder}")
  endforeach()
endif()
foreach(module thalweg thalweg_mpi thalweg_omp_file thalweg_omp_file_fortran)
  if(TARGET ${module})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/cmake/${module}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/cmake/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
