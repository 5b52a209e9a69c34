"""The command ``thalweg calibrate``, with which ``thalweg tune`` measures by ranks: messages, two-phase I/O, and the methods.

It prints one JSON object, which tune merges into the profile, and keeps the records of the methods beside the profile; the model
is fitted to them whenever it is asked (`thalweg.measure.model`).
"""

import contextlib as _contextlib
import dataclasses as _dataclasses
import json as _json
import os as _os
import signal as _signal
import statistics as _statistics
import sys as _sys
import time as _time

from . import launch as _launch
from . import profile as _profile
from . import signals
from .campaign import How, Runner, run_record, scratch_folder
from .cli import add_command, help_texts, positive_number
from .errors import FINE, USAGE, MeasureError
from .model import fit_of
from .output import put
from .parse import Cell, parse
from .plan import Launch, grid_for
from .progress import Progress
from .records import Run
from .storage import storage_facts
from .surroundings import command_text, cores
from .terms import PHASES, number_in, primitives_of
from .text import count_text

__all__ = ["add", "calibrated_ranks", "exchange_costs", "message_costs"]

_PATIENCE_S = 30
_NETWORK_RUNS = 3
_MOST_RANKS = 16  # on the cores of this machine
_BY_ROWS = "mpiio-global-1"  # a collective call for each row takes milliseconds where ranks share cores
# The formulas of src/engine/plan/plan.cpp: a round has two exchanges, of a barrier and an allreduce each, times the bits of the number
# of tasks; the engine's own work in a round is a default there. A receiver gets a length, a reply to it, and the data.
_FORCING_CALL_NS = 19_000  # of a storage so slow that the engine uses aggregators
_FREE = ("round_ns", "exchange_byte_ns", "exchange_piece_ns", "message_ns", "queueing_ns")
_ENGINE_ROUND_NS = 20_000.0
_COLLECTIVES_OF_ROUND, _BITS_OF_TWO, _MESSAGES_OF_PARTNER = 4, 2, 3


class _Late(signals.Interrupted):
    """The time limit was reached; records of the launch that it ended are kept."""

    def __init__(self):
        super().__init__(_signal.SIGALRM)


# ---- Costs of the engine ----------------------------------------------------------------------------------------------

def _kept(ns, least, most):
    return round(min(max(ns, least), most), 4)


def message_costs(network):
    """Costs of messages, a dict of nanoseconds, from `network` records (dicts); {} without one of two ranks."""
    for record in network:
        latency, barrier = number_in(record, "latency_seconds", 0.0), number_in(record, "barrier_seconds", 0.0)
        if latency > 0 and barrier > 0 and record.get("ranks") == 2:
            round_ns = max(_ENGINE_ROUND_NS, _COLLECTIVES_OF_ROUND * barrier * 1e9 / _BITS_OF_TWO)
            return {"message_ns": _kept(_MESSAGES_OF_PARTNER * latency * 1e9, 1, 1e8), "round_ns": _kept(round_ns, 1, 1e9)}
    return {}


_EXCHANGE_CELLS = ((64, 64), (1024, 1024), (16384, 64))  # almost no bytes; 4 MiB in long pieces; in short ones


def exchange_costs(seconds, costs, n_cores):
    """Costs of two-phase I/O, a dict of nanoseconds: the model of the engine, inverted.

    Parameters
    ----------
    seconds : sequence of 3 float
        Times of the transfer by two ranks: almost no bytes, 4 MiB in long pieces, 4 MiB in short pieces. What opening the windows of
        aggregators costs is part of all three, and cancels out.
    costs : dict
        Costs of the page cache, nanoseconds.
    n_cores : int
    """
    nothing, long, short = seconds
    workers, n_bytes, n_long, n_short = min(max(n_cores, 1), 2), 4 * 1024 * 1024, 2 * 1024, 2 * 16384
    each = max(0.0, short - long) * 1e9 * workers / (n_short - n_long)
    transferred = max(0.0, long - nothing) * 1e9 * workers - n_long * each
    byte = transferred / n_bytes - number_in(costs, "copy_byte_ns", 0.09) - number_in(costs, "staged_write_byte_ns", 0.085)
    return {"exchange_byte_ns": _kept(byte, 0.01, 1e3), "exchange_piece_ns": _kept(each - number_in(costs, "copy_piece_ns", 3.0), 0, 1e6)}


