"""Advice: predicted times of the methods for a described program, and a decision that is right or silent.

>>> import thalweg.measure
>>> told = thalweg.measure.advise(ranks=8, bytes=2**28, dir="/scratch")
>>> told.best, told.ties, told.times        # a method or None, those that are as good, a DataFrame
"""

import dataclasses as _dataclasses
import html as _html
import os as _os

import numpy as _np

from . import profile as _profile
from .decision import REFUSED, Decision, decide
from .errors import IO_ERROR, USAGE, MeasureError
from .example import example_of
from .launch import described_by, find_program
from .model import fit_of
from .pitfalls import impossible, ruled_out, warnings_of
from .prediction import Predictor, ranked
from .remarks import duty_of, notes_of
from .request import Machine, Request, cell_of, machine_of
from .storage import storage_facts
from .surroundings import cores
from .text import short_size

__all__ = ["Advice", "Choice", "advise", "advise_on", "calibration_for"]


@_dataclasses.dataclass(frozen=True)
class Choice:
    """A method that is possible.

    Attributes
    ----------
    method, title : str
    seconds : float or None
        Predicted; None where methods are not ranked.
    low, high : float or None
        Times that 9 of 10 cells left out would give.
    parts : tuple of (str, float)
        Parts of the time, in seconds, the largest first.
    reason : str
        The parts in words.
    warnings : tuple of (str, bool)
        Pitfalls; True: the method fails or is very slow.
    storage_limits : bool
        The storage is slower than all else that moves bytes.
    """

    method: str
    title: str
    seconds: "float | None" = None
    low: "float | None" = None
    high: "float | None" = None
    parts: tuple = ()
    reason: str = ""
    warnings: tuple = ()
    storage_limits: bool = False

    def to_json(self):
        """The choice as an entry of the member `choices`."""
        parts = [{"what": what, "seconds": seconds} for what, seconds in self.parts]
        return {**vars(self), "parts": parts, "warnings": [text for text, _ in self.warnings]}


@_dataclasses.dataclass(frozen=True)
class Advice:
    """The answer to a request.

    Attributes
    ----------
    request : Request
    cell : Cell
        The array that stands for the request.
    machine : Machine
    decision, array_decision : Decision
        Among all methods, and among those that leave one file that is the array.
    choices : tuple of Choice
        The fastest first; without predicted times in the order of the methods.
    out : tuple of (str, str, str)
        Methods that are no choice: id, title and why.
    refusal : str
        Why methods are not ranked, and what to run; "": they are.
    notes, duty : tuple of str
        Assumptions; the share of the output in the run time.
    model : dict or None
        Cells and errors of the model, as the member `model` of --json; None without a calibration.
    """

    request: Request
    cell: object
    machine: Machine
    decision: Decision
    array_decision: Decision
    choices: tuple
    out: tuple
    refusal: str
    notes: tuple
    duty: tuple
    model: "dict | None"

    @property
    def best(self):
        """The method to use, a str; None where the model is silent."""
        return self.decision.best

    @property
    def best_array(self):
        """The best of the methods that leave one file that is the array, a str or None."""
        return self.array_decision.best

    @property
    def ties(self):
        """Methods that are as good as `best`, or those that cannot be told apart; a tuple of str."""
        return self.decision.ties

    @property
    def named(self):
        """The method of the example program: the best, or the first of those that cannot be told apart; None for a refusal."""
        return self.best or next(iter(self.ties), None)

    @property
    def reasons(self):
        """The parts of the time of each method in words, a dict by method."""
        return {choice.method: choice.reason for choice in self.choices}

    @property
    def warnings(self):
        """Pitfalls of each method, a dict of tuples of str by method."""
        return {choice.method: tuple(text for text, _ in choice.warnings) for choice in self.choices}

    @property
    def times(self):
        """Predicted times, a pandas DataFrame: method, title, seconds, low, high; NaN where methods are not ranked."""
        import pandas

        columns = ("method", "title", "seconds", "low", "high")
        frame = pandas.DataFrame([[getattr(choice, name) for name in columns] for choice in self.choices], columns=list(columns))
        return frame.astype({"seconds": float, "low": float, "high": float})

    @property
    def code(self):
        """The example program for `named`, an `Example`; None for a refusal."""
        return example_of(self.named, self.request.language, self.request.phase) if self.named else None

    @property
    def conclusion(self):
        """The decision in one sentence."""
        if self.refusal:
            return f"no method is recommended: {self.refusal}"
        if self.best:
            return f"use {self.best}" + (f"; as good in most cells left out: {', '.join(self.ties)}" if self.ties else "")
        return f"cannot tell these apart: {', '.join(self.ties)}"

    def to_json(self):
        """The members of --json that tell the advice, a dict."""
        code = self.code
        return {"cell": self.cell.to_json(), "phase": self.request.phase, "storage": self.machine.identity or None,
                "measured": self.model is not None, "model": self.model, "best": self.best, "best_array": self.best_array,
                "ties": list(self.ties), "array_ties": list(self.array_decision.ties), "refusal": self.refusal or None,
                "chance": None if self.refusal else self.decision.chance,
                "choices": [choice.to_json() for choice in self.choices],
                "out": [{"method": name, "why": why} for name, _, why in self.out], "notes": list(self.notes), "duty": list(self.duty),
                "code": {"file": code.file, "remark": code.remark, "text": code.text} if code else None}

    def __repr__(self):
        return f"<thalweg.measure.Advice: {self.conclusion}>"

    def _repr_html_(self):
        def items(lines):
            return "".join(f"<li>{_html.escape(line)}</li>" for line in lines)

        warnings = [f"{name}: {text}" for name, texts in self.warnings.items() for text in texts if name in (self.named, self.best_array)]
        frame = self.times.dropna().assign(reason=[choice.reason for choice in self.choices if choice.seconds is not None])
        table = frame.to_html(index=False, float_format=lambda value: f"{value:.4g}") if len(frame) else ""
        return f"<p><strong>{_html.escape(self.conclusion)}</strong></p>{table}<ul>{items((*self.notes, *warnings, *self.duty))}</ul>"


