"""The model of methods: fitted to the times of a run, and judged on cells left out.

A time is a sum of terms (`thalweg.measure.terms`), each with a constant. The constants are fitted to the lower quartiles of the
repetitions, since other programs only add time. Each cell is left out once and predicted by constants
fitted to the others. The errors of all methods in one cell left out are kept together, as logarithms: what disturbs a cell
disturbs its methods alike, and cancels out where methods are compared. Added to the predicted times of another cell, they are
times that are possible there, from which `thalweg.measure.decision` decides.
"""

import dataclasses as _dataclasses
import functools as _functools
import math as _math

import numpy as _np

from . import terms as _terms
from .decision import as_good, decide, kind_of, likeliest, twins_of
from .errors import DAMAGED, MeasureError

__all__ = ["Fit", "LEAST_CELLS", "MOST_ERROR", "fit_of", "Table", "predicted", "tables_of"]

MOST_ERROR = 0.30  # median error of ratios in cells left out, above which methods are not ranked
LEAST_CELLS = 6  # of a phase: fewer say nothing about errors
_SEVERAL = 3  # methods of a cell that have a median
_LEAST_TIMES = 3  # fewer do not determine constants
_MOST_WRONG = 0.05  # share of cells left out in which decisions may be wrong
_CHANCES = _np.linspace(0.6, 0.95, 8)  # what a decision may need
_QUARTILE = 0.25  # of the repetitions of a time
_NEAR = 0.05  # smaller relative errors count in full
_ROUNDS = 4  # of reweighting
_TRUST = 0.4  # weight of a constant's estimate relative to one time: it decides where no time does
_LEAST_SECONDS = 1e-9
_STEP_OF_BYTES = 4  # between sizes of a calibration
_MOST_STRETCH = 20.0


@_dataclasses.dataclass(frozen=True)
class Table:
    """Times of a phase: a row for each cell, a column for each method.

    Attributes
    ----------
    cells : tuple of Cell, length n
    loads : tuple of terms.Load, length n
    ids : tuple of str, length M
    logs : array (n, M)
        Logarithms of times, in seconds; NaN: not measured.
    terms : array (n, M, T)
        The factors of the constants.
    estimates : array (M, T)
        Of the constants, in seconds.
    kinds : tuple of length M
    """

    cells: tuple
    loads: tuple
    ids: tuple
    logs: object
    terms: object
    estimates: object
    kinds: tuple

    def without(self, cell):
        """This table without the row of a cell."""
        keep = [row for row, one in enumerate(self.cells) if one != cell]
        return _dataclasses.replace(self, cells=tuple(self.cells[row] for row in keep), loads=tuple(self.loads[row] for row in keep),
                                    logs=self.logs[keep], terms=self.terms[keep])


def _fitted(terms, logs, estimates):
    """Constants of one method, (T,): least squares of relative errors, not negative; disturbed times count little. None: too few."""
    from scipy.optimize import nnls

    known = _np.isfinite(logs)
    if known.sum() < _LEAST_TIMES:
        return None
    rows = terms[known] / _np.exp(logs[known])[:, None]
    unit = rows.max(axis=0)  # a constant in units of its largest effect on any time
    unit[unit <= 0] = 1
    rows, pull = rows / unit, _TRUST * _np.eye(len(unit))
    weights = _np.ones(len(rows))
    for _ in range(_ROUNDS):
        root = _np.sqrt(weights)
        found, _ = nnls(_np.vstack([rows * root[:, None], pull]), _np.concatenate([root, _TRUST * _np.minimum(estimates * unit, 1)]))
        weights = _NEAR / _np.maximum(_NEAR, _np.abs(1 - rows @ found))
    return found / unit


def predicted(terms, constants):
    """Logarithms of times, (n,), from terms (n, T) and constants (T,)."""
    return _np.log(_np.maximum(terms @ constants, _LEAST_SECONDS))


def _left_out_logs(table):
    """Each time as predicted by constants fitted to the other cells, (n, M); NaN: not known."""
    out = _np.full_like(table.logs, _np.nan)
    for row in range(len(table.cells)):
        others = _np.arange(len(table.cells)) != row
        for j in _np.flatnonzero(_np.isfinite(table.logs[row])):
            constants = _fitted(table.terms[others, j], table.logs[others, j], table.estimates[j])
            if constants is not None:
                out[row, j] = predicted(table.terms[row, j], constants)
    return out


