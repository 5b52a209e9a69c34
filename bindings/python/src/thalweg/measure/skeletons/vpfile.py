"""Thalweg vpfile: one file that is the array, each rank writes its box of it.  What a rank writes may be of any length.

mpiexec -n 4 python3 vpfile.py; without mpi4py one task writes all.
"""

import sys

import numpy as np
import thalweg

try:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
except ImportError:
    comm = None

N = 1024  # of the array, N x N
path = sys.argv[1] if len(sys.argv) > 1 else "array.vp"

with thalweg.vp.open(path, "w", shape=(N,), **({"comm": comm} if comm else {})) as file:
    rows = file.local_shape[0]
    block = np.full((rows, N), 0 if comm is None else comm.rank, np.float32)  # your data
    file.write(block)
