"""Exceptions: a class for each group of status codes. All are ``OSError``.

After a failed collective call every task of the communicator raises an exception of one class.
"""

import errno as _errno
import io as _io

from . import _core

__all__ = ["Error", "InvalidArgument", "UnknownHint", "OutOfRange", "BadIndex", "WrongMode", "NotFound", "Exists",
           "Permission", "Unsafe", "NoSpace", "NoMemory", "Corrupt", "NewerVersion", "NotClosed", "Stopped", "NotBuilt",
           "EndOfStream"]


class Error(OSError):
    """Base of all exceptions; ``str()`` names the failure, the file and the remedy.

    Attributes
    ----------
    errno : int
        Errno of the failed system call, otherwise the closest one.
    status : str
        Name of the status code of the library, such as ``"TW_ERR_NOT_CLOSED"``; ``""`` for errors found in Python.
    health : thalweg.vp.Health or None
        Result of `thalweg.vp.verify` or `thalweg.vp.repair`.
    """

    status = ""
    health = None
    _errno = _errno.EIO

    def __init__(self, *args):
        super().__init__(*args)
        if len(args) == 1 and self.errno is None:
            self.errno = self._errno
            self.strerror = args[0]

    def __str__(self):
        return str(self.strerror) if self.strerror is not None else super().__str__()


class InvalidArgument(Error, ValueError):
    """An argument is invalid, or the file is closed. No bytes were moved. Also a ``ValueError``."""

    _errno = _errno.EINVAL


class UnknownHint(InvalidArgument):
    """The name or value of a hint is unknown; ``thalweg hints`` lists all hints."""


class OutOfRange(InvalidArgument, OverflowError):
    """A position or number of bytes exceeds the limit of a stream. Also an ``OverflowError``."""

    _errno = _errno.EOVERFLOW


class BadIndex(InvalidArgument, IndexError):
    """The index belongs to no virtual processor of this task. Also an ``IndexError``."""


class WrongMode(Error, _io.UnsupportedOperation):
    """The file is not open for this access. Also an ``io.UnsupportedOperation``, like that of Python's files."""

    _errno = _errno.EBADF


class NotFound(Error, FileNotFoundError):
    """The file does not exist. Also a ``FileNotFoundError``."""

    _errno = _errno.ENOENT


class Exists(Error, FileExistsError):
    """The file exists. Also a ``FileExistsError``."""

    _errno = _errno.EEXIST


class Permission(Error, PermissionError):
    """The system refused access. Also a ``PermissionError``."""

    _errno = _errno.EACCES


class Unsafe(Error):
    """Refused to protect a file: it has another format, or another program is writing it."""

    _errno = _errno.EBUSY


class NoSpace(Error):
    """The file system is full, the quota is used up, or the file is too large for it."""

    _errno = _errno.ENOSPC


class NoMemory(Error, MemoryError):
    """Out of memory. Also a ``MemoryError``."""

    _errno = _errno.ENOMEM


class Corrupt(Error):
    """Bytes on disk contradict their checksum or the format."""

    _errno = _errno.EIO


class NewerVersion(Error):
    """The file was written by another version, newer or older, or needs a part that this build lacks."""

    _errno = _errno.ENOTSUP


class NotClosed(Error):
    """The program that wrote the file did not close it; repair it first."""

    _errno = _errno.EUCLEAN


class Stopped(Error):
    """A callback stopped the operation."""

    _errno = _errno.ECANCELED


class NotBuilt(Error):
    """This build lacks that part."""

    _errno = _errno.ENOSYS


class EndOfStream(Error, EOFError):
    """Some streams ended before the requested items. Also an ``EOFError``.

    All tasks raise it when any of them reached the end of a stream. Positions are after the items read.

    Attributes
    ----------
    array : numpy.ndarray
        The items read, as the call would have returned them; missing items have the fill value.
    counts : numpy.ndarray of int64, shape `local_shape`
        Whole items read by each virtual processor; 0 for those that took no part.
    """

    _errno = _errno.ENODATA
    array = None
    counts = None


_CLASSES = {
    "INVALID": InvalidArgument, "UNKNOWN_HINT": UnknownHint, "RANGE": OutOfRange, "MODE": WrongMode,
    "NOT_FOUND": NotFound, "EXISTS": Exists, "PERMISSION": Permission, "UNSAFE": Unsafe, "IO": Error,
    "NO_SPACE": NoSpace, "NO_MEMORY": NoMemory, "CORRUPT": Corrupt, "VERSION": NewerVersion, "NOT_CLOSED": NotClosed,
    "STOPPED": Stopped, "NOT_BUILT": NotBuilt, "INTERNAL": Error,
}
_NAMES = {code: name for name, code in _core.status.items()}


def from_status(status, errno, message, cause=None):
    """Make the exception for a failure of the library.

    Parameters
    ----------
    status : int
        The code, below 0.
    errno : int
        Errno of the system call; 0: none.
    message : str
        Text of the message.
    cause : BaseException or None
        Exception of a callback, which becomes the ``__cause__``; a ``KeyboardInterrupt`` is returned itself.

    Returns
    -------
    BaseException
    """
    if cause is not None and not isinstance(cause, Exception):
        return cause
    name = _NAMES.get(status, "INTERNAL")
    kind = _CLASSES[name]
    error = kind(errno or kind._errno, message)
    error.status = "TW_ERR_" + name
    error.__cause__ = cause
    return error