class _Phase:
    """The fit of one phase: constants, and errors on cells left out."""

    def __init__(self, table):
        self.table = table
        self.constants = {name: _fitted(table.terms[:, j], table.logs[:, j], table.estimates[j]) for j, name in enumerate(table.ids)}
        self.left_out = _left_out_logs(table)
        self.errors = table.logs - self.left_out  # (n, M)
        self.groups = twins_of(table.logs, table.kinds)

    @_functools.cached_property
    def median_errors(self):
        """As of `Fit.errors`."""
        fitted = _np.full_like(self.errors, _np.nan)
        for j, name in enumerate(self.table.ids):
            if self.constants[name] is not None:
                fitted[:, j] = predicted(self.table.terms[:, j], self.constants[name]) - self.table.logs[:, j]
        rows = self.errors[_np.isfinite(self.errors).sum(axis=1) >= _SEVERAL]
        logs = {"fitted": fitted, "times": -self.errors, "ratios": rows - _row_median(rows)}
        return {name: _median(_np.abs(_np.expm1(values))) for name, values in logs.items()}

    def trials(self):
        """Decisions about each cell left out by the errors of the others: pairs of a chance and whether it was right."""
        for row in range(len(self.table.cells)):
            logs = self.left_out[row]
            if _np.isfinite(logs).sum() > 1 and len(self.table.cells) > 2:
                others = _filled(_np.delete(self.errors, row, axis=0))
                best, chances, _ = likeliest(logs + others, logs, self.groups)
                yield chances[best], bool(as_good(self.table.logs[row], self.groups)[best])


def _filled(errors):
    """A method that was not measured in a cell has errors of its other cells there, beside the error of the cell's median method."""
    several = _np.isfinite(errors).sum(axis=1, keepdims=True) >= _SEVERAL
    common = _np.where(several, _np.nan_to_num(_row_median(errors)), 0.0)
    filled = errors.copy()
    for j in range(errors.shape[1]):
        known = _np.isfinite(errors[:, j])
        own = (errors - common)[known, j]
        if own.size:
            missing = _np.flatnonzero(~known)
            filled[missing, j] = common[missing, 0] + own[missing % own.size]
    return filled


def _row_median(errors):
    return _np.array([_median(row) for row in errors]).reshape(-1, 1)


def _median(values):
    known = values[_np.isfinite(values)]
    return float(_np.median(known)) if known.size else float("nan")


class Fit:
    """A model fitted to times.

    Attributes
    ----------
    methods : dict
        The `method` records, by id.
    cores : int
        Cores of the machine that was measured.
    cells : set of Cell
        The cells of the fit.
    """

    def __init__(self, tables, methods, cores):
        self.methods, self.cores = methods, cores
        self._phases = {phase: _Phase(table) for phase, table in tables.items() if table.cells}
        self.cells = {cell for phase in self._phases.values() for cell in phase.table.cells}

    @_functools.cached_property
    def needed(self):
        """Chance from which on a method is named: decisions about the cells left out are wrong in at most 5 % of them; inf: none is."""
        trials = [trial for phase in self._phases.values() for trial in phase.trials()]
        needed = float("inf")
        for level in _CHANCES[::-1]:
            if sum(chance >= level and not right for chance, right in trials) > _MOST_WRONG * len(trials):
                break
            needed = float(level)
        return needed

    def errors(self, phase):
        """Median relative errors of a phase, a dict of floats; NaN: unknown.

        `fitted`: of times in the cells of the fit. `times`: of times in cells left out. `ratios`: there, of a time relative to that
        of the cell's median method, which is what ranks methods.
        """
        return self._phases[phase].median_errors if phase in self._phases else dict.fromkeys(("fitted", "times", "ratios"), float("nan"))

    def constants(self, method, phase):
        """The constants of a method, an array in the order of `terms.TERMS`, seconds; None where too few times were measured."""
        of = self._phases.get(phase)
        return of.constants.get(method) if of else None

    def refusal(self, phase):
        """Why methods are not ranked in a phase; "": they are."""
        of = self._phases.get(phase)
        count = len(of.table.cells) if of else 0
        if count < LEAST_CELLS:
            return f"{phase} was measured in {count} cells, and {LEAST_CELLS} are needed"
        if not self.errors(phase)["ratios"] <= MOST_ERROR:
            return (f"in cells left out of the fit the model errs by {self.errors(phase)['ratios']:.0%} in the median, more than {MOST_ERROR:.0%}: "
                    "the machine was too busy for the measurement, or the cells were too few").replace("%", " %")
        return ""

    def scenarios(self, phase, ids, stretch=1.0):
        """Errors that are possible, logarithms (S, M): those of all methods in each cell left out, times `stretch`."""
        of = self._phases[phase]
        return stretch * _filled(of.errors)[:, [of.table.ids.index(name) for name in ids]]

    def groups(self, phase, ids):
        """Twins among methods, as of `decision.twins_of`."""
        of = self._phases[phase]
        return of.groups[[of.table.ids.index(name) for name in ids]]

    def stretch(self, load):
        """How far a `terms.Load` is beyond the cells of the fit, in their steps, at least 1: errors grow by it, at most 20 times."""
        sizes, ranks = [cell.bytes for cell in self.cells], [cell.ranks for cell in self.cells]
        beyond = max(load.bytes / max(sizes), min(sizes) / load.bytes, 1)
        # A cell that is left out is a step of bytes beyond the others at most, and never beyond their numbers of ranks.
        steps = max(1.0, _math.log(beyond, _STEP_OF_BYTES)) + _math.log2(max(load.ranks / max(ranks), 1))
        return min(steps, _MOST_STRETCH)

    def decide(self, phase, ids, logs, stretch=1.0):
        """Decide between methods with these predicted times, logarithms (M,). Returns a Decision."""
        return decide(ids, logs + self.scenarios(phase, ids, stretch), logs, self.groups(phase, ids), self.needed)

    def largest_bytes(self, method=None):
        """Bytes of the largest array that was measured, with a method or any one; 0: none."""
        return max((cell.bytes for phase in self._phases.values() for cell, row in zip(phase.table.cells, phase.table.logs)
                    if method is None or (method in phase.table.ids and _np.isfinite(row[phase.table.ids.index(method)]))), default=0)


