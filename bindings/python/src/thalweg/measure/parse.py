"""One record: its members checked, its cell as a value.

docs/design/methods.md describes the records, and records.schema.json, beside this module, states the same for other
programs. A line that is wrong is a `MeasureError` that names the member; members and kinds that are not known are skipped.
"""

import dataclasses as _dataclasses
import json as _json
import math as _math

from .errors import DAMAGED, MeasureError
from .text import count_text, joined, printable

__all__ = ["Cell", "Mishap", "parse", "record_line", "PHASES", "CACHES"]

PHASES = ("write", "read", "restart", "serial", "merge", "overlap")
CACHES = ("warm", "sync", "drop")

_ELEMENT_BYTES = 4
_MOST_RANKS = 1 << 24  # above any machine
_MOST_ELEMENTS = 1 << 58
_MOST = (1 << 63) - 1
_MOST_DEPTH = 16  # of values in a record; those of the program have 4
_SHOWN = 60  # characters of a wrong value in a message


@_dataclasses.dataclass(frozen=True, order=True)
class Cell:
    """A case that is measured; only times of equal cells are compared.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    grid : tuple of int
        Parts of the array in each dimension; their product is `ranks`.
    shape : tuple of int
        Elements, of 4 bytes, in each dimension; of a ragged array the number of rows and their mean length.
    order : {"c", "f"}
        Whether the last index of the array changes fastest, or the first.
    cache : {"warm", "sync", "drop"}
        The cache state that was asked for.
    ragged : bool
        Rows of the array have different lengths.
    """

    ranks: int
    grid: tuple
    shape: tuple
    order: str = "c"
    cache: str = "warm"
    ragged: bool = False

    @property
    def bytes(self):
        """Bytes of the array; of a ragged array those of its mean length."""
        return _ELEMENT_BYTES * _math.prod(self.shape)

    @property
    def bytes_per_rank(self):
        """Mean bytes of a rank, a float."""
        return self.bytes / self.ranks

    @property
    def shape_text(self):
        """The shape as "4096x4096", or "4096x4096 ragged"."""
        return joined(self.shape) + (" ragged" if self.ragged else "")

    @property
    def text(self):
        """The cell in words: "4 ranks as 2x2, 4096x4096, c, warm"."""
        return f"{count_text(self.ranks, 'rank')} as {joined(self.grid)}, {self.shape_text}, {self.order}, {self.cache}"

    def argument(self):
        """The argument of --cell of the program that measures."""
        return record_line(self.to_json())

    def to_json(self):
        """The cell as the member `cell` of a record, a dict."""
        found = {"ranks": self.ranks, "grid": list(self.grid), "shape": list(self.shape), "order": self.order,
                 "cache": self.cache}
        return {**found, "ragged": True} if self.ragged else found


@_dataclasses.dataclass(frozen=True)
class Mishap:
    """A measurement that failed or was skipped; "" and None where it is not about one method, phase or cell."""

    failed: bool
    method: str
    phase: str
    cell: "Cell | None"
    message: str


# ---- Checks of members: each takes the name and the value of a member and returns what is kept of it -----------------

class _Wrong(Exception):
    def __init__(self, name, why):
        super().__init__(name, why)
        self.name, self.why = name, why

    def as_error(self, kind):
        return MeasureError(f"{printable(kind[:_SHOWN])} record: '{printable(self.name[:_SHOWN])}' {self.why}", DAMAGED)


def _seen(value):
    text = _json.dumps(value, separators=(",", ":"))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _text(name, value):
    if not isinstance(value, str):
        raise _Wrong(name, f"is {_seen(value)}, not text")
    return value


def _word(name, value):
    if not _text(name, value):
        raise _Wrong(name, "is empty")
    return value


def _truth(name, value):
    if not isinstance(value, bool):
        raise _Wrong(name, f"is {_seen(value)}, not true or false")
    return value


def _number(name, value):
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e300:
        return float(value)
    raise _Wrong(name, f"is {_seen(value)}, not a nonnegative number")


def _is_count(value, least, most):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _count(least, most):
    def check(name, value):
        if not _is_count(value, least, most):
            raise _Wrong(name, f"is {_seen(value)}, not a whole number from {least} to {most}")
        return value
    return check


def _counts(most):
    def check(name, value):
        if not isinstance(value, list) or not 1 <= len(value) <= 3:
            raise _Wrong(name, f"is {_seen(value)}, not a list of 1 to 3 numbers")
        for entry in value:
            if not _is_count(entry, 1, most):
                raise _Wrong(name, f"has {_seen(entry)}, not a whole number from 1 to {most}")
        return tuple(value)
    return check


def _one_of(*words):
    told = f"'{words[0]}' or '{words[1]}'" if len(words) == 2 else f"{', '.join(words[:-1])} or {words[-1]}"

    def check(name, value):
        if _text(name, value) not in words:
            raise _Wrong(name, f"is '{printable(value[:_SHOWN])}', not {told}")
        return value
    return check


def _object(name, value):
    if not isinstance(value, dict):
        raise _Wrong(name, f"is {_seen(value)}, not an object")
    return value


def _part(members):
    return lambda name, value: _members(_object(name, value), members)


def _cell(name, value):
    found = _members(_object(name, value), _CELL)
    shape, grid = found["shape"], found["grid"]
    if _math.prod(shape) > _MOST_ELEMENTS:
        raise _Wrong("shape", "has more elements than fit in a file")
    if len(grid) != len(shape):
        raise _Wrong("grid", f"has {len(grid)} entries, but 'shape' {len(shape)}")
    return Cell(**found)


