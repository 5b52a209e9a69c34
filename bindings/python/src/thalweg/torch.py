"""PyTorch: checkpoints of Distributed Checkpoint (DCP), each in one multifile.

>>> import torch.distributed.checkpoint as dcp, thalweg.torch
>>> writer = thalweg.torch.StorageWriter(folder / "step100.tw")
>>> dcp.save(state_dict, storage_writer=writer)
>>> newest = thalweg.torch.latest(folder)        # the newest checkpoint that is whole, or None
>>> dcp.load(state_dict, storage_reader=thalweg.torch.StorageReader(newest))

Every rank writes a logical file of its own, "data/RANK", with its tensors one behind the other. When all ranks have written
theirs and the multifile is closed, the coordinator appends ".metadata". So a checkpoint is whole exactly when the multifile is
closed and has ".metadata": a save that ends at any earlier moment leaves a checkpoint that cannot be loaded.

As `torch.load` does, loading unpickles what the checkpoint holds: load only checkpoints that you trust.
"""

import concurrent.futures as _futures
import contextlib as _contextlib
import dataclasses as _dataclasses
import datetime as _datetime
import io as _io
import itertools as _itertools
import math as _math
import os as _os
import pathlib as _pathlib
import pickle as _pickle
import re as _re
import threading as _threading
import time as _time
import typing as _typing
import uuid as _uuid
import weakref as _weakref

import numpy as _np
import torch as _torch
import torch.distributed as _dist
from torch.distributed.checkpoint import metadata as _dcp_metadata
from torch.distributed.checkpoint import staging as _staging
from torch.distributed.checkpoint import storage as _storage

from . import _arguments, _array_stream, _core
from .errors import Corrupt, Error, Exists, InvalidArgument, NoMemory, NotClosed, NotFound, Permission
from .multifile import Multifile

__all__ = ["StorageWriter", "StorageReader", "latest"]

_METADATA = ".metadata"
_DATA = "data/"
_BEGUN = "torch.begun"  # attribute of every checkpoint
_SAVED = "torch.saved"  # attribute: nanoseconds since 1970
_ALIGNMENT = 64  # bytes, of a tensor in its logical file


class _Share(_typing.NamedTuple):
    """What a rank learns from the plan of all ranks."""

    rank: int
    size: int


class _Place(_typing.NamedTuple):
    """Where the bytes of one item are: a row-major tensor of this shape, or an object for dtype None."""

    rank: int
    at: int
    nbytes: int
    dtype: _torch.dtype | None
    shape: tuple[int, ...]


class _Staged(dict):
    """A state dict in memory of a stager. As long as it exists, the stager copies nothing else there."""

    __slots__ = ("__weakref__",)


# ---- The group of the ranks that save ---------------------------------------------------------------------------------


class _Mesh:
    """Connections of all ranks of a save, apart from every process group of the program: a save in another thread mixes with
    nothing. A mesh serves one save at a time, and the next one if that succeeds: a failure may leave messages behind."""

    def __init__(self, store, key, share, timeout):
        self.key = key
        self.rank, self.size = share
        self.gloo = _dist.ProcessGroupGloo(_dist.PrefixStore(f"thalweg/{key}", store), self.rank, self.size, timeout)
        self.tags = _itertools.count()


_idle = []  # meshes
_abandoned = []  # (mesh, its works that other ranks have yet to enter): a mesh must not go before its works


def _tensor(memory):
    return _torch.frombuffer(bytearray(memory) if memory.readonly else memory, dtype=_torch.uint8)


