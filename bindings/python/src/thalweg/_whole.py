"""Operations on whole vpfiles that no program has open for writing: inspect, verify, repair, convert.

None of these calls is collective.
"""

import dataclasses as _dataclasses
import operator as _operator
from html import escape as _escape
from typing import SupportsIndex as _SupportsIndex

from . import _core
from ._arguments import extents, number, path_bytes
from ._progress import shown
from ._types import Path, Progress, Shape
from .errors import InvalidArgument, from_status

MODES = ("NB", "CB", "IB")
_KINDS = {1: "nb", 2: "cb", 3: "header", 4: "blocks", 5: "unused", 6: "table", 7: "hole"}


@_dataclasses.dataclass(frozen=True)
class _Table:
    """A dataclass that notebooks show as a table of its fields."""

    def _repr_html_(self) -> str:
        rows = ""
        for field in _dataclasses.fields(self):
            value = getattr(self, field.name)
            lines = value if field.name == "findings" else [value]
            rows += f"<tr><th>{field.name}</th><td>{'<br>'.join(_escape(str(line)) for line in lines)}</td></tr>"
        return f"<table><caption>{type(self).__name__} of a vpfile</caption>{rows}</table>"


@_dataclasses.dataclass(frozen=True)
class Health(_Table):
    """Result of `verify` and `repair`. Not collective.

    Attributes
    ----------
    streams : int
        Streams of the file, one for each virtual processor.
    damaged : int
        Streams with unreadable bytes or wrong checksums.
    bytes : int
        Total size of the intact streams.
    closed : bool
        Whether the file was closed, before a repair.
    repaired : bool
        Whether the repair wrote something.
    findings : tuple of str
        Findings as text.
    """

    streams: int
    damaged: int
    bytes: int
    closed: bool
    repaired: bool
    findings: tuple[str, ...]


@_dataclasses.dataclass(frozen=True)
class Info(_Table):
    """Content of the NAME.meta of a vpfile, see `info`. Not collective.

    A stream consists of its parts in the NB, CB and IB segments, in this order.

    Attributes
    ----------
    shape : tuple of int
        Extents of the shape of virtual processors (VPs).
    mode : {"NB", "CB", "IB"}
        Mode of the file. An "NB" file is a plain array.
    closed : bool
        Whether the file was closed. If not, sizes are those of the last flush.
    version : tuple of int
        Version of the format.
    sessions : int
        Number of times the file was opened for writing.
    nb_record, nb_bytes : int
        Bytes of a record, and of each stream, in the NB segment; 0: no such segment.
    cb_round, cb_bytes : int
        Bytes of a round, and of each stream, in the CB segment; 0: no such segment.
    block_bytes, superblock_bytes : int
        Sizes in the IB segment; 0: no such segment.
    ib_bytes : int
        Total of all streams in the IB segment at the last close.
    """

    shape: tuple[int, ...]
    mode: str
    closed: bool
    version: tuple[int, int]
    sessions: int
    nb_record: int
    nb_bytes: int
    cb_round: int
    cb_bytes: int
    block_bytes: int
    superblock_bytes: int
    ib_bytes: int


@_dataclasses.dataclass(frozen=True)
class Region:
    """A byte range of a data file, see `regions`. Not collective.

    Attributes
    ----------
    kind : {"nb", "cb", "header", "blocks", "unused", "table", "hole"}
        The NB or the CB segment of all VPs; the header, the blocks, the unused space and the table of a superblock; a hole
        without owner.
    offset, bytes : int
        The range.
    superblock : int or None
        Number of the superblock that contains it.
    vps : range
        The VPs that own the bytes, by their numbers in row-major order; all VPs in "nb" and "cb". In "blocks" each
        VP has an equal number of bytes, in order.
    """

    kind: str
    offset: int
    bytes: int
    superblock: int | None
    vps: range


def is_vpfile(path: Path) -> bool:
    """Whether `path` is the data file of a vpfile. Not collective.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of a file.

    Returns
    -------
    bool
        True: it has a NAME.meta or NAME.first, or begins with blocks of a vpfile. An array has none of these, and can be
        opened all the same.

    Raises
    ------
    thalweg.NotFound, thalweg.Permission, thalweg.Error
        An error of the system.
    """
    outcome, yes = _core.is_vpfile(path_bytes(path))
    _check(outcome)
    return yes


def info(path: Path) -> Info:
    """Read the NAME.meta of a vpfile, closed or not, without opening the file. Not collective.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the data file.

    Returns
    -------
    Info

    Raises
    ------
    thalweg.NotFound, thalweg.Permission, thalweg.Error
        An error of the system.
    thalweg.Corrupt, thalweg.NewerVersion
        NAME.meta is missing or damaged, or has another version of the format.
    """
    outcome, fields = _core.look(path_bytes(path))
    _check_that_it_is_there(outcome, path)
    return Info(**{**fields, "mode": MODES[fields["mode"]]})


def regions(path: Path) -> list[Region]:
    """List the owners of the byte ranges of the data file, closed or not. Not collective.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the data file.

    Returns
    -------
    list of Region
        In order of their offsets, without gap or overlap.

    Raises
    ------
    thalweg.NotFound, thalweg.Permission, thalweg.Error
        An error of the system.
    thalweg.Corrupt, thalweg.NewerVersion
        NAME.meta or a superblock is missing or damaged.
    """
    outcome, found = _core.regions(path_bytes(path))
    _check_that_it_is_there(outcome, path)
    return [Region(_KINDS[kind], offset, n, None if superblock < 0 else superblock,
                   range(0) if first < 0 else range(first, last + 1))
            for kind, offset, n, superblock, first, last in found]


