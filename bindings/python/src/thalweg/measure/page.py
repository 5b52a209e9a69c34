"""The page of a run: one file of HTML that loads nothing, plots first, words after; and its plots alone.

Names and texts of records may be hostile: the templates escape them, the data of the plots is escaped for its script
element, and characters that a display hides are written as escapes.
"""

import functools as _functools
import json as _json
import math as _math
import pathlib as _pathlib
import statistics as _numbers

import jinja2 as _jinja2
from plotly.offline import get_plotlyjs as _get_plotlyjs

from . import conclusions, figures, statistics
from .decision import AS_GOOD
from .report import FAMILIES, Report, mib_per_second, speed_text
from .text import count_text, printable, seconds_text, short_size
from .validation import errors_of

__all__ = ["html", "figure"]

_HERE = _pathlib.Path(__file__).parent
_SEVERAL = {"write": "writing", "read": "reading", "restart": "a restart on other ranks", "serial": "one rank alone"}
_NOT_BUILT = "not built: "
# A snippet that differs from another one in a word: method, the other one, its word, the word instead.
_VARIANTS = {
    "hdf5-chunked-independent": ("hdf5-chunked-collective", "MPIO_COLLECTIVE", "MPIO_INDEPENDENT"),
    "hdf5-contiguous-independent": ("hdf5-contiguous-collective", "MPIO_COLLECTIVE", "MPIO_INDEPENDENT"),
    "mpiio-chunk-0": ("mpiio-chunk-1", "write_at_all", "write_at"), "mpiio-chunk-2": ("mpiio-chunk-3", "write_all", "write"),
    "mpiio-global-2": ("mpiio-global-3", "write_all", "write")
}
_CACHES = {"warm": "writes go to the page cache, reads come from it: memory, not the device",
           "sync": "a write includes fsync; reads come from the page cache",
           "drop": "a write includes fsync; before a read its pages are dropped from the cache"}


def figure(run, phase="write"):
    """The curves of one phase.

    Parameters
    ----------
    run : Run
    phase : str

    Returns
    -------
    plotly.graph_objects.Figure
        A subplot for each curve; bars of one cell where the run has no curve.
    """
    return figures.all_curves(Report(run), phase)


def html(run, points=None):
    """Make the page of a run.

    Parameters
    ----------
    run : Run
    points : list of dict, optional
        Predictions to compare with measurements: method, phase, cell (a `Cell`), predicted, measured (seconds), and
        used_for_fit (bool).

    Returns
    -------
    str
        One file of HTML with style, script and plotly's script.
    """
    report, points = Report(run), list(points or [])
    shown = [phase for phase in report.phases if phase != "overlap"]
    plots, data = _plots(report, shown, points)
    values = {
        "report": report,
        "run": run,
        "phases": shown,
        "plots": plots,
        "data": data,
        "families": FAMILIES,
        "glyphs": figures.GLYPHS,
        "style": _read("page.css"),
        "script": _read("templates/page.js"),
        "plotly": _get_plotlyjs().replace("</script", "<\\/script"),
        "headings": report.headings(),
        "tiles": _tiles(report),
        "groups": statistics.GROUPS,
        "groupings": _groupings(report, shown),
        "judged": _judged(run, report),
        "wholes": report.ranked_wholes(),
        "validation": list(_validation(points)),
        "cards": _cards(),
        "facts": {(fact["method"], fact["cell"]): fact
                  for fact in run.facts},
        "caches": _caches(report),
        "machine": _machine(run), "where": _where(run),
    }
    return _environment().get_template("page.html.j2").render(values) + "\n"


def _read(name):
    return (_HERE / name).read_text(encoding="utf-8")


@_functools.lru_cache(maxsize=1)
def _environment():
    environment = _jinja2.Environment(loader=_jinja2.FileSystemLoader(_HERE / "templates"), autoescape=True, trim_blocks=True,
                                      lstrip_blocks=True, undefined=_jinja2.StrictUndefined, finalize=_shown)
    environment.filters.update(speed=speed_text, seconds=seconds_text, size=short_size, bandwidth=mib_per_second,
                               reason=_reason)
    environment.globals.update(count=count_text, snippet=snippet, code_lines=code_lines, log=_math.log)
    return environment


def _shown(value):
    if hasattr(value, "__html__") or not isinstance(value, str):
        return value
    return "\n".join(printable(line, False) for line in value.split("\n"))


# ---- Plots ------------------------------------------------------------------------------------------------------------


