"""The groups and the five conclusions of a study, judged by the data of a run.

The study is M. Haefele, "Comparison of different methods for performing parallel I/O", HLST, 2010: one array in blocks,
written by up to 2048 cores of two machines. Its three groups and its five conclusions are split into claims. A claim is one
number of the run, with a limit from which it is confirmed and one from which it is refuted. It is undecided between them,
where the run has no such number, and where the noise of the times reaches the other limit. A conclusion is refuted where one
of its claims is, and confirmed where all are.

Claims about speed use large cells, those that are not in `statistics.small_cells`, since the study compares bandwidths. Claims
about small files use all cells. Blocks interleave where the block of a rank is more than one stretch of the array.
"""

import dataclasses as _dataclasses
import math as _math

from . import statistics
from .report import Report
from .text import count_text, short_size

__all__ = ["judge", "Conclusion", "Claim", "STUDY_GROUPS", "CONFIRMED", "REFUTED", "UNDECIDED"]

CONFIRMED, REFUTED, UNDECIDED = "confirmed", "refuted", "undecided"

POSIX = ("gather", "file-per-task", "file-per-task-dirs")
FILES = ("file-per-task", "file-per-task-dirs")
STUDY_GROUPS = {
    statistics.EFFICIENT: (*POSIX, "mpiio-global-3", "hdf5-contiguous-collective"),
    statistics.MODERATE: ("mpiio-global-2", "hdf5-contiguous-independent"),
    statistics.INEFFICIENT: ("mpiio-global-0", "mpiio-global-1"),
}
_STUDY = tuple(method for members in STUDY_GROUPS.values() for method in members)
_SMALL_FILE = 100_000_000  # bytes; the border of the study between small and large files
_DECAY = (0.8, 0.5)  # bandwidth of a file per task on the most ranks, relative to the fewest
_WHOLE_ARRAY = (0.9, 0.5)  # memory of the gathering rank, in arrays


@_dataclasses.dataclass(frozen=True)
class Claim:
    """A claim, and what the run says about it.

    Attributes
    ----------
    text : str
        The claim.
    verdict : {"confirmed", "refuted", "undecided"}
    value : float
        The number that decides; NaN where the run has none.
    evidence : tuple of str
        The number and others around it, as sentences.
    criterion : str
        The limits.
    missing : str
        What would decide it; "" where it is decided.
    """

    text: str
    verdict: str
    value: float
    evidence: tuple
    criterion: str
    missing: str


@_dataclasses.dataclass(frozen=True)
class Conclusion:
    """Claims that belong together: the groups (number 0), or one of the conclusions 1 to 5 of the study.

    Attributes
    ----------
    number : int
    title : str
    claims : tuple of Claim
    note : str
        A cause or a limit, known from elsewhere than this run; may be "".
    """

    number: int
    title: str
    claims: tuple
    note: str = ""

    @property
    def verdict(self):
        """The verdict: refuted where one claim is, confirmed where all are, else undecided."""
        verdicts = {claim.verdict for claim in self.claims}
        return REFUTED if REFUTED in verdicts else CONFIRMED if verdicts == {CONFIRMED} else UNDECIDED


def judge(run, predicted=False):
    """Judge the groups and the conclusions of the study.

    Parameters
    ----------
    run : Run
    predicted : bool, default False
        Use the simulated times of the run in place of those measured.

    Returns
    -------
    list of Conclusion
        The groups, then conclusions 1 to 5.
    """
    data = _Data(run, predicted)
    title = "Three groups: gather, files and level 3 are efficient, level 2 is moderate, levels 0 and 1 are inefficient"
    found = [Conclusion(0, title, _groups(data))]
    for number, title, ratios, others, note in _CONCLUSIONS:
        claims = [_ratio_claim(data, spec) for spec in ratios] + [judged(data) for judged in others]
        found.append(Conclusion(number, title, tuple(claims), note))
    return found