def verify(path: Path, *, progress: Progress = None) -> Health:
    """Verify a vpfile: all metadata, and every checksum. Changes no file. Not collective.

    Ctrl-C stops it.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the data file, which no program may have open for writing.
    progress : callable or bool, optional
        ``progress(done, total)`` is called at times, in units of VPs; a true result stops the work. Its exceptions propagate.
        True: a bar on stderr by the package rich; without rich, lines on stderr.

    Returns
    -------
    Health
        The result for an intact, closed file.

    Raises
    ------
    thalweg.NotClosed, thalweg.Corrupt
        The file was not closed, or is damaged. Attribute ``health``: a `Health` with the findings.
    thalweg.NotFound, thalweg.Permission, thalweg.NewerVersion, thalweg.NoMemory, thalweg.Error
        The file cannot be read.
    thalweg.Stopped
        `progress` returned true.
    """
    name = path_bytes(path)
    with shown(progress, "verify", name) as tell:
        return _health(*_core.verify(name, tell))


def repair(path: Path, shape: Shape | None = None, *, force: bool = False, progress: Progress = None) -> Health:
    """Make an unclosed vpfile readable, and rebuild missing or damaged side files. Not collective.

    All flushed data is restored, and possibly some that was not flushed. A closed, intact file is not changed. The
    repair ends with a `verify`; it can be interrupted and repeated.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the data file.
    shape : int or sequence of int, optional
        The extents of the shape; needed where NAME.meta is missing or damaged.
    force : bool, optional
        No program of another node has the file open: repair it where the locks of its file system cannot tell that.
    progress : callable or bool, optional
        See `verify`.

    Returns
    -------
    Health
        The result for the repaired file; ``closed`` and ``repaired`` show what was done.

    Raises
    ------
    thalweg.Unsafe
        A program is writing the file, or may be: see `force`.
    thalweg.InvalidArgument
        Without NAME.meta: no `shape`, or one that does not match.
    thalweg.Corrupt
        Some damage cannot be repaired. Attribute ``health`` has the findings.
    thalweg.NotFound, thalweg.Permission, thalweg.NewerVersion, thalweg.NoSpace, thalweg.NoMemory, thalweg.Error
        The file cannot be read or written.
    thalweg.Stopped
        `progress` returned true.
    """
    name, numbers = path_bytes(path), extents(shape)
    with shown(progress, "repair", name) as tell:
        return _health(*_core.repair(name, numbers, bool(force), tell))


def flatten(source: Path, target: Path, record_bytes: _SupportsIndex | None = None, *, fill: _SupportsIndex = 0,
            progress: Progress = None) -> None:
    """Write the streams of a vpfile as a plain array: a vpfile with one record of each VP. Not collective.

    Parameters
    ----------
    source : str, bytes or os.PathLike
        Name of the data file.
    target : str, bytes or os.PathLike
        Name of the new file, which must not exist. It appears when it is complete.
    record_bytes : int, optional
        Bytes of each record; longer streams are truncated. Default: the longest stream.
    fill : int, default 0
        Value of the bytes after the end of shorter streams.
    progress : callable or bool, optional
        See `verify`.

    Raises
    ------
    thalweg.Exists
        The `target` exists.
    thalweg.InvalidArgument
        `record_bytes` is below 1, `fill` is not a byte.
    thalweg.NotClosed, thalweg.Corrupt, thalweg.NotFound, thalweg.Permission, thalweg.NewerVersion
        The `source` cannot be read.
    thalweg.NoSpace, thalweg.NoMemory, thalweg.Error
        The `target` cannot be written.
    thalweg.Stopped
        `progress` returned true.
    """
    record = 0 if record_bytes is None else number(record_bytes, "record_bytes")
    fill = _operator.index(fill)
    if record < (record_bytes is not None) or not 0 <= fill <= 255:
        raise InvalidArgument(f"flatten: record_bytes is {record_bytes}, fill {fill}; at least 1, and 0 to 255")
    name, new = path_bytes(source), path_bytes(target)
    with shown(progress, "flatten", name) as tell:
        _check(_core.flatten(name, new, record, fill, tell))


def import_array(path: Path, shape: Shape, record_bytes: _SupportsIndex) -> None:
    """Make a plain array a vpfile by writing its NAME.meta. The array is not changed. Not collective.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the array.
    shape : int or sequence of int
        Extents of the shape of VPs.
    record_bytes : int
        Bytes per VP in a record; records are consecutive.

    Raises
    ------
    thalweg.Exists
        NAME.meta exists.
    thalweg.InvalidArgument
        The sizes do not match.
    thalweg.Unsafe
        The file has another format, or is a vpfile without its NAME.meta.
    thalweg.NotFound, thalweg.Permission, thalweg.NoSpace, thalweg.Error
        An error of the system.
    """
    _check(_core.import_array(path_bytes(path), extents(shape), number(record_bytes, "record_bytes")))


def _check(outcome):
    if outcome[0] != 0:
        raise from_status(*outcome)


def _check_that_it_is_there(outcome, path):
    if outcome[0] != 0:
        is_vpfile(path)  # raises NotFound when the data file is missing, too
    _check(outcome)


def _health(outcome, told):
    *numbers, findings = told
    health = Health(*numbers, tuple(findings))
    if outcome[0] != 0:
        error = from_status(*outcome)
        error.health = health
        raise error
    return health