class _Transport:
    """The messages of `_core.Group`, over a mesh."""

    def __init__(self, mesh):
        self._mesh = mesh
        self._tag = next(mesh.tags)  # equal on all ranks, which make duplicates in one order
        self._pending = {}
        self._numbers = _itertools.count(1)
        self.rank, self.size = mesh.rank, mesh.size

    def duplicate(self):
        return _Transport(self._mesh)

    def free(self):
        if self._pending:
            _abandoned.append((self._mesh, [work for work, _, _ in self._pending.values()]))

    # In memory of its own: a file that is given up leaves the work behind.
    def start_largest(self, numbers):
        options = _dist.AllreduceOptions()
        options.reduceOp = _dist.ReduceOp.MAX
        values = _torch.frombuffer(bytearray(numbers), dtype=_torch.int64)
        number = next(self._numbers)
        self._pending[number] = (self._mesh.gloo.allreduce([values], options), values, numbers)
        return number

    def finish_largest(self, number):
        work, values, numbers = self._pending.pop(number)
        work.wait()
        numbers[:] = memoryview(values.numpy()).cast("B")

    def send_receive(self, out, to, into, source):
        works = []
        if source >= 0 and len(into):
            works.append(self._mesh.gloo.recv([_tensor(into)], source, self._tag))
        if to >= 0 and len(out):
            works.append(self._mesh.gloo.send([_tensor(out)], to, self._tag))
        for work in works:
            work.wait()


# ---- Saving -----------------------------------------------------------------------------------------------------------


def _bytes_of(tensor, name):
    """The bytes of a tensor in row-major order, copied only where it is not contiguous or not in memory of the host."""
    if tensor.layout != _torch.strided or tensor.is_quantized:
        raise InvalidArgument(f"{name}: a tensor of layout {tensor.layout} and dtype {tensor.dtype} is not stored; save its parts, "
                              "which are plain tensors")
    plain = tensor.detach().cpu().contiguous().resolve_conj().resolve_neg()
    return plain.reshape(-1).view(_torch.uint8).numpy()


def _make_folder(folder, syncs):
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing if syncs else ():
        handle = _os.open(made.parent, _os.O_RDONLY)
        try:
            _os.fsync(handle)
        finally:
            _os.close(handle)


