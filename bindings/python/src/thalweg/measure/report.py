"""What figures and page need of a run: methods with families, medians by method, phase and cell, groups, curves."""

import math as _math
import types as _types

from . import statistics
from .text import count_text, joined, printable, short_size

__all__ = ["Report", "FAMILIES", "speed_text", "label_of"]

# Name, colour on a light display, colour on a dark one.
FAMILIES = (("Thalweg", "#0072b2", "#58b4f5"), ("File per task", "#009e73", "#2fd0a0"),
            ("MPI-IO, global array", "#d55e00", "#ff8d4d"), ("MPI-IO, chunks", "#c98a00", "#f0c04a"),
            ("HDF5", "#b0589a", "#e59ccb"), ("Other libraries", "#882255",
                                             "#d9738f"), ("Gather", "#4b5563", "#b5bfcc"), ("Others", "#7a7f87", "#8f98a5"))
_PREFIXES = (("tw-", 0), ("file-per-task", 1), ("mpiio-chunk-", 3), ("mpiio-", 2), ("hdf5-", 4), ("pnetcdf", 5),
             ("sionlib", 5), ("gather", 6))
_MIB = float(1 << 20)


def speed_text(mib_per_second):
    """A bandwidth with three digits or more, without its unit."""
    return f"{mib_per_second:.1f}" if mib_per_second < 99.95 else f"{mib_per_second:.0f}"


def label_of(method):
    """The title of a method, of at most 60 characters that a display shows."""
    title = printable(str(method["title"]), False)
    return title if len(title) <= 60 else title[:59] + "…"


def _family(identifier):
    return next((family for prefix, family in _PREFIXES if identifier.startswith(prefix)), len(FAMILIES) - 1)


