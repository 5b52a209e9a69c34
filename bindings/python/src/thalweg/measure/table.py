"""The results of a run as tables for a terminal, or as plain text."""

import io as _io

from . import statistics
from .report import Report, mib_per_second
from .text import printable

__all__ = ["methods_table"]

_LEAST_COLUMNS = 80
_CELL = 12  # characters of a column of a cell
_NOTES = ("\n* fastest of its cell\n± half of the interval that contains the median with 95 % confidence\n"
          "  (with fewer than 6 times: half of the full range)\n")


def _speed(mib):
    """At most five characters for the speeds of today."""
    if mib < 99.95:
        return f"{mib:.1f}"
    if mib < 99_999.5:
        return f"{mib:.0f}"
    return f"{mib / 1000:.0f}k" if mib < 9_999_999.5 else f"{mib:.0e}"


def _spread(row):
    if row.n < 2 or row.median <= 0:
        return ""
    percent = 50 * (row.high - row.low) / row.median
    return " >99%" if percent > 99 else f" ±{percent:.0f}%"


def _entry(row, phase, is_best):
    if row is None:
        return "-"
    if phase == "overlap":
        return f"{100 * row.hidden:.0f}%"
    return f"{'*' if is_best else ''}{_speed(mib_per_second(row))}{_spread(row)}"


class _Tables:
    def __init__(self, run, columns, on_terminal):
        from rich.console import Console

        self._report, self._columns = Report(run), max(columns, _LEAST_COLUMNS)
        self._out = _io.StringIO()
        self._console = Console(file=self._out, width=self._columns, force_terminal=on_terminal, highlight=False,
                                no_color=not on_terminal, color_system="standard" if on_terminal else None)
        self._numbers = {method["id"]: method["number"] for method in run.methods}

    def text(self):
        for phase in self._report.phases:
            self._add_phase(phase)
        self._out.write(_NOTES if self._report.phases else "nothing was measured\n")
        return self._out.getvalue()

    def _add_phase(self, phase):
        cells, groups = self._report.cells, self._report.groups(phase).by_method
        common, lines = self._report.headings()
        widest = max([6, *(len(printable(method)) for method in groups)])
        fit = max(1, (self._columns - 3 - min(widest, 27) - 1 - 12) // _CELL)
        title = "share of the write hidden behind computing" if phase == "overlap" else "MiB/s"
        for first in range(0, len(cells), fit):
            gap = "\n" if self._out.tell() else ""
            continued = " (continued)" if first else ""
            self._out.write(f"{gap}{printable(phase)}, {title}{continued}\n{common}{chr(10) if common else ''}")
            chosen, table = cells[first : first + fit], self._empty(lines[first : first + fit])
            best = [self._report.best(phase, cell) for cell in chosen]
            for method, group in groups.items():
                rows = [self._report.find(method, phase, cell) for cell in chosen]
                self._add_row(table, self._numbers.get(method, 0), method, "" if phase == "overlap" else group,
                              [_entry(row, phase, row is least) for row, least in zip(rows, best)])
            limits = [self._report.limit(phase, cell) for cell in chosen if phase in ("write", "read")]
            if any(limits):
                speeds = [_speed(mib_per_second(limit)) if limit else "-" for limit in limits]
                self._add_row(table, "", "the storage itself", "", speeds)
            self._print(table)

    @staticmethod
    def _empty(lines):
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True, header_style="bold")
        table.add_column("#", justify="right", min_width=2, vertical="bottom")
        table.add_column("method", overflow="fold", min_width=6, max_width=27, vertical="bottom")
        table.add_column("group", no_wrap=True, vertical="bottom")
        for own in lines:
            heading = Text("\n".join(own), justify="right")
            table.add_column(heading, justify="right", no_wrap=True, min_width=_CELL - 1, vertical="bottom")
        return table

    @staticmethod
    def _add_row(table, number, method, group, entries):
        from rich.text import Text

        cells = [Text(entry, style="bold" if entry.startswith("*") else "") for entry in entries]
        table.add_row(str(number), Text(printable(method)), str(group), *cells)

    def _print(self, table):
        with self._console.capture() as capture:
            self._console.print(table)
        self._out.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


# ---- What was not measured --------------------------------------------------------------------------------------------

def _mishap_line(mishap):
    words = [printable(mishap.method) or "the run"]
    words += [printable(mishap.phase)] if mishap.phase else []
    words += [mishap.cell.text] if mishap.cell else []
    return f"  {', '.join(words)}: {printable(mishap.message)}\n"


def _skipped(run):
    """Skipped measurements; those with one reason share a line."""
    reasons = {}
    for mishap in run.mishaps:
        if not mishap.failed:
            reasons.setdefault((mishap.phase, mishap.message), []).append(mishap)
    for (phase, message), mishaps in reasons.items():
        methods = len({mishap.method for mishap in mishaps})
        told = f"  {printable(phase)}{', ' if phase else ''}{methods} methods: {printable(message)}\n"
        yield told if methods > 1 else _mishap_line(mishaps[0])


def _not_built(run):
    for method in run.methods:
        if not method["built"]:
            reason = (method["reason"] or "no reason was given").removeprefix("not built: ")
            yield f"  {method['number']} {printable(method['id'])}: {printable(reason)}\n"


def _other_caches(run):
    """The real caches, where they are not those of the headings."""
    times = run.times
    asked = set(times["asked_cache"])
    for phase in statistics.phases(times):
        of_phase = times[times["phase"] == phase]
        real = {(row.asked_cache, row.cache): None for row in of_phase.drop_duplicates(["asked_cache", "cache"]).itertuples()}
        for one, cache in sorted(real):
            if cache == one:
                continue
            of_asked = of_phase[of_phase["asked_cache"] == one]
            methods = list(dict.fromkeys(of_asked[of_asked["cache"] == cache]["method"]))
            everyone = len(methods) == of_asked["method"].nunique()
            told = "all methods" if everyone else ", ".join(map(printable, methods))
            yield f"  {printable(phase)}, cache {printable(cache)}{f' for {one}' if len(asked) > 1 else ''}: {told}\n"


def methods_table(run, columns=100, on_terminal=False):
    """The results as text.

    Parameters
    ----------
    run : Run
    columns : int
        Width of the lines, at least 80; names and reasons may be longer.
    on_terminal : bool
        Emphasise by the escapes of a terminal.

    Returns
    -------
    str
        A table of bandwidths for each phase, or several where the cells do not fit side by side; then, with reasons, what was
        not measured.
    """
    parts = [_Tables(run, columns, on_terminal).text()]
    for title, lines in (("not built", _not_built(run)),
                         ("actual cache of the times, where it differs from the requested one", _other_caches(run)),
                         ("failed", (_mishap_line(mishap) for mishap in run.mishaps if mishap.failed)),
                         ("skipped", _skipped(run))):
        found = list(lines)
        if found:
            parts += [f"\n{title}\n", *found]
    if not run.complete:
        parts.append("\nThe run is incomplete: these are the results so far.\n")
    return "".join(parts)
