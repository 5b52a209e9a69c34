"""The arrays of a multifile as an xarray dataset, read when they are indexed. Needs the package xarray.

>>> import xarray
>>> with xarray.open_dataset("dump.tw", engine="thalweg") as ds:    # chunks={}: as dask arrays
...     column = ds.u[:, 64].values                                  # reads what it needs

Every array that `Multifile.save` stored is a variable, a distributed one as a whole; other logical files are left out. Its
dimensions are those of ``save(..., dims=)``, else NAME_dim0, NAME_dim1, ...; an array that is called as its only dimension
is the coordinate. The attributes of the multifile are those of the dataset.
"""

import os as _os
import threading as _threading

import xarray as _xarray
from xarray.backends import BackendArray as _BackendArray
from xarray.backends import BackendEntrypoint as _BackendEntrypoint
from xarray.backends import CachingFileManager as _CachingFileManager
from xarray.core import indexing as _indexing

from . import _array_stream
from .errors import Corrupt, InvalidArgument, NotFound
from .multifile import Multifile as _Multifile

__all__ = ["MultifileBackend"]

_MAGIC = b"\x89THALW\r\n"


class _OpenFile:
    """A multifile and its arrays. xarray closes it where many files are open, while another thread may be reading."""

    def __init__(self, path, mode, recover):
        self.lock = _threading.Lock()
        self.multifile = _Multifile(path, mode, recover=recover)
        self._arrays = {}

    def array(self, name):
        if name not in self._arrays:
            self._arrays[name] = self.multifile.array(name)
        return self._arrays[name]

    def close(self):
        with self.lock:
            self.multifile.close()


class _Elements(_BackendArray):
    """One array. Only its name and its file's are pickled."""

    def __init__(self, files, array):
        self._files = files
        self._name = array.name
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key):
        return _indexing.explicit_indexing_adapter(key, self.shape, _indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key):
        indices = _array_stream.indices_of(key, self.shape, self._name, is_outer=True)
        while True:
            file = self._files.acquire()
            with file.lock:
                if not file.multifile.closed:
                    return file.array(self._name)._select(indices)


class MultifileBackend(_BackendEntrypoint):
    """The engine "thalweg" of `xarray.open_dataset`."""

    description = "Open the arrays of a multifile (*.tw) with Thalweg"

    def guess_can_open(self, filename_or_obj):
        """Whether a file is a multifile, by its first bytes.

        Parameters
        ----------
        filename_or_obj : object
            What the user passed to xarray; only paths of local files can be opened.

        Returns
        -------
        bool
        """
        try:
            with open(filename_or_obj, "rb") as file:
                return file.read(len(_MAGIC)) == _MAGIC
        except (OSError, TypeError, ValueError):
            return False

    def open_dataset(self, filename_or_obj, *, drop_variables=None, group=None, recover=False):
        """Open the arrays of a multifile, without reading their elements.

        Parameters
        ----------
        filename_or_obj : str or os.PathLike
            Path of the multifile.
        drop_variables : str or iterable of str, optional
            Names of arrays that are left out.
        group : str, optional
            Only the arrays whose names begin with it and "/", which is cut off.
        recover : bool, default False
            Read what is whole of a multifile that was not closed.

        Returns
        -------
        xarray.Dataset
            Its ``close()`` closes the multifile, which is opened again if elements are read later.

        Raises
        ------
        thalweg.NotFound
            There is no such file, or no array of that group.
        thalweg.NotClosed, thalweg.Corrupt, thalweg.NewerVersion
            The multifile cannot be opened in its state, or parts of an array are damaged or missing.
        thalweg.InvalidArgument
            The header of an array cannot be read.
        ValueError
            Arrays have one name for dimensions of different lengths.
        """
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        prefix = f"{group.strip('/')}/" if group and group.strip("/") else ""
        path = _os.path.abspath(_os.path.expanduser(_os.fspath(filename_or_obj)))
        files = _CachingFileManager(_OpenFile, path, mode="r", kwargs={"recover": bool(recover)})
        try:
            dataset = self._dataset(files, prefix, dropped)
        except BaseException:
            files.close()
            raise
        dataset.set_close(files.close)
        return dataset

    @staticmethod
    def _dataset(files, prefix, dropped):
        file = files.acquire()
        names = list(file.multifile.arrays(prefix))
        if prefix and not names:
            raise NotFound(f"{file.multifile.name}: no array's name begins with {prefix!r}")
        variables = {}
        for name in names:
            short = name[len(prefix) :]
            if short in dropped:
                continue
            try:
                array = file.array(name)
            except (Corrupt, InvalidArgument, NotFound) as error:
                raise type(error)(f"{error}; drop_variables={short!r} leaves it out") from error
            dims = array.dims or [f"{short}_dim{d}" for d in range(array.ndim)]
            variables[short] = _xarray.Variable(dims, _indexing.LazilyIndexedArray(_Elements(files, array)))
        attributes = {key: _text(value) for key, value in file.multifile.attributes.items() if not key.startswith("dims:")}
        return _xarray.Dataset(variables, attrs=attributes)


def _text(value):
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