# ---- Cells -----------------------------------------------------------------------------------------------------------

def calibrated_ranks(n_cores):
    """Numbers of ranks, the most informative first: two, one, and twice as many as cores, but at most 16."""
    crowd = min(2 * n_cores, _MOST_RANKS)
    return (2, 1, crowd) if crowd > 2 else (2, 1)


def _launch_of(ranks, *cells):
    """A launch of cells (shape, grid); () as grid: as even as possible."""
    return Launch(ranks, "warm", tuple(Cell(ranks, grid or grid_for(ranks, len(shape)), shape) for shape, grid in cells))


def _cells_for(ranks, quick):
    """Bytes, ranks and contiguous runs vary independently: square arrays, and a narrow one that is cut along its rows."""
    cells = [((256, 256), ()), ((1024, 1024), ())]
    if ranks > 1:
        cells.append(((4096, 256), (1, ranks)))
    return _launch_of(ranks, *cells, *(() if quick else (((724, 724), ()), ((2048, 2048), ()))))


def _rows_for(ranks):
    """Few rows; the last cell has as many bytes as the largest one of most methods."""
    return _launch_of(ranks, ((64, 64), ()), ((128, 128), ()), ((64, 4096), ()), ((16, 262144), (1, ranks)))


# ---- The measurement -------------------------------------------------------------------------------------------------

class _Watched(Progress):
    """A progress that ends the work when its time is over."""

    def __init__(self, quiet, seconds):
        super().__init__("tune", quiet)
        self._begun, self._seconds = _time.monotonic(), seconds

    @property
    def left(self):
        """Seconds that are left, negative after the limit."""
        return self._begun + self._seconds - _time.monotonic()

    def update(self, share, doing=""):
        self.check()
        super().update(min(1.0, 1 - self.left / self._seconds), doing)

    def check(self):
        """Raise _Late after the limit."""
        signals.stop_if_caught()
        if self.left < 0:
            raise _Late