_NEEDED = object()


def _members(record, members):
    """The members that are known of a JSON object; what is missing or null gets its default, unless it is needed."""
    found = {}
    for name, (check, default) in members.items():
        value = record.get(name)
        if value is not None or (default is _NEEDED and name in record):
            found[name] = check(name, value)
        elif default is _NEEDED:
            raise _Wrong(name, "is missing")
        else:
            found[name] = default
    return found


_CELL = {"ranks": (_count(1, _MOST_RANKS), _NEEDED), "shape": (_counts(_MOST_ELEMENTS), _NEEDED),
         "grid": (_counts(_MOST_RANKS), _NEEDED),
         "order": (_one_of("c", "f"), _NEEDED), "cache": (_one_of(*CACHES), _NEEDED), "ragged": (_truth, False)}
_PARTS = {name: (_number, 0.0) for name in ("open", "transfer", "close")}
_WHERE = {"method": (_text, ""), "phase": (_text, ""), "cell": (_cell, None)}
_KINDS = {
    "run": {},
    "launch": {},
    "method": {"id": (_word, _NEEDED), "number": (_count(1, 10_000), _NEEDED), "title": (_word, _NEEDED),
               "built": (_truth, _NEEDED),
               "library": (_text, None), "reason": (_text, None), "outcome": (_text, None), "collective": (_truth, None),
               "nonblocking": (_truth, None), "needs": (_text, None)},
    "begin": {"method": (_word, _NEEDED), "cell": (_cell, _NEEDED)},
    "time": {"method": (_word, _NEEDED), "phase": (_word, _NEEDED), "cell": (_cell, _NEEDED), "cache": (_text, None),
             "repetition": (_count(1, 1_000_000), _NEEDED), "seconds": (_number, _NEEDED), "bytes": (_count(0, _MOST), _NEEDED),
             "parts": (_part(_PARTS), dict.fromkeys(_PARTS, 0.0)), "readers": (_count(0, _MOST_RANKS), 0), "compute_seconds": (_number, 0.0),
             "hidden": (_number, 0.0), "predicted": (_truth, False)},
    "limit": {"cell": (_cell, _NEEDED), "phase": (_one_of("write", "read"), _NEEDED),
              "repetition": (_count(1, 1_000_000), _NEEDED),
              "seconds": (_number, _NEEDED), "bytes": (_count(0, _MOST), _NEEDED)},
    "facts": {"method": (_word, _NEEDED), "cell": (_cell, _NEEDED),
              "memory_bytes": (_count(0, _MOST), 0), "plan": (_text, None)},
    "skipped": {**_WHERE, "reason": (_text, _NEEDED)},
    "failure": {**_WHERE, "message": (_text, _NEEDED)},
    "storage": {"path": (_word, _NEEDED), "file_system": (_word, _NEEDED), "identity": (_word, _NEEDED),
                "free_bytes": (_count(0, _MOST), _NEEDED)},
    "network": {**{name: (_count(1, _MOST_RANKS), _NEEDED) for name in ("ranks", "nodes")},
                **{name: (_number, _NEEDED) for name in ("barrier_seconds", "latency_seconds", "bytes_per_second")}},
    "prediction": {name: (_number, _NEEDED) for name in ("open_seconds", "transfer_seconds", "close_seconds")},
    "end": {"complete": (_truth, _NEEDED), "seconds": (_number, 0.0)},
}


# ---- Lines -----------------------------------------------------------------------------------------------------------

def _depth(value):
    """How deeply a JSON value is nested, without recursion."""
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [entry for outer in level if isinstance(outer, (dict, list))
                 for entry in (outer.values() if isinstance(outer, dict) else outer)]
    return depth


def _refuse_constant(word):
    raise ValueError(word)


def _parsed(line):
    """The JSON object of a line."""
    deep = False
    try:
        record = _json.loads(line, parse_constant=_refuse_constant)
        line.encode()
        if "\\ud" in line or "\\uD" in line:
            _json.dumps(record, ensure_ascii=False).encode()  # fails for half of a pair of surrogates
        deep = line.count("[") + line.count("{") > _MOST_DEPTH and _depth(record) > _MOST_DEPTH + 1
    except RecursionError:
        record, deep = None, True
    except ValueError:
        record = None
    if deep or not isinstance(record, dict):
        why = ", or nested too deeply" if deep else ""
        raise MeasureError(f"not a record: '{printable(line[:_SHOWN])}' is not a JSON object{why}", DAMAGED)
    return record


def parse(line):
    """Check one record.

    Parameters
    ----------
    line : str
        A JSON object, with or without the end of the line.

    Returns
    -------
    kind : str
        Its kind, which need not be known.
    members : dict
        Its members: those of a known kind are checked and have their defaults, with a `Cell` for the member `cell`.

    Raises
    ------
    MeasureError
        The line is no record, or a member is missing, has another type or is out of its range.
    """
    record = _parsed(line)
    kind = "unnamed"
    try:
        kind = _members(record, {"kind": (_text, _NEEDED)})["kind"]
        known = _KINDS.get(kind)
        return kind, _members(record, known) if known else record
    except _Wrong as wrong:
        raise wrong.as_error(kind) from None


def record_line(record):
    """A record, a dict, as a line without its end. Characters that are not ASCII are escaped."""
    return _json.dumps(record, separators=(",", ":"))
