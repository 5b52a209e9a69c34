"""Arrays as streams: the bytes of an .npy file, and behind these, of a part of a distributed array, where it lies.

A part ends with its place: a JSON object with "start", "shape" (of the whole array) and "parts" (their number), then its
length as 8 bytes, little endian, then MAGIC. Readers of .npy files do not see it.
"""

import io
import json

import numpy as np

from .errors import Corrupt, InvalidArgument

MAGIC = b"TWpart1\n"
_FEW = 64 * 1024  # bytes: shorter runs are read together with what lies between them


def header_of(array):
    """The .npy header of an array. Objects cannot be stored."""
    if array.dtype.hasobject:
        raise InvalidArgument(f"an array of dtype {array.dtype} has Python objects, which are not stored; use pickle on "
                              "the stream")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return header.getvalue()


def bytes_of(array):
    """The memory of an array in the order that its header names, copied only where it is not contiguous."""
    in_order = array.T if array.flags.f_contiguous and not array.flags.c_contiguous else np.ascontiguousarray(array)
    return memoryview(in_order.reshape(-1).view(np.uint8)) if in_order.size else b""


def place_of(start, shape, parts):
    words = json.dumps({"start": start, "shape": shape, "parts": parts}).encode()
    return words + len(words).to_bytes(8, "little") + MAGIC


class StoredArray:
    """An array in a stream: dtype, shape and order are read, the data when they are asked for."""

    def __init__(self, read_at, size, what):
        """`read_at(position, buffer)` fills a buffer."""
        self._read_at = read_at
        self._what = what
        head = bytearray(min(size, 4096))
        read_at(0, head)
        stream = io.BytesIO(head)
        try:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, self.is_fortran, self.dtype = read(stream)
        except ValueError as error:
            raise InvalidArgument(f"{what} is no array of thalweg or NumPy: {error}") from None
        self._data = stream.tell()
        self.place = self._read_place(size)
        if size < self._data + self.nbytes:
            raise Corrupt(f"{what}: the data of the array end after {size - self._data} of {self.nbytes} bytes")

    @property
    def nbytes(self):
        return self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))

    def _read_place(self, size):
        end = self._data + self.nbytes
        if size < end + 16:
            return None
        tail = bytearray(size - end)
        self._read_at(end, tail)
        if tail[-8:] != MAGIC or int.from_bytes(tail[-16:-8], "little") != len(tail) - 16:
            return None
        return json.loads(bytes(tail[:-16]))

    def read(self, box):
        """The elements of a box: a slice of step 1 for each dimension."""
        starts = [part.start for part in box]
        counts = [part.stop - part.start for part in box]
        shape = list(self.shape)
        if self.is_fortran:
            starts, counts, shape = starts[::-1], counts[::-1], shape[::-1]
        found = np.empty(counts, self.dtype)
        if found.size:
            self._read_runs(found, starts, counts, shape)
        return found.T if self.is_fortran else found

    def _read_runs(self, found, starts, counts, shape):
        # A run has all elements of the last dimensions and a range of the one before these; the loop goes through the
        # others. Short runs are read together with what lies between them.
        n = len(shape)
        together = n
        while together > 0 and counts[together - 1] == shape[together - 1]:
            together -= 1
        split = max(together - 1, 0)
        item = self.dtype.itemsize
        strides = [item * int(np.prod(shape[d + 1 :], dtype=np.int64)) for d in range(n)]
        while split > 0 and counts[split] * strides[split] < _FEW:
            split -= 1
        inner = shape[split + 1 :]
        for index in np.ndindex(*counts[:split]):
            at = sum((first + i) * stride for first, i, stride in zip(starts, index, strides))
            rows = counts[split] if n else 1
            first = starts[split] if n else 0
            block = np.empty([rows, *inner], self.dtype)
            if n:
                at += first * strides[split]
            self._read_at(self._data + at, memoryview(block.reshape(-1).view(np.uint8)))
            cut = tuple(slice(a, a + c) for a, c in zip(starts[split + 1 :], counts[split + 1 :]))
            found[index] = block[(slice(None), *cut)] if n else block[0]


def box_of(key, shape, what):
    """(box, cut): the slices of step 1 that hold what `key` selects of an array of this shape, and what to take of them."""
    keys = key if isinstance(key, tuple) else (key,)
    if sum(one is Ellipsis for one in keys) > 1 or len(keys) - (Ellipsis in keys) > len(shape):
        raise IndexError(f"{what}: {key!r} has too many indices for the shape {shape}")
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys = keys[:at] + (slice(None),) * (len(shape) - len(keys) + 1) + keys[at + 1 :]
    keys += (slice(None),) * (len(shape) - len(keys))
    box, cut = [], []
    for one, extent in zip(keys, shape):
        if isinstance(one, slice):
            chosen = range(*one.indices(extent))
            low, high = (min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1) if chosen else (0, 0)
            box.append(slice(low, high))
            cut.append(slice(None, None, chosen.step) if chosen else slice(None))
        else:
            number = range(extent)[one]
            box.append(slice(number, number + 1))
            cut.append(0)
    return tuple(box), tuple(cut)
