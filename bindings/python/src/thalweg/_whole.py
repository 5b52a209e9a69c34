"""Whole vpfiles that nobody has open for writing: what is in them, whether they are sound, mending them.

None of these calls is collective: one task makes them.
"""

import dataclasses as _dataclasses
import operator as _operator

from . import _core
from ._arguments import extents, number, path_bytes
from .errors import InvalidArgument, from_status

MODES = ("NB", "CB", "IB")
_KINDS = {1: "nb", 2: "cb", 3: "header", 4: "blocks", 5: "unused", 6: "table", 7: "hole"}


@_dataclasses.dataclass(frozen=True)
class Health:
    """What `verify` and `repair` found. Not collective.

    Attributes
    ----------
    streams : int
        Streams of the file, one for each virtual processor.
    damaged : int
        Of these: with bytes that cannot be read or contradict their checksum.
    bytes : int
        Of all streams that are whole.
    closed : bool
        Whether the file was closed; before a repair.
    repaired : bool
        Whether the repair wrote something.
    findings : tuple of str
        What was found, in words.
    """

    streams: int
    damaged: int
    bytes: int
    closed: bool
    repaired: bool
    findings: tuple[str, ...]


@_dataclasses.dataclass(frozen=True)
class Info:
    """What NAME.meta tells of a vpfile, see `info`. Not collective.

    A stream is what the NB segment, the CB segment and the IB segment have of it, one behind the other.

    Attributes
    ----------
    shape : tuple of int
        Extents of the shape of virtual processors (VPs).
    mode : {"NB", "CB", "IB"}
        What all that was written needed. An "NB" file is a plain array.
    closed : bool
        Whether it was closed. If not, sizes are those of the last flush.
    version : tuple of int
        Of the format.
    sessions : int
        How often it was opened for writing.
    nb_record, nb_bytes : int
        Bytes of a record, and of each stream, in the NB segment; 0: there is none.
    cb_round, cb_bytes : int
        The same of the CB segment.
    block_bytes, superblock_bytes : int
        Of the IB segment; 0: there is none.
    ib_bytes : int
        Of all streams in the IB segment, when it was last closed.
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
        The NB or the CB segment, of all VPs; of a superblock its header, blocks of VPs, room that nobody took, and the
        table that tells whose its blocks are; nobody's.
    offset, bytes : int
        Where it is.
    superblock : int or None
        The number of the superblock that it is a part of.
    vps : range
        The VPs whose bytes they are, by their numbers in row-major order; all of them in "nb" and "cb". In "blocks" each
        has as many, one VP behind the other.
    """

    kind: str
    offset: int
    bytes: int
    superblock: int | None
    vps: range


def is_vpfile(path):
    """Whether `path` is the data file of a vpfile. Not collective.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of a file.

    Returns
    -------
    bool
        True: it has a NAME.meta or NAME.first, or begins with blocks of one. An array has none of these, and can be opened
        all the same.

    Raises
    ------
    thalweg.NotFound, thalweg.Permission, thalweg.Error
        As the system says.
    """
    outcome, yes = _core.is_vpfile(path_bytes(path))
    _check(outcome)
    return yes


def info(path):
    """Tell what NAME.meta says of a vpfile, without opening it; also of one that was not closed. Not collective.

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
        As the system says.
    thalweg.Corrupt, thalweg.NewerVersion
        NAME.meta is missing or damaged; made by a newer version.
    """
    outcome, fields = _core.look(path_bytes(path))
    _check_that_it_is_there(outcome, path)
    return Info(**{**fields, "mode": MODES[fields["mode"]]})


def regions(path):
    """Tell whose each byte of the data file is; also of one that was not closed. Not collective.

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
        As the system says.
    thalweg.Corrupt, thalweg.NewerVersion
        NAME.meta is missing or damaged, or a superblock is not whole.
    """
    outcome, found = _core.regions(path_bytes(path))
    _check_that_it_is_there(outcome, path)
    return [Region(_KINDS[kind], offset, n, None if superblock < 0 else superblock,
                   range(0) if first < 0 else range(first, last + 1))
            for kind, offset, n, superblock, first, last in found]


