"""Medians of the times, ratios to the fastest method, groups of methods, and the curves of a run.

The interval of a median is that of order statistics: it goes from the k-th shortest to the k-th longest of n times, where k is
the largest number with ``1 - 2 P(B < k) >= 0.95`` and B is binomial with n trials of probability 1/2. It holds for every
distribution of the times and needs no random numbers. A bootstrap was not taken: with 3 to 7 repetitions a resampled median
takes few values, and its interval is too short. With fewer than 6 times no two of them suffice; least and most are given.

All results are independent of the order of the records.
"""

import dataclasses as _dataclasses
import functools as _functools
import itertools as _itertools
import math as _math
from statistics import median as _median

import numpy as _np
import pandas as _pandas
from scipy.stats import binom as _binom

from .parse import PHASES
from .terms import runs_of as _runs_of
from .text import count_text, joined, short_size

__all__ = ["rows", "interval", "ratios", "groups", "Grouping", "best_cuts", "Series", "series", "small_cells", "is_scattered",
           "limits", "phases", "EFFICIENT", "MODERATE", "INEFFICIENT", "GROUPS"]

GROUPS = EFFICIENT, MODERATE, INEFFICIENT = "efficient", "moderate", "inefficient"

_CONFIDENCE = 0.95
_LEAST_SECONDS = 1e-9  # a time of zero has no logarithm
_LEAST_GAP = 1.1  # between the neighbours of two groups
_LEAST_STEP = 1.25  # between the means of two groups
_INEFFICIENT = 2.0  # ratio of the means from which the second of two groups is inefficient
_OPENING = 0.25  # share of the opening in a write from which a cell is small
_SMALL_BYTES = 1 << 20  # of a rank, where openings were not recorded
_SAME_LOAD = 0.05  # shapes are rounded to whole elements

_COLUMNS = {
    "method": object, "phase": object, "cell": object, "predicted": bool, "n": "int64", "median": float, "low": float,
    "high": float, "least": float, "open": float, "hidden": float, "hidden_low": float, "hidden_high": float, "bytes": "int64"
}


def interval(values):
    """Median of some numbers, and the interval of 95 % confidence: (median, low, high), or three NaN without a number."""
    values = sorted(map(float, values))
    n = len(values)
    if n == 0:
        return _math.nan, _math.nan, _math.nan
    k = _rank_of_bound(n)
    return _median(values), values[k - 1], values[n - k]


@_functools.lru_cache(maxsize=None)
def _rank_of_bound(n):
    return max(1, int(_binom.ppf((1 - _CONFIDENCE) / 2, n, 0.5)))


def rows(run):
    """Medians of a run.

    Parameters
    ----------
    run : Run

    Returns
    -------
    pandas.DataFrame
        A row for each method, phase and cell, in order of cells, phases and numbers of methods: method, phase, cell, predicted
        (bool: simulated), n (number of times), median, low, high, least, open (seconds; the two last are the shortest time and
        the shortest opening), hidden, hidden_low, hidden_high (share of a write behind computation, with the phase overlap,
        else NaN), bytes.
    """
    times, found = run.times, {}
    columns = (times[name] for name in ("method", "phase", "cell", "predicted", "seconds", "open", "hidden", "bytes"))
    for method, phase, cell, predicted, *values in zip(*columns):
        found.setdefault((cell, phase, method, bool(predicted)), []).append(values)
    numbers = {method["id"]: method["number"] for method in run.methods}

    def place(key):
        cell, phase, method, predicted = key
        return cell, _phase_place(phase), numbers.get(method, _math.inf), method, predicted

    table = []
    for key in sorted(found, key=place):
        cell, phase, method, predicted = key
        seconds, opening, hidden, n_bytes = zip(*found[key])
        shares = interval(hidden if phase == "overlap" else ())
        table.append((method, phase, cell, predicted, len(seconds), *interval(seconds), min(seconds), min(opening), *shares,
                      max(n_bytes)))
    return _frame(table, _COLUMNS)


def _frame(table, columns):
    return _pandas.DataFrame(table, columns=list(columns)).astype(columns)


def _phase_place(phase):
    return (PHASES.index(phase), "") if phase in PHASES else (len(PHASES), phase)


def phases(table):
    """The phases of the rows, a list of str: those of `PHASES` in their order, then others by name."""
    return sorted(set(table["phase"]), key=_phase_place)