# ---- Calibrations ----------------------------------------------------------------------------------------------------

def calibration_for(folder=""):
    """What was measured for a folder, or for the only storage that was.

    Parameters
    ----------
    folder : str
        A folder on the storage; "": there is only one calibration.

    Returns
    -------
    identity : str
        Of the storage; "": none is known.
    run : Run or None
        Its calibration.

    Raises
    ------
    MeasureError
        The folder is missing, a file cannot be read, or there are several calibrations and no folder.
    """
    runs = _profile.stored_runs()
    if folder:
        identity = storage_facts(folder)["identity"]
        return identity, runs.get(identity)
    if len(runs) > 1:
        raise MeasureError("several file systems were measured: select one with --dir DIR", USAGE)
    return next(iter(runs.items()), ("", None))


def _known_methods(run):
    """The methods of a calibration, or those that the program describes where one is found; a list of dict."""
    if run is not None:
        return run.methods
    try:
        methods = described_by(find_program())["methods"]
    except MeasureError:
        return []
    return [method for method in methods if isinstance(method.get("title"), str) and isinstance(method.get("outcome"), str)
            and isinstance(method.get("collective"), bool)]


# ---- The answer ------------------------------------------------------------------------------------------------------

def _sorted_out(methods, fit, request, cell):
    """The methods that are possible, and (id, title, why) of the others."""
    possible, out = [], []
    for method in methods:
        complete = {"needs": None, **method}
        if not complete.get("outcome") or complete.get("collective") is None:
            continue
        why = ruled_out(complete, request.pattern) or impossible(complete, request, cell)
        unknown = fit is not None and fit.constants(method["id"], request.phase) is None
        if not why and (unknown or not method.get("built", True)):
            why = f"was not measured here: is {complete['needs']} installed?" if complete["needs"] else "was not measured here"
        if why:
            out.append((method["id"], method["title"], why))
        else:
            possible.append(complete)
    return possible, tuple(out)


def _refusal_of(fit, request, identity):
    """Why no method is ranked, with what to run; "": they are."""
    if fit is None:
        where = f"'thalweg tune DIR' with a folder on {identity}" if identity else "'thalweg tune DIR', and give --dir DIR"
        return f"methods were not measured here; run {where}"
    why = fit.refusal(request.phase)
    return f"{why}; run 'thalweg tune DIR' on an idle machine, or compare methods with 'thalweg methods --dir DIR'" if why else ""


def _model_of(fit, phase):
    """The member `model`: cells and errors."""
    errors = {name: None if _np.isnan(value) else value for name, value in fit.errors(phase).items()}
    return {"cells": len(fit.cells), "median_error": errors["fitted"], "left_out_error": errors["ratios"],
            "left_out_time_error": errors["times"], "largest_bytes": fit.largest_bytes(),
            "needed_chance": fit.needed if _np.isfinite(fit.needed) else None}


def _decided(fit, request, predictor, ids):
    """The decision among methods that are in the order of their rank."""
    if not ids:
        return REFUSED
    scenarios = _np.log(predictor.possible(ids))
    return decide(ids, scenarios, 0.1 * _np.arange(len(ids)), fit.groups(request.phase, ids), fit.needed)


