/* A chunked data set of HDF5, written and read collectively: each rank has a block of planes that cuts through chunks.
 * Compiled by the h5pcc of an MPI; otherwise as cases.c.
 *
 * Usage: hdf5_case hdf5 FILE EDGE REPETITIONS */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

static void check(hid_t made, const char* what) {
  if (made >= 0) return;
  fprintf(stderr, "rank %d: %s failed\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const hsize_t edge = (hsize_t)atoi(argv[3]);
  const hsize_t whole[3] = {edge, edge, edge}, chunk[3] = {edge / 4, edge / 2, edge / 2};
  /* Along the second dimension, so that every chunk belongs to several ranks. */
  const hsize_t first = edge * (hsize_t)rank / (hsize_t)ranks, behind = edge * (hsize_t)(rank + 1) / (hsize_t)ranks;
  const hsize_t start[3] = {0, first, 0}, count[3] = {edge, behind - first, edge};
  const size_t n = (size_t)(count[0] * count[1] * count[2]);
  int *data = malloc(n * sizeof(int)), *back = malloc(n * sizeof(int)), wrong = 0, any = 0;
  if (data == NULL || back == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), making = H5Pcreate(H5P_DATASET_CREATE),
              transfer = H5Pcreate(H5P_DATASET_XFER);
  check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
  check(H5Pset_chunk(making, 3, chunk), "H5Pset_chunk");
  check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
  const hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  check(file, "H5Fcreate");
  const hid_t space = H5Screate_simple(3, whole, NULL), memory = H5Screate_simple(3, count, NULL);
  const hid_t set = H5Dcreate2(file, "array", H5T_NATIVE_INT, space, H5P_DEFAULT, making, H5P_DEFAULT);
  check(set, "H5Dcreate2");
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "H5Sselect_hyperslab");
  for (int repetition = 0; repetition <= atoi(argv[4]); ++repetition) {
    for (size_t i = 0; i < n; ++i) data[i] = (int)(i * 2654435761u) ^ (rank * 40503 + repetition);
    double began = begin();
    check(H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, data), "H5Dwrite");
    end(began, "write_chunked", repetition);
    began = begin();
    check(H5Dread(set, H5T_NATIVE_INT, memory, space, transfer, back), "H5Dread");
    end(began, "read_chunked", repetition);
    for (size_t i = 0; i < n; ++i) wrong |= back[i] != data[i];
  }
  check(H5Dclose(set), "H5Dclose");
  check(H5Fclose(file), "H5Fclose");
  if (wrong) fprintf(stderr, "rank %d: wrong bytes\n", rank);
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  free(data);
  free(back);
  MPI_Finalize();
  return any;
}