class _Data(Report):
    """The times of one kind, and sets of cells with the words for them."""

    def __init__(self, run, predicted):
        super().__init__(run, predicted)
        several = [cell for cell in self.cells if cell.ranks > 1]
        large = [cell for cell in several if cell not in self.small]
        most = max((cell.ranks for cell in large), default=0)
        self.chosen = {
            "several": (large, "large cells of several ranks"),
            "scattered": (list(filter(statistics.is_scattered, large)), "large cells with blocks that interleave"),
            "most": ([cell for cell in large if cell.ranks == most], f"large cells of the most ranks{f' ({most})' if most else ''}"),
            "small files": ([cell for cell in several if cell.bytes < _SMALL_FILE], "cells of several ranks below 100 MB"),
            "large files": ([cell for cell in several if cell.bytes >= _SMALL_FILE], "cells of several ranks from 100 MB on"),
        }

    def compare(self, slow, fast, phase, cells):
        """Time of the fastest of `slow` relative to the fastest of `fast`, a `_Number` for each cell that has both."""
        pairs = ((self.best(phase, cell, slow), self.best(phase, cell, fast)) for cell in cells)
        return [_Number(a.median / b.median, _variance(a) + _variance(b)) for a, b in pairs if a and b and a.median and b.median]


class _Number(float):
    """A positive number with the variance of its logarithm, from the intervals of its times."""

    def __new__(cls, value, variance=0.0):
        made = super().__new__(cls, value)
        made.variance = variance
        return made

    @property
    def ends(self):
        """Where the number may lie, from its noise: (least, most)."""
        factor = _math.exp(_math.sqrt(self.variance))
        return self / factor, self * factor


def _variance(row):
    """Square of half the width of a median's interval, as a logarithm; 0 for a single time."""
    return (_math.log(row.high / row.low) / 2) ** 2 if row.low > 0 else 0.0


def _mean(numbers):
    """Geometric mean, a `_Number`; NaN without a number."""
    if not numbers:
        return _Number(_math.nan)
    n = len(numbers)
    return _Number(_math.exp(_math.fsum(map(_math.log, numbers)) / n), _math.fsum(one.variance for one in numbers) / n**2)


def _times(numbers):
    mean, n = _mean(numbers), len(numbers)
    if n == 1:
        return f"{mean:.2f} times (1 cell)"
    return f"{mean:.2f} times (geometric mean of {n} cells, {min(numbers):.2f} to {max(numbers):.2f})"


def _decide(number, confirmed, refuted, absent):
    """Compare a `_Number` with two limits: (verdict, what is missing).

    The claim is that the number is large where `confirmed` is above `refuted`, else that it is small. A verdict holds only if
    the noise leaves the number on the same side of the other limit.
    """
    if _math.isnan(number):
        return UNDECIDED, absent
    (least, most), large = number.ends, confirmed > refuted
    if number >= confirmed if large else number <= confirmed:
        sure, verdict = least >= refuted if large else most <= refuted, CONFIRMED
    elif number < refuted if large else number > refuted:
        sure, verdict = most < confirmed if large else least > confirmed, REFUTED
    else:
        return UNDECIDED, "The number lies between both limits."
    return (verdict, "") if sure else (UNDECIDED, f"The times scatter too much: {least:.2f} to {most:.2f}.")


def _claim(text, value, limits, what, evidence, absent):
    """A claim about a `_Number`, which has the two limits of `_decide`."""
    verdict, missing = _decide(value, *limits, absent)
    begin, beyond = ("from", "below") if limits[0] > limits[1] else ("up to", "above")
    criterion = f"{what}: confirmed {begin} {limits[0]:g}, refuted {beyond} {limits[1]:g}."
    return Claim(text, verdict, float(value), tuple(evidence), criterion, missing)


# ---- Claims that are a ratio of times ---------------------------------------------------------------------------------


@_dataclasses.dataclass(frozen=True)
class _Ratio:
    """Write time of the fastest of `slow` relative to the fastest of `fast`; each of `apart` is a method told alone."""

    text: str
    slow: tuple
    fast: tuple
    cells: str
    confirmed: float
    refuted: float
    apart: tuple = ()


def _ratio_claim(data, spec):
    cells, words = data.chosen[spec.cells]
    values = data.compare(spec.slow, spec.fast, "write", cells)
    what = f"Write time of {_any_of(spec.slow)} to that of {_any_of(spec.fast)}, {words}"
    absent = _what_is_missing(data, (spec.slow, spec.fast), cells, words)
    evidence = [f"Write: {_times(values)}."] if values else []
    for method in spec.apart:
        alone = data.compare((method,), spec.fast, "write", cells)
        evidence += [f"{method} alone: {_times(alone)}."] if alone else []
    reads = data.compare(spec.slow, spec.fast, "read", cells)
    evidence += [f"Read: {_times(reads)}."] if reads else []
    return _claim(spec.text, _mean(values), (spec.confirmed, spec.refuted), what, evidence, absent)