class _Calibration:
    """Measurements with ranks; what fails becomes a remark, and what was measured before it stays."""

    def __init__(self, launcher, folder, entry, quick, progress):
        self._entry, self._quick, self._progress, self._folder = entry, quick, progress, _os.path.join(folder, "ranks")
        self._launcher = _dataclasses.replace(launcher, variables={"THALWEG_PROFILE": _os.path.join(folder, "profile.json")})
        _os.mkdir(self._folder)
        self.network, self.costs, self.remarks, self.run, self.cut_off = [], {}, [], Run(), False

    def all(self, seconds):
        """Measure everything within the limit."""
        try:
            self._measure_network()
            self._measure_exchange()
            self._measure_methods()
        except _Late:
            self.remarks.append(f"the time limit of the calibration, {seconds:.0f} s, was reached; the remaining cells are skipped")
            self.cut_off = True

    def _measure_network(self):
        """The best of several: other load is no property of the machine."""
        for ranks in sorted({2, max(2, cores())}):
            records = [record for record in (self._network_of(ranks) for _ in range(_NETWORK_RUNS)) if record]
            if records:
                best = {name: min(record[name] for record in records) for name in ("barrier_seconds", "latency_seconds")}
                self.network.append({**records[0], **best, "bytes_per_second": max(record["bytes_per_second"] for record in records)})
        self.costs.update(message_costs(self.network))

    def _network_of(self, ranks):
        """The record of one launch; None, and a remark, where it fails."""
        self._progress.update(0, "messages")
        found = []

        def see(line):
            with _contextlib.suppress(MeasureError):  # a library prints, too
                kind, members = parse(line)
                found.extend([members] * (kind == "network"))

        patience = max(1, min(_PATIENCE_S, round(self._progress.left)))
        ended = _launch.launch(self._launcher, ranks, ["--network"], see, patience)
        if found and not (ended.exit_code or ended.signal):
            return found[-1]
        if ended.silent:
            self._progress.check()
        failed = ended.exit_code or ended.signal
        why = _launch.how_it_ended(self._launcher, ended, patience) if failed else "the program told nothing"
        text = f"messages of {count_text(ranks, 'rank')} could not be measured: {why}"
        if text not in self.remarks:
            self.remarks.append(text)
        return None

    def _measure_exchange(self):
        """With a profile of very expensive calls the engine uses aggregators; this measures their cost."""
        buffered = self._entry.get("buffered") if isinstance(self._entry.get("buffered"), dict) else {}
        forced = {**buffered, **dict.fromkeys(_FREE, 0), "call_ns": _FORCING_CALL_NS}
        plan, run = _launch_of(2, *((shape, (1, 2)) for shape in _EXCHANGE_CELLS)), Run()
        self._measure(plan, ("tw-collective",), ("write",), 3 if self._quick else 7, {"id": self._entry.get("id"), "buffered": forced}, run)
        times = run.times
        seconds = [times[times["cell"] == cell]["transfer"].min() for cell in plan.cells]  # the least disturbed: a cost is no average
        together = run.facts and all("aggregat" in (facts["plan"] or "") for facts in run.facts)
        if together and all(value > 0 for value in seconds):
            self.costs.update(exchange_costs(seconds, buffered, cores()))
        else:
            self.remarks.append("the cost of two-phase I/O between ranks could not be measured: the defaults stay")

    def _measure_methods(self):
        buffered = self._entry.get("buffered") if isinstance(self._entry.get("buffered"), dict) else {}
        entry = {**self._entry, "buffered": {**buffered, **self.costs}}
        built = [method["id"] for method in self._launcher.description["methods"] if method["built"]]
        others, quick, all_ranks = tuple(name for name in built if name != _BY_ROWS), self._quick, calibrated_ranks(cores())
        steps = [(_cells_for(ranks, quick), others, 1 if quick else 3) for ranks in all_ranks]
        if _BY_ROWS in built:
            steps += [(_rows_for(ranks), (_BY_ROWS,), 1 if quick or ranks > cores() else 2) for ranks in all_ranks]
        if not quick:
            if cores() > 2 and cores() not in all_ranks:
                steps.append((_cells_for(cores(), False), others, 1))
            steps.append((_launch_of(2, ((3456, 3640), ())), others, 1))
        for plan, methods, repetitions in steps:
            self._measure(plan, methods, PHASES, repetitions, entry, self.run)

    def _measure(self, plan, methods, phases, repetitions, entry, run):
        """Measure a launch with an entry as the profile of the ranks; a failure is a remark."""
        self._progress.check()
        failed, had = len(run.mishaps), len(run.times)
        patience = max(1, min(_PATIENCE_S, round(self._progress.left)))
        how = How(self._folder, methods, phases, repetitions, patience=patience, limit=False)
        try:
            with open(self._launcher.variables["THALWEG_PROFILE"], "w", encoding="utf-8") as file:
                _json.dump({"version": 1, "file_systems": [entry]}, file)
            Runner(self._launcher, how, self._folder, self._progress, run).run((plan,))
        except MeasureError as error:
            self.cut_off = True
            self.remarks.append(f"a measurement with {count_text(plan.ranks, 'rank')} ended early: {error}")
        finally:
            for mishap in run.mishaps[failed:]:
                if mishap.failed:
                    what, _, why = mishap.message.partition(": ")
                    self.remarks.append(f"{mishap.method or 'what was started'} {what} failed: {why}")
            self.cut_off |= len(run.times) == had


# ---- Keeping it ------------------------------------------------------------------------------------------------------

