"""The dtype of the arrays in a vpfile, in NAME.dtype beside it: a JSON object with "dtype", a description of NumPy, null
where arrays of several dtypes were written, "shape", that of one virtual processor's part of the first array, null where
their lengths differ, and "file", id and session of NAME.meta: another program that has written the file since then may have
written anything, and so the dtype is unknown."""

import ast
import hashlib
import json
import os
import struct
import warnings

import numpy as np

from ._memory import dtype_of
from .errors import InvalidArgument

_NOBODY = -(2**62)


class StoredDtype:
    """Of an open vpfile. `dtype` is None where it is unknown, and `shape` where it is or differs."""

    def __init__(self, group, name, is_new, is_written):
        """Collective: task 0 reads NAME.dtype, and removes that of a file that is written anew."""
        self._group = group
        self._is_written = is_written
        self._data = os.fsencode(name)
        self._name = self._data + b".dtype"
        self._is_open = is_new  # the first array decides
        self.dtype = self.shape = None
        words = b""
        if group.rank == 0:
            try:
                if is_new:
                    os.unlink(self._name)
                else:
                    with open(self._name, "rb") as file:
                        words = file.read()
            except OSError:
                pass
        words = group.broadcast(words, 0)
        file = json.loads(group.broadcast(json.dumps(self._file() if group.rank == 0 else None).encode(), 0))
        try:
            stored = json.loads(words or b'{"dtype": null}')
            if stored["dtype"] is not None and file is not None and stored["file"] == [file[0], file[1] - is_written]:
                self.dtype = np.lib.format.descr_to_dtype(ast.literal_eval(stored["dtype"]))
                self.shape = None if stored["shape"] is None else tuple(stored["shape"])
                if is_written and group.rank == 0:  # in this session, too
                    self._store(stored["dtype"], stored["shape"])
        except (ValueError, SyntaxError, KeyError, TypeError, RecursionError):
            pass  # another program's file

    # Id and session in the newest slot of NAME.meta (docs/format/vpfile.md, section 2).
    def _file(self):
        try:
            with open(self._data + b".meta", "rb") as meta:
                slots = [meta.read(4096), meta.read(1024)]
            newest = max((slot for slot in slots if slot[:8] == b"TWVPMETA"), key=lambda slot: struct.unpack_from("<Q", slot, 16))
            return [newest[24:40].hex(), *struct.unpack_from("<I", newest, 144)]
        except (OSError, ValueError, struct.error):
            return None

    def written(self, dtype, shape, has_data):
        """Remember that this task writes an array. The first time collective; `dtype` None: its arguments are wrong."""
        if not self._is_written:  # the write fails
            return
        decides, self._is_open = self._is_open, False
        has_data = has_data and dtype is not None
        if decides:
            number = _number_of(dtype) if has_data else None
            high, low, writer = self._group.largest(
                [number, -number, self._group.size - self._group.rank] if has_data else [_NOBODY] * 3)
            if writer == _NOBODY or high != -low:
                return
            root = self._group.size - writer
            mine = None
            if self._group.rank == root:
                mine = repr(np.lib.format.dtype_to_descr(dtype)), shape
                self._store(*mine)
            descr, shape = json.loads(self._group.broadcast(json.dumps(mine).encode(), root))
            self.dtype = np.lib.format.descr_to_dtype(ast.literal_eval(descr))
            self.shape = None if shape is None else tuple(shape)
        elif has_data and self.dtype is not None and dtype != self.dtype:
            self.dtype = self.shape = None
            self._store(None, None)

    # Several tasks may do so at once, with equal words.
    def _store(self, descr, shape):
        temporary = self._name + b".%d" % self._group.rank
        try:
            with open(temporary, "w") as file:
                json.dump({"dtype": descr, "shape": shape, "file": self._file()}, file)
            os.replace(temporary, self._name)
        except OSError as failure:
            warnings.warn(f"{os.fsdecode(self._name)} could not be written, the dtype is not checked: {failure}",
                          RuntimeWarning)

    def check(self, dtype, call, force):
        """The dtype to read: `dtype`, or that of the file where it is None."""
        if dtype is None:
            if self.dtype is None:
                raise InvalidArgument(f"{call}: the file does not say which dtype it has; pass dtype=")
            return self.dtype
        dtype = dtype_of(dtype, call)
        if self.dtype is not None and dtype != self.dtype and not force:
            raise InvalidArgument(f"{call}: the dtype is {dtype}, and that of the file {self.dtype}; with force=True the "
                                  "bytes are read all the same")
        return dtype


def _number_of(dtype):
    digest = hashlib.blake2b(repr(np.lib.format.dtype_to_descr(dtype)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 2