# ---- Runs ------------------------------------------------------------------------------------------------------------

def tables_of(run, cache="warm", ragged=False, known=_terms.Primitives(), quantile=_QUARTILE):
    """The times of a run in one state of the cache.

    Parameters
    ----------
    run : Run
    cache : str
        The state that was asked for.
    ragged : bool
        Take ragged arrays instead of the others.
    known : terms.Primitives
        Costs of the machine, for estimates of constants.
    quantile : float
        Of the repetitions of a time.

    Returns
    -------
    tables : dict
        A `Table` for each phase.
    methods : dict
        The `method` records, by id.
    cores : int

    Raises
    ------
    MeasureError
        The records do not tell what methods make.
    """
    cores = int(_terms.number_in(run.info.get("machine"), "cores", 1, 1, 1 << 20))
    methods = {method["id"]: method for method in run.methods if method.get("outcome") and method.get("collective") is not None}
    if run.methods and not methods:
        raise MeasureError("the records do not tell what their methods make ('outcome', 'collective'): measure again, with this version",
                           DAMAGED)
    times = run.times
    times = times[~times["predicted"] & (times["seconds"] > 0) & times["method"].isin(list(methods))]
    times = times[[cell.cache == cache and cell.ragged == ragged for cell in times["cell"]]]
    rows = times.groupby(["phase", "method", "cell"])[["seconds", "readers"]].quantile(quantile).reset_index()
    return {phase: _table(rows[rows["phase"] == phase], phase, methods, cores, known) for phase in _terms.PHASES}, methods, cores


def _table(times, phase, methods, cores, known):
    """The `Table` of a frame with a row for each method and cell: method, cell, seconds, readers."""
    readers = dict(zip(times["cell"], times["readers"]))
    cells = tuple(sorted(readers))
    ids = tuple(name for name in methods if (times["method"] == name).any())
    logs = _np.full((len(cells), len(ids)), _np.nan)
    rows = {cell: row for row, cell in enumerate(cells)}
    for name, cell, seconds in zip(times["method"], times["cell"], times["seconds"]):
        logs[rows[cell], ids.index(name)] = _np.log(seconds)
    loads = tuple(_terms.load_of(cell, phase, int(readers[cell]), cores) for cell in cells)
    factors = [[_terms.terms_of(methods[name], phase, load) for name in ids] for load in loads]
    estimates = _np.array([_terms.guesses(methods[name], known) for name in ids]).reshape(len(ids), len(_terms.TERMS))
    return Table(cells, loads, ids, logs, _np.array(factors).reshape(len(cells), len(ids), len(_terms.TERMS)), estimates,
                 tuple(kind_of(methods[name]) for name in ids))


def fit_of(run, cache="warm", ragged=False, known=_terms.Primitives()):
    """Fit the model to the times of a run; parameters and errors as of `tables_of`. Returns a Fit."""
    return Fit(*tables_of(run, cache, ragged, known))
