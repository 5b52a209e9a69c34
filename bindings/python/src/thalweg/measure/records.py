"""The records of a run, collected in a `Run`."""

import os as _os

from .errors import DAMAGED, MeasureError, failed_call
from .output import may_replace, replace_file
from .parse import CACHES, PHASES, Cell, Mishap, parse, record_line
from .text import count_text, printable

__all__ = ["Cell", "Mishap", "Run", "load", "parse", "record_line", "PHASES", "CACHES"]


class Run:
    """The records of one or more launches.

    Attributes
    ----------
    info : dict
        The `run` record: machine, storage, ...; {} where there is none.
    launches : list of dict
        The `launch` records.
    methods : list of dict
        Each method once, by number: id, number, title, built, library, reason, outcome, collective, nonblocking, needs; a
        member that was not recorded is None.
    facts : list of dict
        method, cell (a `Cell`), memory_bytes, plan.
    mishaps : list of Mishap
        What failed or was skipped.
    complete : bool
        The run came to its end.
    seconds : float
        How long the run took.
    lines : list of str
        The records in order of arrival, without ends of lines.
    """

    def __init__(self):
        self.info, self.launches, self.methods, self.facts, self.mishaps, self.lines = {}, [], [], [], [], []
        self.complete, self.seconds = False, 0.0
        self._times, self._limits, self._frames = [], [], {}

    def add(self, line):
        """Add one record, a str. Raises MeasureError, and adds nothing, where it is wrong."""
        kind, members = parse(line)
        self.lines.append(line)
        self._frames.clear()
        known = {"launch": self.launches, "limit": self._limits, "facts": self.facts}
        if kind in known:
            known[kind].append(members)
        elif kind == "run":
            self.info = members
        elif kind == "method":
            self._add_method(members)
        elif kind == "time":
            self._add_time(members)
        elif kind in ("skipped", "failure"):
            message = members.pop("message" if kind == "failure" else "reason")
            self.mishaps.append(Mishap(kind == "failure", members["method"], members["phase"], members["cell"], message))
        elif kind == "end":
            self.complete, self.seconds = members["complete"], members["seconds"]

    def add_record(self, record):
        """Add one record, a dict."""
        self.add(record_line(record))

    def _add_method(self, method):
        for at, known in enumerate(self.methods):
            if known["id"] == method["id"]:
                if method["built"] and not known["built"]:  # one of several launches had it
                    self.methods[at] = method
                return
        self.methods.append(method)
        self.methods.sort(key=lambda known: (known["number"], known["id"]))

    def _add_time(self, time):
        cell = time["cell"]
        row = {**time, **time["parts"], "ranks": cell.ranks, "order": cell.order, "asked_cache": cell.cache}
        row["cache"] = time["cache"] or cell.cache
        row["hidden"] = min(time["hidden"], 1.0)
        self._times.append(row)

    @property
    def has_times(self):
        """Whether any time was measured."""
        return bool(self._times)

    @property
    def times(self):
        """A pandas DataFrame, a row for each `time` record.

        Columns: method, phase, cell (a `Cell`), ranks, bytes, order, cache (the real one), asked_cache, repetition (from 1),
        seconds, open, transfer, close (seconds), readers, compute_seconds, hidden (0 to 1), predicted (bool).
        """
        return self._frame("times", self._times, _TIME_COLUMNS)

    @property
    def limits(self):
        """A pandas DataFrame, a row for each `limit` record, the storage's own speed.

        Columns: cell (a `Cell`), phase, repetition, seconds, bytes.
        """
        return self._frame("limits", self._limits, _LIMIT_COLUMNS)

    def _frame(self, name, rows, columns):
        if name not in self._frames:
            import pandas

            self._frames[name] = pandas.DataFrame(rows, columns=list(columns)).astype(columns)
        return self._frames[name]

    def rows(self):
        """Medians of the times, a pandas DataFrame: method, phase, cell, n, median, low, high (seconds), bytes."""
        from . import statistics

        return statistics.rows(self)

    def text(self):
        """The records as lines of JSON, a str."""
        return "".join(f"{line}\n" for line in self.lines)

    def html(self):
        """The page of `page`, a str."""
        from . import page

        return page.html(self)

    def save(self, path, force=False):
        """Write the records, lines of JSON; they replace records and pages that Thalweg made, other files by `force` only."""
        replace_file(path, self.text(), may_replace(path, force))

    def page(self, path, force=False):
        """Write the page with plots, groups and conclusions, one file of HTML that loads nothing. `force`: as of `save`."""
        replace_file(path, self.html(), may_replace(path, force))

    def plot(self, phase="write"):
        """Draw one phase: bandwidth over ranks, or over sizes. Returns a plotly Figure."""
        from . import page

        return page.figure(self, phase)

    def _repr_html_(self):
        rows = self.rows()
        frame = rows.assign(cell=[cell.text for cell in rows["cell"]], mib_per_second=rows["bytes"] / 2**20 / rows["median"])
        return frame.to_html(max_rows=60, index=False)

    def __repr__(self):
        state = "" if self.complete else ", incomplete"
        methods, times = count_text(len(self.methods), "method"), count_text(len(self._times), "time")
        return f"<thalweg.measure.Run: {methods}, {times}{state}>"


_TIME_COLUMNS = {"method": object, "phase": object, "cell": object, "ranks": "int64", "bytes": "int64", "order": object,
                 "cache": object, "asked_cache": object, "repetition": "int64", "seconds": float, "open": float,
                 "transfer": float, "close": float, "readers": "int64", "compute_seconds": float, "hidden": float,
                 "predicted": bool}
_LIMIT_COLUMNS = {"cell": object, "phase": object, "repetition": "int64", "seconds": float, "bytes": "int64"}


def load(path):
    """Read the records of a file.

    Parameters
    ----------
    path : str or os.PathLike
        Lines of JSON, as ``thalweg methods --save`` writes them.

    Returns
    -------
    Run

    Raises
    ------
    MeasureError
        The file cannot be read, has no records, or a record is wrong; the message names file, line and member.
    """
    run = Run()
    add_lines(_os.fspath(path), run.add)
    if not run.lines:
        raise MeasureError(f"'{printable(_os.fspath(path))}' contains no records; make some with: thalweg methods --save FILE", DAMAGED)
    return run


def add_lines(path, add, remedy=""):
    """Pass each line of a file of records, a str, to `add`; a MeasureError of it gets file, number of the line, and remedy."""
    try:
        with open(path, "rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    add(raw.rstrip(b"\n").decode("utf-8", "surrogateescape"))
    except MeasureError as error:
        raise MeasureError(f"'{printable(path)}', line {number}: {error}{remedy}", error.exit_code) from None
    except OSError as error:
        raise failed_call("read", path, error) from error