def _plots(report, phases, points):
    """Frames of the plots for the templates, and the data of the script."""
    frames, drawn = [], {}

    def add(key, title, note, made):
        drawn[key] = [plot for _, plot in made]
        return {"key": key, "title": title, "note": note, "labels": [label for label, _ in made]}

    kinds = {"strong": ("Strong scaling", "One array, on more and more ranks."),
             "weak": ("Weak scaling", "Equal bytes per rank: the array grows with the ranks."),
             "size": ("Over the size of the array", "One number of ranks, larger and larger arrays.")}
    for number, phase in enumerate(phases):
        parts = []
        for size, found in report.curves():
            curves = []
            for kind, words in kinds.items():
                made = [(one.label, figures.curve(report, phase, one, size == "small")) for one in found if one.kind == kind]
                made = [(label, plot) for label, plot in made if plot["data"]]
                if made:
                    curves.append(add(f"p{number}-{size}-{kind}", *words, made))
            if curves:
                parts.append({"size": size, "plots": curves})
        cells = [cell for cell in _by_interest(report) if report.best(phase, cell)]
        made = [(cell.text + (" (small)" if cell in report.small else ""), figures.bars(report, phase, cell))
                for cell in cells]
        frames.append({"parts": parts, "cell": add(f"p{number}-bars", "One cell, all methods", "The fastest first.", made)})
    more = {"whole": None, "overlap": None, "model": None}
    cells = [cell for cell in _by_interest(report) if any(report.whole(method, cell) for method in report.methods)]
    if any(merged for _, _, merged in report.ranked_wholes()):
        more["whole"] = add("whole", "Write and merge", "", [(cell.text, figures.whole(report, cell)) for cell in cells])
    cells = [cell for cell in _by_interest(report) if report.best("overlap", cell)]
    if cells:
        more["overlap"] = add("overlap", "Hidden share of the write", "",
                              [(cell.text, figures.overlap(report, cell)) for cell in cells])
    if points:
        more["model"] = add("model", "Predicted and measured", "", [("", figures.model(report, points))])
    return {"phases": frames, **more}, {"plots": drawn, "palette": figures.PALETTE, "choices": _choices(report, phases)}


def _by_interest(report):
    """Cells, large ones first, then those of more ranks and bytes."""
    return sorted(report.cells, key=lambda cell: (cell in report.small, -cell.ranks, -cell.bytes, cell))


def _choices(report, phases):
    """What the buttons above the legend show: name and, for each phase, indexes of methods."""
    timed = [method for method in report.methods if method["timed"]]
    study = {member for members in conclusions.STUDY_GROUPS.values() for member in members}
    best = []
    for phase in phases:
        place = {method: i for i, method in enumerate(report.groups(phase).table["method"])}
        first = {}
        for method in sorted((method for method in timed if method["id"] in place), key=lambda method: place[method["id"]]):
            first.setdefault(method["family"], method["index"])
        best.append(sorted(first.values()))
    fixed = [("all", timed), ("those of the study", [method for method in timed if method["id"] in study]),
             ("Thalweg", [method for method in timed if method["family"] == 0])]
    choices = [(name, [[method["index"] for method in methods]] * len(phases)) for name, methods in fixed if methods]
    return [{"name": name, "methods": methods} for name, methods in [("best of each family", best), *choices]]


# ---- Words ------------------------------------------------------------------------------------------------------------


def _duel(report, phase):
    """The best of Thalweg against the best of the others: (mean ratio, cells, cells where it is no slower), or None."""
    ours = {method["id"] for method in report.methods if method["family"] == 0}
    theirs = {method["id"] for method in report.methods} - ours
    pairs = [(report.best(phase, cell, ours), report.best(phase, cell, theirs)) for cell in report.cells]
    logs = [_math.log(b.median / a.median) for a, b in pairs if a and b and a.median > 0 and b.median > 0]
    return (_math.exp(_math.fsum(logs) / len(logs)), len(logs), sum(log >= 0 for log in logs)) if logs else None


def _winner(report, phase):
    """The method nearest to the best among those measured in most cells; None without any."""
    table = report.groups(phase).table
    if table.empty:
        return None
    return report.method(table["method"][table["cells"] == table["cells"].max()].iloc[0])


def _tiles(report):
    tiles = []
    for phase, name in _SEVERAL.items():
        winner = _winner(report, phase) if phase in report.phases else None
        if winner is None:
            continue
        fastest = max((row for row in (report.find(winner["id"], phase, cell) for cell in report.cells) if row),
                      key=mib_per_second)
        tiles.append({"phase": phase, "name": name, "winner": winner, "row": fastest, "duel": _duel(report, phase)})
    return tiles