def _choice(method, predictor, fit, request, cell):
    """A method with its predicted time."""
    name, warnings = method["id"], list(warnings_of(method, request, cell))
    most = fit.largest_bytes(name)
    if most < min(predictor.node.bytes, fit.largest_bytes()):
        warnings.append((f"was measured with at most {short_size(most)} here, less than other methods: its time is extrapolated", False))
    time = predictor.times[name]
    low, high = _np.quantile(predictor.possible([name]), (0.05, 0.95))
    return Choice(name, method["title"], time.seconds, min(float(low), time.seconds), max(float(high), time.seconds), time.parts,
                  time.reason, tuple(warnings), time.storage_limits)


def _limit_note(choices, decision):
    """Told where the storage makes most methods equal."""
    alike = sum(choice.storage_limits and choice.method in (decision.best, *decision.ties) for choice in choices)
    return ("the storage limits all methods, which hardly differ",) if 2 * alike > len(choices) > 1 else ()


def advise_on(request, identity="", run=None, program=""):
    """Answer a request by a calibration.

    Parameters
    ----------
    request : Request
    identity : str
        Of the storage.
    run : Run or None
        Its calibration; None: only what is certain is told.
    program : str
        The program that simulates several nodes; "": searched.

    Returns
    -------
    Advice

    Raises
    ------
    MeasureError
        The request is inconsistent, no method is possible, or the simulation of several nodes fails.
    """
    cell = cell_of(request)
    entry = _profile.entry_of(identity) if identity and _profile.profile_path() else {}
    machine = machine_of(identity, entry, cores())
    fit = fit_of(run, known=machine.known) if run is not None else None
    if fit is not None and not fit.cells:
        fit = None
    machine = _dataclasses.replace(machine, cores=fit.cores) if fit else machine
    refusal, model = _refusal_of(fit, request, identity), _model_of(fit, request.phase) if fit else None
    possible, out = _sorted_out(_known_methods(run), fit if not refusal else None, request, cell)
    if not possible and not refusal:
        raise MeasureError("no method that was measured here is possible; run 'thalweg tune DIR' again", IO_ERROR)
    if refusal:
        choices = tuple(Choice(method["id"], method["title"], warnings=tuple(warnings_of(method, request, cell))) for method in possible)
        return Advice(request, cell, machine, REFUSED, REFUSED, choices, out, refusal, tuple(notes_of(request, machine, fit, None)), (), model)
    predictor = Predictor(request, machine, cell, fit, possible, program)
    ids = ranked(predictor.times)
    by_id = {method["id"]: method for method in possible}
    decision = _decided(fit, request, predictor, ids)
    arrays = [name for name in ids if by_id[name]["outcome"] == "array"]
    choices = tuple(_choice(by_id[name], predictor, fit, request, cell) for name in ids)
    mpi = next((launch["mpi"] for launch in run.launches if isinstance(launch.get("mpi"), str)), "")
    notes = (*notes_of(request, machine, fit, predictor, mpi), *_limit_note(choices, decision))
    named = decision.best or decision.ties[0]
    duty = duty_of(request, {choice.method: choice.seconds for choice in choices}, named)
    return Advice(request, cell, machine, decision, _decided(fit, request, predictor, arrays), choices, out, "", notes, tuple(duty), model)


def advise(ranks, bytes, *, dir=None, calibration=None, program="", **options):
    """Predict the times of the methods for a described program, and decide between them.

    Parameters
    ----------
    ranks : int
        Ranks that write.
    bytes : int
        Bytes of all ranks for each output.
    dir : str or os.PathLike, optional
        Folder on the storage; default: the only one that was measured.
    calibration : Run, optional
        Use these records instead of those that ``thalweg tune`` keeps.
    program : str or os.PathLike
        The program thalweg-probe, which simulates several nodes; "": searched.
    **options
        Other attributes of `Request`, which are the options of ``thalweg advise``: pattern, grid, order, phase, readers, nodes,
        cores_per_node, memory_per_node, storage_bandwidth, storage_create_rate, every, compute_seconds_per_step, language, mpi.

    Returns
    -------
    Advice
        Without a calibration, or with one that errs too much, its `refusal` tells what to run.

    Raises
    ------
    MeasureError
        An argument is invalid, a file cannot be read, or no method is possible.
    """
    unknown = options.keys() - {field.name for field in _dataclasses.fields(Request)}
    if unknown:
        raise MeasureError(f"'{min(unknown)}' is no option of advise; see thalweg.measure.Request", USAGE)
    request = Request(ranks, bytes, **{**options, "grid": tuple(options.get("grid", ()))})
    if calibration is not None:
        return advise_on(request, _profile.identity_in(calibration), calibration, _os.fspath(program))
    return advise_on(request, *calibration_for(_os.fspath(dir) if dir is not None else ""), _os.fspath(program))
