"""The vpfile: a stream for each virtual processor (VP) of a shape, in one file.

>>> import numpy as np, thalweg
>>> with thalweg.vp.open(path, "w", shape=(256, 128)) as f:
...     f.write(np.zeros((256, 128, 3)))        # 24 bytes of each VP
>>> with thalweg.vp.open(path) as f:
...     a = f.read(np.float64, 3)               # array of shape (256, 128, 3)
...     head = f[17, 4].read(8)                 # the first bytes of one VP

With ``comm=``, an mpi4py communicator, each task has a *box* of the shape, its *local* VPs: ``f.local`` are its slices
in an array of the whole shape, ``f.local_shape`` is the shape of the data that the task reads and writes.

Calls marked *collective* are made by all tasks, in the same order, and fail on all tasks when they fail on one, for
instance because of a wrong argument. ``f.mode`` and ``f.cause`` show how the library carried out an access.

`info`, `verify`, `repair` and `flatten` work on a whole file that no program has open.

Source: Moore, Hatcher, Quinn, "Stream*: Fast, Flexible, Data-Parallel I/O".
"""

import io as _io
import operator as _operator
import os as _os
import weakref as _weakref
from html import escape as _escape

import numpy as _np

from . import _arguments, _core, _memory
from ._open_file import OpenFile as _OpenFile, group_of as _group_of
from ._stored_dtype import StoredDtype as _StoredDtype
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
        Name of the data file; NAME.meta, and if needed NAME.first, NAME.dir and NAME.batches, are in its folder.
    mode : {"r", "w", "a", "r+", "w+", "a+"}, default "r"
        As for ``builtins.open``; a ``b`` is ignored. With "a" every VP writes at the end of its stream.
    shape : int or sequence of int, optional
        Extents of the shape of VPs. Required with "w", and without NAME.meta: any array is such a file. Otherwise
        optional, and equal to the shape of the file.
    comm : mpi4py.MPI.Intracomm, optional
        The tasks that open the file together; it is duplicated. None: this task alone.
    box : sequence of slice, optional
        The VPs of this task, one slice of step 1 per dimension; needs `shape`, or NAME.meta. The boxes of all tasks cover the shape
        once; all tasks pass one, or none. Default: one dimension is divided in rank order.
    hints : dict or str, optional
        ``{"block_bytes": 4096}`` or ``"block_bytes=4096"``. The hints of task 0 count.

    Returns
    -------
    VpFile
        Close it, or use it in a ``with`` statement.

    Raises
    ------
    thalweg.InvalidArgument, thalweg.UnknownHint
        An argument is invalid, or `shape` differs from the file's.
    thalweg.NotFound, thalweg.Permission, thalweg.NoSpace, thalweg.Error
        An error of the system.
    thalweg.NotClosed, thalweg.Corrupt, thalweg.NewerVersion, thalweg.Unsafe
        The file cannot be opened in its state.
    TypeError
        `comm` is not a communicator.
    """
    return VpFile(path, mode, shape, comm=comm, box=box, hints=hints)


class VpFile(_OpenFile):
    """An open vpfile, made by `thalweg.vp.open`. Collective.

    ``f[i, j]`` is the stream of one VP. The first dimensions of an array are those of the VPs: an array
    for `write` has the shape ``f.local_shape`` followed by the shape of one VP's data.

    Threads of a task may share it; their calls are serialised. One thread makes the collective calls.
    Parameters and errors: see `thalweg.vp.open`.

    Attributes
    ----------
    name : str, bytes
        The path of the open.
    open_mode : str
        The mode of the open, without a ``b``.
    shape : tuple of int
        Extents of the shape of VPs.
    local_shape : tuple of int
        Extents of the box of this task.
    local : tuple of slice
        Slices of that box: ``a[f.local]`` is this task's part of an array of the whole shape.
    """

    __iter__ = None  # f[0], f[1], ... are streams only for some shapes
    _kind = "vpfile"
    _remedy = "; `thalweg repair {}` makes it readable"

    def __init__(self, path, mode="r", shape=None, *, comm=None, box=None, hints=None):
        self._group = _group_of(comm)
        self._open(path, mode, shape, box, hints)

    def _open(self, path, mode, shape, box, hints):
        def prepare():
            numbers = _arguments.extents(shape)
            if box is not None and shape is None and str(mode)[:1] != "w":
                numbers = list(info(path).shape)
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
        self._stored = _StoredDtype(self._group, path, self.open_mode[:1] == "w", self.writable())

    def __repr__(self):
        state = "closed " if self.closed else ""
        return f"<{state}vpfile {self.name!r}, mode {self.open_mode!r}, shape {self.shape}>"

    def _repr_html_(self):
        if self.closed:
            return f"<code>{_escape(repr(self))}</code>"
        rows = {"shape": self.shape, "this task": self.local_shape, "dtype": self.dtype, "mode of the file": self.file_mode}
        cells = "".join(f"<tr><th>{key}</th><td>{_escape(str(value))}</td></tr>" for key, value in rows.items())
        return f"<table><caption>vpfile {_escape(repr(self.name))}</caption>{cells}</table>"

    # ---- What is it? ----------------------------------------------------------------------------------------------

    @property
    def dtype(self):
        """numpy.dtype or None: that of all arrays written so far, as far as this task knows; None: unknown, or several.

        It is stored in NAME.dtype, beside the data file.
        """
        return self._stored.dtype

    @property
    def mode(self):
        """str: mode of the last collective access.

        "NB", no buffering: the bytes of all VPs in one piece; "CB", collective buffering; "IB", independent buffering.
        It changes speed, never content. Equal on all tasks.
        """
        return _MODES[self._file.mode()[0]]

    @property
    def cause(self):
        """str: why the last collective access was not "NB", for example "memory is not packed"."""
        return self._file.mode()[1]

    @property
    def file_mode(self):
        """str: "NB", "CB" or "IB": mode of the file so far. An "NB" file is a plain array."""
        return _MODES[self._file.summary()[3]]

    @property
    def transitions(self):
        """list of (int, str, str, str): changes of `file_mode` since the open.

        Number of the collective access, from 0, mode before, mode after, cause.
        """
        return [(n, _MODES[a], _MODES[b], cause) for n, a, b, cause in self._file.transitions()]

    @property
    def eof(self):
        """numpy.ndarray of bool, shape `local_shape`: VPs that tried to read beyond the end. Cleared by `seek`."""
        eof = _np.zeros(self.local_shape, _np.uint8)
        self._file.eof_all(_memory.address(eof))
        return eof.view(_np.bool_)

    def tell(self):
        """Positions of the VPs.

        Returns
        -------
        numpy.ndarray of int64, shape `local_shape`
            Bytes from the beginning of each stream.
        """
        positions = _np.zeros(self.local_shape, _np.int64)
        self._file.tell_all(_memory.address(positions))
        return positions

    def sizes(self):
        """Sizes of the streams.

        Returns
        -------
        numpy.ndarray of int64, shape `local_shape`
            Bytes of each stream, including the buffer of `f[i, j]`.

        Raises
        ------
        thalweg.Error, thalweg.Corrupt
            The lengths cannot be read.
        """
        self._flush_streams()
        sizes = _np.zeros(self.local_shape, _np.int64)
        self._file.size_all(_memory.address(sizes), sizes.size)
        return sizes

    def seekable(self):
        """bool: True, as for an ordinary file."""
        return True

    # ---- Writing --------------------------------------------------------------------------------------------------

    def write(self, a, where=None):
        """Write an array: each VP writes its part at its position. Collective.

        Parameters
        ----------
        a : array_like, shape `local_shape` + any
            ``a[i, j]`` is the data of the VP with local index ``(i, j)``. Any dtype without Python objects; bytes are
            written as in memory. Any strides; not modified. It is copied only where the data of one VP
            needs more than one stride.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part; the others write nothing and keep their positions. Default: all.

        Returns
        -------
        int
            Bytes written by this task.

        Raises
        ------
        thalweg.InvalidArgument
            Wrong shape, or `where` is not of bool. No task has written.
        TypeError
            The dtype contains Python objects.
        thalweg.WrongMode
            Not open for writing.
        thalweg.NoSpace, thalweg.OutOfRange, thalweg.Error
            The affected VPs may have written some bytes.

        Notes
        -----
        Repeated arrays of equal size in packed memory from all VPs are the fast case.
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
        self._stored.written(*((array.dtype, array.shape[len(self.shape):], array.size > 0) if made else (None, None, False)))
        self._together(mine, lambda: self._file.write_all(memory, _memory.address(mask)))
        return array.nbytes if mask is None else int(mask.sum(dtype=_np.int64)) * (array.nbytes // max(mask.size, 1))

    def write_ragged(self, values, lengths):
        """Write a different number of elements per VP. Collective.

        Parameters
        ----------
        values : array_like, shape (sum of `lengths`,)
            Data of the VPs, consecutive in the order of ``lengths.ravel()``. Copied when it is not
            contiguous. Any dtype without Python objects.
        lengths : array_like of int, shape `local_shape`
            Elements of each VP, at least 0.

        Returns
        -------
        int
            Bytes written by this task.

        Raises
        ------
        thalweg.InvalidArgument
            Shapes, or the sum of `lengths`, do not match. No task has written.
        TypeError, thalweg.WrongMode, thalweg.NoSpace, thalweg.OutOfRange, thalweg.Error
            See `write`.
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
        self._stored.written(*((flat.dtype, None, flat.size > 0) if made else (None, None, False)))
        memory = (_memory.address(flat), flat.itemsize, 0, _memory.address(each), 0, None) if made else _memory.NOTHING
        self._together(mine, lambda: self._file.write_all(memory, 0))
        return flat.nbytes

    # ---- Reading --------------------------------------------------------------------------------------------------

    def read(self, dtype=None, n=None, where=None, *, fill=None, return_counts=False, force=False):
        """Read `n` items per VP, at its position. Collective.

        Parameters
        ----------
        dtype : numpy.dtype, optional
            Type of an item, without Python objects. None: that of the file (`dtype`).
        n : int, optional
            Items per VP; None: one, without a dimension for it, or where `dtype` is None as many, in the same shape, as a
            VP had in the first array that was written.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part; the others have the fill value and keep their positions. Default: all.
        fill : scalar, optional
            Value of items that were not read. Default: zero, as in ``numpy.zeros``.
        return_counts : bool, default False
            Also return the number of items read per VP. Equal on all tasks.
        force : bool, default False
            Read as another dtype than that of the file.

        Returns
        -------
        a : numpy.ndarray of `dtype`, shape `local_shape` + (n,), or `local_shape`
            A new array.
        counts : numpy.ndarray of int64, shape `local_shape`
            Only with `return_counts`: whole items per VP; 0 for those that take no part.

        Raises
        ------
        thalweg.EndOfStream
            Without `return_counts`: some VP, of any task, had less than `n` items left. Its attributes ``array`` and
            ``counts`` are the results of the call.
        thalweg.InvalidArgument
            `n` or `where` is invalid; `dtype` is not that of the file, or unknown; or an array without NAME.meta has streams that are no multiple of the first
            access.
        TypeError
            The dtype contains Python objects.
        thalweg.WrongMode, thalweg.Corrupt, thalweg.Error
            Not open for reading; the file cannot be read.
        """
        def prepare():
            kind = self._stored.check(dtype, "read", force)
            each = self._stored.shape if n is None and dtype is None and self._stored.shape is not None else ()
            items = int(_np.prod(each, dtype=_np.int64)) if n is None else _operator.index(n)
            if items < 0:
                raise InvalidArgument(f"read: n is {items}")
            array = _np.zeros(self.local_shape + (each if n is None else (items,)), kind)
            strides = _memory.vp_strides(self.local_shape, items * kind.itemsize)
            memory = (_memory.address(array), kind.itemsize, items, 0, 0, strides)
            return array, memory, self._mask(where), items

        made, mine = self._prepare(prepare)
        array, memory, mask, items = made or (None, _memory.NOTHING, None, 0)
        counts = _np.zeros(self.local_shape, _np.int64)
        self._together(mine, lambda: self._file.read_all(memory, _memory.address(mask), _memory.address(counts)))
        if fill is not None or (counts < items).any():
            missing = counts < items if array.ndim == counts.ndim else _np.arange(items) >= counts[..., None]
            array.reshape((*counts.shape, items) if array.ndim > counts.ndim else counts.shape)[missing] = _np.zeros((), array.dtype) if fill is None else fill
        if return_counts:
            return array, counts
        self._complete("read", array, counts, items, mask)
        return array

    def readinto(self, a, where=None, *, return_counts=False, force=False):
        """Read into an existing array: each VP reads its part at its position. Collective.

        Parameters
        ----------
        a : numpy.ndarray, shape `local_shape` + any, writable
            ``a[i, j]`` receives the data of the VP with local index ``(i, j)``. Any dtype without Python objects, any strides
            without shared elements. Read through a copy only where `write` would copy.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part; the parts of the others are not modified. Default: all.
        return_counts : bool, default False
            Return the number of elements read per VP instead of raising EndOfStream. Equal on all tasks.
        force : bool, default False
            Read as another dtype than that of the file.

        Returns
        -------
        None, or numpy.ndarray of int64, shape `local_shape`
            With `return_counts`: whole elements per VP; elements of `a` after them are undefined.

        Raises
        ------
        thalweg.EndOfStream
            Without `return_counts`: some VP, of any task, had fewer elements left. Its attributes have the results.
        thalweg.InvalidArgument
            Wrong shape or dtype, not writable, or `where` is invalid.
        TypeError, thalweg.WrongMode, thalweg.Corrupt, thalweg.Error
            See `read`.
        """
        def prepare():
            if not isinstance(a, _np.ndarray):
                raise TypeError(f"readinto: a must be a numpy.ndarray, not {type(a).__name__}")
            array = self._array(a, "readinto")
            self._stored.check(array.dtype, "readinto", force)
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

    def read_ragged(self, dtype=None, lengths=None, *, force=False):
        """Read a different number of elements per VP: by default the rest of each stream. Collective.

        Parameters
        ----------
        dtype : numpy.dtype, optional
            Type of an element, without Python objects. None: that of the file, or uint8 where it is unknown.
        lengths : array_like of int, shape `local_shape`, optional
            Elements per VP. Default: all remaining whole ones. The bytes of an incomplete one stay unread;
            ``f.tell() < f.sizes()`` shows them. Passed by all tasks, or by none.
        force : bool, default False
            Read as another dtype than that of the file.

        Returns
        -------
        values : numpy.ndarray of `dtype`, shape (sum of lengths,)
            Data of the VPs, consecutive in the order of ``lengths.ravel()``.
        lengths : numpy.ndarray of int64, shape `local_shape`
            Elements of each VP.

        Raises
        ------
        thalweg.EndOfStream
            Some VP, of any task, had fewer elements left than its entry in `lengths`; see `read`.
        thalweg.InvalidArgument, TypeError, thalweg.WrongMode, thalweg.Corrupt, thalweg.Error
            See `read`.
        """
        def prepare():
            known = _np.uint8 if dtype is None and self._stored.dtype is None else dtype
            kind = self._stored.check(known, "read_ragged", force)
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
        """Set the positions of the VPs of this task. Not collective; equal positions of all VPs are the fast case.

        Parameters
        ----------
        pos : int, or array_like of int, shape `local_shape`
            Bytes, for all VPs or for each one.
        whence : {0, 1, 2}, default 0
            Relative to the beginning, the current position, or the end of the stream.
        where : array_like of bool, broadcastable to `local_shape`, optional
            VPs that take part. Default: all.

        Raises
        ------
        thalweg.InvalidArgument
            A position would be negative, or a wrong shape. No position was changed.
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
        """Store all data written so far, so that it survives the death of the process. Collective.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored.
        """
        _, mine = self._prepare(lambda: None)
        self._file.flush()
        if mine is not None:
            raise mine

    def sync(self):
        """Sync all data written so far, so that it survives the death of the machine. Collective.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored.
        """
        _, mine = self._prepare(lambda: None)
        self._file.sync()
        if mine is not None:
            raise mine

    def close(self):
        """Close the file and every `f[i, j]` of it. Collective; a second call has no effect.

        A written file that is not closed stays marked as such, and is refused until it is repaired.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored. The handle is closed; the file stays marked as not closed.
        thalweg.NotFound, thalweg.Unsafe
            One of its files was removed meanwhile, or another file has its name.
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
            self._group = self._stored._group = None
        if mine is not None:
            raise mine

    def abandon(self):
        """Abandon the file and every `f[i, j]` of it instead of closing. Not collective; no effect on a closed file.

        For a rank that cannot continue. Its data is stored, and the file stays marked as not closed, until `repair`
        restores the flushed data. Does not wait for other ranks. Their next collective call,
        or their `close`, raises `NotClosed` once this rank is in an MPI call again, or finalizes MPI.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored.
        """
        if self._core is None:
            return
        for stream in list(self._streams):
            try:
                stream.close()
            except OSError:
                pass  # abandon() reports what is stored
        core, self._core = self._core, None
        try:
            core.abandon()
        finally:
            self._group = self._stored._group = None

    # ---- One VP ---------------------------------------------------------------------------------------------------

    def __getitem__(self, index):
        """The stream of one VP of this task as a binary file object. Not collective.

        Parameters
        ----------
        index : int, or tuple of int
            As for an array of shape `shape`, with an int per dimension; negative ones count from the end. The result of
            ``np.unravel_index`` is accepted.

        Returns
        -------
        io.BufferedReader, io.BufferedWriter or io.BufferedRandom
            Depending on the open mode. It has a position of its own, initially 0; the positions of `tell` do
            not change. Its buffer is written when it is flushed or
            closed, and before every collective call of this task. ``io.TextIOWrapper(f[i, j])`` reads and writes text;
            flush its buffer yourself.

        Raises
        ------
        thalweg.BadIndex
            Outside the shape, or a VP of another task.
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

    def _flush_streams(self):
        if not self.writable():
            return
        for stream in list(self._streams):
            if not stream.closed:
                stream.flush()

    def _prepare(self, prepare):
        """The result of `prepare` and None, or None and its exception."""
        _ = self._file
        return _arguments.attempt(lambda: (self._flush_streams(), prepare())[1])

    def _complete(self, call, array, counts, n, mask):
        """Raise EndOfStream on all tasks if any VP of any task has less than `n` items."""
        short = counts < n if mask is None else (counts < n) & mask
        mine = bool(short.any())
        if not (mine if self._group.size == 1 else self._group.largest([int(mine)])[0]):
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
