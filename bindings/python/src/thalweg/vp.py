"""The vpfile: a stream for each virtual processor (VP) of a shape, in one file.

>>> import numpy as np, thalweg
>>> with thalweg.vp.open(path, "w", shape=(256, 128)) as f:
...     f.write(np.zeros((256, 128, 3)))        # 24 bytes of each VP
>>> with thalweg.vp.open(path) as f:
...     a = f.read(np.float64, 3)               # array of shape (256, 128, 3)
...     head = f[17, 4].read(8)                 # the first bytes of one VP

With ``comm=``, an mpi4py communicator, each task has a *box* of the shape, its *local* VPs: ``f.local`` are the slices
that cut them out of an array of the whole shape, ``f.local_shape`` is the shape of what it reads and writes.

Calls marked *collective* are made by all tasks, in the same order, and fail on all of them when they fail on one; also
when an argument of one is wrong. What the library does for an access is in ``f.mode`` and ``f.cause``.

`info`, `verify`, `repair` and `flatten` work on a whole file that nobody has open.

Source: Moore, Hatcher, Quinn, "Stream*: Fast, Flexible, Data-Parallel I/O".
"""

import io as _io
import operator as _operator
import os as _os
import shlex as _shlex
import sys as _sys
import warnings as _warnings
import weakref as _weakref

import numpy as _np

from . import _arguments, _core, _memory
from ._stream import Stream as _Stream
from ._whole import MODES as _MODES
from ._whole import Health, Info, Region, flatten, import_array, info, is_vpfile, regions, repair, verify
from .errors import BadIndex, EndOfStream, InvalidArgument, WrongMode

__all__ = ["open", "VpFile", "info", "verify", "repair", "flatten", "import_array", "is_vpfile", "regions", "Health",
           "Info", "Region"]


def open(path, mode="r", shape=None, *, comm=None, box=None, hints=None):
    """Open a vpfile. Collective.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the data file; NAME.meta, and where needed NAME.first and NAME.dir, lie beside it.
    mode : {"r", "w", "a", "r+", "w+", "a+"}, default "r"
        As of ``builtins.open``; a ``b`` is ignored. With "a" every VP writes at the end of its stream.
    shape : int or sequence of int, optional
        Extents of the shape of VPs. Needed with "w", and where there is no NAME.meta: any array is such a file. Else the
        shape of the file, which a given one must be.
    comm : mpi4py.MPI.Intracomm, optional
        The tasks that open it together. It is duplicated. None: this task alone.
    box : sequence of slice, optional
        The VPs of this task, one slice of step 1 for each dimension; it needs `shape`. The boxes of all tasks cover the
        shape once; all give one, or none. Default: one dimension is cut into stretches in the order of ranks.
    hints : dict or str, optional
        As ``{"block_bytes": 4096}`` or ``"block_bytes=4096"``. Those of task 0 count.

    Returns
    -------
    VpFile
        Close it, or use it in a ``with`` statement.

    Raises
    ------
    thalweg.InvalidArgument, thalweg.UnknownHint
        An argument is wrong, also: another shape than the file has.
    thalweg.NotFound, thalweg.Permission, thalweg.NoSpace, thalweg.Error
        As the system says.
    thalweg.NotClosed, thalweg.Corrupt, thalweg.NewerVersion, thalweg.Unsafe
        The file is not fit to be opened.
    TypeError
        `comm` is no communicator.
    """
    return VpFile(path, mode, shape, comm=comm, box=box, hints=hints)


