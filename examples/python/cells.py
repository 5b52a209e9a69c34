"""A stream for each cell of a grid: written by all at once, by some, ragged; read by all, and one by one."""

import numpy as np
import thalweg

heat = 280 + 40 * np.sin(np.arange(256 * 128.0)).reshape(256, 128)
hits = np.arange(256 * 128).reshape(256, 128) % 4

with thalweg.vp.open("cells.vp", "w", shape=(256, 128)) as f:
    f.write(heat)                                         # 8 bytes of each cell
    f.write(heat[::-1], where=heat > 319)                 # of some cells; any strides, no copy
    f.write_ragged(np.ones(hits.sum(), np.int32), hits)   # 0 to 3 numbers of each cell

with thalweg.vp.open("cells.vp") as f:                    # with comm=MPI.COMM_WORLD: each rank has its part
    back = f.read(np.float64)
    print(f.shape, f.mode, np.array_equal(back, heat))
    hottest = np.unravel_index(heat.argmax(), f.shape)
    with f[hottest] as cell:                              # a binary file; the others stay where they are
        print(cell.name, np.frombuffer(cell.read(8))[0].round(3))
    f.seek(8)
    more, lengths = f.read_ragged(np.uint8)               # what is left of each stream
    print(more.size, "bytes,", lengths.max(), "at most")
