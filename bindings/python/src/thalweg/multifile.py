"""The multifile: each task writes and reads logical files of its own, which lie in few physical files.

>>> import numpy as np, thalweg
>>> with thalweg.Multifile(path, "w") as mf:
...     mf.add("run7/log.txt").write(b"step 1\\n")   # an ordinary binary file
...     mf.save("u", np.zeros((256, 128)))           # an array, with its dtype, shape and order
>>> with thalweg.Multifile(path) as mf:
...     text = mf["run7/log.txt"].read()
...     column = mf.load("u", (slice(None), 5))      # reads what it needs

With ``comm=``, an mpi4py communicator, the tasks open one multifile together: `open` and `close` are *collective*, all
other calls are made by each task alone.
"""

import collections.abc as _abc
import dataclasses as _dataclasses
import functools as _functools
import io as _io
import math as _math
import os as _os
import threading as _threading
import weakref as _weakref
from html import escape as _escape

import numpy as _np

from . import _arguments, _array_stream, _core
from ._open_file import OpenFile as _OpenFile, group_of as _group_of
from .errors import BadIndex, Corrupt, InvalidArgument, NotFound, WrongMode

__all__ = ["Multifile", "Array", "Entry", "Request"]


@_dataclasses.dataclass(frozen=True)
class Entry:
    """A logical file of a multifile that is open for reading.

    Attributes
    ----------
    rank : int
        Its number.
    name : str
        Its name, "" for none; bytes that are no UTF-8 as of `os.fsdecode`.
    nbytes : int
        Bytes of its content.
    permissions : int
        A POSIX mode, as ``st_mode``; 0 for none.
    part : int or None
        Number of the part of a distributed array.
    """

    rank: int
    name: str
    nbytes: int
    permissions: int = 0
    part: int | None = None


class Request:
    """An operation that goes on while the program computes; made by `Multifile.iflush`, `File.iwrite_at` and others.

    ``await request`` waits for it in a thread of the event loop's executor.
    """

    def __init__(self, core):
        self._core = core
        self._failure = None  # raised by every later call, as the library tells it once

    def _ask(self, question):
        if self._failure is None:
            try:
                return question()
            except OSError as failure:
                self._failure = failure
        raise self._failure

    def wait(self):
        """Wait until it is complete.

        Returns
        -------
        int
            Bytes that this task moved; 0 for a flush or sync.

        Raises
        ------
        thalweg.Error, thalweg.NoSpace
            Bytes could not be moved.
        """
        return self._ask(self._core.wait)

    def done(self):
        """Whether it is complete.

        Returns
        -------
        bool

        Raises
        ------
        thalweg.Error, thalweg.NoSpace
            It is complete, and bytes could not be moved.
        """
        return self._ask(self._core.done)

    def _is_over(self):
        try:
            return self.done()
        except OSError:
            return True

    def __await__(self):
        import asyncio
        return asyncio.get_running_loop().run_in_executor(None, self.wait).__await__()


class _Stream(_io.RawIOBase):
    """One logical file, unbuffered, with a position of its own."""

    def __init__(self, owner, rank, name, at):
        self._owner = owner
        self._rank = rank
        self._at = at
        self.name = name
        self.mode = "rb" if owner.readable() else "wb"

    def readable(self):
        return self._owner.readable()

    def writable(self):
        return self._owner.writable()

    def seekable(self):
        return True

    def readinto(self, buffer):
        if not self.readable():
            raise WrongMode(f"{self.name} is not open for reading")
        n = self._owner._reader.read_at(self._rank, self._at, buffer)
        self._at += n
        return n

    def readall(self):
        rest = bytearray(max(self._owner._reader.size(self._rank) - self._at, 0))
        n = self.readinto(rest)
        return bytes(rest[:n])

    # A buffer may be written when nobody hears of a failure any more: the multifile keeps it.
    def write(self, data):
        if not self.writable():
            raise WrongMode(f"{self.name} is not open for writing")
        with memoryview(data) as view:
            try:
                self._owner._file.write_at(self._rank, self._at, view)
            except OSError as failure:
                self._owner._failure = self._owner._failure or failure
                raise
            self._at += view.nbytes
            return view.nbytes

    def tell(self):
        return self._at

    def seek(self, offset, whence=0):
        base = 0 if whence == 0 else self._at if whence == 1 else None
        if whence == 2:
            base = (self._owner._reader if self.readable() else self._owner._file).size(self._rank)
        if base is None or base + offset < 0:
            raise InvalidArgument(f"{self.name}: cannot seek by {offset} with whence {whence}")
        self._at = _arguments.number(base + offset, f"{self.name}: the position")
        return self._at


