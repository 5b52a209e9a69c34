"""Thalweg: many streams in few files, at the speed of the storage.

`thalweg.Multifile` opens a *multifile*: ordinary binary files and arrays of many tasks, in few files. ``thalweg.vp`` opens a *vpfile*: a stream for each virtual processor of a shape, written from and read into NumPy
arrays. It works alone, and with the tasks of an mpi4py communicator. What goes wrong is a ``thalweg.Error``, which is an
``OSError``.
"""

from . import errors, multifile, vp
from ._core import version as __version__
from .errors import (BadIndex, Corrupt, EndOfStream, Error, Exists, InvalidArgument, NewerVersion, NoMemory, NoSpace,
                     NotBuilt, NotClosed, NotFound, OutOfRange, Permission, Stopped, UnknownHint, Unsafe, WrongMode)
from .multifile import Multifile

__all__ = ["Multifile", "multifile", "vp", "errors", "BadIndex", "Corrupt", "EndOfStream", "Error", "Exists", "InvalidArgument", "NewerVersion",
           "NoMemory", "NoSpace", "NotBuilt", "NotClosed", "NotFound", "OutOfRange", "Permission", "Stopped",
           "UnknownHint", "Unsafe", "WrongMode"]
