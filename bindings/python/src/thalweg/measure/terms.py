"""The terms of the model: what a method does in a cell, in units whose cost a fit finds.

Seconds of a method and a phase are a sum of terms, each times a constant that is not negative (docs/design/methods.md, The
model). `load_of` counts what all ranks of a cell do; `terms_of` turns it into the factors of the constants.
"""

import dataclasses as _dataclasses

import numpy as _np

from .plan import grid_for as _grid_for

PHASES = ("write", "read", "restart")
TERMS = ("fixed", "per_rank", "meeting", "byte", "shared_byte", "far_byte", "run")
FIXED, PER_RANK, MEETING, BYTE, SHARED_BYTE, FAR_BYTE, RUN = range(len(TERMS))
MOVING = (BYTE, SHARED_BYTE, FAR_BYTE, RUN)  # overlap with the storage

_CACHE_BYTES = 1 << 20  # of a core: larger data of a rank is in memory
_CROWD = 4.0  # each step of a barrier of ranks without a core, as in src/engine/plan/plan.cpp


@_dataclasses.dataclass(frozen=True)
class Load:
    """Work of one node.

    Attributes
    ----------
    ranks : float
        Ranks that move the bytes.
    written : float
        Ranks that wrote: the number of pieces.
    cores : float
        Cores of the node.
    bytes : float
        Bytes of all ranks.
    runs : float
        Contiguous stretches of the global array, of all ranks.
    cuts : float
        Stretches of the written pieces, of all ranks: one each, more when readers use another grid.
    """

    ranks: float
    written: float
    cores: float
    bytes: float
    runs: float
    cuts: float


def runs_of(cell, grid, other=()):
    """Count the contiguous stretches of the array of `cell`, in its order, for the blocks of one grid or of two overlaid ones."""
    # Dimensions that no grid cuts belong to a stretch, the first that is cut ends it, and each index of slower ones starts another.
    # Rows of a ragged array belong to the parts in turn.
    other = other or grid
    if cell.ragged:
        return cell.shape[0] if max(grid[0], other[0]) > 1 else 1
    runs, cut = 1, False
    for d in _fast_to_slow(cell):
        if cut:
            runs *= cell.shape[d]
        elif _parts(grid, d) > 1 or _parts(other, d) > 1:
            runs = len(_begins(cell.shape[d], _parts(grid, d)) | _begins(cell.shape[d], _parts(other, d)))
            cut = True
    return runs


def chunk_runs_of(cell, grid):
    """Count the stretches of a file of consecutive blocks of ``cell.grid`` that readers of `grid` transfer."""
    if cell.ragged:
        return cell.ranks if tuple(grid) == cell.grid else cell.shape[0]
    runs, cut = 1, False
    for d in _fast_to_slow(cell):
        both = len(_begins(cell.shape[d], _parts(grid, d)) | _begins(cell.shape[d], _parts(cell.grid, d)))
        runs *= cell.shape[d] if cut else both
        cut = cut or both > min(cell.shape[d], _parts(cell.grid, d))
    return runs


def load_of(cell, phase, readers, cores):
    """Give the `Load` of a cell; `readers` is the number of ranks that read in a restart."""
    grid, ranks = cell.grid, cell.ranks
    if phase == "restart" and readers > 0:
        grid, ranks = (readers, 1) if cell.ragged else _grid_for(readers, len(cell.shape)), readers
    return Load(ranks, cell.ranks, max(1, cores), cell.bytes, max(runs_of(cell, grid), ranks),
                max(runs_of(cell, grid, cell.grid), ranks))


def terms_of(method, phase, load):
    """Give the factors of the constants, an array in the order of `TERMS`, for a method (a record of its kind)."""
    workers = min(load.ranks, load.cores)
    each = load.bytes / load.ranks
    out = _np.zeros(len(TERMS))
    out[FIXED] = 1
    out[PER_RANK] = max(load.ranks, load.written if phase == "restart" else 1) - 1
    out[MEETING] = _meetings(method, load)
    out[BYTE] = load.bytes
    out[SHARED_BYTE] = load.bytes * (1 - 1 / load.ranks) if method["collective"] else load.bytes / workers
    out[FAR_BYTE] = max(0.0, each - _CACHE_BYTES) * load.ranks / workers
    out[RUN] = _pieces(method, phase, load) / workers
    return out


def meaning(method, term):
    """Name what a term of a method stands for, for display."""
    shared = "bytes exchanged between ranks" if method["collective"] else "bytes transferred in parallel"
    return ("opening and closing", "cost of each further rank", "barriers", "bytes transferred serially", shared,
            "bytes beyond the cache of a core", "noncontiguous pieces")[term]


@_dataclasses.dataclass(frozen=True)
class Primitives:
    """Costs in seconds: of a byte moved by one core, a system call or piece, a message between ranks, opening a file."""

    byte: float = 0.2e-9
    call: float = 1e-6
    message: float = 1e-6
    open: float = 30e-6


def primitives_of(entry):
    """The costs of an entry of a profile, a dict; defaults for what is missing or impossible."""
    costs = entry.get("buffered") if isinstance(entry, dict) else None
    costs = costs if isinstance(costs, dict) else {}
    known = Primitives()
    return Primitives(number_in(costs, "write_byte_ns", known.byte * 1e9, 1e-4, 1e9) * 1e-9,
                      number_in(costs, "call_ns", known.call * 1e9, 1, 1e12) * 1e-9,
                      number_in(costs, "message_ns", 3 * known.message * 1e9, 1, 1e12) / 3 * 1e-9,
                      number_in(entry, "create_ns", known.open * 1e9, 1, 1e12) * 1e-9)


def number_in(members, name, otherwise, least=0.0, most=float("inf")):
    """A number of a dict, `otherwise` where it is missing, no number or out of range."""
    value = members.get(name) if isinstance(members, dict) else None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and least <= value <= most else otherwise


def guesses(method, known):
    """Estimates of the constants of a method, seconds, for those that no time determines."""
    one_by_one = method["id"].endswith(("-0", "-1"))
    out = _np.zeros(len(TERMS))
    out[FIXED] = 3 * known.open
    out[PER_RANK] = known.open if method["outcome"] == "separate" else known.open / 2
    out[MEETING] = 10 * known.message
    out[BYTE] = known.byte * (1.5 if method["id"] == "gather" else 0.5)
    out[SHARED_BYTE] = known.byte * (1.5 if method["collective"] else 1)
    out[RUN] = known.call if one_by_one else known.call / 4
    return out


def _meetings(method, load):
    if load.ranks < 2:
        return 0.0
    crowd = _CROWD * load.ranks / load.cores if load.ranks > load.cores else 1.0
    calls = max(1.0, load.runs / load.ranks) if method["id"] == "mpiio-global-1" else 1.0  # a collective for each row
    return calls * int(load.ranks).bit_length() * crowd


def _pieces(method, phase, load):
    if method["outcome"] == "array":
        return load.runs
    return load.cuts if phase == "restart" else load.ranks


def _fast_to_slow(cell):
    dimensions = range(len(cell.shape))
    return dimensions if cell.order == "f" else reversed(dimensions)


def _parts(grid, d):
    return grid[d] if d < len(grid) else 1  # a grid of fewer dimensions does not cut the others


def _begins(n, parts):
    return {n * part // parts for part in range(min(parts, n))} if parts <= n else set(range(n))
