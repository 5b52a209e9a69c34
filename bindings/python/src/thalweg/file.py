"""The shared file: one plain file that a group of tasks writes and reads together.

>>> import numpy as np, thalweg
>>> with thalweg.File(path, "w", comm=comm) as f:
...     f.write_array(u, start=(first, 0), shape=(ny, nx), halo=1)   # each task its part of one array, without its halo
>>> with thalweg.File(path, comm=comm) as f:
...     f.read_array(u, start=(first, 0), shape=(ny, nx), halo=1)
...     request = f.iread_at(b, 8 * ny * nx)                         # goes on while the program computes
...     request.wait()                                               # or: await request

The file is byte for byte what one sequential program would have written; neither dtypes nor shapes are stored. With
``comm=``, an mpi4py communicator, the tasks open it together. `thalweg.view` describes which bytes of it a task sees.
"""

import os as _os

import numpy as _np

from . import _arguments, _core, _memory
from ._open_file import OpenFile as _OpenFile, group_of as _group_of
from .errors import InvalidArgument
from .multifile import Request

__all__ = ["File", "Request"]

_outlived = []  # requests of files that were given up
_AT_OFFSET, _IN_ORDER, _IN_VIEW = 1, 2, 3  # tw_placement


def _whence(whence):
    if whence not in (0, 1, 2):
        raise InvalidArgument(f"whence is {whence!r}; 0, 1 or 2")
    return int(whence)


