"""A run: launch after launch, without effects of a failing method on others, and the records of all."""

import contextlib as _contextlib
import dataclasses as _dataclasses
import os as _os
import shutil as _shutil
import tempfile as _tempfile
import time as _time

from . import launch as _launch
from . import signals
from .errors import IO_ERROR, USAGE, MeasureError, failed_call
from .parse import parse
from .progress import Progress, say
from .records import Run
from .storage import check_room_and_memory, storage_facts
from .surroundings import machine_facts, utc_now
from .text import count_text, nearest

__all__ = ["How", "Runner", "check_names", "finish", "measure", "run_record", "scratch_folder"]

_FIXED_WORK = 4 << 20  # cost of a method beside its bytes, in bytes: opening, closing, verifying


@_dataclasses.dataclass(frozen=True)
class How:
    """How cells are measured.

    Parameters
    ----------
    folder : str
        An existing folder on the storage to measure; a new folder in it has all files.
    methods, phases : tuple of str
        Only these; (): all that are built, and all.
    repetitions : int
        After a warm-up.
    limit : bool
        Measure the storage's own limit, too.
    patience : float, seconds
        After so long without any output a method has failed.
    """

    folder: str = "."
    methods: tuple = ()
    phases: tuple = ()
    repetitions: int = 7
    patience: float = 600
    limit: bool = True


def check_names(names, known, option):
    """Raise MeasureError for a name that is not among the known ones, with the nearest of them."""
    for name in names:
        if name not in known:
            near = nearest(name, known)
            hint = f", did you mean '{near}'?" if near else ""
            raise MeasureError(f"{option} '{name}' is unknown{hint}; known: {', '.join(known)}", USAGE)


@_contextlib.contextmanager
def scratch_folder(parent):
    """A new folder in a folder of the user, removed with all its content. Raises MeasureError."""
    try:
        path = _tempfile.mkdtemp(prefix="thalweg-methods-", dir=parent)
    except OSError as error:
        raise failed_call("create a folder in", parent, error) from error
    try:
        yield path
    finally:
        try:
            _shutil.rmtree(path)
        except OSError as error:
            say(f"'{path}' could not be removed: {error.strerror}")


def _work_of(cells):
    return sum(cell.bytes + _FIXED_WORK for cell in cells)


class _Listener:
    """Progress and records of one launch."""

    def __init__(self, plan, n_methods, repetitions):
        self._total = _work_of(plan.cells) * n_methods * (repetitions + 1)
        self._begun = self._done = 0
        self.kept = []  # kinds and lines
        self.failure = None  # members of the program's own record
        self.method = ""  # the last one that began
        self.broken = ""  # what is wrong with a line
        self._has_ended = False

    def see(self, line):
        """Take a line. Libraries print on standard output, too; a line that begins like a record and is wrong fails the launch,
        because a rank may have died while it wrote the line."""
        if not line.startswith("{") or self.broken:
            return
        try:
            kind, members = parse(line)
            if kind == "begin":
                self._done, self._begun = self._begun, self._begun + members["cell"].bytes + _FIXED_WORK
                self.method = members["method"]
                return
        except MeasureError as error:
            self.broken = str(error)
            return
        self.kept.append((kind, line))
        self._has_ended |= kind == "end"
        if kind == "failure" and self.failure is None:
            self.failure = members

    @property
    def share(self):
        return min(1.0, self._done / self._total)

    @property
    def has_ended(self):
        return self._has_ended and not self.broken


