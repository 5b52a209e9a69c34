void write_array(const char* path) {
  size_t whole[2] = {n[0], n[1]}, from[2] = {start[0], start[1]}, extent[2] = {count[0], count[1]};
  adios2_adios* adios = adios2_init_mpi(comm);
  adios2_io* io = adios2_declare_io(adios, "array");
  adios2_variable* array =
      adios2_define_variable(io, "array", adios2_type_float, 2, whole, from, extent, adios2_constant_dims_true);
  adios2_engine* engine = adios2_open(io, path, adios2_mode_write);
  adios2_put(engine, array, block, adios2_mode_deferred);
  adios2_close(engine);
  adios2_finalize(adios);
}