class File(_OpenFile):
    """An open shared file. Collective.

    ======================================  ===========================  =========================
    place                                   collective                   this task alone
    ======================================  ===========================  =========================
    from the shared position, by rank       write_all, read_all          -
    at an offset                            write_at_all, read_at_all    write_at, read_at
    from the position in the task's view    write_view_all,              write_view, read_view
                                            read_view_all
    the task's part of an array             write_array, read_array      -
    ======================================  ===========================  =========================

    Each has a nonblocking twin that begins with ``i`` and returns a `Request`; any number may be outstanding. The memory
    must not be changed until the request is complete; it is kept until then. With ``comm=`` a collective one is carried out
    in the call that starts it, as the messages pass through mpi4py.

    *Collective* calls are made by all tasks in the same order, each with its own arguments, and fail on all when they fail
    on one. Memory is anything with the buffer protocol, C-contiguous. What was written survives the death of the process;
    `sync` makes it survive that of the machine.

    Threads of a task may share the file; their calls are serialised. One thread makes the collective calls.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Equal on all tasks.
    mode : {"r", "w", "a", "x", "r+", "w+", "a+", "x+"}, default "r"
        As for ``builtins.open``; a ``b`` is ignored. With "a" the shared position begins at the end.
    comm : mpi4py.MPI.Intracomm, optional
        The tasks that open the file together; it is duplicated. None: this task alone.
    hints : dict or str, optional
        ``{"method": "direct"}`` or ``"method=direct"``; those of task 0 count.

    Attributes
    ----------
    name : str, bytes
        The path of the open.
    open_mode : str
        The mode of the open, without a ``b``.

    Raises
    ------
    thalweg.InvalidArgument, thalweg.UnknownHint
        An argument is invalid.
    thalweg.NotFound, thalweg.Exists, thalweg.Permission, thalweg.NoSpace, thalweg.Error
        An error of the system.
    thalweg.Unsafe
        For writing: the file belongs to a multifile or a vpfile.
    TypeError
        `comm` is not a communicator.
    """

    _kind = "shared file"

    def __init__(self, path, mode="r", *, comm=None, hints=None):
        self._group = _group_of(comm)

        def prepare():
            return _arguments.path_bytes(path), _arguments.text(str(mode)), _arguments.hints_text(hints)

        made, mine = _arguments.attempt(prepare)
        core = self._together(mine, lambda: _core.SharedFile(self._group, *(made or (None, "r", ""))))
        self.name = _os.fspath(path)
        self.open_mode = str(mode).replace("b", "")
        self._requests = []
        self._n_asked = 64  # requests, before the complete ones are freed
        self._core = core

    def __repr__(self):
        return f"<{'closed ' if self.closed else ''}shared file {self.name!r}, mode {self.open_mode!r}>"

    @property
    def last_plan(self):
        """str: how the last blocking collective access was carried out and why; "" before the first."""
        return self._file.last_plan()

    # ---- Blocks of memory -----------------------------------------------------------------------------------------

    def write_all(self, a):
        """Write, all tasks one behind the other in rank order from the shared position, which moves. Collective.

        Parameters
        ----------
        a : buffer
            May be empty.

        Returns
        -------
        int
            Bytes written by this task.

        Raises
        ------
        thalweg.InvalidArgument, thalweg.WrongMode, thalweg.NoSpace, thalweg.Error
            On all tasks.
        """
        return self._access(True, True, _IN_ORDER, a)

    def read_all(self, a):
        """Read, all tasks one behind the other in rank order from the shared position, which moves. Collective.

        Parameters
        ----------
        a : buffer, writable

        Returns
        -------
        int
            Bytes read by this task: fewer than asked for only at the end of the file. The rest of `a` is undefined.

        Raises
        ------
        thalweg.InvalidArgument, thalweg.WrongMode, thalweg.Error
            On all tasks.
        """
        return self._access(False, True, _IN_ORDER, a)

    def write_at_all(self, a, offset):
        """Write at an offset of each task's own. Collective; else as `write_all`.

        Parameters
        ----------
        a : buffer
        offset : int
            Bytes of the view of the task, which are those of the file if none was set.

        Returns
        -------
        int
        """
        return self._access(True, True, _AT_OFFSET, a, offset)

    def read_at_all(self, a, offset):
        """Read at an offset of each task's own. Collective; else as `read_all`."""
        return self._access(False, True, _AT_OFFSET, a, offset)

    def write_view_all(self, a):
        """Write from the position in the task's view, which moves. Collective; else as `write_all`."""
        return self._access(True, True, _IN_VIEW, a)

    def read_view_all(self, a):
        """Read from the position in the task's view, which moves. Collective; else as `read_all`."""
        return self._access(False, True, _IN_VIEW, a)

    def write_at(self, a, offset):
        """Write at an offset. Not collective: errors are those of this task."""
        return self._access(True, False, _AT_OFFSET, a, offset)

    def read_at(self, a, offset):
        """Read at an offset, and return the bytes read. Not collective."""
        return self._access(False, False, _AT_OFFSET, a, offset)

    def write_view(self, a):
        """Write from the position in the task's view, which moves. Not collective."""
        return self._access(True, False, _IN_VIEW, a)

    def read_view(self, a):
        """Read from the position in the task's view, which moves, and return the bytes read. Not collective."""
        return self._access(False, False, _IN_VIEW, a)

    def iwrite_all(self, a):
        """Start `write_all`; return a `Request`. Collective."""
        return self._access(True, True, _IN_ORDER, a, starts=True)

    def iread_all(self, a):
        """Start `read_all`; return a `Request`. Collective."""
        return self._access(False, True, _IN_ORDER, a, starts=True)

    def iwrite_at_all(self, a, offset):
        """Start `write_at_all`; return a `Request`. Collective."""
        return self._access(True, True, _AT_OFFSET, a, offset, starts=True)

    def iread_at_all(self, a, offset):
        """Start `read_at_all`; return a `Request`. Collective."""
        return self._access(False, True, _AT_OFFSET, a, offset, starts=True)

    def iwrite_view_all(self, a):
        """Start `write_view_all`; return a `Request`. Collective."""
        return self._access(True, True, _IN_VIEW, a, starts=True)

    def iread_view_all(self, a):
        """Start `read_view_all`; return a `Request`. Collective."""
        return self._access(False, True, _IN_VIEW, a, starts=True)

    def iwrite_at(self, a, offset):
        """Start `write_at`; return a `Request`. Not collective."""
        return self._access(True, False, _AT_OFFSET, a, offset, starts=True)

    def iread_at(self, a, offset):
        """Start `read_at`; return a `Request`. Not collective."""
        return self._access(False, False, _AT_OFFSET, a, offset, starts=True)

    def iwrite_view(self, a):
        """Start `write_view`; return a `Request`. Not collective."""
        return self._access(True, False, _IN_VIEW, a, starts=True)

    def iread_view(self, a):
        """Start `read_view`; return a `Request`. Not collective."""
        return self._access(False, False, _IN_VIEW, a, starts=True)

    # ---- Parts of an array ----------------------------------------------------------------------------------------

    def write_array(self, a, *, start=None, shape=None, halo=0, offset=0, order="C"):
        """Write this task's part of an array, which lies in the file without gaps. Collective.

        Parameters
        ----------
        a : array_like
            The local array with its halo. Any dtype without Python objects. Copied where it is not contiguous in `order`.
        start : sequence of int, optional
            First index of the part in the array, for each dimension; default zeros.
        shape : sequence of int, optional
            Extents of the array in the file. Default: those of the part, for a task alone.
        halo : int or sequence of int or of (int, int), default 0
            Indices of `a` on each side of the part that are not moved: for all dimensions, for each one, or before and
            behind the part in each one.
        offset : int, default 0
            First byte of the array in the file.
        order : {"C", "F"}, default "C"
            Order of the array in the file.

        Returns
        -------
        int
            Bytes written by this task.

        Raises
        ------
        thalweg.InvalidArgument, thalweg.OutOfRange
            On all tasks: the part does not lie in the array, or is smaller than its halo.
        TypeError
            The dtype contains Python objects.
        thalweg.WrongMode, thalweg.NoSpace, thalweg.Error
            On all tasks.
        """
        return self._array(True, a, start, shape, halo, offset, order)

    def read_array(self, a, *, start=None, shape=None, halo=0, offset=0, order="C"):
        """Read this task's part of an array into `a`, whose halo stays as it is. Collective; else as `write_array`.

        Parts that are read may overlap, so that a task can read its halo, too: without `halo`, from an earlier `start`.

        Parameters
        ----------
        a : numpy.ndarray, writable

        Returns
        -------
        int
            Bytes read: those of the part that lie in the file. The rest of the part is undefined.
        """
        return self._array(False, a, start, shape, halo, offset, order)

    def iwrite_array(self, a, *, start=None, shape=None, halo=0, offset=0, order="C"):
        """Start `write_array`; return a `Request`. Collective."""
        return self._array(True, a, start, shape, halo, offset, order, starts=True)

    def iread_array(self, a, *, start=None, shape=None, halo=0, offset=0, order="C"):
        """Start `read_array`; return a `Request`. Collective. `a` is contiguous in `order`."""
        return self._array(False, a, start, shape, halo, offset, order, starts=True)

    # ---- The file as a whole --------------------------------------------------------------------------------------

    def set_view(self, view=None, displacement=0):
        """Set which bytes of the file this task sees; its position in the view becomes 0. Collective.

        Parameters
        ----------
        view : thalweg.view.View or dtype, optional
            None: all bytes from `displacement` on. Each task passes its own.
        displacement : int, default 0
            First byte of the view in the file.

        Raises
        ------
        thalweg.InvalidArgument
            On all tasks, whose views stay as they were: for writing, a view that has a byte twice.
        """
        def prepare():
            from . import view as views
            return _arguments.number(displacement, "displacement"), None if view is None else views._element(view)

        self._collective(prepare, lambda made: self._file.set_view(*(made or (-1, None))))

    def seek(self, offset, whence=0):
        """Move the shared position. Collective, equal on all tasks.

        Parameters
        ----------
        offset : int
            Bytes.
        whence : {0, 1, 2}, default 0
            Relative to the beginning, the position, or the end of the file.

        Returns
        -------
        int
            The new position.
        """
        def prepare():
            return _arguments.number(offset, "seek: offset"), _whence(whence)

        return self._collective(prepare, lambda made: self._file.seek(*(made or (0, -1))))

    def seek_view(self, offset, whence=0):
        """Move the position in the task's view, and return it. Not collective; else as `seek`."""
        return self._file.seek_view(_arguments.number(offset, "seek_view: offset"), _whence(whence))

    def view_offset(self, position):
        """The offset in the file, in bytes, of a byte of the task's view. Not collective."""
        return self._file.view_offset(_arguments.number(position, "position"))

    def size(self):
        """Bytes of the file, after every task has made the call. Collective."""
        return self._file.size()

    def end(self):
        """Bytes of the file as it is now. Not collective."""
        return self._file.end()

    def truncate(self, nbytes):
        """Cut the file, or extend it with a hole. Collective, equal on all tasks."""
        self._collective(lambda: _arguments.number(nbytes, "nbytes"),
                         lambda made: self._file.truncate(-1 if made is None else made))

    def preallocate(self, nbytes, offset=0):
        """Reserve storage for `nbytes` bytes from `offset` on. Collective, equal on all tasks."""
        def prepare():
            numbers = _arguments.number(nbytes, "nbytes"), _arguments.number(offset, "offset")
            if numbers[0] < 0:
                raise InvalidArgument(f"preallocate: nbytes is {nbytes}; 0 or more")
            return numbers

        self._collective(prepare, lambda made: self._file.preallocate(*(made or (1, -1))))

    def sync(self):
        """What was written survives the death of the machine. Collective.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            On all tasks; every later sync of this open file fails, too.
        """
        self._file.sync()

    def close(self):
        """Complete what is outstanding, and close the file. Collective; a second call has no effect.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored. The handle is closed.
        thalweg.NotClosed
            Another task has abandoned it.
        """
        self._end(lambda core: core.close())

    def abandon(self):
        """Give the file up, for a task that cannot go on. Waits for no other task, whose collective calls on it fail.

        Raises
        ------
        thalweg.Error
            The handle is closed all the same.
        """
        self._end(lambda core: core.abandon())

    # ---- Inside ---------------------------------------------------------------------------------------------------

    def _end(self, act):
        if self._core is None:
            return
        core, self._core = self._core, None
        try:
            act(core)
        finally:
            # After a close they are complete. A file that is given up waits for nothing: the memory stays until they are.
            _outlived[:] = [request for request in _outlived + self._requests if not request._is_over()]
            self._requests = []

    def _collective(self, prepare, act):
        _ = self._file
        made, mine = _arguments.attempt(prepare)
        return self._together(mine, lambda: act(made))

    def _outcome(self, result):
        if not isinstance(result, _core.Request):
            return result
        request = Request(result)
        self._requests.append(request)
        if len(self._requests) > self._n_asked:
            self._requests = [one for one in self._requests if not one._is_over()]
            self._n_asked = 2 * len(self._requests) + 64
        return request

    def _access(self, writes, collective, placement, a, offset=0, *, starts=False):
        def prepare():
            with memoryview(a) as view:
                if not view.c_contiguous:
                    raise InvalidArgument("the memory is not C-contiguous; pass numpy.ascontiguousarray(a), or use write_array")
                if view.readonly and not writes:
                    raise InvalidArgument("the memory is not writable")
                if "O" in view.format:
                    raise TypeError("the memory contains Python objects, which cannot be stored")
            return _arguments.number(offset, "offset"), a

        act = self._file.start if starts else self._file.access
        made, mine = _arguments.attempt(prepare)
        if not collective:
            if mine is not None:
                raise mine
            return self._outcome(act(writes, False, placement, *made))
        if mine is not None:
            return self._refuse(writes, mine, starts)
        return self._outcome(self._together(None, lambda: act(writes, True, placement, *made)))

    # Fails on all tasks: the others find the failure in their requests where the access is nonblocking.
    def _refuse(self, writes, mine, starts):
        why = str(mine).encode(errors="replace").decode()
        if not starts:
            return self._together(mine, lambda: self._file.access(writes, True, _AT_OFFSET, 0, why))
        self._outcome(self._file.start(writes, True, _AT_OFFSET, 0, why))
        raise mine

    def _array(self, writes, a, start, shape, halo, offset, order, *, starts=False):
        def prepare():
            if order not in ("C", "F"):
                raise InvalidArgument(f"order is {order!r}; 'C' or 'F'")
            array = _memory.plain(_np.asanyarray(a), "write_array") if writes else a
            if not writes:
                if not isinstance(a, _np.ndarray):
                    raise TypeError(f"read_array: a must be a numpy.ndarray, not {type(a).__name__}")
                array = _memory.plain(a, "read_array")
                if not array.flags.writeable:
                    raise InvalidArgument("read_array: a is not writable")
            if isinstance(array, _np.ma.MaskedArray):
                raise InvalidArgument("a masked array has no place for its mask; pass its data")
            is_contiguous = array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
            if not is_contiguous and starts and not writes:
                raise InvalidArgument(f"iread_array: a is not contiguous in the order {order!r}; read_array copies it")
            whole = array if is_contiguous else _np.array(array, order=order)
            return (whole, whole.reshape(-1, order="A").view(_np.uint8), self._dims(array, start, shape, halo),
                    _arguments.number(offset, "offset"))

        _ = self._file
        made, mine = _arguments.attempt(prepare)
        if mine is not None:
            return self._refuse(writes, mine, starts)
        array, memory, dims, at = made
        act = self._file.start_array if starts else self._file.array
        result = self._together(None, lambda: act(writes, memory, array.itemsize, dims, order == "C", at))
        if not writes and array is not a:
            a[...] = array
        return self._outcome(result)

    def _dims(self, array, start, shape, halo):
        n = array.ndim
        if n == 0 and _np.any(halo):
            raise InvalidArgument(f"halo is {halo}, and the array has no dimension")
        halos = [halo] * n if _np.ndim(halo) == 0 else list(halo)
        if len(halos) != n:
            raise InvalidArgument(f"halo has {len(halos)} entries for an array of {n} dimensions")
        pairs = [(one, one) if _np.ndim(one) == 0 else tuple(one) for one in halos]
        pairs = [tuple(_arguments.number(one, "halo") for one in pair) for pair in pairs]
        count = [_arguments.number(extent - sum(pair), "the part without its halo") for extent, pair in zip(array.shape, pairs)]
        if shape is None and self._group.size > 1:
            raise InvalidArgument("shape is needed where several tasks have parts of the array")
        whole = count if shape is None else _arguments.extents(shape)
        first = [0] * n if start is None else _arguments.extents(start)
        if not len(whole) == len(first) == n:
            raise InvalidArgument(f"an array of {n} dimensions with start {first} in a shape {whole}")
        if n == 0:  # a single item
            return [(1, 0, 1, 0, 0)]
        return [(extent, begin, inside, before, behind)
                for extent, begin, inside, (before, behind) in zip(whole, first, count, pairs)]