class VpFile:
    """An open vpfile, made by `thalweg.vp.open`. Collective.

    ``f[i, j]`` is the stream of one VP. The VPs of an array are in the order of its first dimensions: an array
    for `write` has the shape ``f.local_shape`` followed by that of what one VP writes.

    Threads of a task may share it; their calls wait for each other. Collective calls come from one thread.
    Parameters and errors: see `thalweg.vp.open`.

    Attributes
    ----------
    name : str, bytes
        The path it was opened with.
    open_mode : str
        The mode it was opened with, without a ``b``.
    shape : tuple of int
        Extents of the shape of VPs.
    local_shape : tuple of int
        Extents of the box of this task.
    local : tuple of slice
        Where that box is: ``a[f.local]`` is the part of this task of an array of the whole shape.
    """

    __iter__ = None  # f[0], f[1], ... are streams of some shapes only
    _core = None

    def __init__(self, path, mode="r", shape=None, *, comm=None, box=None, hints=None):
        if comm is None:
            self._group = _core.Group()
        else:
            from . import _mpi
            self._group = _core.Group(_mpi.collectives(comm))
        self._open(path, mode, shape, box, hints)

    def _open(self, path, mode, shape, box, hints):
        def prepare():
            numbers = _arguments.extents(shape)
            return (_arguments.path_bytes(path), _arguments.text(str(mode)), numbers, _arguments.box_of(box, numbers),
                    _arguments.hints_text(hints))

        made, mine = _arguments.attempt(prepare)
        core = self._together(mine, lambda: _core.File(self._group, *(made or (None, "r", [], None, ""))))
        self.name = _os.fspath(path)
        self.open_mode = str(mode).replace("b", "")
        self.shape, start, self.local_shape, _ = core.summary()
        self.local = tuple(slice(first, first + n) for first, n in zip(start, self.local_shape))
        self._streams = _weakref.WeakSet()
        self._core = core

    def __repr__(self):
        state = "closed " if self.closed else ""
        return f"<{state}vpfile {self.name!r}, mode {self.open_mode!r}, shape {self.shape}>"

    # ---- What is it? ----------------------------------------------------------------------------------------------

    @property
    def closed(self):
        """bool: whether it was closed."""
        return self._core is None

    @property
    def mode(self):
        """str: how the last collective access was carried out.

        "NB", no buffering: the bytes of all VPs in one piece; "CB", collective buffering; "IB", independent buffering.
        It changes speed, never content. The same on all tasks.
        """
        return _MODES[self._file.mode()[0]]

    @property
    def cause(self):
        """str: why the last collective access was not "NB", such as "memory is not packed"."""
        return self._file.mode()[1]

    @property
    def file_mode(self):
        """str: "NB", "CB" or "IB": what all that was written so far needed. An "NB" file is a plain array."""
        return _MODES[self._file.summary()[3]]

    @property
    def transitions(self):
        """list of (int, str, str, str): changes of `file_mode` since it was opened.

        Each is the number of the collective access, from 0, the mode before, the mode after, and the cause.
        """
        return [(n, _MODES[a], _MODES[b], cause) for n, a, b, cause in self._file.transitions()]

    @property
    def eof(self):
        """numpy.ndarray of bool, shape `local_shape`: VPs that tried to read behind the end. Cleared by `seek`."""
        eof = _np.zeros(self.local_shape, _np.uint8)
        self._file.eof_all(_memory.address(eof))
        return eof.view(_np.bool_)

    def tell(self):
        """Where the VPs are.

        Returns
        -------
        numpy.ndarray of int64, shape `local_shape`
            Bytes from the beginning of each stream.
        """
        positions = _np.zeros(self.local_shape, _np.int64)
        self._file.tell_all(_memory.address(positions))
        return positions

    def sizes(self):
        """How long the streams are.

        Returns
        -------
        numpy.ndarray of int64, shape `local_shape`
            Bytes of each stream, with what `f[i, j]` still has in its buffer.

        Raises
        ------
        thalweg.Error, thalweg.Corrupt
            What tells of lengths cannot be read.
        """
        self._flush_streams()
        sizes = _np.zeros(self.local_shape, _np.int64)
        self._file.size_all(_memory.address(sizes), sizes.size)
        return sizes

    def readable(self):
        """bool: whether it is open for reading."""
        return self.open_mode[:1] == "r" or "+" in self.open_mode

    def writable(self):
        """bool: whether it is open for writing."""
        return self.open_mode[:1] != "r" or "+" in self.open_mode

    def seekable(self):
        """bool: True, as of an ordinary file."""
        return True

    # ---- Writing --------------------------------------------------------------------------------------------------

    def write(self, a, where=None):
        """Write an array: of each VP its part, at the position of the VP. Collective.

        Parameters
        ----------
        a : array_like, shape `local_shape` + any
            ``a[i, j]`` is what the VP with local index ``(i, j)`` writes. Any dtype without Python objects; bytes are
            written as they are in memory. Any strides; not modified. It is copied only where what one VP
            writes has more than one dimension that cannot be taken for one with a single stride.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part; the others write nothing and stay where they are. Default: all.

        Returns
        -------
        int
            Bytes that this task wrote.

        Raises
        ------
        thalweg.InvalidArgument
            Another shape; `where` is not of bool. Nothing was written, by any task.
        TypeError
            The dtype has Python objects.
        thalweg.WrongMode
            Not open for writing.
        thalweg.NoSpace, thalweg.OutOfRange, thalweg.Error
            Of the VPs that met it some bytes may be written.

        Notes
        -----
        The same array of packed memory from all VPs, again and again, is the fast case.
        """
        def prepare():
            array = self._array(_np.asarray(a), "write")
            memory = _memory.of(array, len(self.shape))
            if memory is None:
                array = _np.ascontiguousarray(array)
                memory = _memory.of(array, len(self.shape))
            return array, memory, self._mask(where)

        made, mine = self._prepare(prepare)
        array, memory, mask = made or (None, _memory.NOTHING, None)
        self._together(mine, lambda: self._file.write_all(memory, _memory.address(mask)))
        return array.nbytes if mask is None else int(mask.sum(dtype=_np.int64)) * (array.nbytes // max(mask.size, 1))

    def write_ragged(self, values, lengths):
        """Write another number of elements of each VP. Collective.

        Parameters
        ----------
        values : array_like, shape (sum of `lengths`,)
            What the VPs write, one behind the other in the order of ``lengths.ravel()``. Copied where it is not
            contiguous. Any dtype without Python objects.
        lengths : array_like of int, shape `local_shape`
            Elements of each VP, at least 0.

        Returns
        -------
        int
            Bytes that this task wrote.

        Raises
        ------
        thalweg.InvalidArgument
            Shapes, or the sum of `lengths`, do not fit. Nothing was written, by any task.
        TypeError, thalweg.WrongMode, thalweg.NoSpace, thalweg.OutOfRange, thalweg.Error
            As `write`.
        """
        def prepare():
            flat = _memory.plain(_np.ascontiguousarray(values), "write_ragged")
            each = self._lengths(lengths)
            if flat.ndim != 1 or flat.size != each.sum():
                raise InvalidArgument(f"write_ragged: values have the shape {flat.shape}, the sum of lengths is "
                                      f"{each.sum()}")
            return flat, each

        made, mine = self._prepare(prepare)
        flat, each = made or (None, None)
        memory = (_memory.address(flat), flat.itemsize, 0, _memory.address(each), 0, None) if made else _memory.NOTHING
        self._together(mine, lambda: self._file.write_all(memory, 0))
        return flat.nbytes

    # ---- Reading --------------------------------------------------------------------------------------------------

    def read(self, dtype, n=None, where=None, *, fill=None, return_counts=False):
        """Read `n` items of each VP, at the position of the VP. Collective.

        Parameters
        ----------
        dtype : numpy.dtype
            Of an item. Without Python objects.
        n : int, optional
            Items of each VP; None: one, and the array has no dimension for it.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part; the others have the fill value and stay where they are. Default: all.
        fill : scalar, optional
            The value of items that were not read. Default: zero, as of ``numpy.zeros``.
        return_counts : bool, default False
            Also return how many items each VP got. The same on all tasks.

        Returns
        -------
        a : numpy.ndarray of `dtype`, shape `local_shape` + (n,), or `local_shape`
            A new array.
        counts : numpy.ndarray of int64, shape `local_shape`
            Only with `return_counts`: whole items of each VP; 0 of those that take no part.

        Raises
        ------
        thalweg.EndOfStream
            Without `return_counts`: some VP, of any task, had less than `n` items left. Its attributes ``array`` and
            ``counts`` are what would have been returned.
        thalweg.InvalidArgument
            `n` or `where` is wrong; also of an array without NAME.meta whose streams have no multiple of what the first
            access reads.
        TypeError
            The dtype has Python objects.
        thalweg.WrongMode, thalweg.Corrupt, thalweg.Error
            Not open for reading; the file cannot be read.
        """
        def prepare():
            kind = _memory.dtype_of(dtype, "read")
            items = 1 if n is None else _operator.index(n)
            if items < 0:
                raise InvalidArgument(f"read: n is {items}")
            array = _np.zeros(self.local_shape + (() if n is None else (items,)), kind)
            strides = _memory.vp_strides(self.local_shape, items * kind.itemsize)
            memory = (_memory.address(array), kind.itemsize, items, 0, 0, strides)
            return array, memory, self._mask(where), items

        made, mine = self._prepare(prepare)
        array, memory, mask, items = made or (None, _memory.NOTHING, None, 0)
        counts = _np.zeros(self.local_shape, _np.int64)
        self._together(mine, lambda: self._file.read_all(memory, _memory.address(mask), _memory.address(counts)))
        if fill is not None or (counts < items).any():
            missing = counts < items if n is None else _np.arange(items) >= counts[..., None]
            array[missing] = _np.zeros((), array.dtype) if fill is None else fill
        if return_counts:
            return array, counts
        self._complete("read", array, counts, items, mask)
        return array

    def readinto(self, a, where=None, *, return_counts=False):
        """Read into an array that is there: of each VP its part, at the position of the VP. Collective.

        Parameters
        ----------
        a : numpy.ndarray, shape `local_shape` + any, writable
            ``a[i, j]`` is what the VP with local index ``(i, j)`` reads. Any dtype without Python objects, any strides, as
            long as no two elements share memory. Read through a copy only where `write` would copy.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part; the part of the others is not touched. Default: all.
        return_counts : bool, default False
            Return how many elements each VP got, instead of complaining. The same on all tasks.

        Returns
        -------
        None, or numpy.ndarray of int64, shape `local_shape`
            With `return_counts`: whole elements of each VP; what is behind them in `a` is undefined.

        Raises
        ------
        thalweg.EndOfStream
            Without `return_counts`: some VP, of any task, had less left. Its attributes say what was there.
        thalweg.InvalidArgument
            Another shape; not writable; `where` is wrong.
        TypeError, thalweg.WrongMode, thalweg.Corrupt, thalweg.Error
            As `read`.
        """
        def prepare():
            if not isinstance(a, _np.ndarray):
                raise TypeError(f"readinto: a must be a numpy.ndarray, not {type(a).__name__}")
            array = self._array(a, "readinto")
            shared = array.size > 0 and any(n > 1 and stride == 0 for n, stride in zip(array.shape, array.strides))
            if not array.flags.writeable or shared:
                raise InvalidArgument("readinto: a is not writable, or elements of it share memory")
            memory = _memory.of(array, len(self.shape))
            if memory is None:
                array = _np.array(array, order="C")
                memory = _memory.of(array, len(self.shape))
            return array, memory, self._mask(where), self.tell()

        made, mine = self._prepare(prepare)
        array, memory, mask, before = made or (None, _memory.NOTHING, None, None)
        self._together(mine, lambda: self._file.read_all(memory, _memory.address(mask), 0))
        counts = (self.tell() - before) // array.itemsize
        if array is not a:
            a[...] = array
        if return_counts:
            return counts
        n = _np.prod(a.shape[len(self.shape):], dtype=_np.int64)
        self._complete("readinto", a, counts, n, mask)
        return None

    def read_ragged(self, dtype=_np.uint8, lengths=None):
        """Read another number of elements of each VP: all that is left of each stream, by default. Collective.

        Parameters
        ----------
        dtype : numpy.dtype, default uint8
            Of an element. Without Python objects.
        lengths : array_like of int, shape `local_shape`, optional
            Elements of each VP. Default: as many whole ones as are left. Bytes of an incomplete one are left unread;
            ``f.tell() < f.sizes()`` tells of them. Given by all tasks, or by none.

        Returns
        -------
        values : numpy.ndarray of `dtype`, shape (sum of lengths,)
            What the VPs read, one behind the other in the order of ``lengths.ravel()``.
        lengths : numpy.ndarray of int64, shape `local_shape`
            Elements of each VP.

        Raises
        ------
        thalweg.EndOfStream
            Some VP, of any task, had less than its part of the given `lengths` left; see `read`.
        thalweg.InvalidArgument, TypeError, thalweg.WrongMode, thalweg.Corrupt, thalweg.Error
            As `read`.
        """
        def prepare():
            kind = _memory.dtype_of(dtype, "read_ragged")
            if lengths is None:
                each = _np.maximum(self.sizes() - self.tell(), 0) // kind.itemsize
            else:
                each = self._lengths(lengths)
            values = _np.zeros(int(each.sum()), kind)
            return values, each, (_memory.address(values), kind.itemsize, 0, _memory.address(each), 0, None)

        made, mine = self._prepare(prepare)
        values, each, memory = made or (None, None, _memory.NOTHING)
        counts = _np.zeros(self.local_shape, _np.int64)
        self._together(mine, lambda: self._file.read_all(memory, 0, _memory.address(counts)))
        if lengths is not None:
            self._complete("read_ragged", values, counts, each, None)
        return values, each

    # ---- Positions, durability, the end ---------------------------------------------------------------------------

    def seek(self, pos, whence=0, where=None):
        """Set the positions of the VPs of this task. Not collective, but the same for all VPs is the fast case.

        Parameters
        ----------
        pos : int, or array_like of int, shape `local_shape`
            Bytes; of all VPs, or of each one.
        whence : {0, 1, 2}, default 0
            From the beginning, from where the VP is, from the end of its stream.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part. Default: all.

        Raises
        ------
        thalweg.InvalidArgument
            A position would fall below 0; another shape. No VP was moved.
        """
        self._flush_streams()
        mask = self._mask(where)
        each = _np.asarray(pos)
        if each.ndim == 0:
            self._file.seek_all(_arguments.number(each[()], "seek: pos"), 0, whence, _memory.address(mask))
            return
        if each.dtype.kind not in "iu" or each.shape != self.local_shape:
            raise InvalidArgument(f"seek: pos has dtype {each.dtype} and shape {each.shape}; an int, or integers of shape "
                                  f"{self.local_shape}")
        each = _np.ascontiguousarray(each, _np.int64)
        self._file.seek_all(0, _memory.address(each), whence, _memory.address(mask))

    def flush(self):
        """What was written so far survives the death of the process. Collective.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Bytes could not be stored.
        """
        _, mine = self._prepare(lambda: None)
        self._file.flush()
        if mine is not None:
            raise mine

    def sync(self):
        """What was written so far survives the death of the machine. Collective.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Bytes could not be stored.
        """
        _, mine = self._prepare(lambda: None)
        self._file.sync()
        if mine is not None:
            raise mine

    def close(self):
        """Close it, and every `f[i, j]` of it. Collective; a second time it does nothing.

        A file that was written and is not closed stays marked as such, and is refused until it was repaired.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Bytes could not be stored. It is closed all the same; the file stays marked as not closed.
        """
        if self._core is None:
            return
        mine = None
        for stream in list(self._streams):
            try:
                stream.close()
            except OSError as error:
                mine = error
        core, self._core = self._core, None
        try:
            core.close()
        finally:
            self._group = None
        if mine is not None:
            raise mine

    def abandon(self):
        """Give it up instead of closing it, and every `f[i, j]` of it. Not collective; on a closed file it does nothing.

        For a rank that cannot go on. What it wrote is stored, and the file stays marked as not closed: nothing says that it
        is whole, until `repair` brings back what was flushed. Waits for nobody. The other ranks' next collective call,
        or their `close`, raises `NotClosed`, as soon as this rank is in a call of MPI again, or ends MPI.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Bytes could not be stored.
        """
        if self._core is None:
            return
        for stream in list(self._streams):
            try:
                stream.close()
            except OSError:
                pass  # what is stored of it is told by abandon()
        core, self._core = self._core, None
        try:
            core.abandon()
        finally:
            self._group = None

    def __enter__(self):
        """Return the file itself; leaving the ``with`` statement closes it. Collective."""
        _ = self._file
        return self

    def __exit__(self, *exception):
        """Close the file, which is collective; or `abandon` it where an exception leaves the ``with`` statement."""
        if exception[0] is None:
            self.close()
            return
        try:
            self.abandon()
        except OSError as failure:
            _warnings.warn(f"{self!r} was abandoned, and not all of it could be stored: {failure}", RuntimeWarning)

    # Nobody has said that it is whole, and the other ranks may be elsewhere.
    def __del__(self):
        if self._core is None:
            return
        state = repr(self)
        told = state
        tells = self.writable() and self._group.rank == 0
        try:
            self.abandon()
        except WrongMode:  # a child of the process that opened it
            return
        except OSError as failure:
            told += f", not all of which could be stored ({failure}),"
        _warnings.warn(f"unclosed {state}", ResourceWarning, source=self)
        if tells and _sys.stderr is not None:
            word = _shlex.quote(self.name)
            print(f"thalweg: {told} was not closed; `thalweg repair {word}` makes it readable", file=_sys.stderr)

    # ---- One VP ---------------------------------------------------------------------------------------------------

    def __getitem__(self, index):
        """The stream of one VP of this task, as a binary file object. Not collective.

        Parameters
        ----------
        index : int, or tuple of int
            As of an array of shape `shape`, with an int for every dimension; negative ones count from the end. The result of
            ``np.unravel_index`` fits.

        Returns
        -------
        io.BufferedReader, io.BufferedWriter or io.BufferedRandom
            As the file is open for reading, for writing, or for both. It has a position of its own, which is 0 at
            first; the positions of `tell` do not move. What it has in its buffer is written when it is flushed or
            closed, and before every collective call of this task. ``io.TextIOWrapper(f[i, j])`` reads and writes text;
            what that one has in its own buffer is yours to flush.

        Raises
        ------
        thalweg.BadIndex
            Not in the shape, or a VP of another task.
        """
        raw = _Stream(self, *self._number(index))
        both = raw.readable() and raw.writable()
        stream = (_io.BufferedRandom if both else _io.BufferedReader if raw.readable() else _io.BufferedWriter)(raw)
        self._streams.add(stream)
        return stream

    def _number(self, index):
        numbers = index if isinstance(index, tuple) else (index,)
        if len(numbers) != len(self.shape):
            raise BadIndex(f"{len(numbers)} numbers index a shape of {len(self.shape)} dimensions; one for each")
        try:
            numbers = tuple(_operator.index(i) for i in numbers)
        except TypeError:
            raise BadIndex(f"index {index!r}: only integers; it names one virtual processor") from None
        vp = 0
        for i, extent in zip(numbers, self.shape):
            if not -extent <= i < extent:
                raise BadIndex(f"index {numbers} is out of range for the shape {self.shape}")
            vp = vp * extent + i % extent
        numbers = tuple(i % extent for i, extent in zip(numbers, self.shape))
        if not all(box.start <= i < box.stop for i, box in zip(numbers, self.local)):
            here = ", ".join(f"{box.start}:{box.stop}" for box in self.local)
            raise BadIndex(f"virtual processor {numbers} is another task's; this one has [{here}]")
        return vp, numbers

    # ---- Inside ---------------------------------------------------------------------------------------------------

    @property
    def _file(self):
        if self._core is None:
            raise InvalidArgument(f"the vpfile {self.name!r} is closed")
        return self._core

    def _flush_streams(self):
        if not self.writable():
            return
        for stream in list(self._streams):
            if not stream.closed:
                stream.flush()

    def _prepare(self, prepare):
        """What `prepare` returns and None, or None and what it raised."""
        _ = self._file
        return _arguments.attempt(lambda: (self._flush_streams(), prepare())[1])

    def _together(self, mine, act):
        """What the collective `act` returns. `mine`: what is wrong with the arguments of this task, which `act` then gives
        to the library as invalid ones, so that no other task waits for this one. All raise the same."""
        if mine is not None and self._group.size == 1:
            raise mine
        try:
            return act()
        except InvalidArgument as error:
            if self._group.size > 1 and error.status == "TW_ERR_INVALID":
                try:
                    self._group.agree(None if mine is None else str(mine))
                except InvalidArgument as told:
                    raise (mine or told) from None
            raise mine or error from None
        except OSError:
            if mine is not None:
                raise mine from None
            raise

    def _complete(self, call, array, counts, n, mask):
        """Raise EndOfStream on all tasks if any VP of any task has less than `n` items."""
        short = counts < n if mask is None else (counts < n) & mask
        mine = bool(short.any())
        if not (mine if self._group.size == 1 else self._group.any(mine)):
            return
        error = EndOfStream(f"{call}: '{self.name}': {_np.count_nonzero(short)} streams of this task ended early"
                            if mine else f"{call}: '{self.name}': streams of another task ended early")
        error.array, error.counts = array, counts
        raise error

    def _array(self, array, call):
        n_dims = len(self.shape)
        if array.shape[:n_dims] != self.local_shape:
            raise InvalidArgument(f"{call}: a has the shape {array.shape}; it must begin with {self.local_shape}, the "
                                  "virtual processors of this task")
        return _memory.plain(array, call)

    def _mask(self, where):
        if where is None:
            return None
        mask = _np.asarray(where)
        if mask.dtype != _np.bool_:
            raise InvalidArgument(f"where has the dtype {mask.dtype}; it must be bool")
        try:
            return _np.ascontiguousarray(_np.broadcast_to(mask, self.local_shape))
        except ValueError:
            raise InvalidArgument(f"where has the shape {mask.shape}, which does not broadcast to {self.local_shape}, the "
                                  "virtual processors of this task") from None

    def _lengths(self, lengths):
        each = _np.asarray(lengths)
        if each.shape != self.local_shape or (each.dtype.kind not in "iu" and each.size > 0):
            raise InvalidArgument(f"lengths have dtype {each.dtype} and shape {each.shape}; integers of shape "
                                  f"{self.local_shape}, one for each virtual processor of this task")
        each = _np.array(each, _np.int64, order="C")
        if (each < 0).any():
            raise InvalidArgument(f"lengths: {each.min()} is below 0")
        return each
