"""The file system "thalweg" of fsspec: the logical files of one multifile. Needs the package fsspec.

>>> import fsspec
>>> with fsspec.open("thalweg://logs/a.txt::file:///dir/dump.tw", "rt") as file:
...     text = file.read()
>>> with fsspec.filesystem("thalweg", fo="/dir/new.tw", mode="w") as fs:
...     fs.pipe_file("logs/a.txt", b"step 1")

The path of a logical file is its name without "/" at the ends; of several files of one name the last one counts. Part 3 of
a distributed array NAME is NAME.part3; logical file 17, if it has bytes and no name, is rank/17. A logical file that is
really called so comes before these.
"""

import io as _io
import os as _os
import threading as _threading
import weakref as _weakref

import fsspec as _fsspec
from fsspec.implementations.local import LocalFileSystem as _LocalFileSystem
from fsspec.utils import tokenize as _tokenize

from . import _arguments
from .errors import Exists, InvalidArgument, NotFound, WrongMode
from .multifile import Multifile as _Multifile
from .multifile import _Stream

__all__ = ["MultifileFileSystem"]

_OPTIONS = {"asynchronous", "loop", "use_listings_cache", "listings_expiry_time", "max_paths"}  # what fsspec passes to all
_SMALL = 64 * 1024  # bytes: contents up to this are kept in memory while the multifile is written,
_SMALL_ALL = 64 << 20  # together this many


class _NewFile(_io.BufferedWriter):
    """A logical file that is written."""

    fs = None

    def close(self):
        if self.closed:
            return
        try:
            super().close()
        finally:
            if self.fs is not None:
                self.fs._end_file()


