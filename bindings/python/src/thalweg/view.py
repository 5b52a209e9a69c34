"""Views: which bytes of a shared file a task sees, and in which order.

>>> import numpy as np, thalweg
>>> part = thalweg.view.subarray((ny, nx), (first, 0), (rows, nx), np.float64)   # rows of an array in the file
>>> f.set_view(part)                                                            # f: a thalweg.File, each task its own
>>> f.write_view_all(a)                                                         # one call, all pieces

A view is a description, made of other views; it never changes, and takes no memory for each of its pieces. It has
`size` bytes, and is repeated `extent` bytes apart. An *element* is what a view is made of: a view, a numpy.dtype or what
makes one (``float``, ``"<i4"``), or None for a byte. Counts, lengths, blocks and indices are numbers of elements;
strides, displacements and extents are bytes.

None of the calls is collective; all raise `thalweg.InvalidArgument` for numbers that are negative or do not fit together,
and `thalweg.OutOfRange` for sizes of 2**63 bytes or more.
"""

import numpy as _np

from . import _arguments, _core
from ._core import View
from .errors import InvalidArgument

__all__ = ["View", "contiguous", "strided", "indexed", "struct", "subarray", "distributed", "resized"]

_DISTRIBUTIONS = {"none": 0, "block": 1, "cyclic": 2}


def _element(element):
    if element is None or isinstance(element, View):
        return element
    return _core.contiguous(_np.dtype(element).itemsize, None)


def _numbers(values, what):
    return [_arguments.number(value, what) for value in values]


def _row_major(order):
    if order not in ("C", "F"):
        raise InvalidArgument(f"order is {order!r}; 'C' or 'F'")
    return order == "C"


def contiguous(count, element=None):
    """A view of `count` elements, one behind the other.

    Parameters
    ----------
    count : int
    element : View, dtype or None, optional

    Returns
    -------
    View
    """
    return _core.contiguous(_arguments.number(count, "count"), _element(element))


def strided(count, block, stride, element=None):
    """A view of `count` blocks of `block` elements, which begin `stride` bytes apart.

    Parameters
    ----------
    count, block, stride : int
    element : View, dtype or None, optional

    Returns
    -------
    View
    """
    count, block, stride = _numbers((count, block, stride), "count, block or stride")
    return _core.strided(count, block, stride, _element(element))


def indexed(displacements, lengths, element=None):
    """A view of blocks of different lengths.

    Parameters
    ----------
    displacements : sequence of int
        First byte of each block.
    lengths : sequence of int
        Elements of each block.
    element : View, dtype or None, optional

    Returns
    -------
    View
    """
    return _core.indexed(*_equally_long(displacements, lengths), _element(element))


def struct(displacements, lengths, elements):
    """A view of blocks of different elements.

    Parameters
    ----------
    displacements : sequence of int
        First byte of each block.
    lengths : sequence of int
        Elements of each block.
    elements : sequence of View or dtype
        What each block is made of.

    Returns
    -------
    View
    """
    displacements, lengths = _equally_long(displacements, lengths)
    views = [_element(element) or _core.contiguous(1, None) for element in elements]
    if len(views) != len(lengths):
        raise InvalidArgument(f"struct: {len(views)} elements for {len(lengths)} blocks; one for each")
    return _core.structure(displacements, lengths, views)


def _equally_long(displacements, lengths):
    displacements, lengths = _numbers(displacements, "a displacement"), _numbers(lengths, "a length")
    if len(displacements) != len(lengths):
        raise InvalidArgument(f"{len(displacements)} displacements and {len(lengths)} lengths; one of each for a block")
    return displacements, lengths


def subarray(shape, start, count, element=None, *, order="C"):
    """A view of a block of an array.

    Parameters
    ----------
    shape : sequence of int
        Extents of the array in the file.
    start, count : sequence of int
        First index and number of indices of the block, for each dimension.
    element : View, dtype or None, optional
    order : {"C", "F"}, default "C"
        Order of the array: the last, or the first index changes fastest.

    Returns
    -------
    View
    """
    shape, start, count = (_numbers(one, "an index") for one in (shape, start, count))
    if not len(shape) == len(start) == len(count):
        raise InvalidArgument(f"subarray: shape {shape}, start {start} and count {count} have different lengths")
    return _core.subarray(list(zip(shape, start, count)), _row_major(order), _element(element))


def distributed(shape, parts, rank, element=None, *, distribution="block", block=0, order="C"):
    """A view of what one task has of an array that is dealt to a grid of tasks, as in High Performance Fortran.

    Parameters
    ----------
    shape : sequence of int
        Extents of the array in the file.
    parts : sequence of int
        Tasks of the grid in each dimension.
    rank : int
        Number of the task in the grid, whose last dimension changes fastest.
    element : View, dtype or None, optional
    distribution : {"block", "cyclic", "none"} or sequence of them, default "block"
        One block for each task; blocks dealt in turn; all indices for every task. For all dimensions, or for each.
    block : int or sequence of int, default 0
        Indices of a block; 0: as few as suffice ("block"), 1 ("cyclic").
    order : {"C", "F"}, default "C"
        Order of the array in the file.

    Returns
    -------
    View
    """
    shape, parts = _numbers(shape, "an extent"), _numbers(parts, "a number of tasks")
    hows = [distribution] * len(shape) if isinstance(distribution, str) else list(distribution)
    blocks = _numbers(block, "a block") if _np.ndim(block) else [_arguments.number(block, "block")] * len(shape)
    if not len(shape) == len(parts) == len(hows) == len(blocks):
        raise InvalidArgument(f"distributed: shape {shape}, parts {parts}, distribution {hows} and block {blocks} have "
                              "different lengths")
    for how in hows:
        if how not in _DISTRIBUTIONS:
            raise InvalidArgument(f"distributed: distribution is {how!r}; one of {', '.join(map(repr, _DISTRIBUTIONS))}")
    dimensions = list(zip(shape, parts, blocks, [_DISTRIBUTIONS[how] for how in hows]))
    return _core.distributed(dimensions, _arguments.number(rank, "rank"), _row_major(order), _element(element))


def resized(view, extent):
    """A view of the bytes of another one, with another extent.

    Parameters
    ----------
    view : View or dtype
    extent : int
        Bytes between copies.

    Returns
    -------
    View
    """
    return _core.resized(_element(view), _arguments.number(extent, "extent"))
