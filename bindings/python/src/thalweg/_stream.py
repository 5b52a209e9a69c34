"""One virtual processor (VP) of an open vpfile as a Python file object."""

import io
import os

from ._arguments import number
from .errors import InvalidArgument, WrongMode


class Stream(io.RawIOBase):
    """The stream of one VP, unbuffered, with a position of its own."""

    def __init__(self, file, vp, index):
        self._owner = file
        self._vp = vp
        self._at = 0
        self.name = f"{os.fsdecode(file.name)}[{', '.join(map(str, index))}]"
        self.mode = "rb+" if file.readable() and file.writable() else "rb" if file.readable() else "wb"

    def readable(self):
        return self._owner.readable()

    def writable(self):
        return self._owner.writable()

    def seekable(self):
        return True

    def readinto(self, buffer):
        if not self.readable():
            raise WrongMode(f"{self.name} is not open for reading")
        n = self._owner._file.read_at(self._vp, self._at, buffer)
        self._at += n
        return n

    def write(self, data):
        if not self.writable():
            raise WrongMode(f"{self.name} is not open for writing")
        with memoryview(data) as view:
            n = view.nbytes
            self._at = self._owner._file.write_at(self._vp, self._at, view)
        return n

    def tell(self):
        return self._at

    def seek(self, offset, whence=0):
        base = 0 if whence == 0 else self._at if whence == 1 else None
        if whence == 2:
            base = self._owner._file.size(self._vp)
        if base is None or base + offset < 0:
            raise InvalidArgument(f"{self.name}: cannot seek by {offset} with whence {whence}")
        self._at = number(base + offset, f"{self.name}: the position")
        return self._at