class Runner:
    """Measures launches.

    Parameters
    ----------
    launcher : Launcher
    how : How
    folder : str
        An empty folder for this run only, in ``how.folder``.
    progress : Progress
    run : Run
        Gets the records of all launches, also of one that is interrupted. A method that fails is reported and left out, and the
        others of its launch are measured again.

    Raises
    ------
    MeasureError
        No method is built.
    """

    def __init__(self, launcher, how, folder, progress, run):
        self._launcher, self._how, self._folder, self._progress, self._run = launcher, how, folder, progress, run
        self._titles = {method["id"]: str(method.get("title", "")) for method in launcher.description["methods"]}
        self._methods = [method["id"] for method in launcher.description["methods"]
                         if method["built"] and (not how.methods or method["id"] in how.methods)]
        if not self._methods:
            raise MeasureError(f"none of these methods is built in '{launcher.program}': {', '.join(how.methods)}", USAGE)

    def run(self, launches):
        """Measure launches. Raises MeasureError where none is possible, and signals.Interrupted after a signal."""
        all_work, done = sum(_work_of(plan.cells) for plan in launches), 0
        for plan in launches:
            work = _work_of(plan.cells)
            self._measure(plan, done / all_work, work / all_work)
            done += work

    def _measure(self, plan, begin, part):
        """Measure again without the methods that fail until the others succeed, so that their repetitions stay interleaved."""
        left = list(self._methods)
        while left:
            failed = self._attempt(plan, left, begin, part)
            if failed not in left:
                return
            left.remove(failed)

    def _attempt(self, plan, methods, begin, part):
        """Returns the method that failed; "": none, or one that is not known. Then all that was measured is kept."""
        listener = _Listener(plan, len(methods), self._how.repetitions)

        def see(line):
            listener.see(line)
            title = self._titles.get(listener.method, "")
            self._progress.update(begin + part * listener.share,
                                  f"{count_text(plan.ranks, 'rank')}{', ' if title else ''}{title}")

        try:
            ended = _launch.launch(self._launcher, plan.ranks, self._arguments(plan, methods), see, self._how.patience)
        except signals.Interrupted:
            self._keep(listener)
            raise
        self._clear_folder()
        if ended.exit_code == 0 and ended.signal == 0 and listener.has_ended:
            self._keep(listener)
            return ""
        return self._tell_failure(plan, listener, ended)

    def _arguments(self, plan, methods):
        words = ["--dir", self._folder, "--repeat", str(self._how.repetitions), "--cache", plan.cache]
        words += ["--methods", ",".join(methods)]
        if self._how.phases:
            words += ["--phases", ",".join(self._how.phases)]
        for cell in plan.cells:
            words += ["--cell", cell.argument()]
        return [*words, "--limit"] if self._how.limit else words

    def _tell_failure(self, plan, listener, ended):
        told = listener.failure or {"method": "", "message": ""}
        method = told["method"] or listener.method
        message = told["message"] or listener.broken or self._why_it_ended(ended, listener)
        if not method:
            return self._launch_failed(plan, message)
        say(f"{method} with {count_text(plan.ranks, 'rank')} failed and is skipped: {message}")
        for kind, line in listener.kept:
            if kind in ("method", "launch"):
                self._run.add(line)
        self._add_failure(plan, method, message)
        return method

    def _why_it_ended(self, ended, listener):
        if ended.exit_code == 0 and ended.signal == 0 and not ended.silent:
            return f"the program ended without the record 'end', after {count_text(len(listener.kept), 'record')}"
        return _launch.how_it_ended(self._launcher, ended, self._how.patience) + (" (see --patience)" if ended.silent else "")

    def _launch_failed(self, plan, message):
        """The launch failed before the first method. Larger launches may fail where smaller ones succeeded."""
        text = f"{count_text(plan.ranks, 'rank')} of '{self._launcher.program}' could not be started: {message}"
        if not self._run.has_times:
            raise MeasureError(text, IO_ERROR)
        say(text)
        self._add_failure(plan, None, message)
        return ""

    def _add_failure(self, plan, method, message):
        self._run.add_record({"kind": "failure", "method": method, "cell": None, "phase": None,
                              "message": _plain(f"with {count_text(plan.ranks, 'rank')}: {message}"), "rank": None})

    def _keep(self, listener):
        for kind, line in listener.kept:
            if kind != "end":
                self._run.add(line)

    def _clear_folder(self):
        with _contextlib.suppress(OSError):
            for entry in _os.scandir(self._folder):
                if entry.is_dir(follow_symlinks=False):
                    _shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    _os.unlink(entry.path)


def _plain(text):
    """Text whose bytes that are no UTF-8 are shown, as a record takes it."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def run_record(launcher, storage, command, repetitions, caches=("warm",), scaling="none"):
    """The first record of a run, a dict."""
    return {"kind": "run", "version": launcher.description.get("version", "unknown"), "begun": utc_now(), "command": _plain(command),
            "machine": machine_facts(), "storage": storage, "scaling": scaling, "cache": ",".join(caches), "repetitions": repetitions}


def finish(run, complete, seconds):
    """Add the medians, and the end, to the records of a run."""
    for row in run.rows().itertuples():
        run.add_record({"kind": "result", "method": row.method, "cell": row.cell.to_json(), "phase": row.phase, "n": int(row.n),
                        "seconds": {"median": float(row.median), "low": float(row.low), "high": float(row.high)}})
    run.add_record({"kind": "end", "complete": complete, "seconds": round(seconds, 3)})


def measure(launcher, plan, how, command, quiet=False):
    """Measure a plan from its begin to its end.

    Parameters
    ----------
    launcher : Launcher
    plan : Plan
    how : How
    command : str
        What asked for the run, for its record.
    quiet : bool
        Show no progress.

    Returns
    -------
    run : Run
        All records, those of a run that was stopped, too.
    stopped : signals.Interrupted, MeasureError or None
        Why the run ended early.

    Raises
    ------
    MeasureError
        Nothing was measured: the folder is missing or has no room, memory is short, or no launch can be started.
    """
    check_names(how.methods, [method["id"] for method in launcher.description["methods"]], "--methods")
    # A method's files and the merged one; the blocks of the ranks, copies in libraries, and the whole array on one rank.
    storage = storage_facts(how.folder, launcher.program)
    check_room_and_memory(storage, 2.2 * plan.most_bytes + (16 << 20), 4 * plan.most_bytes)
    run, stopped = Run(), None
    caches = dict.fromkeys(launch.cache for launch in plan.launches)
    run.add_record(run_record(launcher, storage, command, how.repetitions, caches, plan.scaling))
    with signals.noted(), scratch_folder(how.folder) as folder:
        begin = _time.monotonic()
        try:
            with Progress("methods", quiet) as progress:
                Runner(launcher, how, folder, progress, run).run(plan.launches)
        except (signals.Interrupted, MeasureError) as why:
            if isinstance(why, MeasureError) and not run.has_times:
                raise
            stopped = why
        finish(run, not stopped, _time.monotonic() - begin)
    return run, stopped