class StorageWriter(_storage.StorageWriter, _staging.AsyncStager):
    """Saves checkpoints with ``torch.distributed.checkpoint.save`` and ``async_save``, each in one multifile.

    Constructing is not collective. The other methods are called by DCP, on the thread that saves: of every rank, but
    `prepare_global_plan` and `finish` of the coordinator only. A failure of any rank is raised on all, as DCP's
    ``CheckpointException``, and nothing of the checkpoint can be loaded then.

    One writer can save any number of checkpoints: ``dcp.save(..., checkpoint_id=path, storage_writer=writer)``. With
    ``async_save`` keep the writer: it copies the state dict into memory that it had for the save before, as far as that has
    ended, so that only the first copies wait for new pages.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The multifile, PATH, PATH.000001, ..., equal on all ranks. Missing folders are made. Without it every save needs
        a ``checkpoint_id``.
    sync : bool, default True
        Whether a save waits until the bytes are on the storage. Without it a checkpoint that passes for a whole one may be
        damaged when the machine dies; damaged bytes are refused on loading.
    background_staging : bool, default False
        With ``async_save``: whether the copy, too, is made in another thread. ``async_save`` then returns an
        ``AsyncSaveResponse``, and the program must not change the tensors before its ``staging_completion`` is done.
    hints : dict or str, optional
        Hints of the multifile, as for `thalweg.Multifile`.
    timeout : float, default 1800
        Seconds that a rank waits for another one before the save fails, as for the process groups of PyTorch.

    Raises
    ------
    thalweg.InvalidArgument
        An argument is invalid.
    """

    _synchronize_after_execute = False  # of AsyncStager: async_save has nothing to wait for

    def __init__(self, path=None, *, sync=True, background_staging=False, hints=None, timeout=1800.0):
        if not 0 < float(timeout) < 1e9:
            raise InvalidArgument(f"timeout is {timeout} s; more than 0, and less than 1e9")
        self._path = None if path is None else _os.fspath(path)
        if self._path is not None:
            _arguments.path_bytes(self._path)
        self._sync = bool(sync)
        self._hints = _arguments.hints_text(hints)
        self._timeout = _datetime.timedelta(seconds=float(timeout))
        self._background = bool(background_staging)
        self._set_up()

    def _set_up(self):
        self._stagers = []  # (stager, a weak reference to what it staged last)
        self._executor = _futures.ThreadPoolExecutor(1, "thalweg.torch") if self._background else None
        self._save = _threading.local()  # a save is made by one thread: others may save at the same time

    # DCP sends the writer to the process that saves in its place.
    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key not in ("_stagers", "_executor", "_save")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._set_up()

    # ---- Staging: the copy that async_save makes --------------------------------------------------------------------

    def stage(self, state_dict):
        """Copy a state dict into memory of the host.

        Parameters
        ----------
        state_dict : dict

        Returns
        -------
        dict or concurrent.futures.Future
            The copy; a future of it with `background_staging`.
        """
        return self._copy(state_dict) if self._executor is None else self._executor.submit(self._copy, state_dict)

    # The memory of a copy that still exists is not written: its save may go on, or a program may hold it.
    def _copy(self, state_dict):
        at = next((i for i, (_, staged) in enumerate(self._stagers) if staged() is None), None)
        if at is None:
            at = len(self._stagers)
            with_device = _torch.accelerator.is_available()
            self._stagers.append((_staging.DefaultStager(_staging.StagingOptions(
                use_pinned_memory=_torch.cuda.is_available(), use_shared_memory=False, use_async_staging=False,
                use_non_blocking_copy=with_device)), lambda: None))
        stager = self._stagers[at][0]
        copy = _Staged(stager.stage(state_dict))
        self._stagers[at] = (stager, _weakref.ref(copy))
        return copy

    def close(self):
        """Free the memory of staged copies. Call it after the last save."""
        if self._executor is not None:
            self._executor.shutdown()
        for stager, _ in self._stagers:
            stager.close()
        self._stagers.clear()

    # ---- The protocol of DCP, in the order of its calls -------------------------------------------------------------

    @property
    def checkpoint_id(self):
        """str or None: the path of the checkpoint that is saved."""
        return getattr(self._save, "path", self._path)

    def reset(self, checkpoint_id=None):
        """Begin another save.

        Parameters
        ----------
        checkpoint_id : str or os.PathLike, optional
            Its path.
        """
        if checkpoint_id is not None:
            self._save.path = _os.fspath(checkpoint_id)
            _arguments.path_bytes(self._save.path)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether it can be the path of a checkpoint.

        Parameters
        ----------
        checkpoint_id : str or os.PathLike

        Returns
        -------
        bool
        """
        return isinstance(checkpoint_id, _os.PathLike) or (isinstance(checkpoint_id, str) and "://" not in checkpoint_id)

    def storage_meta(self):
        """What DCP stores about the checkpoint itself.

        Returns
        -------
        torch.distributed.checkpoint.metadata.StorageMeta
        """
        return _dcp_metadata.StorageMeta(checkpoint_id=self.checkpoint_id, save_id=getattr(self._save, "id", None))

    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        """Begin a save on this rank.

        Parameters
        ----------
        is_coordinator : bool
        args, kwargs
            ``rank`` and ``use_collectives`` of DCP.

        Raises
        ------
        thalweg.InvalidArgument
            There is no path; or ``use_collectives=False``, but the ranks write one multifile together.
        """
        if self.checkpoint_id is None:
            raise InvalidArgument("thalweg.torch.StorageWriter has no path; pass one to it, or a checkpoint_id to the save")
        if not kwargs.get("use_collectives", True):
            raise InvalidArgument(f"{self.checkpoint_id}: use_collectives=False stores a checkpoint for each rank; a multifile is "
                                  "written by all ranks together")
        self._save.id = _uuid.uuid4().hex
        self._save.rank = kwargs.get("rank", 0)
        if getattr(self._save, "mesh", None) is not None:  # of a save that failed before anything was sent
            _idle.append(self._save.mesh)
        self._save.mesh = self._save.store = self._save.uuid = None

    def _key(self, what):
        return f"thalweg/{what}/{self.checkpoint_id}"

    def prepare_local_plan(self, plan):
        """Tell the coordinator that this rank saves to this path, and which mesh it has.

        Parameters
        ----------
        plan : torch.distributed.checkpoint.SavePlan

        Returns
        -------
        torch.distributed.checkpoint.SavePlan
        """
        if _dist.is_initialized() and _dist.get_world_size() > 1:
            # A connection of its own: a call that waits would keep calls of other threads waiting.
            self._save.store = _dist.distributed_c10d._get_default_store().clone()
            with _contextlib.suppress(IndexError):
                self._save.mesh = _idle.pop()
            mesh = self._save.mesh
            self._save.store.set(self._key(self._save.rank), mesh.key if mesh is not None and mesh.rank == self._save.rank else "")
        return plan

    def prepare_global_plan(self, plans):
        """Check the path, and choose the mesh. The coordinator calls it.

        Parameters
        ----------
        plans : list of torch.distributed.checkpoint.SavePlan
            Those of all ranks.

        Returns
        -------
        list of torch.distributed.checkpoint.SavePlan

        Raises
        ------
        thalweg.Exists
            At the path is a whole checkpoint, or a file of another kind.
        thalweg.InvalidArgument
            Ranks save to different paths.
        """
        if self._save.store is not None:
            self._choose_mesh(self._save.store, len(plans))
        path = _pathlib.Path(self.checkpoint_id)
        _refuse_existing(path)
        _make_folder(path.parent, self._sync)
        return [_dataclasses.replace(plan, storage_data=_Share(rank, len(plans))) for rank, plan in enumerate(plans)]

    # Through the store: a planner that keeps plans does not pass on what a later plan holds.
    def _choose_mesh(self, store, n):
        has = []
        for key in map(self._key, range(n)):
            has.append(store.get(key).decode() if store.check([key]) else None)
            store.delete_key(key)
        if None in has:
            raise InvalidArgument(f"{self.checkpoint_id}: rank {has.index(None)} saves to another path; pass one path on all ranks")
        mesh = self._save.mesh
        if n > 1:
            keeps = mesh is not None and mesh.size == n and has == [mesh.key] * n
            store.set(self._key("mesh"), mesh.key if keeps else _uuid.uuid4().hex)

    def _join(self, share):
        """The group of all ranks of this save, and its mesh."""
        mesh, self._save.mesh = self._save.mesh, None
        if share.size == 1:
            return _core.Group(), mesh
        key = self._save.store.get(self._key("mesh")).decode()
        if mesh is None or mesh.key != key:
            _abandoned[:] = [pair for pair in _abandoned if not all(work.is_completed() for work in pair[1])]
            mesh = _Mesh(self._save.store, key, share, self._timeout)
        return _core.Group(_Transport(mesh)), mesh

    def write_data(self, plan, planner):
        """Write what the plan has for this rank, and close the multifile with all others. Collective.

        Parameters
        ----------
        plan : torch.distributed.checkpoint.SavePlan
        planner : torch.distributed.checkpoint.SavePlanner

        Returns
        -------
        torch.futures.Future of list of torch.distributed.checkpoint.storage.WriteResult

        Raises
        ------
        thalweg.InvalidArgument
            A tensor is sparse or quantized, or a hint is invalid.
        thalweg.NotClosed
            Another rank has failed.
        thalweg.Unsafe
            Another program is writing the file.
        thalweg.Permission, thalweg.NoSpace, thalweg.Error
            An error of the system.
        """
        group, mesh = self._join(plan.storage_data)
        file = _core.Multifile(group, _arguments.path_bytes(self.checkpoint_id), "w", 0, [], False, self._hints_of(plan))
        try:
            self._save.uuid = file.summary()["uuid"]
            file.set_attribute(_BEGUN.encode(), b"1")
            results = self._write_items(file, plan, planner)
        except BaseException:
            with _contextlib.suppress(OSError):  # the other ranks wait in the close
                file.abandon()
            raise
        file.close()
        if mesh is not None:
            _idle.append(mesh)
        future = _torch.futures.Future()
        future.set_result(results)
        return future

    # A chunk that holds all that a rank writes is one run of bytes. Later hints win.
    def _hints_of(self, plan):
        nbytes = sum(_math.prod(item.tensor_data.chunk.sizes) * item.tensor_data.properties.dtype.itemsize + _ALIGNMENT
                     for item in plan.items if item.tensor_data is not None)
        own = {"sync_on_close": "on" if self._sync else "off", "chunk_bytes": min(max(nbytes, 1 << 16), 1 << 40)}
        return ",".join(filter(None, (_arguments.hints_text(own), self._hints)))

    @staticmethod
    def _write_items(file, plan, planner):
        results, at = [], 0
        number = file.add(f"{_DATA}{plan.storage_data.rank}".encode(), -1, 0) if plan.items else None
        for item in plan.items:
            data = planner.resolve_data(item)
            if isinstance(data, _torch.Tensor):
                memory, dtype, shape = _bytes_of(data, item.index.fqn), data.dtype, tuple(data.shape)
            else:
                memory, dtype, shape = data.getbuffer(), None, ()
            if memory.nbytes:
                file.write_at(number, at, memory)
            place = _Place(plan.storage_data.rank, at, memory.nbytes, dtype, shape)
            results.append(_storage.WriteResult(item.index, memory.nbytes, place))
            at += memory.nbytes + -memory.nbytes % _ALIGNMENT
        return results

    def finish(self, metadata, results):
        """Append ``.metadata``, which makes the checkpoint whole. The coordinator calls it when all ranks have written.

        Parameters
        ----------
        metadata : torch.distributed.checkpoint.Metadata
        results : list of list of torch.distributed.checkpoint.storage.WriteResult
            Those of all ranks.

        Raises
        ------
        thalweg.Exists
            Another program has replaced the file.
        thalweg.NoSpace, thalweg.Error
            An error of the system.
        """
        path = self.checkpoint_id
        with Multifile(path) as written:
            if written.info()["uuid"] != self._save.uuid:
                raise Exists(f"{path}: another program has replaced this checkpoint while it was saved; pass a path of its own")
        metadata.storage_data = {result.index: result.storage_data for rank in results for result in rank}
        metadata.storage_meta = self.storage_meta()
        with Multifile(path, "a", hints={"sync_on_close": "on" if self._sync else "off"}) as mf:
            mf.attributes[_SAVED] = str(_time.time_ns())
            mf.add(_METADATA).write(_pickle.dumps(metadata))
        if self._save.store is not None:
            self._save.store.delete_key(self._key("mesh"))


def _refuse_existing(path):
    """Refuse to replace anything but a checkpoint that is torn."""
    try:
        if _os.stat(path).st_size == 0 or _is_torn(path, False):
            return
    except FileNotFoundError:
        return
    except NotClosed:  # a save that goes on is refused later
        with _contextlib.suppress(Corrupt):
            if _is_torn(path, True):
                return
    except Corrupt:
        pass
    raise Exists(f"{path} is a checkpoint, or no file of one, which is not replaced; save to another path, or remove it with its "
                 "further files")


def _is_torn(path, recover):
    """Whether a multifile has nothing but what a save wrote that did not end."""
    with Multifile(path, recover=recover) as mf:
        return all(_re.fullmatch(_DATA + r"\d+", entry.name) or not (entry.name or entry.nbytes) for entry in mf) and (
            recover or _BEGUN in mf.attributes or len(mf) == 0)


# ---- Loading ----------------------------------------------------------------------------------------------------------


def _metadata_of(mf):
    """The metadata of a checkpoint. Raises NotClosed where it is torn."""
    name = _os.fsdecode(mf.name)
    try:
        stream = mf[_METADATA]
    except NotFound:
        raise NotClosed(f"{name}: this checkpoint is not whole: the save that wrote it did not end. "
                        "thalweg.torch.latest(folder) finds the newest whole one") from None
    words = stream.read()
    try:
        metadata = _pickle.loads(words)
    except Exception as error:
        raise Corrupt(f"{name}: {_METADATA} cannot be read: {error}") from None
    if not isinstance(metadata, _dcp_metadata.Metadata) or not isinstance(metadata.storage_data, dict):
        raise Corrupt(f"{name}: {_METADATA} is not that of a checkpoint of thalweg.torch")
    return metadata


class _StoredTensor(_array_stream.StoredArray):
    """The tensor of a place, as an array of items without a type."""

    def __init__(self, read_at, place, what):
        self._read_at, self._what, self._data = read_at, what, place.at
        self.shape, self.is_fortran, self.dtype = place.shape, False, _np.dtype(f"V{place.dtype.itemsize}")

    def read_into(self, tensor, starts):
        """Fill a tensor, in any memory and with any strides, from the box at `starts` that has its shape."""
        direct = tensor.device.type == "cpu" and tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg()
        room = tensor if direct else _torch.empty(tensor.shape, dtype=tensor.dtype)
        if room.numel():
            items = room.reshape(-1).view(_torch.uint8).numpy().view(self.dtype).reshape(tensor.shape)
            self._read_runs(items, list(starts), list(tensor.shape), list(self.shape))
        if not direct:
            tensor.copy_(room)


class StorageReader(_storage.StorageReader):
    """Loads checkpoints with ``torch.distributed.checkpoint.load``, on any number of ranks.

    Constructing is not collective, and every rank opens the file by itself. Each reads the bytes that its tensors need, into
    their own memory where that is contiguous memory of the host and has the stored dtype. The methods are called by DCP.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The multifile. Without it every load needs a ``checkpoint_id``.
    """

    def __init__(self, path=None):
        self._path = None if path is None else _os.fspath(path)
        self._file = None
        self._places = {}

    @property
    def checkpoint_id(self):
        """str or None: the path of the checkpoint that is loaded."""
        return self._path

    def reset(self, checkpoint_id=None):
        """Begin another load.

        Parameters
        ----------
        checkpoint_id : str or os.PathLike, optional
            Its path.
        """
        self._close()
        if checkpoint_id is not None:
            self._path = _os.fspath(checkpoint_id)

    def _close(self):
        file, self._file = self._file, None
        if file is not None:
            file.close()

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether it can be the path of a checkpoint.

        Parameters
        ----------
        checkpoint_id : str or os.PathLike

        Returns
        -------
        bool
        """
        return StorageWriter.validate_checkpoint_id(checkpoint_id)

    def read_metadata(self):
        """Open the checkpoint and read its metadata.

        Returns
        -------
        torch.distributed.checkpoint.Metadata

        Raises
        ------
        thalweg.NotFound
            There is no such file.
        thalweg.NotClosed
            The checkpoint is torn, or is being saved.
        thalweg.Corrupt
            Bytes are damaged.
        thalweg.InvalidArgument
            There is no path.
        """
        if self._path is None:
            raise InvalidArgument("thalweg.torch.StorageReader has no path; pass one to it, or a checkpoint_id to the load")
        self._close()
        self._file = Multifile(self._path)  # one handle for the whole load: nobody can replace the file meanwhile
        return _metadata_of(self._file)

    def set_up_storage_reader(self, metadata, is_coordinator):
        """Begin a load on this rank.

        Parameters
        ----------
        metadata : torch.distributed.checkpoint.Metadata
        is_coordinator : bool
        """
        self._places = metadata.storage_data

    def prepare_local_plan(self, plan):
        """Leave the plan as it is.

        Parameters
        ----------
        plan : torch.distributed.checkpoint.LoadPlan

        Returns
        -------
        torch.distributed.checkpoint.LoadPlan
        """
        return plan

    def prepare_global_plan(self, plans):
        """Leave the plans as they are.

        Parameters
        ----------
        plans : list of torch.distributed.checkpoint.LoadPlan

        Returns
        -------
        list of torch.distributed.checkpoint.LoadPlan
        """
        return plans

    def read_data(self, plan, planner):
        """Read what the plan names.

        Parameters
        ----------
        plan : torch.distributed.checkpoint.LoadPlan
        planner : torch.distributed.checkpoint.LoadPlanner

        Returns
        -------
        torch.futures.Future of None

        Raises
        ------
        thalweg.Corrupt
            Bytes are damaged or missing.
        thalweg.InvalidArgument
            A tensor does not fit what is stored.
        """
        numbers = {}
        items = [(self._places[item.storage_index], item) for item in plan.items]
        for place, item in sorted(items, key=lambda pair: pair[0][:2]):
            if place.rank not in numbers:
                numbers[place.rank] = self._file.find(f"{_DATA}{place.rank}")
            self._read(numbers[place.rank], place, item, planner)
        self._close()
        future = _torch.futures.Future()
        future.set_result(None)
        return future

    def _read(self, number, place, item, planner):
        what = f"{_os.fsdecode(self._path)}: {item.storage_index.fqn!r}"

        def read_at(at, buffer):
            return self._file._core.read_at(number, at, buffer)

        if place.dtype is None:
            content = bytearray(place.nbytes)
            if read_at(place.at, content) != place.nbytes:
                raise Corrupt(f"{what}: the stream ends within the object")
            planner.load_bytes(item, _io.BytesIO(content))
            return
        tensor = planner.resolve_tensor(item).detach()
        fits = len(item.storage_offsets) == len(place.shape) and all(
            0 <= first and first + n <= extent for first, n, extent in zip(item.storage_offsets, item.lengths, place.shape))
        if not fits or tensor.shape != item.lengths:
            raise InvalidArgument(f"{what}: {tuple(item.lengths)} elements at {tuple(item.storage_offsets)} of a stored tensor of "
                                  f"shape {place.shape} do not fit into one of shape {tuple(tensor.shape)}")
        room = tensor if tensor.dtype == place.dtype else _torch.empty(tensor.shape, dtype=place.dtype)
        _StoredTensor(read_at, place, what).read_into(room, item.storage_offsets)
        if room is not tensor:
            tensor.copy_(room)
        planner.commit_tensor(item, tensor)


