/* Parallel HDF5: a contiguous dataset, written collectively.
 * Each rank has a block of an array of 4-byte reals, N x N, last index fastest. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1024 };

static void must(int fine, const char* path) {
  if (fine) return;
  fprintf(stderr, "%s: HDF5 failed\n", path); /* it has printed why */
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#include "block_of.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* path = argc > 1 ? argv[1] : "array.h5";
#include "my_block.inc"

  const hsize_t shape[2] = {N, N}, start[2] = {(hsize_t)lo[0], (hsize_t)lo[1]},
                count[2] = {(hsize_t)n[0], (hsize_t)n[1]};
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0, path);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  must(file >= 0, path);
  const hid_t all = H5Screate_simple(2, shape, NULL);
  const hid_t mine = H5Screate_simple(2, count, NULL);
  must(H5Sselect_hyperslab(all, H5S_SELECT_SET, start, NULL, count, NULL) >= 0, path);
  /* Chunks: H5Pset_chunk on a H5P_DATASET_CREATE list, in place of the second H5P_DEFAULT. */
  const hid_t dataset = H5Dcreate2(file, "array", H5T_NATIVE_FLOAT, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  must(dataset >= 0, path);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  must(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE) >= 0, path);
  must(H5Dwrite(dataset, H5T_NATIVE_FLOAT, mine, all, transfer, block) >= 0, path);
  H5Pclose(transfer);
  H5Dclose(dataset);
  H5Sclose(mine);
  H5Sclose(all);
  must(H5Fclose(file) >= 0, path);
  H5Pclose(access);

  free(block);
  MPI_Finalize();
  return 0;
}
