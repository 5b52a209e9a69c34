"""The measurements of a run: from options to launches, each with its number of ranks, its cache and its cells. Pure."""

import dataclasses as _dataclasses
import itertools as _itertools
import math as _math

from .errors import USAGE, MeasureError
from .parse import Cell
from .text import count_text, joined

__all__ = ["Launch", "Plan", "PlanOptions", "doubling_ranks", "grid_for", "make_plan", "parse_extents", "parse_ranks"]

_MOST_RANKS = 1 << 20
_MOST_EXTENT = 1 << 40
_MOST_ELEMENTS = 1 << 60


@_dataclasses.dataclass(frozen=True)
class PlanOptions:
    """What is to be measured.

    Parameters
    ----------
    ranks : tuple of int
        Numbers of ranks, ascending.
    grid : tuple of int
        Parts of the array in each dimension, for a single number of ranks; (): as even as possible.
    shapes : tuple of str
        "4096" (a side), "4096x2048", "256x256x256".
    orders, caches : tuple of str
        Orders "c", "f"; cache states "warm", "sync", "drop".
    strong, weak : bool
        Kinds of scaling, where there are several numbers of ranks.
    ragged : bool
        Measure a ragged array for each shape of two dimensions, too.
    """

    ranks: tuple
    grid: tuple = ()
    shapes: tuple = ("2048",)
    orders: tuple = ("c",)
    caches: tuple = ("warm",)
    strong: bool = True
    weak: bool = True
    ragged: bool = False


@_dataclasses.dataclass(frozen=True)
class Launch:
    """The cells of one start of the program; all have its number of ranks and its cache."""

    ranks: int
    cache: str
    cells: tuple


@_dataclasses.dataclass(frozen=True)
class Plan:
    """The launches that measure all cells, each once, and the kinds of scaling: "strong", "weak", "strong and weak" or "none"."""

    launches: tuple
    scaling: str

    @property
    def most_bytes(self):
        """Bytes of the largest array."""
        return max((cell.bytes for launch in self.launches for cell in launch.cells), default=0)


def doubling_ranks(most):
    """The numbers of ranks 1, 2, 4, ... and `most` itself."""
    ranks = [1 << bit for bit in range(_MOST_RANKS.bit_length()) if 1 << bit < most]
    return (*ranks, most)


def _number(word, most, text, option):
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 20 else 0
    if not 1 <= number <= most:
        raise MeasureError(f"{option} '{text}': '{word}' is not a number from 1 to {most}", USAGE)
    return number


def parse_ranks(text):
    """The numbers of ranks of "1,2,4", or of "4," for a list of one, ascending. Raises MeasureError."""
    plain = text[:-1] if len(text) > 1 and text.endswith(",") else text
    return tuple(sorted({_number(word, _MOST_RANKS, text, "--ranks") for word in plain.split(",")}))


def parse_extents(text, option):
    """The numbers of "2x3", each at least 1. Raises MeasureError, whose message names the option."""
    return tuple(_number(word, _MOST_EXTENT, text, option) for word in text.split("x"))


def grid_for(ranks, dimensions):
    """The parts in each dimension of the most even grid, the largest first; as MPI_Dims_create."""
    if dimensions == 1:
        return (ranks,)
    for largest in range(1, ranks + 1):
        if ranks % largest == 0:
            rest = grid_for(ranks // largest, dimensions - 1)
            if rest[0] <= largest:
                return (largest, *rest)
    return (ranks,) + (1,) * (dimensions - 1)


def _shape_of(text):
    shape = parse_extents(text, "--size")
    if len(shape) == 1:
        shape = shape * 2
    if len(shape) > 3:
        raise MeasureError(f"--size '{text}': an array has two dimensions here, or three", USAGE)
    if _math.prod(shape) > _MOST_ELEMENTS:
        raise MeasureError(f"--size '{text}': too large", USAGE)
    return shape


def _grid_of(options, ranks, shape, ragged):
    if ragged:  # whole rows, which have no common length
        return (ranks, 1)
    if not options.grid:
        return grid_for(ranks, len(shape))
    parts = _math.prod(options.grid)
    if len(options.grid) > len(shape):
        raise MeasureError(f"--grid {joined(options.grid)} has {len(options.grid)} dimensions, an array of --size "
                           f"{len(shape)}; give an array with as many dimensions, such as --size 256x256x256", USAGE)
    if parts != ranks:
        raise MeasureError(f"--grid {joined(options.grid)} has {parts} parts, for {count_text(ranks, 'rank')}; omit --ranks, "
                           "or make them equal", USAGE)
    return options.grid + (1,) * (len(shape) - len(options.grid))


def _weak_shape(shape, grid):
    """The array of blocks with half of each side, at least one element."""
    whole = tuple(max(extent // 2, 1) * parts for extent, parts in zip(shape, grid))
    if _math.prod(whole) > _MOST_ELEMENTS:
        raise MeasureError(f"--size {joined(shape)}: with {joined(grid)} blocks of half the side give too large an array; "
                           "choose a smaller size, or --strong", USAGE)
    return whole


def _cell_of(options, kind, ranks, shape, order, cache, ragged):
    grid = _grid_of(options, ranks, shape, ragged)
    return Cell(ranks, grid, _weak_shape(shape, grid) if kind == "weak" else shape, order, cache, ragged)


def make_plan(options):
    """The launches of options.

    Parameters
    ----------
    options : PlanOptions

    Returns
    -------
    Plan
        Launches ascend in ranks, then in the order of the caches.

    Raises
    ------
    MeasureError
        The product of the grid is not the number of ranks, a shape has more than three dimensions, or an array would have more
        than 2^62 bytes.
    """
    kinds = ["none"]
    if len(options.ranks) > 1:
        kinds = [kind for kind in ("strong", "weak") if getattr(options, kind)]
    launches = {(ranks, cache): {} for ranks in options.ranks for cache in options.caches}  # dicts as ordered sets of cells
    for shape in map(_shape_of, options.shapes):
        arrays = [(order, False) for order in options.orders] + [("c", True)] * (options.ragged and len(shape) == 2)
        for (order, ragged), kind, (ranks, cache) in _itertools.product(arrays, kinds, launches):
            launches[ranks, cache][_cell_of(options, kind, ranks, shape, order, cache, ragged)] = None
    if options.ragged and not any(cell.ragged for cells in launches.values() for cell in cells):
        raise MeasureError("--ragged needs an array of two dimensions, rows and their mean length, such as --size 4096x512",
                           USAGE)
    return Plan(tuple(Launch(ranks, cache, tuple(cells)) for (ranks, cache), cells in launches.items()), " and ".join(kinds))
