"""Reads the restart file of examples/fortran/heat.f90, of however many ranks, into one array: heat.py heat.restart.tw"""
import sys

import numpy as np
import thalweg

columns = {}
with thalweg.Multifile(sys.argv[1]) as mf:
    for part in mf:                                                # a logical file of each rank
        file = mf[part.rank]
        step, first, last = np.frombuffer(file.read(12), np.int32)
        columns[first] = np.frombuffer(file.read()).reshape(last - first + 1, -1)

u = np.concatenate([columns[first] for first in sorted(columns)]).T     # u[i, j] is u(i + 1, j + 1) of Fortran
print(f"step {step}, {u.shape}, sum of squares {(u**2).sum():.9f}")