def limits(run):
    """The storage's own limit: {(cell, phase): (median seconds, bytes)}, with the phases write and read."""
    found = run.limits.groupby(["cell", "phase"]).agg({"seconds": "median", "bytes": "max"})
    return {key: (seconds, n_bytes) for key, seconds, n_bytes in found.itertuples()}


# ---- Ratios and groups ------------------------------------------------------------------------------------------------


def _log(seconds):
    return _math.log(max(seconds, _LEAST_SECONDS))


def ratios(table):
    """How much longer the methods take than the fastest one.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of one phase, as of `rows`.

    Returns
    -------
    pandas.DataFrame
        method, ratio (the geometric mean, over the cells of the method, of its time to that of the fastest method of the cell)
        and cells (their number); by ratio, then by method.
    """
    best, logs = {}, {}
    for cell, median in zip(table["cell"], table["median"]):
        best[cell] = min(best.get(cell, _math.inf), _log(median))
    for method, cell, median in zip(table["method"], table["cell"], table["median"]):
        logs.setdefault(method, []).append(_log(median) - best[cell])
    found = [(method, _math.exp(_math.fsum(own) / len(own)), len(own)) for method, own in logs.items()]
    found.sort(key=lambda one: (one[1], one[0]))
    return _frame(found, {"method": object, "ratio": float, "cells": "int64"})


def best_cuts(values, k):
    """Cut sorted numbers into k stretches with the least sum of squared distances to their means; exact, by trying all cuts.

    Parameters
    ----------
    values : array_like
        Numbers in ascending order, at least `k`.
    k : int
        Number of stretches.

    Returns
    -------
    tuple of int
        Where the second stretch and those after it begin; of equal costs the first in lexicographic order.
    """
    values, n = _np.asarray(values, dtype=float), len(values)
    cost = {(i, j): float(values[i:j].var() * (j - i)) for i in range(n) for j in range(i + 1, n + 1)}
    all_cuts = _itertools.combinations(range(1, n), k - 1)
    return min(all_cuts, key=lambda cuts: (_math.fsum(cost[part] for part in zip((0, *cuts), (*cuts, n))), cuts))


def _are_apart(logs, cuts, noise):
    parts = _np.split(logs, cuts)
    gap = max(_math.log(_LEAST_GAP), 2 * noise)
    return all(after[0] - before[-1] >= gap and after.mean() - before.mean() >= _math.log(_LEAST_STEP)
               for before, after in zip(parts, parts[1:]))


def _noise(table):
    widths = [(_log(high) - _log(low)) / 2 for n, low, high in zip(table["n"], table["low"], table["high"]) if n > 1]
    return _median(widths) / _math.sqrt(len(set(table["cell"]))) if widths else 0.0


@_dataclasses.dataclass(frozen=True)
class Grouping:
    """Methods in up to three groups.

    Attributes
    ----------
    table : pandas.DataFrame
        As of `ratios`, with the column group: "efficient", "moderate" or "inefficient".
    noise : float
        Half the width of the interval of a ratio, as a logarithm; neighbours of two groups are at least twice that apart.
    """

    table: _pandas.DataFrame
    noise: float

    @property
    def by_method(self):
        """{method: group}."""
        return dict(zip(self.table["method"], self.table["group"]))

    @property
    def count(self):
        """Number of groups, 0 to 3."""
        return self.table["group"].nunique()


def groups(table, noise=None):
    """Put methods into groups of similar speed.

    The sorted logarithms of the ratios are cut into three parts, exactly. Three groups count if neighbours are separated by a
    factor of 1.1 and by twice the noise, and their means by a factor of 1.25; otherwise two are tried, then one. The second of
    two groups is "inefficient" if its mean is at least twice that of the first, else "moderate"; a single one is "efficient".

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of one phase, as of `rows`.
    noise : float, optional
        As of `Grouping`; default: that of the intervals of `table`.

    Returns
    -------
    Grouping
    """
    found, noise = ratios(table), _noise(table) if noise is None else noise
    logs = _np.log(found["ratio"].to_numpy())
    cuts = ()
    for k in range(min(3, len(logs)), 1, -1):
        cuts = best_cuts(logs, k)
        if _are_apart(logs, cuts, noise):
            break
        cuts = ()
    names = [EFFICIENT] * len(logs)
    if cuts:
        far = len(cuts) == 1 and logs[cuts[0]:].mean() - logs[:cuts[0]].mean() >= _math.log(_INEFFICIENT)
        for i in range(cuts[0], len(logs)):
            names[i] = INEFFICIENT if far or (len(cuts) == 2 and i >= cuts[1]) else MODERATE
    return Grouping(found.assign(group=_pandas.Series(names, dtype=object)), noise)


