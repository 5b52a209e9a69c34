"""Thalweg: many streams in few files, at the speed of the storage.

`thalweg.Multifile` opens a *multifile*: ordinary binary files and arrays of many tasks, in few files. `thalweg.File` opens
a *shared file*: one plain file that tasks write and read together. ``thalweg.vp`` opens a *vpfile*: a stream for each
virtual processor of a shape. All work alone, and with the tasks of an mpi4py communicator. What goes wrong is a
``thalweg.Error``, which is an ``OSError``.
"""

from . import errors, file, multifile, view, vp
from ._core import version as __version__
from .errors import (BadIndex, Corrupt, EndOfStream, Error, Exists, InvalidArgument, NewerVersion, NoMemory, NoSpace,
                     NotBuilt, NotClosed, NotFound, OutOfRange, Permission, Stopped, UnknownHint, Unsafe, WrongMode)
from .file import File
from .multifile import Multifile

__all__ = ["File", "Multifile", "file", "multifile", "view", "vp", "errors", "BadIndex", "Corrupt", "EndOfStream", "Error",
           "Exists", "InvalidArgument", "NewerVersion", "NoMemory", "NoSpace", "NotBuilt", "NotClosed", "NotFound",
           "OutOfRange", "Permission", "Stopped", "UnknownHint", "Unsafe", "WrongMode"]
