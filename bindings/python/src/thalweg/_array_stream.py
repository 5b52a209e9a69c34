"""Arrays as streams: the bytes of an .npy file, and behind these, of a part of a distributed array, where it lies.

A part ends with its place: a JSON object with "start", "shape" (of the whole array), "parts" (their number) and "session" (of
the multifile), then its length as 8 bytes, little endian, then MAGIC. Readers of .npy files do not see it.
"""

import ast
import json
import math

import numpy as np

from .errors import Corrupt, InvalidArgument

MAGIC = b"TWpart1\n"
_NPY = b"\x93NUMPY"
_FEW = 64 * 1024  # bytes: shorter runs are read together with what lies between them,
_GAP = 256 * 1024  # unless they begin further apart
_PIECE = 4 << 20  # bytes that are read at once into other memory than the result


def header_of(array):
    """The .npy header of an array, of the oldest version that can hold it."""
    if array.dtype.hasobject:
        raise InvalidArgument(f"an array of dtype {array.dtype} has Python objects, which are not stored; use pickle on "
                              "the stream")
    if isinstance(array, np.ma.MaskedArray):
        raise InvalidArgument("a masked array has no place for its mask; save its data and its mask")
    text = repr({"descr": np.lib.format.dtype_to_descr(array.dtype),
                 "fortran_order": array.flags.f_contiguous and not array.flags.c_contiguous, "shape": array.shape})
    try:
        words, version = text.encode("latin1"), 1
    except UnicodeEncodeError:
        words, version = text.encode(), 3
    if version == 1 and len(words) + 64 > 0xFFFF:
        version = 2
    length_bytes = 2 if version == 1 else 4
    begin = len(_NPY) + 2 + length_bytes
    words += b" " * (-(begin + len(words) + 1) % 64) + b"\n"
    return _NPY + bytes([version, 0]) + len(words).to_bytes(length_bytes, "little") + words


def bytes_of(array):
    """The memory of an array in the order that its header names, copied only where it is not contiguous."""
    in_order = array.T if array.flags.f_contiguous and not array.flags.c_contiguous else np.ascontiguousarray(array)
    return memoryview(in_order.reshape(-1).view(np.uint8)) if in_order.size else b""


def place_of(start, shape, parts, session):
    words = json.dumps({"start": start, "shape": shape, "parts": parts, "session": session}).encode()
    return words + len(words).to_bytes(8, "little") + MAGIC


def begins_in(read_at):
    """Whether a stream begins as an .npy file does; `read_at` as of `StoredArray`."""
    begin = bytearray(len(_NPY))
    return read_at(0, begin) == len(_NPY) and begin == _NPY


