"""Conversion and checks of arguments."""

import operator
import os

from .errors import InvalidArgument, NoMemory, OutOfRange


def attempt(prepare):
    """The result of `prepare` and None, or None and its exception."""
    try:
        return prepare(), None
    except MemoryError as error:
        return None, error if isinstance(error, OSError) else NoMemory(f"no memory: {error}")
    except ValueError as error:  # such as an array of more elements than NumPy can have
        return None, error if isinstance(error, OSError) else InvalidArgument(str(error))
    except Exception as error:
        return None, error


def together(group, mine, act):
    """The result of the collective `act`. `mine`: error in this task's arguments, which `act` then passes to the library as
    invalid ones, so that no other task waits for this one. All tasks raise one exception."""
    if mine is not None and group.size == 1:
        raise mine
    try:
        return act()
    except InvalidArgument as error:
        if group.size > 1 and error.status == "TW_ERR_INVALID":
            try:
                group.agree(None if mine is None else str(mine))
            except InvalidArgument as told:
                raise (mine or told) from None
        raise mine or error from None
    except OSError:
        if mine is not None:
            raise mine from None
        raise


def path_bytes(path):
    """A path as bytes."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise InvalidArgument(f"path {path!r} has a null byte inside")
    return name


def text(words):
    """Text without zero bytes."""
    try:
        if b"\0" not in words.encode():
            return words
    except UnicodeEncodeError:
        pass
    raise InvalidArgument(f"{words!r} is no text")


def number(value, what):
    """A 64-bit integer."""
    value = operator.index(value)
    if not -(2**63) <= value < 2**63:
        raise OutOfRange(f"{what} is {value}, which has more than 64 bits")
    return value


def extents(shape):
    """The extents of a shape; [] for None."""
    if shape is None:
        return []
    try:
        numbers = [operator.index(shape)]
    except TypeError:
        numbers = [operator.index(extent) for extent in shape]
    return [number(extent, "an extent of the shape") for extent in numbers]


def box_of(box, shape):
    """Starts and lengths of the slices `box` in a shape with these extents."""
    if box is None:
        return None
    start, count = [], []
    slices = (box,) if isinstance(box, slice) else tuple(box)
    if len(slices) != len(shape):
        raise InvalidArgument(f"box has {len(slices)} slices, the shape {len(shape)} dimensions; a box needs a shape")
    for part, extent in zip(slices, shape):
        first, end, step = part.indices(extent)
        if step != 1:
            raise InvalidArgument(f"box: {part} has a step; boxes have none")
        start.append(first)
        count.append(max(end - first, 0))
    return start, count


def hints_text(hints):
    """Hints in the library's text format."""
    if hints is None:
        return ""
    return text(hints if isinstance(hints, str) else ",".join(f"{name}={value}" for name, value in dict(hints).items()))
