"""Shared by the classes of open files: their group, and how they end."""

import os
import shlex
import sys
import warnings

from . import _arguments, _core
from .errors import InvalidArgument, WrongMode


def group_of(comm):
    """The group of the tasks of a communicator of mpi4py, or of this task alone. Collective."""
    if comm is None:
        return _core.Group()
    from . import _mpi
    return _core.Group(_mpi.transport(comm))


class OpenFile:
    """Has `_core`, the handle, None once it is closed, `_group`, `name` and `open_mode`; close() and abandon()."""

    _core = None
    _kind = "file"
    _remedy = ""  # for a file that was written and not closed, behind its name

    @property
    def closed(self):
        """bool: whether the file is closed."""
        return self._core is None

    @property
    def _file(self):
        if self._core is None:
            raise InvalidArgument(f"{self._kind} {self.name!r} is closed")
        return self._core

    def readable(self):
        """bool: whether the file is open for reading."""
        return self.open_mode[:1] == "r" or "+" in self.open_mode

    def writable(self):
        """bool: whether the file is open for writing."""
        return self.open_mode[:1] != "r" or "+" in self.open_mode

    def _together(self, mine, act):
        return _arguments.together(self._group, mine, act)

    def __enter__(self):
        """Return the file; leaving the ``with`` statement closes it. Collective."""
        _ = self._file
        return self

    def __exit__(self, *exception):
        """Close the file, which is collective; or `abandon` it when an exception leaves the ``with`` statement."""
        if exception[0] is None:
            self.close()
            return
        try:
            self.abandon()
        except OSError as failure:
            warnings.warn(f"{self!r} was abandoned, and not all of it could be stored: {failure}", RuntimeWarning)

    # The file was not closed, and the other ranks may be elsewhere.
    def __del__(self):
        if self._core is None:
            return
        state = repr(self)
        told = state
        tells = self.writable() and self._group.rank == 0
        try:
            self.abandon()
        except WrongMode:  # a child of the opening process
            return
        except OSError as failure:
            told += f", not all of which could be stored ({failure}),"
        warnings.warn(f"unclosed {state}", ResourceWarning, source=self)
        if tells and sys.stderr is not None:
            remedy = self._remedy.format(shlex.quote(os.fsdecode(self.name)))
            print(f"thalweg: {told} was not closed{remedy}", file=sys.stderr)