class StoredArray:
    """An array in a stream: dtype, shape and order are read, the data when they are asked for."""

    def __init__(self, read_at, size, what):
        """`read_at(position, buffer)` fills a buffer and returns how many bytes there were."""
        self._read_at = read_at
        self._what = what
        self.shape, self.is_fortran, self.dtype = self._read_header(size)
        self.nbytes = self.dtype.itemsize * math.prod(self.shape)
        if size < self._data + self.nbytes:
            raise Corrupt(f"{what}: the data of the array end after {max(size - self._data, 0)} of {self.nbytes} bytes")
        self.place = self._read_place(size)

    def _fill(self, position, buffer):
        if self._read_at(position, buffer) != len(memoryview(buffer).cast("B")):
            raise Corrupt(f"{self._what}: the stream ends within the array")

    def _bytes(self, position, n):
        found = bytearray(n)
        self._fill(position, found)
        return bytes(found)

    def _read_header(self, size):
        no_array = InvalidArgument(f"{self._what} is no array of thalweg or NumPy")
        begin = self._bytes(0, min(size, 12))
        if len(begin) < 12 or begin[:6] != _NPY or begin[6] not in (1, 2, 3):
            raise no_array
        length_bytes = 2 if begin[6] == 1 else 4
        length = int.from_bytes(begin[8 : 8 + length_bytes], "little")
        self._data = 8 + length_bytes + length
        if self._data > size:
            raise no_array
        words = self._bytes(8 + length_bytes, length)
        try:
            header = ast.literal_eval(words.decode("utf-8" if begin[6] == 3 else "latin1"))
            shape, is_fortran = header["shape"], header["fortran_order"]
            dtype = np.lib.format.descr_to_dtype(header["descr"])
        except (ValueError, SyntaxError, KeyError, TypeError) as error:
            raise InvalidArgument(f"{self._what}: the header of the array cannot be read: {error}") from None
        if not _are_numbers(shape, tuple) or dtype.hasobject:
            raise InvalidArgument(f"{self._what}: an array of shape {shape} and dtype {dtype} is not read")
        return shape, bool(is_fortran), dtype

    def _read_place(self, size):
        end = self._data + self.nbytes
        if size < end + 16:
            return None
        last = self._bytes(size - 16, 16)
        length = int.from_bytes(last[:8], "little")
        if last[8:] != MAGIC or length != size - end - 16:
            return None
        try:
            place = json.loads(self._bytes(end, length))
            start, shape = place["start"], place["shape"]
            fits = _are_numbers(start, list) and _are_numbers(shape, list) and len(start) == len(shape) == len(self.shape)
            fits = fits and all(a + n <= extent for a, n, extent in zip(start, self.shape, shape))
            fits = fits and _are_numbers([place["parts"], place["session"]], list) and place["parts"] > 0
        except (ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            raise Corrupt(f"{self._what}: where the part lies in the array cannot be read")
        return place

    def read(self, box):
        """The elements of a box: a slice of step 1 for each dimension."""
        starts = [part.start for part in box]
        counts = [part.stop - part.start for part in box]
        shape = list(self.shape)
        if self.is_fortran:
            starts, counts, shape = starts[::-1], counts[::-1], shape[::-1]
        found = np.empty(counts, self.dtype)
        if found.size and self.dtype.itemsize:
            self._read_runs(found, starts, counts, shape)
        return found.T if self.is_fortran else found

    def _read_runs(self, found, starts, counts, shape):
        # A run has all elements of the last dimensions and a range of the one before these; the loop goes through the
        # others.
        n = len(shape)
        if n == 0:
            self._fill(self._data, memoryview(found.reshape(1).view(np.uint8)))
            return
        item = self.dtype.itemsize
        strides = [item * math.prod(shape[d + 1 :]) for d in range(n)]
        split = n - 1
        while split > 0 and counts[split] == shape[split]:
            split -= 1
        whole = split  # from here on a run lies in the result as it lies in the stream
        while split > 0 and counts[split] * strides[split] < _FEW and strides[split - 1] <= _GAP:
            split -= 1
        rows = counts[split] if split == whole else max(1, _PIECE // strides[split])
        for index in np.ndindex(*counts[:split]):
            at = self._data + sum((first + i) * stride for first, i, stride in zip(starts, index, strides))
            for row in range(0, counts[split], rows):
                last = min(row + rows, counts[split])
                position = at + (starts[split] + row) * strides[split]
                if split == whole:
                    self._fill(position, memoryview(found[index][row:last].reshape(-1).view(np.uint8)))
                    continue
                block = np.empty([last - row, *shape[split + 1 :]], self.dtype)
                self._fill(position, memoryview(block.reshape(-1).view(np.uint8)))
                cut = tuple(slice(a, a + c) for a, c in zip(starts[split + 1 :], counts[split + 1 :]))
                found[index][row:last] = block[(slice(None), *cut)]


def _are_numbers(values, kind):
    """Whether it is a tuple or list of integers, none below 0."""
    return isinstance(values, kind) and all(type(value) is int and value >= 0 for value in values)


def indices_of(key, shape, what, is_outer=False):
    """An index for each dimension of an array of this shape: an integer from 0 on or a slice; where `is_outer` also an array
    of such integers."""
    keys = key if isinstance(key, tuple) else (key,)
    kinds = (int, np.integer, slice, np.ndarray) if is_outer else (int, np.integer, slice)
    places = [i for i, one in enumerate(keys) if one is Ellipsis]
    for one in keys:
        if isinstance(one, (bool, np.bool_)) or not (one is Ellipsis or isinstance(one, kinds)):
            raise IndexError(f"{what}: {one!r} is no index; pass integers, slices and Ellipsis")
    if len(places) > 1 or len(keys) - len(places) > len(shape):
        raise IndexError(f"{what}: {key!r} has too many indices for the shape {shape}")
    if places:
        at = places[0]
        keys = keys[:at] + (slice(None),) * (len(shape) - len(keys) + 1) + keys[at + 1 :]
    keys += (slice(None),) * (len(shape) - len(keys))
    return tuple(_from_0(one, extent, dimension, what) for dimension, (one, extent) in enumerate(zip(keys, shape)))


def _from_0(one, extent, dimension, what):
    if isinstance(one, slice):
        return one
    numbers = np.asarray(one)
    outside = numbers[(numbers < -extent) | (numbers >= extent)]
    if outside.size:
        raise IndexError(f"{what}: index {outside.flat[0]} of dimension {dimension}, which has {extent} elements")
    numbers = np.where(numbers < 0, numbers + extent, numbers)
    return numbers if isinstance(one, np.ndarray) else int(numbers)


def select(read, indices, shape, strides):
    """The elements of an array that `indices_of` selected: `read(box)` returns those of slices of step 1.
    `strides`: bytes between neighbours in each dimension. Elements that lie far apart are read one run at a time."""
    for d, (one, extent, stride) in enumerate(zip(indices, shape, strides)):
        if isinstance(one, slice):
            chosen = range(*one.indices(extent))
            if len(chosen) < 2 or (abs(chosen.step) - 1) * stride <= _GAP:
                continue
            one = np.arange(chosen.start, chosen.stop, chosen.step)
        elif not isinstance(one, np.ndarray):
            continue
        wanted, places = np.unique(one, return_inverse=True)
        axis = sum(not isinstance(index, int) for index in indices[:d])
        found = []
        for run in np.split(wanted, np.flatnonzero((np.diff(wanted) - 1) * stride > _GAP) + 1):
            low, high = (int(run[0]), int(run[-1]) + 1) if run.size else (0, 0)
            piece = select(read, (*indices[:d], slice(low, high), *indices[d + 1 :]), shape, strides)
            found.append(piece if len(run) == high - low else np.take(piece, run - low, axis))
        one_piece = found[0] if len(found) == 1 else np.concatenate(found, axis)
        is_in_order = len(places) == len(wanted) and (np.diff(places) > 0).all()
        return one_piece if is_in_order else np.take(one_piece, places, axis)
    box, cut = [], []
    for one, extent in zip(indices, shape):
        if not isinstance(one, slice):
            box.append(slice(one, one + 1))
            cut.append(0)
            continue
        chosen = range(*one.indices(extent))
        low, high = (min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1) if chosen else (0, 0)
        box.append(slice(low, high))
        cut.append(slice(None, None, chosen.step) if chosen else slice(None))
    return read(tuple(box))[(*cut, Ellipsis)]