# ---- Cells and curves -------------------------------------------------------------------------------------------------


def small_cells(table):
    """The cells whose times are those of opening a file rather than of moving bytes.

    In a small cell the shortest opening takes a quarter or more of the shortest write, in the median over the methods (of any
    phase, where nothing was written); on a busy machine medians would compare waiting. Where openings were not recorded, a
    cell with less than 1 MiB a rank is small.

    Parameters
    ----------
    table : pandas.DataFrame
        As of `rows`.

    Returns
    -------
    frozenset of Cell
    """
    shares, written = {}, set(table["cell"][table["phase"] == "write"])
    for cell, phase, least, opening in zip(table["cell"], table["phase"], table["least"], table["open"]):
        if phase == "write" or cell not in written:
            shares.setdefault(cell, []).append(opening / max(least, _LEAST_SECONDS))
    return frozenset(cell for cell, own in shares.items()
                     if (_median(own) >= _OPENING if any(own) else cell.bytes_per_rank < _SMALL_BYTES))


def is_scattered(cell):
    """Whether the block of a rank is more than one stretch of the array."""
    return _runs_of(cell, cell.grid) > cell.ranks


@_dataclasses.dataclass(frozen=True)
class Series:
    """Cells that form a curve.

    Attributes
    ----------
    kind : {"strong", "weak", "size"}
        One array on more ranks; equal bytes per rank on more ranks; arrays of several sizes on equal ranks.
    label : str
        What the cells have in common.
    cells : tuple of Cell
        Two or more, by ranks, or by bytes with the kind "size".
    """

    kind: str
    label: str
    cells: tuple


def series(cells, asked=""):
    """Find the curves among cells.

    Parameters
    ----------
    cells : iterable of Cell
    asked : str
        The member `scaling` of the run: only the scaling that it names is looked for; "" for both. Sizes are looked for where
        neither is found.

    Returns
    -------
    list of Series
    """
    cells = sorted(set(cells))
    variants, seen = {}, {}
    for cell in cells:  # cells that differ in their grid alone belong to several curves
        any_grid = _dataclasses.replace(cell, grid=())
        variants[cell] = seen[any_grid] = seen.get(any_grid, -1) + 1
    strong, weak = "strong" in asked, "weak" in asked
    found = _strong(cells, variants) if strong or not weak else []
    found += _weak(cells, variants) if weak or not strong else []
    return found or _sizes(cells)


def _curve(kind, what, cells, variant=0):
    """A curve of sorted cells, which have a variant of their grid in common."""
    first, grid = cells[0], f", grid {joined(cells[-1].grid)}" if variant else ""
    layout = f"{'ragged, ' if first.ragged else ''}order {first.order}, {first.cache}"
    return Series(kind, f"{what}, {layout}{grid}", tuple(cells))


def _together(cells, key):
    """Lists of the cells of equal key, by key; cells keep their order."""
    return [list(own) for _, own in _itertools.groupby(sorted(cells, key=key), key)]


def _strong(cells, variants):
    found = _together(cells, lambda cell: (cell.shape, cell.ragged, cell.order, cell.cache, variants[cell]))
    return [_curve("strong", f"{joined(own[0].shape)} ({short_size(own[0].bytes)})", own, variants[own[0]])
            for own in found if own[-1].ranks > own[0].ranks]


def _weak(cells, variants):
    found = []
    for cell in cells:
        key = (len(cell.shape), cell.ragged, cell.order, cell.cache, variants[cell])
        for own_key, own in found:
            load = own[0].bytes_per_rank
            if own_key == key and own[-1].ranks != cell.ranks and abs(cell.bytes_per_rank - load) <= _SAME_LOAD * load:
                own.append(cell)
                break
        else:
            found.append((key, [cell]))
    return [_curve("weak", f"{short_size(own[0].bytes_per_rank)} a rank, {key[0]}-D", own, key[-1])
            for key, own in found if len({cell.shape for cell in own}) > 1]


def _sizes(cells):
    found = _together(sorted(cells, key=lambda cell: (cell.bytes, cell)),
                      lambda cell: (cell.ranks, len(cell.shape), cell.grid, cell.ragged, cell.order, cell.cache))
    return [_curve("size", f"{count_text(own[0].ranks, 'rank')} as {joined(own[0].grid)}", own)
            for own in found if own[-1].bytes > own[0].bytes]