class Report:
    """The results of a run.

    Measured times come first: simulated ones count in a cell without measured ones, and for groups in a run without any.

    Parameters
    ----------
    run : Run
    predicted : bool, optional
        Take simulated times only, or measured ones only.

    Attributes
    ----------
    run : Run
    methods : list of dict
        As of the run, and those that have times alone; with index (from 0), family (index into `FAMILIES`), member (from 0,
        within the family) and timed (bool).
    cells : list of Cell
    phases : list of str
    small : frozenset of Cell
        Cells whose times are those of opening (`statistics.small_cells`).
    limits : dict
        As of `statistics.limits`.
    """

    def __init__(self, run, predicted=None):
        self.run, self.rows, self.limits = run, statistics.rows(run), statistics.limits(run)
        if predicted is not None:
            self.rows = self.rows[self.rows["predicted"] == predicted]
        measured = self.rows[~self.rows["predicted"]]
        self.grouped_rows = self.rows if measured.empty else measured
        self.cells = sorted(set(self.rows["cell"]))
        self.phases = statistics.phases(self.rows)
        self.small = statistics.small_cells(self.rows)
        self._places = {}
        for row in self.rows.itertuples(index=False):
            known = self._places.get((row.method, row.phase, row.cell))
            if known is None or known.predicted:
                self._places[row.method, row.phase, row.cell] = row
        self.methods = self._all_methods()
        self._by_id = {method["id"]: method for method in self.methods}
        self._groups = {}

    def _all_methods(self):
        timed = set(self.rows["method"])
        known = {method["id"] for method in self.run.methods}
        unnamed = [{"id": identifier, "number": 0, "title": identifier, "built": True, "library": None}
                   for identifier in sorted(timed - known)]
        methods, members = [], {}
        for index, method in enumerate([*self.run.methods, *unnamed]):
            family = _family(method["id"])
            members[family] = members.get(family, -1) + 1
            methods.append(
                {**method, "index": index, "family": family, "member": members[family], "timed": method["id"] in timed})
        return methods

    def method(self, identifier):
        """The method of an id; of an unknown one a method with that title."""
        return self._by_id.get(identifier) or {
            "id": identifier, "title": identifier, "index": None, "family": len(FAMILIES) - 1, "member": 0
        }

    def find(self, method, phase, cell):
        """The row of a method, or None."""
        return self._places.get((method, phase, cell))

    def best(self, phase, cell, among=None):
        """The fastest row of a cell, of all methods or of some ids; None without any."""
        found = (self.find(method["id"], phase, cell) for method in self.methods if among is None or method["id"] in among)
        return min((row for row in found if row), key=lambda row: row.median, default=None)

    def is_simulated(self, cell):
        """Whether all times of a cell are simulated."""
        return bool(self.rows["predicted"][self.rows["cell"] == cell].all())

    def groups(self, phase, cells=None):
        """The `Grouping` of a phase, over all cells or some."""
        key = phase, None if cells is None else tuple(cells)
        if key not in self._groups:
            table = self.grouped_rows[self.grouped_rows["phase"] == phase]
            self._groups[key] = statistics.groups(table if cells is None else table[table["cell"].isin(set(cells))])
        return self._groups[key]

    @property
    def sizes(self):
        """[("large", cells), ("small", cells)], without what has no cells."""
        large = [cell for cell in self.cells if cell not in self.small]
        return [(name, cells) for name, cells in (("large", large), ("small", sorted(self.small))) if cells]

    def curves(self):
        """[("large", list of Series), ("small", ...)], longer curves and larger arrays first.

        A curve is small where most of its cells are.
        """
        found = {"large": [], "small": []}
        for one in statistics.series(self.cells, str(self.run.info.get("scaling") or "")):
            found["small" if 2 * sum(cell in self.small for cell in one.cells) > len(one.cells) else "large"].append(one)
        for own in found.values():
            own.sort(key=lambda one: (-len(one.cells), -one.cells[-1].bytes))
        return [(name, found[name]) for name in ("large", "small") if found[name]]

    def limit(self, phase, cell):
        """The storage's own limit for a phase, as a row of one time, or None."""
        seconds, n_bytes = self.limits.get((cell, "write" if phase in ("write", "merge", "overlap") else "read"), (0, 0))
        row = _types.SimpleNamespace(cell=cell, n=1, median=seconds, low=seconds, high=seconds, bytes=n_bytes, predicted=False)
        return row if seconds > 0 else None

    @property
    def largest(self):
        """The cell of the most ranks, then of the most bytes; None without cells."""
        return max(self.cells, key=lambda cell: (cell.ranks, cell.bytes, cell), default=None)

    def whole(self, method, cell):
        """Seconds until one file has the array in its order: (write, merge), or None; merge is 0 where the write makes it."""
        write, merge = (self.find(method["id"], phase, cell) for phase in ("write", "merge"))
        if write is None or (merge is None and method.get("outcome") != "array"):
            return None
        return write.median, merge.median if merge else 0.0

    def ranked_wholes(self):
        """The time until one file has the array: [(method, mean ratio to the fastest, whether it was merged)], by ratio."""
        found = {}
        for cell in self.cells:
            wholes = {method["index"]: self.whole(method, cell) for method in self.methods}
            sums = {index: sum(whole) for index, whole in wholes.items() if whole and sum(whole) > 0}
            for index, seconds in sums.items():
                found.setdefault(index, []).append((_math.log(seconds / min(sums.values())), wholes[index][1] > 0))
        means = {index: _math.exp(_math.fsum(log for log, _ in own) / len(own)) for index, own in found.items()}
        return [(self.methods[index], means[index], any(merged for _, merged in found[index]))
                for index in sorted(found, key=lambda index: (means[index], index))]

    def headings(self):
        """What all cells have in common, a str, and the lines above each cell's column, a list of lists of str."""
        cells = self.cells
        if not cells:
            return "", []
        grids = len({(cell.ranks, cell.shape, cell.order, cell.cache, cell.ragged) for cell in cells}) < len(cells)
        told = [((f"{cell.shape_text} ({short_size(cell.bytes)})", cell.shape_text), (f"order {cell.order}", f"order {cell.order}"),
                 (f"cache {cell.cache}", cell.cache)) for cell in cells]  # for all cells, and for a column
        same = [len(set(forms)) == 1 for forms in zip(*told)]
        columns = []
        for cell, forms in zip(cells, told):
            lines = [count_text(cell.ranks, "rank"), f"as {joined(cell.grid)}" if grids else ""]
            lines += [short for (_, short), is_same in zip(forms, same) if not is_same]
            lines += ["small" if cell in self.small else "", "simulated" if self.is_simulated(cell) else ""]
            columns.append([line for line in lines if line])
        return ", ".join(long for (long, _), is_same in zip(told[0], same) if is_same), columns


def mib_per_second(row, seconds=None):
    """Bandwidth of a row in MiB/s, of its median or of other seconds; 0 for a time of zero."""
    seconds = row.median if seconds is None else seconds
    return row.bytes / _MIB / seconds if seconds > 0 else 0.0