def _keep_former(made, run, former):
    """Keep what this calibration could not measure: all of a former one that reached more cells, and methods that failed now.

    Returns
    -------
    Run or None
        The records to store; None: the former ones stay.
    """
    if former is None or not run.has_times:
        return run if run.has_times else None
    reached, had = (set(one.times["cell"]) for one in (run, former))
    if made.cut_off and len(reached) < len(had):
        made.remarks.append(f"kept from the previous calibration: methods, of {count_text(len(had), 'cell')}; only {len(reached)} were "
                            "reached now")
        return None
    same = all(a.get("mpi") == b.get("mpi") for a, b in zip(run.launches[:1], former.launches[:1]))
    if not same or run.info.get("machine", {}).get("cores") != former.info.get("machine", {}).get("cores"):
        return run
    failed = {mishap.method for mishap in run.mishaps if mishap.failed} - set(run.times["method"])
    for name in sorted(failed & set(former.times["method"])):
        for line in former.lines:
            record = _json.loads(line)
            if record.get("kind") == "time" and record["method"] == name:
                run.add(line)
        made.remarks.append(f"kept from the previous calibration: {name}, which failed now")
    return run


def _errors_of(run, entry):
    """Median errors over phases, and numbers of cells and methods, as members of the printed object."""
    names = {"fit_error": "fitted", "left_out_error": "ratios"}
    if run is None:
        return {**dict.fromkeys(names), "cells": 0, "methods": 0}
    fit = fit_of(run, known=primitives_of(entry))
    errors = [fit.errors(phase) for phase in PHASES]
    found = {name: [error[kind] for error in errors if error[kind] == error[kind]] for name, kind in names.items()}
    return {**{name: _statistics.median(values) if values else None for name, values in found.items()}, "cells": len(fit.cells),
            "methods": len({name for name in run.times["method"]})}


def _entry_in(text):
    try:
        entry = _json.loads(text)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise MeasureError("--entry is no JSON object: it takes the entry of the profile that 'thalweg tune' has measured so far", USAGE)
    return entry


def _calibrated(arguments, entry, remarks):
    """The measurements, a _Calibration; None, and a remark, where ranks cannot be started."""
    try:
        launcher = _launch.find_launcher(arguments.program, arguments.mpiexec)
        storage = storage_facts(arguments.folder, launcher.program)
    except MeasureError as error:
        remarks.append(f"no measurements with ranks: {error}")
        return None
    begin = _time.monotonic()
    with scratch_folder(arguments.folder) as folder, _Watched(arguments.quiet, arguments.seconds) as progress:
        made = _Calibration(launcher, folder, entry, arguments.quick, progress)
        command = command_text(["thalweg", "calibrate", arguments.folder])
        made.run.add_record(run_record(launcher, storage, command, 1 if arguments.quick else 3))
        made.all(arguments.seconds)
    made.run.add_record({"kind": "end", "complete": not made.cut_off, "seconds": round(_time.monotonic() - begin, 3)})
    return made


def _run(arguments):
    entry, remarks = _entry_in(arguments.entry), []
    made = _calibrated(arguments, entry, remarks)
    run, path = None, _profile.calibration_path()
    if made is not None:
        remarks = made.remarks
        try:
            former = _profile.stored_runs().get(_profile.identity_in(made.run))
        except MeasureError as error:
            remarks.append(str(error))
            former = None
        run = _keep_former(made, made.run, former)
        if run is not None and path and not arguments.dry_run:
            _profile.store(run)
    stored = path if run is not None and not arguments.dry_run else None
    told = {"command": "calibrate", "file": arguments.folder, "costs": made.costs if made else {}, "network": made.network if made else [],
            **_errors_of(run, entry), "stored": stored or None, "remarks": remarks, "exit_code": FINE}
    put(_json.dumps(told, indent=2) + "\n")
    return FINE



def add(subparsers):
    """Add the parser of the command."""
    parser = add_command(subparsers, "calibrate", _run, *help_texts("calibrate"))
    parser.add_argument("folder", metavar="DIR", help="A folder on the file system")
    parser.add_argument("--seconds", type=positive_number("number"), default=60.0, metavar="S", help="Time limit; default 60")
    parser.add_argument("--quick", action="store_true", help="Fewer cells and repetitions")
    parser.add_argument("--dry-run", action="store_true", help="Measure without keeping the records")
    parser.add_argument("--program", default="", metavar="FILE", help="The measuring program; default: thalweg-probe beside this command")
    parser.add_argument("--mpiexec", default="", metavar="WORDS", help="Launcher of the ranks, with its options")
    parser.add_argument("--entry", default="{}", metavar="JSON", help="The entry of the profile, as measured so far")