def _any_of(methods):
    if methods == _STUDY:
        return "the fastest of the nine"
    return methods[0] if len(methods) == 1 else f"the fastest of {', '.join(methods)}"


def _what_is_missing(data, sides, cells, words):
    measured = set(data.rows["method"][data.rows["phase"] == "write"])
    absent = [_any_of(side) for side in sides if not measured & set(side)]
    if absent:
        return f"Missing: write times of {' and of '.join(absent)}."
    return f"Missing: both methods in {words}." if cells else f"Missing: {words}."


# ---- The groups -------------------------------------------------------------------------------------------------------


def _groups(data):
    cells, words = data.chosen["scattered"]
    table = data.rows[(data.rows["phase"] == "write") & data.rows["method"].isin(_STUDY) & data.rows["cell"].isin(cells)]
    found = statistics.groups(table)
    ratio = dict(zip(found.table["method"], found.table["ratio"]))
    group, missing = found.by_method, _missing_groups(found.by_method, words)
    if not missing and found.count < 3 and statistics.groups(table, noise=0).count == 3:
        missing = "The times scatter too much to tell three groups apart."
    return tuple(_group_claim(name, members, group, ratio, missing) for name, members in STUDY_GROUPS.items())


def _missing_groups(group, words):
    absent = [members for members in STUDY_GROUPS.values() if not set(members) & set(group)]
    if len(absent) == len(STUDY_GROUPS):
        return f"Missing: {words}."
    return f"Missing: write times of {' and of '.join(map(_any_of, absent))}, in {words}." if absent else ""


def _group_claim(name, members, group, ratio, missing):
    measured = [method for method in members if method in group]
    here = {method for method in group if group[method] == name}
    alike = here == set(measured)
    verdict = UNDECIDED if missing else CONFIRMED if alike else REFUTED
    stay = len(here & set(measured))
    evidence = [f"{method}: {ratio[method]:.2f} times the fastest, {group[method]} here." for method in measured]
    strangers = sorted(here - set(measured), key=ratio.get)
    if strangers and measured:
        evidence.append(f"Also {name} here: {', '.join(strangers)}.")
    left_out = [method for method in members if method not in group]
    if left_out and measured:
        evidence.append(f"Not measured: {', '.join(left_out)}.")
    criterion = "Confirmed: clustering the write times of the nine methods puts these into this group, and no others; else refuted."
    return Claim(f"{name.capitalize()}: {', '.join(members)}", verdict, stay / len(measured) if measured else _math.nan,
                 tuple(evidence), criterion, missing)


# ---- Other claims -----------------------------------------------------------------------------------------------------


def _files_do_not_decay(data):
    cells, words = data.chosen["several"]
    growth, evidence = [], []
    for curve in statistics.series([cell for cell in data.cells if cell.ranks == 1 or cell in set(cells)],
                                   str(data.run.info.get("scaling") or "")):
        ends = [data.best("write", cell, FILES) for cell in curve.cells if cell in set(cells)]
        ends = [row for row in ends if row and row.median > 0]
        if curve.kind == "size" or len(ends) < 2 or ends[-1].cell.ranks < 2 * ends[0].cell.ranks:
            continue
        first, last = ends[0], ends[-1]
        speeds = [row.bytes / row.median for row in (first, last)]
        growth.append(_Number(speeds[1] / speeds[0], _variance(first) + _variance(last)))
        evidence.append(f"{curve.kind.capitalize()} scaling, {curve.label}: {growth[-1]:.2f} times from "
                        f"{first.cell.ranks} to {last.cell.ranks} ranks.")
    absent = f"Missing: a file per task on 2 ranks and on twice as many or more, {words}."
    what = f"Bandwidth of the faster file per task on the most ranks to that on the fewest, {words}"
    return _claim("The bandwidth of a file per task does not fall when ranks are added.", _mean(growth), _DECAY, what, evidence, absent)


