"""Files that a command writes: which of them it may replace, and whole files only. Standard output of a command."""

import contextlib as _contextlib
import errno as _errno
import fcntl as _fcntl
import os as _os
import pathlib as _pathlib
import re as _re
import stat as _stat
import struct as _struct
import sys as _sys

from .errors import IO_ERROR, UNSAFE, USAGE, MeasureError, failed_call

__all__ = ["checked_file", "may_replace", "replace_file", "put"]

_MARKS = (b"<!-- made by thalweg ", b'{"kind":"run","version":')  # a page or picture; records
_LOCKS = _struct.pack("hhqqi", _fcntl.F_WRLCK, _os.SEEK_SET, 1 << 62, 2, 0)  # of a writer (docs/format/multifile.md, section 8)


def checked_file(option, path, force, kept=()):
    """Check, before any work, a file that an option names.

    Parameters
    ----------
    option : str
        The option, for messages.
    path : str
        The file; "": none is wanted.
    force : bool
        Replace any regular file.
    kept : sequence of str
        Files that are read, which must stay.

    Returns
    -------
    bool
        Whether the file may be replaced, for `replace_file`.

    Raises
    ------
    MeasureError
        "-" is no file, the folder is missing, or the file must stay.
    """
    if not path:
        return False
    if path == "-":
        raise MeasureError(f"{option} takes a file name, not '-'; --json prints the records", USAGE)
    folder = _os.path.dirname(path.rstrip("/"))
    if folder and not _os.path.isdir(folder):
        raise MeasureError(f"cannot create '{path}': the folder '{folder}' does not exist", IO_ERROR)
    return may_replace(path, force, kept)


def may_replace(path, force=False, kept=()):
    """Whether a file may be replaced: records and pages that Thalweg made may be, other files by `force`.

    Raises MeasureError for a file that must stay: no regular one, one of `kept`, made by something else, or being written.
    """
    path = _os.fspath(path)
    try:
        status = _os.lstat(path)
    except OSError:
        return force
    if not _stat.S_ISREG(status.st_mode):
        raise MeasureError(f"refused: '{path}' exists and is not a regular file", UNSAFE)
    for name in kept:
        if _os.path.exists(name) and _os.path.samefile(name, path):
            raise MeasureError(f"refused: '{path}' is a file that is read", UNSAFE)
    if not force and not _is_own(path):
        raise MeasureError(f"refused: '{path}' exists and was not made by this command; choose another name, or replace it "
                           "with --force", UNSAFE)
    with _held(path):
        return True


def _is_own(path):
    try:
        with open(path, "rb") as file:
            begin = file.read(256)
    except OSError:
        return False
    return _MARKS[0] in begin or begin.startswith(_MARKS[1])


@_contextlib.contextmanager
def _held(path):
    """Hold the locks of a writer on a regular file, so that none that a program is writing is replaced. A further file of a
    multifile or vpfile has no locks of its own."""
    with _contextlib.ExitStack() as locks:
        for name in (path, *_re.findall(r"^(.+)\.(?:meta|first|dir|batches|\d{6,})$", path, _re.DOTALL)):
            locks.enter_context(_locked(name, path))
        yield


@_contextlib.contextmanager
def _locked(name, path):
    """Hold the locks of one file; `path` is named where another program has them."""
    try:
        file = _os.open(name, _os.O_RDWR | _os.O_CLOEXEC | _os.O_NONBLOCK | _os.O_NOFOLLOW)
    except OSError:  # missing, or not writable: then nobody writes it by this name
        yield
        return
    try:
        _fcntl.fcntl(file, _fcntl.F_OFD_SETLK, _LOCKS)
    except OSError as error:
        if error.errno in (_errno.EAGAIN, _errno.EACCES):
            _os.close(file)
            raise MeasureError(f"refused: '{path}' is being written by another program", UNSAFE) from None
    try:
        yield  # also on a file system without locks
    finally:
        _os.close(file)


def replace_file(path, text, replace):
    """Write a text file; the old one stays until the new one is whole, and also where `replace` is false.

    Raises
    ------
    MeasureError
        A call of the system failed, or another program is writing the file.
    """
    path = _os.fspath(path)
    passing = f"{path}.part-{_os.getpid()}"
    try:
        with open(passing, "x", encoding="utf-8", errors="backslashreplace") as file, _contextlib.ExitStack() as cleanup:
            cleanup.callback(_pathlib.Path(passing).unlink, missing_ok=True)
            file.write(text)
            file.flush()
            if replace:
                with _held(path):
                    _os.replace(passing, path)
            else:
                _move(passing, path)
    except OSError as error:
        raise failed_call("write", path, error) from error


def _move(passing, path):
    """Rename, never over another file."""
    try:
        _os.link(passing, path)
    except OSError as error:
        if error.errno == _errno.EEXIST or _os.path.lexists(path):
            raise OSError(_errno.EEXIST, _os.strerror(_errno.EEXIST)) from None
        _os.rename(passing, path)  # a file system without links


def put(text):
    """Write to standard output. Raises BrokenPipeError where its reader has gone, and MeasureError where it takes no more."""
    try:
        _sys.stdout.write(text)
        _sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise MeasureError(f"cannot write to standard output: {error.strerror}", IO_ERROR) from error