def latest(folder):
    """The newest checkpoint of a folder that is whole. Not collective: while nothing is saved there all ranks find the same.

    Checkpoints that are torn, not closed or being saved are passed over, as are other files. The newest is the one that was
    whole last, whatever its name. The bytes of the tensors are not read: loading verifies them.

    Parameters
    ----------
    folder : str or os.PathLike

    Returns
    -------
    pathlib.Path or None
        None where there is no such checkpoint, or no such folder.

    Raises
    ------
    thalweg.Permission, OSError
        The folder, or a file in it, cannot be read.
    """
    try:
        paths = sorted(path for path in _pathlib.Path(folder).iterdir() if path.is_file())
    except FileNotFoundError:
        return None
    begun = [(_read_of(path, lambda mf: int(mf.attributes.get(_SAVED, b"0"))), path) for path in paths
             if not _is_further(path)]
    whole = (path for saved, path in sorted(begun, key=lambda pair: pair[0] or 0, reverse=True)
             if saved and _read_of(path, _is_whole))
    return next(whole, None)


def _is_further(path):
    """Whether it is a further physical file of a multifile."""
    return _re.fullmatch(r"\.\d{6}", path.suffix) and path.with_suffix("").is_file()


def _read_of(path, act):
    """What `act` finds in a multifile; None where it cannot be read as one."""
    try:
        with Multifile(path) as mf:
            return act(mf)
    except (Permission, NoMemory):
        raise
    except (Error, ValueError):
        return None


def _is_whole(mf):
    ends = {}
    for place in _metadata_of(mf).storage_data.values():
        ends[place.rank] = max(ends.get(place.rank, 0), place.at + place.nbytes if place.nbytes else 0)
    return all(mf._core.size(mf.find(f"{_DATA}{rank}")) >= end for rank, end in ends.items())