def _gather_needs_memory(data):
    known = [fact for fact in data.run.facts if fact["method"] == "gather" and fact["cell"].ranks > 1 and fact["memory_bytes"]]
    largest = max(known, key=lambda fact: (fact["cell"].bytes, fact["cell"]), default=None)
    value, evidence = _math.nan, []
    if largest:
        cell = largest["cell"]
        value = largest["memory_bytes"] / cell.bytes
        evidence.append(f"{short_size(largest['memory_bytes'])} for an array of {short_size(cell.bytes)} on "
                        f"{count_text(cell.ranks, 'rank')}: {value:.2f} arrays.")
    return _claim("A gather is bounded by memory: one rank holds the whole array.", _Number(value), _WHOLE_ARRAY,
                  "Growth of the memory of one rank, in arrays", evidence, "Missing: the memory of gather on 2 ranks or more.")


# The counts are bytes of system calls, of an array in a chunk per rank and in 64 of them.
_HDF5_NOTE = (
    "Cause: the parallel library allocates every chunk when the data set is created and, unless told otherwise, writes zeros "
    "into it, so that all bytes are written twice. Counted with HDF5 1.10.8 on 4 ranks: 2.00 arrays are written by default, "
    "1.00 with H5Pset_fill_time(H5D_FILL_TIME_NEVER) and 1.00 without chunks; with 64 chunks per rank 1.00 array is also read, "
    "since small chunks that begin anywhere are read, changed and written (H5Pset_alignment helps), and each chunk costs a "
    "look-up and metadata (H5Pset_coll_metadata_write). The measured methods set all three and use a chunk per rank.")

_CONCLUSIONS = (
    (1,
     "Explicit offsets (MPI-IO levels 0 and 1) should not be used; views without coordination (level 2) depend on the problem",
     (_Ratio("Explicit offsets are far slower than views, the better of each taken.", ("mpiio-global-0", "mpiio-global-1"),
             ("mpiio-global-2", "mpiio-global-3"), "scattered", 2, 1.25, ("mpiio-global-0", "mpiio-global-1")),
      _Ratio("Where the blocks of ranks interleave, an independent view (level 2) is slower than a collective one (level 3).",
             ("mpiio-global-2",), ("mpiio-global-3",), "scattered", 1.25, 1),
      _Ratio("Where each rank has a part of the file to itself, level 2 is as good as level 3.", ("mpiio-chunk-2",),
             ("mpiio-chunk-3",), "several", 1.25, 1.5)), (), ""),
    (2, "For small files, below about 100 MB, POSIX is to be preferred to MPI-IO",
     (_Ratio("Below 100 MB the best of POSIX is faster than MPI-IO level 3.", ("mpiio-global-3",), POSIX, "small files", 1.25,
             1, POSIX), _Ratio("From 100 MB on they are comparable.", ("mpiio-global-3",), POSIX, "large files", 1.5, 2,
                               POSIX)), (), ""),
    (3, "HDF5 without chunks makes sense: it follows MPI-IO",
     (_Ratio("Collective transfers of HDF5 take about as long as level 3.", ("hdf5-contiguous-collective",),
             ("mpiio-global-3",), "several", 1.25, 1.5),
      _Ratio("Independent transfers of HDF5 take about as long as level 2.", ("hdf5-contiguous-independent",),
             ("mpiio-global-2",), "several", 1.25, 1.5)), (), ""),
    (4, "A chunked layout is not worth its work",
     (_Ratio("MPI-IO level 3 gains little from a chunk per rank.", ("mpiio-global-3",), ("mpiio-chunk-3",), "several", 1.25,
             1.5),
      _Ratio("HDF5 is slower with chunks than without on many ranks (8 times in the study).", ("hdf5-chunked-collective",),
             ("hdf5-contiguous-collective",), "most", 2, 1.25)), (), _HDF5_NOTE),
    (5, "A file per task and MPI-IO level 3 are both good for large data on many ranks; a gather is bounded by memory",
     (_Ratio("A file per task is near the fastest of the study's methods on the most ranks.", FILES, _STUDY, "most", 2, 3),
      _Ratio("MPI-IO level 3 is near the fastest of the study's methods on the most ranks.", ("mpiio-global-3",), _STUDY,
             "most", 2, 3)), (_files_do_not_decay, _gather_needs_memory),
     "The study went to 2048 cores; verdicts on fewer ranks say nothing about so many."),
)
