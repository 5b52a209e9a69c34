# Finds the libraries that thalweg-methods measures beside this one, each for the MPI that was chosen: a target
# methods_lib_<hdf5|pnetcdf|adios2|sionlib> for each that is there.
include_guard(GLOBAL)
