"""Predictions of a calibration against the times of another run."""

import math as _math
import statistics as _statistics

import numpy as _np

from .decision import AS_GOOD
from .evaluation import evaluate
from .model import fit_of, predicted, tables_of

__all__ = ["errors_of", "points_of", "summary_of", "validation_text"]


def points_of(results, calibration):
    """Predicted and measured times.

    Parameters
    ----------
    results, calibration : Run

    Returns
    -------
    list of dict
        method, phase, cell (a `Cell`), predicted, measured (seconds, the median), used_for_fit (bool); what the calibration does
        not determine is left out.
    """
    fit, points = fit_of(calibration), []
    for phase, table in tables_of(results, quantile=0.5)[0].items():
        for j, name in enumerate(table.ids):
            constants = fit.constants(name, phase)
            for row in _np.flatnonzero(_np.isfinite(table.logs[:, j])) if constants is not None else ():
                cell = table.cells[row]
                points.append({"method": name, "phase": phase, "cell": cell, "measured": _math.exp(table.logs[row, j]),
                               "predicted": float(_np.exp(predicted(table.terms[row, j], constants))), "used_for_fit": cell in fit.cells})
    return points


def errors_of(points, used):
    """Errors of the points that were used for the fit, or of the others.

    Returns
    -------
    errors : list of float
        Relative errors of the times.
    losses : list of float
        For each cell and phase: the measured time of the method that is predicted to be the fastest, over the shortest.
    """
    cells = {}
    for point in points:
        if bool(point["used_for_fit"]) == used and point["predicted"] > 0 and point["measured"] > 0:
            cells.setdefault((point["cell"], point["phase"]), []).append(point)
    errors = [abs(point["predicted"] / point["measured"] - 1) for own in cells.values() for point in own]
    losses = [min(own, key=lambda point: point["predicted"])["measured"] / min(point["measured"] for point in own)
              for own in cells.values() if len(own) > 1]
    return errors, losses


def summary_of(points, results, calibration):
    """The errors of predictions, a dict: those of points that were not used for the fit, unless there are no others; choices of the
    fastest predicted method; and decisions in the cells of `results`, as of `Evaluation.summary`."""
    only_fitted = all(point["used_for_fit"] for point in points)
    errors, losses = errors_of(points, only_fitted)
    return {"points": len(errors), "median_error": _statistics.median(errors), "choices": len(losses),
            "good_choices": sum(loss <= 1 + AS_GOOD for loss in losses), "worst_choice": max(losses, default=1.0),
            "only_tuning_cells": only_fitted, **evaluate(results, calibration).summary()}


def validation_text(points, summary):
    """Points and summary as text."""
    lines = [f"{'method':<28} {'phase':<8} {'predicted':>12} {'measured':>12} {'ratio':>8}  cell"]
    lines += [f"{point['method']:<28} {point['phase']:<8} {1e3 * point['predicted']:>10.3f}ms {1e3 * point['measured']:>10.3f}ms "
              f"{point['predicted'] / point['measured']:>8.2f}  {point['cell'].text}{' (tuned with)' if point['used_for_fit'] else ''}"
              for point in points]
    used = ", all used for tuning" if summary["only_tuning_cells"] else " not used for tuning"
    lines += ["", f"{summary['points']} times{used}: median error {100 * summary['median_error']:.0f} %"]
    if summary["choices"]:
        lines.append(f"the fastest predicted method is within 10 % of the best in {summary['good_choices']} of {summary['choices']} cells; at "
                     f"worst {summary['worst_choice']:.2f} times as slow")
    if summary["cells"]:
        lines.append(f"decisions in {summary['cells']} cells: {summary['right']} right, {summary['silent']} silent, {summary['wrong']} wrong; a "
                     f"method was named in {summary['decided']} of {summary['clear']} cells whose best one is clear")
    return "".join(f"{line}\n" for line in lines)
