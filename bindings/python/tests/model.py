"""Model of a vpfile: an ordinary file for each virtual processor."""

import io

import numpy as np


class Model:
    """The calls of VpFile, with an io.BytesIO for each VP."""

    def __init__(self, shape):
        self.shape = shape
        self.streams = {index: io.BytesIO() for index in np.ndindex(*shape)}

    def _each(self, where):
        mask = np.broadcast_to(True if where is None else where, self.shape)
        return [(index, stream) for index, stream in self.streams.items() if mask[index]]

    def write(self, a, where=None):
        for index, stream in self._each(where):
            stream.write(a[(*index, ...)].tobytes())  # a scalar would truncate text

    def write_ragged(self, values, lengths):
        begin = 0
        for index, stream in self.streams.items():
            stream.write(values[begin : begin + lengths[index]].tobytes())
            begin += lengths[index]

    def read(self, dtype, n, where=None):
        dtype = np.dtype(dtype)
        a = np.zeros((*self.shape, n), dtype)
        counts = np.zeros(self.shape, np.int64)
        for index, stream in self._each(where):
            data = stream.read(n * dtype.itemsize)
            items = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
            counts[index] = len(items)
            a[index][: len(items)] = items
        return a, counts

    def seek(self, pos, whence=0, where=None):
        offsets = np.broadcast_to(pos, self.shape)
        for index, stream in self._each(where):
            base = {0: 0, 1: stream.tell(), 2: len(stream.getvalue())}[whence]
            stream.seek(base + offsets[index])

    def tell(self):
        return np.array([stream.tell() for stream in self.streams.values()], np.int64).reshape(self.shape)

    def contents(self):
        return {index: stream.getvalue() for index, stream in self.streams.items()}


def contents(f):
    """The streams of the local VPs of `f`, by index in the shape, as f[index] reads them."""
    first = [box.start for box in f.local]
    found = {}
    for local in np.ndindex(*f.local_shape):
        index = tuple(int(a + b) for a, b in zip(first, local))
        with f[index] as stream:
            found[index] = stream.read()
    return found