def _groupings(report, phases):
    """[(phase, size, Grouping, number of cells)]: small and large cells apart."""
    found = []
    for phase in phases:
        for size, cells in report.sizes:
            grouping = report.groups(phase, cells)
            if not grouping.table.empty:
                found.append((phase, size, grouping, int(grouping.table["cells"].max())))
    return found


def _judged(run, report):
    """[(heading, conclusions)]: by measured times, and by simulated ones where the run has both."""
    kinds = set(map(bool, report.rows["predicted"]))
    words = {False: "By measured times", True: "By simulated times"}
    return [(words[kind] if len(kinds) > 1 or kind else "", conclusions.judge(run, kind))
            for kind in sorted(kinds or {False})]


def _validation(points):
    """Errors of predictions: [(name, number of times, median error, largest error, good choices, choices)]."""
    for used, name in ((False, "not used for the fit"), (True, "used for the fit")):
        errors, losses = errors_of(points, used)
        if errors:
            good = sum(loss <= 1 + AS_GOOD for loss in losses)
            yield name, len(errors), _numbers.median(errors), max(errors), good, len(losses)


def _caches(report):
    """Meanings of the caches that were asked for, and those in effect: [(phase, cache, ids of methods, or "all")]."""
    asked = [(cache, _CACHES.get(cache, "not known to this program")) for cache in sorted({cell.cache for cell in report.cells})]
    times, real = report.run.times, []
    for phase in report.phases:
        methods = times[times["phase"] == phase].groupby("cache")["method"].unique()
        real += [(phase, cache, ["all"] if len(methods) == 1 else sorted(own)) for cache, own in methods.items()]
    return {"asked": asked, "real": real, "tmpfs": _known(report.run, "storage", "kind") == "tmpfs"}


def _known(run, part, member):
    """A member of the run record, or of an object in it; None where it was not recorded."""
    found = run.info if part is None else run.info.get(part)
    return found.get(member) if isinstance(found, dict) else None


def _where(run):
    wanted = (_known(run, "machine", "cpu") or "an unnamed machine", _known(run, "storage", "kind"),
              _known(run, "storage", "path"), _known(run, None, "begun"))
    return [_shown(str(text)) for text in wanted if text]


def _machine(run):
    """[(name, text)] of machine, storage and run, without what was not recorded."""
    wanted = (("Machine", "machine", "cpu"), ("Cores", "machine", "cores"), ("Memory", "machine", "memory_bytes"),
              ("Kernel", "machine", "kernel"), ("Storage", "storage", "kind"), ("Folder", "storage", "path"),
              ("File system", "storage", "identity"), ("Free", "storage", "free_bytes"), ("Thalweg", None, "version"),
              ("Repetitions", None, "repetitions"), ("Begun", None, "begun"), ("Command", None, "command"))
    found = []
    for name, part, member in wanted:
        value = _known(run, part, member)
        if value not in (None, ""):
            is_size = member.endswith("_bytes") and isinstance(value, int)
            found.append((name, short_size(value) if is_size else str(value)))
    for name, member in (("MPI", "mpi"), ("Nodes", "nodes")):
        values = sorted({str(launch.get(member)) for launch in run.launches if launch.get(member) is not None})
        found += [(name, ", ".join(values))] if values else []
    return found + ([("Took", f"{run.seconds:.0f} s")] if run.seconds > 0 else [])


# ---- Cards ------------------------------------------------------------------------------------------------------------


@_functools.lru_cache(maxsize=1)
def _cards():
    return _json.loads(_read("cards.json"))


def _reason(method):
    text = method.get("reason") or "no reason was given"
    return text[len(_NOT_BUILT):] if text.startswith(_NOT_BUILT) else text


def snippet(method):
    """The C code that writes an array by a method, without checks of errors; "" for a method without one."""
    if method in _VARIANTS:
        other, word, instead = _VARIANTS[method]
        return snippet(other).replace(word, instead, 1)
    return _read(f"snippets/{method}.c").rstrip("\n") if method in _cards() else ""


def code_lines(code):
    """Lines of C code, without empty ones, comments, lone braces and includes."""
    lines = (line.strip() for line in code.split("\n"))
    return sum(1 for line in lines
               if line and line not in ("{", "}", "};") and not line.startswith(("/*", "*", "//", "#include")))
