"""Parallel HDF5: a contiguous dataset, written collectively.  mpiexec -n 4 python3 hdf5.py; h5py has to be built with MPI."""

import sys

import h5py
import numpy as np
from mpi4py import MPI

N = 1024  # of the array, N x N, last index fastest
path = sys.argv[1] if len(sys.argv) > 1 else "array.h5"
comm = MPI.COMM_WORLD
grid = MPI.Compute_dims(comm.size, 2)
place = divmod(comm.rank, grid[1])
low = [N * p // g for p, g in zip(place, grid)]
high = [N * (p + 1) // g for p, g in zip(place, grid)]
block = np.full([h - l for h, l in zip(high, low)], comm.rank, np.float32)  # your data

with h5py.File(path, "w", driver="mpio", comm=comm) as file:
    array = file.create_dataset("array", (N, N), np.float32)
    with array.collective:
        array[low[0] : high[0], low[1] : high[1]] = block