class MultifileFileSystem(_fsspec.AbstractFileSystem):
    """The logical files of one multifile, as a file system of fsspec.

    Use it in a ``with`` statement, or call `close`, after the files are closed. An exception that leaves the statement
    abandons a multifile that is being written. Threads may share a file system; their calls are serialised. A pickled one
    opens the multifile again where it is unpickled; one that writes cannot be pickled.

    Files are added and never changed, appended to or removed; a second one of a path replaces the first. While the multifile
    is written, what it had before can be read, and new files of at most 64 KiB that `pipe_file` wrote.

    Parameters
    ----------
    fo : str or os.PathLike
        Path or URL of the multifile, a local file. A remote one of one physical file can be read through
        ``simplecache::``.
    mode : {"r", "w", "a", "x"}, optional
        As of `Multifile`: with "w", "a" and "x" it is complete when the file system is closed. Default: each use opens what it
        needs, for reading or, as with "a", for adding a file; the multifile is complete when no file is open for writing.
        This suits URLs and single files; pass a mode for many.
    target_protocol, target_options : str, dict, optional
        Protocol of `fo` and options of its file system; fsspec sets them for a chain of URLs.
    recover, hints
        As of `Multifile`.

    Raises
    ------
    thalweg.InvalidArgument
        The mode is unknown, or `fo` is no local file.
    thalweg.Error
        As of `Multifile`; without a mode the first use raises it.
    """

    protocol = "thalweg"
    root_marker = ""
    cachable = False

    def __init__(self, fo="", mode=None, target_protocol=None, target_options=None, recover=False, hints=None, **options):
        super().__init__(**options)
        unknown = set(options) - _OPTIONS
        if unknown:
            raise TypeError(f"unknown option {', '.join(sorted(unknown))}; pass fo, mode, recover, hints, target_protocol or "
                            "target_options")
        if mode not in (None, "r", "w", "a", "x"):
            raise InvalidArgument(f"mode is {mode!r}; pass 'r', 'w', 'a', 'x', or none")
        self._path = _local_path(fo, mode, target_protocol, target_options or {})
        self._mode = mode
        self._options = {"recover": recover, "hints": hints}
        self._lock = _threading.RLock()
        self._reader = None  # has what is there before the writer adds to it
        self._writer = None
        self._readers = []
        _weakref.finalize(self, _close_all, self._readers)  # a writer is abandoned by its own end, with a warning
        self._is_closed = False
        self._forget()
        if mode == "r":
            self._look()
        elif mode is not None:
            self._write(mode)

    @classmethod
    def _strip_protocol(cls, path):
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return _normal(super()._strip_protocol(path))

    def __reduce__(self):
        if self._mode not in (None, "r"):
            raise TypeError(f"{self._path} is being written: its file system cannot be sent to another process; write there "
                            "without a mode, or each process into a multifile of its own")
        return super().__reduce__()

    def ukey(self, path):
        """Text that changes with the content of a file.

        Parameters
        ----------
        path : str

        Returns
        -------
        str
        """
        with self._lock:
            info = self.info(path)
            about = (self._writer or self._reader).info()
            return _tokenize(self._path, about["uuid"], about["sessions"], info)

    # ---- The multifile --------------------------------------------------------------------------------------------

    def _check(self):
        if self._is_closed:
            raise InvalidArgument(f"the file system of multifile {self._path!r} is closed")

    def _forget(self):
        self._ranks = None  # of what the reader has, by path
        self._folders = None
        self._added = {}  # ranks of what the writer has, by path
        self._added_folders = {""}
        self._small = {}  # contents of such files, which zarr reads again
        self._small_all = 0  # bytes in it
        self._small_bytes = _SMALL

    # Opens what is there, before anything is added to it. None: nothing is there, or it is replaced.
    def _look(self):
        self._check()
        is_beside_writer = self._mode in ("w", "x") or self._writer is not None
        if self._reader is None and not is_beside_writer:
            self._reader = _Multifile(self._path, **self._options)
            self._readers.append(self._reader)
        return self._reader

    def _write(self, mode):
        is_new = mode != "a" or not _os.path.exists(self._path)
        if not is_new:
            self._look()
        self._writer = _Multifile(self._path, mode, n_logical=0 if is_new else None, hints=self._options["hints"])

    def _end_file(self):
        with self._lock:
            if self._mode is not None or self._writer is None or self._writer._open_streams():
                return
            writer, self._writer = self._writer, None
            reader, self._reader = self._reader, None
            self._forget()
            if reader is not None and not reader._open_streams():
                self._readers.remove(reader)
                reader.close()
            writer.close()

    def _end(self, is_whole):
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            writer, self._writer, self._reader = self._writer, None, None
            for reader in self._readers:
                reader.close()
            if writer is not None:
                writer.close() if is_whole else writer.abandon()

    def close(self):
        """Close the multifile and all files; what was written is stored for good. A second call has no effect.

        Raises
        ------
        thalweg.NoSpace, thalweg.Error
            Some bytes could not be stored. The multifile stays marked as not closed.
        """
        self._end(is_whole=True)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._end(is_whole=exception[0] is None)

    # ---- Looking --------------------------------------------------------------------------------------------------

    # (multifile, info), or None where no file has that path.
    def _file(self, path):
        if path in self._added:
            self._writer._flush_streams()
            return self._writer, _info(self._writer, path, self._added[path])
        before = self._look()
        if before is None or not path:
            return None
        rank = before._find(path, None)
        if rank < 0:
            rank = self._list().get(path, -1)
        return None if rank < 0 else (before, _info(before, path, rank))

    def _to_read(self, path):
        found = self._file(path)
        if found is None:
            raise NotFound(f"{self._path}: no logical file is called {path!r}")
        if found[0] is self._writer and path not in self._small:
            raise WrongMode(f"{self._path}: {path!r} has {found[1]['size']} bytes and is not read before the file system that "
                            "wrote it is closed; write whole chunks of zarr")
        return found

    def _list(self):
        if self._ranks is None:
            before = self._look()
            named, others = {}, {}
            for entry in before or ():
                path, of_kind = _normal(entry.name), named
                if entry.part is not None:
                    path, of_kind = f"{path}.part{entry.part}", others
                elif not entry.name and entry.nbytes:
                    path, of_kind = f"rank/{entry.rank}", others
                if path:
                    of_kind[path] = entry.rank if path not in of_kind else before.find(entry.name, entry.part)
            self._ranks = {**others, **named}
        return self._ranks

    def _tree(self):
        if self._folders is None:
            self._folders = _folders_of(self._list())
        return self._folders

    def info(self, path, **kwargs):
        """Name, size, type, and of a file the rank.

        Parameters
        ----------
        path : str
        **kwargs
            Without effect.

        Returns
        -------
        dict

        Raises
        ------
        thalweg.NotFound
            There is neither a file nor a folder.
        """
        path = self._strip_protocol(path)
        with self._lock:
            found = self._file(path)
            if found is not None:
                return found[1]
            if path not in self._added_folders and path not in self._tree():
                raise NotFound(f"{self._path}: no logical file is called {path!r}")
            return _folder(path)

    def ls(self, path, detail=True, **kwargs):
        """The content of a folder, or a file.

        Parameters
        ----------
        path : str
            "" is the whole multifile.
        detail : bool, default True
            As of `info`; False: paths.
        **kwargs
            Without effect.

        Returns
        -------
        list of dict or str

        Raises
        ------
        thalweg.NotFound
            There is neither a file nor a folder.
        """
        path = self._strip_protocol(path)
        with self._lock:
            tree = _folders_of({**self._list(), **self._added}) if self._added else self._tree()
            if path not in tree:
                found = [self.info(path)]
            else:
                found = [self._file(name)[1] if is_file else _folder(name) for name, is_file in sorted(tree[path])]
        return found if detail else sorted({info["name"] for info in found})

    # ---- Reading and writing --------------------------------------------------------------------------------------

    def cat_file(self, path, start=None, end=None, **kwargs):
        """The bytes of a file, or a range of them.

        Parameters
        ----------
        path : str
        start, end : int, optional
            As of a slice.
        **kwargs
            Without effect.

        Returns
        -------
        bytes

        Raises
        ------
        thalweg.NotFound
            There is no such file.
        thalweg.Corrupt, thalweg.Error
            Bytes are damaged, or cannot be read.
        """
        path = self._strip_protocol(path)
        with self._lock:
            multifile, info = self._to_read(path)
            if multifile is self._writer:
                return self._small[path][start:end]
            first, last, _ = slice(start, end).indices(info["size"])
            found = bytearray(max(last - first, 0))
            multifile._reader.read_at(info["rank"], first, found)
        return bytes(found)

    def _open(self, path, mode="rb", block_size=None, autocommit=True, cache_options=None, **kwargs):
        path = self._strip_protocol(path)
        if not autocommit:
            raise NotImplementedError(f"{path}: a multifile has no transactions; an exception in the with statement of its file "
                                      "system abandons it")
        if mode == "rb":
            with self._lock:
                multifile, info = self._to_read(path)
                if multifile is self._writer:
                    return _io.BytesIO(self._small[path])
                file = multifile._stream(info["rank"], path)
                file.fs, file.size = self, info["size"]
                return file
        if mode not in ("wb", "xb"):
            raise InvalidArgument(f"{path}: mode {mode!r}; a logical file is read, or written once: pass 'rb', 'wb' or 'xb'")
        with self._lock:
            self._check()
            if mode == "xb" and self._file(path) is not None:
                raise Exists(f"{self._path}: {path!r} exists")
            return self._add(path)

    def _add(self, path):
        if self._mode == "r":
            raise WrongMode(f"{path}: the file system of {self._path} reads; open it with mode 'a', or without a mode")
        if self._writer is None:
            self._write("a")
        try:
            rank = self._writer._add(path, None, 0)
            file = _NewFile(_Stream(self._writer, rank, path, 0))
        except BaseException:
            self._end_file()
            raise
        file.fs = self
        self._writer._streams.add(file)
        self._added[path] = rank
        self._small.pop(path, None)
        folder = self._parent(path)
        while folder not in self._added_folders:
            self._added_folders.add(folder)
            folder = self._parent(folder)
        return file

    def pipe_file(self, path, value, mode="overwrite", **kwargs):
        """Write a file.

        Parameters
        ----------
        path : str
        value : bytes-like
        mode : {"overwrite", "create"}, default "overwrite"
            "create": a file of that path is an error.
        **kwargs
            As of `open`.

        Raises
        ------
        FileExistsError
            With "create", where there is one.
        thalweg.WrongMode
            The file system reads.
        thalweg.NoSpace, thalweg.Error
            The bytes could not be stored.
        """
        path = self._strip_protocol(path)
        with self._lock:
            super().pipe_file(path, value, mode, **kwargs)
            if self._writer is None or len(value) > self._small_bytes:
                return
            self._small[path] = bytes(value)
            self._small_all += len(value)  # too many where a file is written again; counted anew below
            while self._small_all > _SMALL_ALL:
                self._small_bytes //= 2
                self._small = {path: kept for path, kept in self._small.items() if len(kept) <= self._small_bytes}
                self._small_all = sum(map(len, self._small.values()))

    # Refused, but for what is not there.
    def rm(self, path, recursive=False, maxdepth=None):
        """Refused: logical files cannot be removed.

        Parameters
        ----------
        path : str or list of str
        recursive, maxdepth
            Without effect.

        Raises
        ------
        thalweg.NotFound
            There is no such file or folder.
        thalweg.WrongMode
            There is one.
        """
        for one in [path] if isinstance(path, str) else path:
            self.info(one)
            raise WrongMode(f"{self._path}: {one!r} cannot be removed; write another file of that name, which then counts, or "
                            "copy what shall stay into another multifile")

    rm_file = _rm = rmdir = rm