class Array:
    """An array of a multifile that is open for reading, made by `Multifile.array`. Its elements are read when it is indexed.

    ``a[key]`` takes integers, slices and Ellipsis, as `Multifile.load`; ``numpy.asarray(a)`` reads all of it, and
    ``dask.array.from_array(a)`` parts of it. Threads may share it; the multifile serialises their calls.

    Attributes
    ----------
    name : str
    dtype : numpy.dtype
    shape : tuple of int
        Of the whole array where it is distributed.
    dims : tuple of str or None
        Names of the dimensions, if `Multifile.save` was given any.
    """

    def __init__(self, name, parts, is_whole, dims):
        first = parts[0]
        self.name = name
        self.dtype = first.dtype
        self.shape = first.shape if is_whole else tuple(first.place["shape"])
        self.dims = dims if dims is not None and len(dims) == len(self.shape) else None
        self._parts = parts
        self._is_whole = is_whole
        self._is_fortran = first.is_fortran
        faster = [self.shape[:d] if first.is_fortran else self.shape[d + 1 :] for d in range(self.ndim)]
        self._strides = [self.dtype.itemsize * _math.prod(extents) for extents in faster]

    def __repr__(self):
        return f"<array {self.name!r} in a multifile, {self.dtype}, shape {self.shape}>"

    @property
    def ndim(self):
        """int: number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """int: number of elements."""
        return _math.prod(self.shape)

    @property
    def nbytes(self):
        """int: bytes of its elements."""
        return self.size * self.dtype.itemsize

    def __len__(self):
        if not self.shape:
            raise TypeError(f"array {self.name!r} has no dimension, and so no length")
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError(f"array {self.name!r} lies in a file: it cannot become one in memory without a copy")
        return self[...] if dtype is None else self[...].astype(dtype, copy=False)

    def __getitem__(self, key):
        return self._select(_array_stream.indices_of(key, self.shape, self.name))

    def _select(self, indices):
        return _array_stream.select(self._read, indices, self.shape, self._strides)

    def _read(self, box):
        if self._is_whole:
            return self._parts[0].read(box)
        found = _np.zeros([part.stop - part.start for part in box], self.dtype, "F" if self._is_fortran else "C")
        for stored in self._parts:
            self._add_part(found, box, stored)
        return found

    @staticmethod
    def _add_part(found, box, stored):
        from_, to = [], []
        for wanted, first, n in zip(box, stored.place["start"], stored.shape):
            low, high = max(wanted.start, first), min(wanted.stop, first + n)
            if low >= high:
                return
            from_.append(slice(low - first, high - first))
            to.append(slice(low - wanted.start, high - wanted.start))
        found[tuple(to)] = stored.read(tuple(from_))


class _Attributes(_abc.MutableMapping):
    """The key/value pairs of a multifile: keys are str, values bytes; str is stored as UTF-8."""

    def __init__(self, owner):
        self._owner = owner

    def __getitem__(self, key):
        value = self._owner._file.attribute(_arguments.text(key).encode()) if isinstance(key, str) else None
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        if not isinstance(value, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"attribute {key!r}: a value is str or bytes, not {type(value).__name__}")
        stored = value.encode() if isinstance(value, str) else bytes(value)
        self._owner._file.set_attribute(_arguments.text(key).encode(), stored)

    def __delitem__(self, key):
        raise WrongMode(f"attribute {key!r}: a multifile keeps its attributes; set another value")

    def __iter__(self):
        return iter([key.decode(errors="surrogateescape") for key in self._owner._file.attribute_keys()])

    def __len__(self):
        return len(self._owner._file.attribute_keys())


class Multifile(_OpenFile):
    """An open multifile. Collective.

    ``mf[rank]`` and ``mf["name"]`` are ordinary binary files, each with a position of its own. Threads of a task may share
    a multifile; their calls are serialised.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the first physical file; others, PATH.000001, ..., are in its folder.
    mode : {"r", "w", "a", "x"}, default "r"
        As for ``builtins.open``; a ``b`` is ignored. "a" writes at the end of each logical file, and adds others.
    comm : mpi4py.MPI.Intracomm, optional
        The tasks that open the file together; it is duplicated. None: this task alone.
    n_logical : int, optional
        With "w" and "x" the number of logical files that are numbered, equal on all tasks; needs `ranks`. Default: one for
        each task. 0 for a multifile that has only what tasks add by names.
    ranks : sequence of int, optional
        The logical files that this task serves. Default: an even share, all of them without `comm`.
    recover : bool, default False
        With "r": read what is whole of a multifile that was not closed.
    hints : dict or str, optional
        ``{"chunk_bytes": "4MiB"}`` or ``"chunk_bytes=4MiB"``.

    Attributes
    ----------
    name : str, bytes
        The path of the open.
    open_mode : str
        The mode of the open, without a ``b``.
    attributes : collections.abc.MutableMapping
        Key/value pairs of the multifile: str and bytes.

    Raises
    ------
    thalweg.InvalidArgument, thalweg.UnknownHint
        An argument is invalid.
    thalweg.NotFound, thalweg.Exists, thalweg.Permission, thalweg.NoSpace, thalweg.Error
        An error of the system.
    thalweg.NotClosed, thalweg.Corrupt, thalweg.NewerVersion, thalweg.Unsafe
        The file cannot be opened in its state.
    TypeError
        `comm` is not a communicator.

    References
    ----------
    .. [1] Frings, Wolf, Petkov, "Scalable massively parallel I/O to task-local files", SC'09.
    """

    _kind = "multifile"
    _remedy = "; `thalweg repair {}` makes it readable"

    def __init__(self, path, mode="r", *, comm=None, n_logical=None, ranks=None, recover=False, hints=None):
        self._group = _group_of(comm)
        self.open_mode = str(mode).replace("b", "")

        def prepare():
            if n_logical is not None and ranks is None and n_logical != 0:
                raise InvalidArgument("n_logical needs ranks: the logical files that this task serves")
            served = [] if n_logical == 0 and ranks is None else ranks
            numbers = None if served is None else [_arguments.number(rank, "a rank") for rank in served]
            total = -1 if n_logical is None else _arguments.number(n_logical, "n_logical")
            if total < -1 or min(numbers or [0]) < 0:
                raise InvalidArgument(f"n_logical is {n_logical}, ranks are {ranks}; 0 or more")
            return (_arguments.path_bytes(path), _arguments.text(str(mode)), total, numbers, bool(recover),
                    _arguments.hints_text(hints))

        made, mine = _arguments.attempt(prepare)
        core = self._together(mine, lambda: _core.Multifile(self._group, *(made or (None, "r", -1, None, False, ""))))
        self.name = _os.fspath(path)
        self.attributes = _Attributes(self)
        self._streams = _weakref.WeakSet()
        self._numbered = {}  # files for writing, by rank
        self._requests = []
        self._saved = set()  # names of distributed arrays
        self._failure = None  # of a file that nobody may have heard of
        self._arguments = made
        self._alone = None
        self._lock = _threading.Lock()
        self._core = core

    def __repr__(self):
        return f"<{'closed ' if self.closed else ''}multifile {self.name!r}, mode {self.open_mode!r}>"

    def _repr_html_(self):
        if self.closed:
            return f"<code>closed multifile {_escape(repr(self.name))}</code>"
        rows = "".join(f"<tr><th>{key}</th><td>{_escape(str(value))}</td></tr>" for key, value in self.info().items())
        return f"<table><caption>multifile {_escape(repr(self.name))}</caption>{rows}</table>"

    # The handle that reads any logical file. The handle of a group serves a share only, so that this task opens another one.
    @property
    def _reader(self):
        core = self._file
        if self._group.size == 1 or self.writable():
            return core
        with self._lock:
            if self._alone is None:
                self._alone = _core.Multifile(_core.Group(), *self._arguments[:3], None, *self._arguments[4:])
            return self._alone

    def info(self):
        """Properties of the multifile.

        Returns
        -------
        dict
            n_logical, n_physical (files that exist), n_planned, sessions, closed, recovered, checksum, alignment_bytes,
            granule_bytes, uuid, and strategy: what is in force and why, in words.
        """
        return self._file.summary()

    # ---- Logical files --------------------------------------------------------------------------------------------

    def __len__(self):
        """Number of logical files; of a multifile that is written without those that were added."""
        return self.info()["n_logical"]

    def __iter__(self):
        """Go through all logical files, as `entries`."""
        return self.entries()

    def entries(self, prefix=""):
        """Go through the logical files whose names begin with `prefix`, in order of ranks. Open for reading.

        Parameters
        ----------
        prefix : str, default ""
            Begin of the name; "" for all, those without a name too.

        Yields
        ------
        Entry
            Logical files of which nothing is stored, neither bytes nor a name, are left out where `prefix` is given.
        """
        begins = _os.fsencode(prefix)
        n = len(self)
        rank = 0
        while rank < n:
            if prefix:
                last = self._reader.alike(rank)
                if last > rank:
                    rank = last + 1
                    continue
            name, permissions, part = self._reader.name(rank)
            if name.startswith(begins):
                yield Entry(rank, _os.fsdecode(name), self._reader.size(rank), permissions, None if part < 0 else part)
            rank += 1

    def names(self, prefix=""):
        """Names that begin with `prefix`, in order of ranks; that of a distributed array once. Open for reading.

        Parameters
        ----------
        prefix : str, default ""
            Begin of the name.

        Yields
        ------
        str
        """
        return (entry.name for entry in self.entries(prefix) if entry.name and not entry.part)

    def arrays(self, prefix=""):
        """Names of the arrays that `array` and `load` read, that begin with `prefix`. Open for reading.

        The first bytes of every logical file that has such a name are read.

        Parameters
        ----------
        prefix : str, default ""
            Begin of the name.

        Yields
        ------
        str
        """
        for name, rank in {entry.name: entry.rank for entry in self.entries(prefix) if entry.name}.items():
            last = max(self._find(name, None), self._find(name, 0))
            if _array_stream.begins_in(_functools.partial(self._reader.read_at, rank if last < 0 else last)):
                yield name

    def find(self, name, part=None):
        """The rank of the logical file of a name, the one that was added last. Open for reading; takes few reads.

        Parameters
        ----------
        name : str or bytes
        part : int, optional
            Number of the part of a distributed array.

        Returns
        -------
        int

        Raises
        ------
        thalweg.NotFound
            There is none.
        """
        rank = self._find(name, part)
        if rank < 0:
            of_part = "" if part is None else f", part {part}"
            if part is None and self._find(name, 0) >= 0:
                raise NotFound(f"{_os.fsdecode(self.name)}: {name!r} is an array in parts: load() reads it, find() one part")
            raise NotFound(f"{_os.fsdecode(self.name)}: no logical file is called {name!r}{of_part}")
        return rank

    def _find(self, name, part):
        return self._reader.find(_arguments.path_bytes(name), -1 if part is None else _arguments.number(part, "part"))

    def __contains__(self, name):
        return max(self._find(name, None), self._find(name, 0)) >= 0

    def __getitem__(self, key):
        """A logical file as a binary file object.

        Parameters
        ----------
        key : int, str or bytes
            Its rank, or its name where the multifile is open for reading.

        Returns
        -------
        io.BufferedReader or io.BufferedWriter
            For reading at position 0. For writing at the end; as long as it is open, it is the one that was handed out
            before. What it holds in memory is written by every call of the multifile that stores data. numpy, pickle, json,
            zipfile and ``io.TextIOWrapper`` take it; close a wrapper before the multifile, which does not know what the
            wrapper holds.

        Raises
        ------
        thalweg.NotFound
            There is none, or, for writing, this task does not serve it.
        """
        if isinstance(key, (str, bytes)):
            return self._stream(self.find(key), _os.fsdecode(key))
        rank = _arguments.number(key, "a rank")
        name = f"{_os.fsdecode(self.name)}[{rank}]"
        if rank < 0:
            raise BadIndex(f"{name}: ranks begin at 0" if key != -1 else f"{_os.fsdecode(self.name)}: this task serves no "
                           "logical file; pass ranks, or add one by a name")
        if self.readable():
            self._reader.check_rank(rank)
            return self._stream(rank, name)
        kept = self._numbered.get(rank)
        if kept is None or kept.closed:
            self._file.check_rank(rank)
            kept = self._numbered[rank] = self._stream(rank, name)
        return kept

    @property
    def mine(self):
        """io.BufferedReader or io.BufferedWriter: the first logical file that this task serves."""
        return self[self._file.current()]

    def _stream(self, rank, name):
        raw = _Stream(self, rank, name, self._file.size(rank) if self.writable() else 0)
        stream = _io.BufferedReader(raw) if self.readable() else _io.BufferedWriter(raw)
        self._streams.add(stream)
        return stream

    def add(self, name, part=None, permissions=0):
        """Add a logical file by a name. Needs no message: any task, any time. Open for writing.

        Parameters
        ----------
        name : str or bytes
            1 to 4096 bytes without NUL; "/" between directories. Where several have one name, all are kept.
        part : int, optional
            Number of the part of a distributed array, at least 0: parts of one name are no duplicates.
        permissions : int, default 0
            A POSIX mode, as ``st_mode``.

        Returns
        -------
        io.BufferedWriter
        """
        return self._stream(self._add(name, part, permissions), _os.fsdecode(name))

    def _add(self, name, part, permissions):
        number = -1 if part is None else _arguments.number(part, "part")
        if part is not None and number < 0:
            raise InvalidArgument(f"add: part is {part}; 0 or more")
        return self._file.add(_arguments.path_bytes(name), number, permissions)

    def set_name(self, rank, name, permissions=0):
        """Name a numbered logical file that this task serves. Open for writing.

        Parameters
        ----------
        rank : int
        name : str or bytes
        permissions : int, default 0
        """
        self._file.set_name(_arguments.number(rank, "a rank"), _arguments.path_bytes(name), permissions)

    # ---- Arrays ---------------------------------------------------------------------------------------------------

    def save(self, name, array, *, start=None, shape=None, dims=None):
        """Add an array as a logical file, which is an .npy file. Open for writing.

        Parameters
        ----------
        name : str or bytes
        array : array_like
            Of any dtype without Python objects, any strides; C and Fortran order are kept. Written when the call returns,
            as far as `flush` and `close` say.
        start, shape : sequence of int, optional
            For a distributed array: where the part of this task begins, and the shape of the whole array. Each task of the
            multifile saves one part of a name, which may be empty.
        dims : sequence of str, optional
            Names of the dimensions, for `Array.dims` and xarray; of a distributed array at least one task passes them. They
            are kept as the attribute "dims:NAME", separated by commas, and hold for every array of that name.

        Raises
        ------
        thalweg.InvalidArgument
            The part does not lie in the array, this task has saved one of that name, the dtype has objects, or `dims` are no
            names of its dimensions. Nothing was added.
        """
        array = _np.asanyarray(array)
        header = _array_stream.header_of(array)
        if dims is not None:
            dims = [dims] if isinstance(dims, str) else list(dims)
            names = {dim for dim in dims if isinstance(dim, str) and dim and "," not in dim}
            if len(dims) != array.ndim or len(names) != array.ndim:
                raise InvalidArgument(f"save: dims are {dims} for an array of {array.ndim} dimensions; pass a name for each, "
                                      "all different, without a comma")
        place, part = b"", None
        if start is not None or shape is not None:
            whole = _arguments.extents(shape)
            first = [0] * len(whole) if start is None else _arguments.extents(start)
            fits = len(first) == len(whole) == array.ndim and all(
                0 <= a and a + n <= extent for a, n, extent in zip(first, array.shape, whole))
            if not fits:
                raise InvalidArgument(f"save: a part of shape {array.shape} at {first} does not lie in an array of shape "
                                      f"{whole}")
            if _arguments.path_bytes(name) in self._saved:
                raise InvalidArgument(f"save: this task has saved its part of {name!r}; pass another name, or the parts of a "
                                      "task in one array")
            part = self._group.rank
            place = _array_stream.place_of(first, whole, self._group.size, self.info()["sessions"])
        if dims is not None:
            self.attributes["dims:" + _os.fsdecode(name)] = ",".join(dims)
        rank = self._add(name, part, 0)
        if part is not None:
            self._saved.add(_arguments.path_bytes(name))
        at = 0
        for piece in (header, _array_stream.bytes_of(array), place):
            if len(piece):
                self._file.write_at(rank, at, piece)
                at += len(piece)

    def load(self, name, key=Ellipsis):
        """Read an array, or a part of it, that `save` stored, from however many tasks stored it. Open for reading.

        Parameters
        ----------
        name : str or bytes
            Also the name of an .npy file that was packed.
        key : int, slice, Ellipsis, or tuple of them, default Ellipsis
            What to read, as ``array[key]``. Runs of bytes that it needs are read; runs shorter than 64 KiB with what lies
            between them. Elements that no task stored are 0.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        thalweg.NotFound
            Nothing has that name.
        thalweg.InvalidArgument
            It is no array.
        thalweg.Corrupt
            Bytes or parts are damaged or missing, or the parts are not of one save.
        IndexError
            `key` does not fit the shape.
        """
        return self.array(name)[key]

    def array(self, name):
        """An array that `save` stored, whose elements are read when it is indexed. Open for reading.

        Parameters
        ----------
        name : str or bytes
            Also the name of an .npy file that was packed. Of several arrays of one name it is the one that was saved last.

        Returns
        -------
        Array
            Valid until the multifile is closed.

        Raises
        ------
        thalweg.NotFound, thalweg.InvalidArgument, thalweg.Corrupt
            As `load`.
        """
        whole, part = self._find(name, None), self._find(name, 0)
        if max(whole, part) < 0:
            self.find(name)  # raises
        parts = [self._stored(whole, name)] if whole > part else self._parts(name)
        return Array(_os.fsdecode(name), parts, whole > part, self._dims(_os.fsdecode(name)))

    def _dims(self, name):
        try:
            words = self.attributes["dims:" + name].decode()
        except (KeyError, UnicodeDecodeError, InvalidArgument):  # none was set, or none could have been
            return None
        return tuple(words.split(",")) if words else ()

    def _stored(self, rank, name):
        return _array_stream.StoredArray(lambda at, buffer: self._reader.read_at(rank, at, buffer), self._reader.size(rank),
                                         f"{_os.fsdecode(self.name)}: {name!r}")

    # The parts of one save: those of a session.
    def _parts(self, name):
        what = f"{_os.fsdecode(self.name)}: array {name!r}"
        parts = [self._stored(self.find(name, 0), name)]
        first = parts[0]
        if first.place is None:
            raise InvalidArgument(f"{what} has parts that do not say where they lie")
        n = first.place["parts"]
        for number in range(1, n):
            rank = self._find(name, number)
            if rank < 0:
                raise Corrupt(f"{what}: part {number} of {n} is missing: a task did not save it")
            parts.append(self._stored(rank, name))
        for number, stored in enumerate(parts):
            same = stored.place is not None and all(
                stored.place[key] == first.place[key] for key in ("shape", "parts", "session"))
            if not same:
                raise Corrupt(f"{what}: part {number} of {n} was saved at another time than part 0, or as another array")
            if stored.dtype != first.dtype:
                raise Corrupt(f"{what}: part {number} of {n} has the dtype {stored.dtype}, and part 0 {first.dtype}; mf[rank], with "
                              "the ranks of entries(), reads each part as an .npy file")
        return parts

    # ---- Durability, the end --------------------------------------------------------------------------------------

    # At the end of the interpreter the weak references are dead before this object is.
    def _open_streams(self):
        return [stream for stream in {*self._streams, *self._numbered.values()} if not stream.closed]

    def _flush_streams(self):
        if not self.writable():
            return
        for stream in self._open_streams():
            stream.flush()
        if self._failure is not None:
            raise self._failure

    def _begin(self, syncs):
        self._flush_streams()
        request = Request(self._file.begin(syncs))
        self._requests = [one for one in self._requests if not one._is_over()] + [request]
        return request

    def flush(self):
        """What this task wrote survives the death of the process.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored.
        """
        self._flush_streams()
        self._file.flush()

    def sync(self):
        """What this task wrote survives the death of the machine.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored.
        """
        self._flush_streams()
        self._file.sync()

    def iflush(self):
        """Start a `flush` of what was written before. The program may go on, and write.

        Returns
        -------
        Request
        """
        return self._begin(False)

    def isync(self):
        """Start a `sync` of what was written before. The program may go on, and write.

        Returns
        -------
        Request
        """
        return self._begin(True)

    def close(self):
        """Close the multifile and every file of it. Collective; a second call has no effect.

        A multifile that is written and not closed stays marked as such, and is refused until it is repaired.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored. The handle is closed; the file stays marked as not closed.
        thalweg.NotClosed
            Another task has abandoned it.
        thalweg.Exists
            With the hint duplicates=error two logical files have one name. The file is closed and has both.
        """
        if self._core is None:
            return
        _, failure = _arguments.attempt(self._end_streams)
        core, self._core = self._core, None
        failure = failure or self._failure
        if failure is not None:  # bytes of this task are missing: the file must not pass for a whole one
            core.abandon()
            raise failure
        core.close()
        self._end_requests()

    def _end_streams(self):
        failures = [_arguments.attempt(stream.close)[1] for stream in self._open_streams()]
        alone, self._alone = self._alone, None
        if alone is not None:
            alone.close()
        for failure in filter(None, failures):
            raise failure

    def _end_requests(self):
        for request in self._requests:
            request._is_over()

    def abandon(self):
        """Give the multifile up, for a task that cannot go on. Waits for no other task.

        What this task wrote is flushed, the file stays marked as not closed, and the close of the other tasks fails.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored. The handle is closed all the same.
        """
        if self._core is None:
            return
        _, failure = _arguments.attempt(self._end_streams)
        core, self._core = self._core, None
        core.abandon()
        if failure is not None:
            raise failure
