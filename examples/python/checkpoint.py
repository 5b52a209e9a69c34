"""Stores an array of all ranks and a log of each in one multifile, and reads a part of the array.

python checkpoint.py: alone; mpiexec -n RANKS python checkpoint.py: with mpi4py
"""
import numpy as np
import thalweg

try:
    from mpi4py import MPI
    comm, rank, ranks = MPI.COMM_WORLD, MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
except ImportError:
    comm, rank, ranks = None, 0, 1

first, last = 256 * rank // ranks, 256 * (rank + 1) // ranks
u = np.add.outer(np.arange(first, last), np.arange(128) / 128)

with thalweg.Multifile("dump.tw", "w", comm=comm) as mf:
    mf.add(f"logs/rank{rank}.txt").write(b"step 1\n")
    mf.save("u", u, start=(first, 0), shape=(256, 128))    # the rows of this rank

with thalweg.Multifile("dump.tw", comm=comm) as mf:
    column = mf.load("u", (slice(None), 64))               # of all ranks
    if rank == 0:
        print(list(mf.names("logs/")), column.shape, column.sum())
