"""How good the model's decisions are: each cell is left out, decided, and compared with what was measured."""

import dataclasses as _dataclasses

import numpy as _np

from .decision import AS_GOOD, REFUSED, Decision, kind_of
from .model import Fit, fit_of, predicted, tables_of

__all__ = ["Evaluation", "Judged", "evaluate"]


@_dataclasses.dataclass(frozen=True)
class Judged:
    """A decision about a cell left out, and what was measured there.

    Attributes
    ----------
    cell : Cell
    phase : str
    decision : Decision
    outcome : {"right", "silent", "wrong"}
        right: the method named, or one of its twins, is within 10 % of the best one. silent: none is named, and a tied one is within
        10 % of the best, or the model refused to rank. wrong: everything else.
    loss : float
        Time of the method named, or of the first tied one, over that of the best; NaN for a refusal.
    gap : float
        Time of the best method of another kind over that of the best.
    """

    cell: object
    phase: str
    decision: Decision
    outcome: str
    loss: float
    gap: float

    @property
    def is_clear(self):
        """The best method is more than 10 % faster than each of another kind."""
        return self.gap > 1 + AS_GOOD


@_dataclasses.dataclass(frozen=True)
class Evaluation:
    """Decisions about all cells left out: `judged`, a tuple of `Judged`."""

    judged: tuple

    def summary(self):
        """Numbers, a dict of int.

        cells; right, silent, wrong: of all cells; exact: decisions for a method that is itself within 10 % of the best; clear: cells
        whose best method is more than 10 % faster than each of another kind; decided: those of them in which a method is named.
        """
        counted = {name: sum(one.outcome == name for one in self.judged) for name in ("right", "silent", "wrong")}
        exact = sum(one.decision.best is not None and one.loss <= 1 + AS_GOOD for one in self.judged)
        clear = [one for one in self.judged if one.is_clear]
        return {"cells": len(self.judged), **counted, "exact": exact, "clear": len(clear),
                "decided": sum(one.decision.best is not None for one in clear)}


def _judge(cell, phase, kinds, ids, measured, decision):
    """Compare a decision with measured logarithms (M,)."""
    best = int(_np.argmin(measured))
    others = measured[[kind != kinds[best] for kind in kinds]]
    gap = float(_np.exp(others.min() - measured[best])) if others.size else float("inf")
    named = [decision.best, *decision.twins] if decision.best else list(decision.ties)
    losses = [float(_np.exp(measured[ids.index(name)] - measured[best])) for name in named]
    fine = not losses or min(losses) <= 1 + AS_GOOD
    outcome = "wrong" if not fine else "right" if decision.best else "silent"
    return Judged(cell, phase, decision, outcome, losses[0] if losses else float("nan"), gap)


def _judged(fit, phase, table, row):
    """The judged decision of a fit about a row of a table; None where there is no choice."""
    known = [j for j, name in enumerate(table.ids) if _np.isfinite(table.logs[row, j]) and fit.constants(name, phase) is not None]
    ids = tuple(table.ids[j] for j in known)
    if len(ids) < 2:
        return None
    decision = REFUSED
    if not fit.refusal(phase):
        logs = _np.array([predicted(table.terms[row, j], fit.constants(table.ids[j], phase)) for j in known])
        decision = fit.decide(phase, ids, logs, fit.stretch(table.loads[row]))
    return _judge(table.cells[row], phase, [table.kinds[j] for j in known], ids, table.logs[row, known], decision)


def evaluate(run, fitted_to=None, cache="warm"):
    """Let the model decide about cells that it has not seen, and compare with the medians that were measured there.

    Parameters
    ----------
    run : Run
        Each of its cells is left out in turn, and decided by a model of the others.
    fitted_to : Run, optional
        Decide about all cells of `run` by a model of this run instead.
    cache : str
        The state of the cache whose cells are used.

    Returns
    -------
    Evaluation

    Raises
    ------
    MeasureError
        The records do not tell what methods make.
    """
    tables, methods, cores = tables_of(run, cache)
    measured = tables_of(run, cache, quantile=0.5)[0]
    other = fit_of(fitted_to, cache) if fitted_to is not None else None
    judged = []
    for cell in sorted({cell for table in tables.values() for cell in table.cells}):
        fit = other or Fit({phase: table.without(cell) for phase, table in tables.items()}, methods, cores)
        judged += [_judged(fit, phase, table, table.cells.index(cell)) for phase, table in measured.items() if cell in table.cells]
    return Evaluation(tuple(one for one in judged if one is not None))
