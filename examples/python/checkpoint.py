"""The program of ../c/checkpoint.c in Python.

python checkpoint.py: alone; mpiexec -n RANKS python checkpoint.py: with mpi4py
"""
import numpy as np
import thalweg

try:
    from mpi4py import MPI
    comm, rank, ranks = MPI.COMM_WORLD, MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
except ImportError:
    comm, rank, ranks = None, 0, 1

log, text = f"logs/rank{rank}.txt", b"step 1\n"
u = np.add.outer(np.arange(256 * rank // ranks, 256 * (rank + 1) // ranks), np.arange(128) / 128)
v = np.empty_like(u)

with thalweg.Multifile("dump.tw", "w", comm=comm) as mf:
    mf.mine.write(u)
    mf.add(log).write(text)
with thalweg.Multifile("dump.tw", comm=comm) as mf:
    mf.mine.readinto(v)

total = v.sum() if comm is None else comm.reduce(v.sum())
if rank == 0:
    print(f"sum {total:.1f}")
