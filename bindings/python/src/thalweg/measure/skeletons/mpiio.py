"""MPI-IO level 3: one file that is the array, by a view and a collective write.  mpiexec -n 4 python3 mpiio.py"""

import sys

import numpy as np
from mpi4py import MPI

N = 1024  # of the array, N x N, last index fastest
path = sys.argv[1] if len(sys.argv) > 1 else "array.dat"
comm = MPI.COMM_WORLD
grid = MPI.Compute_dims(comm.size, 2)
place = divmod(comm.rank, grid[1])
low = [N * p // g for p, g in zip(place, grid)]
count = [N * (p + 1) // g - l for p, g, l in zip(place, grid, low)]
block = np.full(count, comm.rank, np.float32)  # your data

piece = MPI.FLOAT.Create_subarray([N, N], count, low, MPI.ORDER_C).Commit()
file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Set_size(0)
file.Set_view(0, MPI.FLOAT, piece)
file.Write_all(block)
file.Close()
piece.Free()