def _close_all(multifiles):
    for multifile in multifiles:
        _arguments.attempt(multifile.close)


def _normal(path):
    return "/".join(filter(None, path.split("/")))


def _info(multifile, path, rank):
    return {"name": path, "size": multifile._reader.size(rank), "type": "file", "rank": rank}


def _folder(path):
    return {"name": path, "size": 0, "type": "directory"}


# (path, whether it is a file) of what is in each folder. A file and a folder may have one path.
def _folders_of(files):
    folders = {"": set()}
    for path in files:
        is_file = True
        while path:
            parent = path.rpartition("/")[0]
            is_known = parent in folders
            folders.setdefault(parent, set()).add((path, is_file))
            if is_known:
                break
            path, is_file = parent, False
    return folders


def _local_path(fo, mode, protocol, options):
    if not isinstance(fo, (str, _os.PathLike)) or not _os.fspath(fo):
        raise InvalidArgument(f"fo is {fo!r}; pass the path of a multifile")
    fs, path = _fsspec.core.url_to_fs(_os.fspath(fo), **({"protocol": protocol} if protocol else {}), **options)
    if isinstance(fs, _LocalFileSystem):
        return path
    if getattr(fs, "local_file", False) and mode in (None, "r"):
        with fs.open(path, "rb") as file:
            return file.name
    raise InvalidArgument(f"{fo}: a multifile is a local file, and this one lies on {fs.protocol!r}; copy it, or, to read one "
                          "of one physical file, put simplecache:: before its URL")
