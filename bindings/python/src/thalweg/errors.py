"""What can go wrong: a class for each group of status codes. All are ``OSError``.

Where an exception comes from a collective call, every task of the communicator raises one of the same class.
"""

import errno as _errno
import io as _io

from . import _core

__all__ = ["Error", "InvalidArgument", "UnknownHint", "OutOfRange", "BadIndex", "WrongMode", "NotFound", "Exists",
           "Permission", "Unsafe", "NoSpace", "NoMemory", "Corrupt", "NewerVersion", "NotClosed", "Stopped", "NotBuilt",
           "EndOfStream"]


class Error(OSError):
    """Something went wrong; the subclass says what, ``str()`` in words with the file and the way out.

    Attributes
    ----------
    errno : int
        Of the system call that failed, else the one that fits best.
    status : str
        Name of the status code of the library, such as ``"TW_ERR_NOT_CLOSED"``; ``""`` for what Python found.
    health : thalweg.vp.Health or None
        What `thalweg.vp.verify` and `thalweg.vp.repair` found.
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
    """An argument is not what it may be, or the file is closed already. Nothing was moved. Also a ``ValueError``."""

    _errno = _errno.EINVAL


class UnknownHint(InvalidArgument):
    """No hint has that name, or its value cannot be read; ``thalweg hints`` lists them."""


class OutOfRange(InvalidArgument, OverflowError):
    """A position, or a number of bytes, exceeds what a stream may have. Also an ``OverflowError``."""

    _errno = _errno.EOVERFLOW


class BadIndex(InvalidArgument, IndexError):
    """No virtual processor of this task has that index. Also an ``IndexError``."""


class WrongMode(Error, _io.UnsupportedOperation):
    """The file is not open for that. Also an ``io.UnsupportedOperation``, as files of Python have it."""

    _errno = _errno.EBADF


class NotFound(Error, FileNotFoundError):
    """There is no such file. Also a ``FileNotFoundError``."""

    _errno = _errno.ENOENT


class Exists(Error, FileExistsError):
    """It exists already. Also a ``FileExistsError``."""

    _errno = _errno.EEXIST


class Permission(Error, PermissionError):
    """The system refused access. Also a ``PermissionError``."""

    _errno = _errno.EACCES


class Unsafe(Error):
    """Refused because it could harm other files, as one of another format, or because another program writes this one."""

    _errno = _errno.EBUSY


class NoSpace(Error):
    """The file system is full, the quota is used up, or the file is too large for it."""

    _errno = _errno.ENOSPC


class NoMemory(Error, MemoryError):
    """Memory could not be had. Also a ``MemoryError``."""

    _errno = _errno.ENOMEM


class Corrupt(Error):
    """Bytes on disk contradict their checksum or the format."""

    _errno = _errno.EIO


class NewerVersion(Error):
    """The file was written by another version, newer or older, or needs what this build lacks."""

    _errno = _errno.ENOTSUP


class NotClosed(Error):
    """The program that wrote the file did not close it; repair it first."""

    _errno = _errno.EUCLEAN


class Stopped(Error):
    """A callback asked to stop."""

    _errno = _errno.ECANCELED


class NotBuilt(Error):
    """This build lacks that part."""

    _errno = _errno.ENOSYS


class EndOfStream(Error, EOFError):
    """Streams ended before all that was asked for. Also an ``EOFError``.

    All tasks raise it, when any of them met the end of a stream. Positions are behind what was there.

    Attributes
    ----------
    array : numpy.ndarray
        What was read, as the call would have returned it; items that were not there have the fill value.
    counts : numpy.ndarray of int64, shape `local_shape`
        Whole items that each virtual processor got; 0 of those that took no part.
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
        That of the system call; 0: none.
    message : str
        In words.
    cause : BaseException or None
        What a callback raised, which becomes the ``__cause__``; a ``KeyboardInterrupt`` is returned itself.

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