def verify(path, *, progress=None):
    """Check a vpfile: all that is not plain data, and every checksum. Changes nothing. Not collective.

    It returns when it is done; Ctrl-C ends it.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the data file. Nobody may have it open for writing.
    progress : callable, optional
        ``progress(done, total)`` is called now and then, in units of VPs; True asks to stop. What it raises is raised.

    Returns
    -------
    Health
        Of a file that is whole and closed.

    Raises
    ------
    thalweg.NotClosed, thalweg.Corrupt
        It was not closed, or is damaged. Attribute ``health``: a `Health` that tells what was found.
    thalweg.NotFound, thalweg.Permission, thalweg.NewerVersion, thalweg.NoMemory, thalweg.Error
        It cannot be read.
    thalweg.Stopped
        `progress` asked for it.
    """
    return _health(*_core.verify(path_bytes(path), progress))


def repair(path, shape=None, *, progress=None):
    """Make a vpfile that was not closed readable again, also side files that are missing or damaged. Not collective.

    What was flushed is there afterwards; of what was not flushed there may be more. A file that is closed and sound
    is left alone. It ends with what `verify` does, and may be interrupted and repeated.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the data file.
    shape : int or sequence of int, optional
        The extents of the shape; needed where NAME.meta is missing or damaged.
    progress : callable, optional
        As of `verify`.

    Returns
    -------
    Health
        Of the file as it is now; ``closed`` and ``repaired`` tell what was done.

    Raises
    ------
    thalweg.Unsafe
        A program is writing the file.
    thalweg.InvalidArgument
        Without NAME.meta: no `shape`, or one that does not fit.
    thalweg.Corrupt
        There is damage that cannot be mended. Attribute ``health`` tells of it.
    thalweg.NotFound, thalweg.Permission, thalweg.NewerVersion, thalweg.NoSpace, thalweg.NoMemory, thalweg.Error
        It cannot be read or written.
    thalweg.Stopped
        `progress` asked for it.
    """
    return _health(*_core.repair(path_bytes(path), extents(shape), progress))


def flatten(source, target, record_bytes=None, *, fill=0, progress=None):
    """Write the streams of a vpfile as a plain array: a vpfile with one record of each VP. Not collective.

    Parameters
    ----------
    source : str, bytes or os.PathLike
        Name of the data file.
    target : str, bytes or os.PathLike
        Name of the new one, which is not there yet. It appears when it is complete.
    record_bytes : int, optional
        Bytes of each record; longer streams are cut off. Default: as many as the longest stream has.
    fill : int, default 0
        The byte behind the end of shorter streams.
    progress : callable, optional
        As of `verify`.

    Raises
    ------
    thalweg.Exists
        There is a `target` already.
    thalweg.InvalidArgument
        `record_bytes` is below 1, `fill` is not a byte.
    thalweg.NotClosed, thalweg.Corrupt, thalweg.NotFound, thalweg.Permission, thalweg.NewerVersion
        The `source` cannot be read.
    thalweg.NoSpace, thalweg.NoMemory, thalweg.Error
        The `target` cannot be written.
    thalweg.Stopped
        `progress` asked for it.
    """
    record = 0 if record_bytes is None else number(record_bytes, "record_bytes")
    fill = _operator.index(fill)
    if record < (record_bytes is not None) or not 0 <= fill <= 255:
        raise InvalidArgument(f"flatten: record_bytes is {record_bytes}, fill {fill}; at least 1, and 0 to 255")
    _check(_core.flatten(path_bytes(source), path_bytes(target), record, fill, progress))


def import_array(path, shape, record_bytes):
    """Make a plain array a vpfile: write its NAME.meta. The file itself stays as it is. Not collective.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Name of the array.
    shape : int or sequence of int
        Extents of the shape of VPs.
    record_bytes : int
        Bytes that each VP has in a record; records lie one behind the other.

    Raises
    ------
    thalweg.Exists
        There is a NAME.meta already.
    thalweg.InvalidArgument
        The sizes do not fit.
    thalweg.Unsafe
        It looks like another format, or like a vpfile that has lost its NAME.meta.
    thalweg.NotFound, thalweg.Permission, thalweg.NoSpace, thalweg.Error
        As the system says.
    """
    _check(_core.import_array(path_bytes(path), extents(shape), number(record_bytes, "record_bytes")))


def _check(outcome):
    if outcome[0] != 0:
        raise from_status(*outcome)


def _check_that_it_is_there(outcome, path):
    if outcome[0] != 0:
        is_vpfile(path)  # raises NotFound: then it is not only NAME.meta that is missing
    _check(outcome)


def _health(outcome, told):
    *numbers, findings = told
    health = Health(*numbers, tuple(findings))
    if outcome[0] != 0:
        error = from_status(*outcome)
        error.health = health
        raise error
    return health
