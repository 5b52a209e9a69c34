"""Starts the MPI program that measures: finds it and its launcher, passes on its lines, and ends it in any case."""

import contextlib as _contextlib
import dataclasses as _dataclasses
import json as _json
import os as _os
import selectors as _selectors
import shutil as _shutil
import signal as _signal
import subprocess as _subprocess
import sys as _sys
import time as _time

from . import signals
from .errors import IO_ERROR, MeasureError
from .progress import say
from .surroundings import cores

__all__ = ["Launcher", "Ended", "described_by", "find_program", "find_launcher", "launch", "how_it_ended", "lines_of"]

PROGRAM = "thalweg-probe"
_GRACE_S = 5.0  # for MPI to end its ranks
_MOST_ERROR_TEXT = 16 * 1024
_DESCRIBE_PATIENCE_S = 60

# Becomes the program, which ends when this process is killed, and whose own process group gets no Ctrl-C.
_BECOME = """
import ctypes, os, signal, sys
parent, *words = sys.argv[1:]
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() != int(parent):
    os._exit(127)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
try:
    os.execvp(words[0], words)
except OSError as error:
    os.write(2, os.fsencode(f"cannot start '{words[0]}': {error.strerror}\\n"))
os._exit(127)
"""


@_dataclasses.dataclass(frozen=True)
class Launcher:
    """The program that measures, the words before "-n RANKS", the program's description of itself, and variables for the ranks."""

    program: str
    mpiexec: tuple
    description: dict
    variables: dict = _dataclasses.field(default_factory=dict)

    @property
    def kind(self):
        """Kind of the MPI: "mpich", "openmpi" or another word."""
        return self.description.get("kind", "")


@_dataclasses.dataclass(frozen=True)
class Ended:
    """How a launch ended: exit code of the launcher, the signal that ended it or 0, the end of its standard error."""

    exit_code: int = 0
    signal: int = 0
    error_text: str = ""
    silent: bool = False  # ended after too long without output


# ---- Where things are -----------------------------------------------------------------------------------------------

def _is_program(path):
    return _os.path.isfile(path) and _os.access(path, _os.X_OK)


def find_program(asked=""):
    """The path of the program that measures: `asked`, $THALWEG_PROBE, beside the command, on PATH. Raises MeasureError."""
    named = asked or _os.environ.get("THALWEG_PROBE", "")
    if named:
        if _is_program(named):
            return _os.path.abspath(named)
        raise MeasureError(f"'{named}' is not an executable; see --program", IO_ERROR)
    beside = (_os.environ.get("THALWEG_COMMAND_DIR", ""), _os.path.dirname(_sys.executable))
    for candidate in (*(_os.path.join(folder, PROGRAM) for folder in beside if folder), _shutil.which(PROGRAM) or ""):
        if _is_program(candidate):
            return _os.path.abspath(candidate)
    raise MeasureError(f"no program '{PROGRAM}' beside this command or on PATH: build it with MPI (scripts/setup.sh mpi, then "
                       "configure with -DTW_WITH_MPI=ON), or name one with --program or THALWEG_PROBE", IO_ERROR)


def _wrong_in(description):
    """Why a description of a program is none; "": it is one."""
    if not isinstance(description, dict) or "methods" not in description:
        return "it names no methods"
    for name in ("mpi", "kind", "mpiexec", "version"):
        if not isinstance(description.get(name, ""), str):
            return f"its '{name}' is no text"
    if not isinstance(description["methods"], list):
        return "its 'methods' are no list"
    for method in description["methods"]:
        if not (isinstance(method, dict) and isinstance(method.get("id"), str) and isinstance(method.get("built"), bool)):
            return "one of its 'methods' lacks a text 'id' or a yes or no 'built'"
    return ""


def described_by(program):
    """What a program tells about itself, a dict. Raises MeasureError."""
    lines = []
    ended = lines_of(program, ["--describe"], lines.append, _DESCRIBE_PATIENCE_S)
    description = None
    with _contextlib.suppress(ValueError, RecursionError):
        description = _json.loads("".join(lines))
    wrong = _wrong_in(description)
    is_fine = ended.exit_code == 0 and ended.signal == 0
    if is_fine and not wrong:
        return description
    why = wrong if is_fine else _telling_line(ended.error_text) or wrong
    told = f": {why}" if why else ""
    raise MeasureError(f"'{program}' gives no valid description of itself{told}; is it {PROGRAM} of this version?", IO_ERROR)


def find_launcher(program="", mpiexec=""):
    """Find the program that measures, and what starts its ranks.

    Parameters
    ----------
    program : str
        As for `find_program`.
    mpiexec : str
        The launcher and its options, words with blanks between; "": that of the program's MPI.

    Returns
    -------
    Launcher

    Raises
    ------
    MeasureError
        A part is missing; the message has the remedy.
    """
    path = find_program(program)
    description = described_by(path)
    own = description.get("mpiexec", "")  # one path, which may contain blanks
    words = [own] if own and not mpiexec else mpiexec.split() or ["mpiexec"]
    if not (_is_program(words[0]) if "/" in words[0] else _shutil.which(words[0])):
        raise MeasureError(f"no launcher '{words[0]}' for the ranks; name one with --mpiexec", IO_ERROR)
    return Launcher(path, tuple(words), description)


# ---- Where the ranks go ----------------------------------------------------------------------------------------------

def _is_more_than_one(name):
    text = _os.environ.get(name, "").strip()
    return text.isdigit() and int(text) > 1


def _names_several_nodes(variable):
    """Whether the file that the variable names, a line for each slot of a rank, has more than one node."""
    try:
        with open(_os.environ[variable], encoding="utf-8", errors="replace") as file:
            nodes = {line.split()[0].partition(":")[0] for line in file if line.split() and not line.lstrip().startswith("#")}
    except (KeyError, OSError):
        return False
    return len(nodes) > 1


def _has_several_nodes():
    return (any(map(_is_more_than_one, ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "NHOSTS")))
            or any(map(_names_several_nodes, ("PBS_NODEFILE", "HYDRA_HOST_FILE")))
            or len(_os.environ.get("LSB_MCPU_HOSTS", "").split()) > 2)  # "node 16 node 16" by LSF


def environment_for(launcher, ranks):
    """The environment of a launch, a dict. With enough cores each rank is bound to one; otherwise more ranks than cores are
    permitted, and those that wait yield. Over several nodes the batch system places ranks. Variables that are set stay."""
    elsewhere = _has_several_nodes()
    crowded = not elsewhere and ranks > cores()
    if launcher.kind == "openmpi":
        wanted = {"OMPI_MCA_btl_base_warn_component_unused": "0"}
        if _os.geteuid() == 0:
            wanted |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if crowded:
            wanted |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
                       "OMPI_MCA_mpi_yield_when_idle": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
                       "PRTE_MCA_hwloc_default_binding_policy": "none"}
    else:
        # Unbound ranks that poll may stay on one core while another one is idle.
        wanted = {} if elsewhere else {"HYDRA_BINDING": "none" if crowded else "core"}
        if crowded:
            wanted["MPIR_CVAR_CH4_PROGRESS_THROTTLE"] = "1"
        # Hydra starts local ranks over ssh by default; a batch system has its own launcher.
        if not any(name in _os.environ for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "HYDRA_HOST_FILE")):
            wanted["HYDRA_LAUNCHER"] = "fork"
    return wanted | dict(_os.environ) | launcher.variables


# ---- A child --------------------------------------------------------------------------------------------------------

class _Child:
    """A started program; leaving the context ends it and its ranks."""

    def __init__(self, words, environment):
        start = [_sys.executable, "-I", "-S", "-c", _BECOME, str(_os.getpid()), *words]
        self._process = _subprocess.Popen(start, env=environment, stdin=_subprocess.DEVNULL, stdout=_subprocess.PIPE,
                                          stderr=_subprocess.PIPE, bufsize=0, start_new_session=True)
        self.out, self.err = self._process.stdout, self._process.stderr

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            if signals.caught():
                signals.ignore()
                say("ending the ranks")
            self._end()
        self.out.close()
        self.err.close()

    def _end(self):
        for number in (_signal.SIGTERM, _signal.SIGKILL):
            with _contextlib.suppress(ProcessLookupError):
                _os.killpg(self._process.pid, number)
            if self.wait() is not None:
                return

    def wait(self):
        """Wait a while for the end; the return code of subprocess, None where it goes on."""
        with _contextlib.suppress(_subprocess.TimeoutExpired):
            return self._process.wait(_GRACE_S)


def _listen(child, see, patience):
    """Read both streams to their ends. Returns the end of standard error, and whether there was no output for too long."""
    rest, error_text, heard = b"", b"", _time.monotonic()
    with _selectors.DefaultSelector() as streams:
        for stream in (child.out, child.err):
            streams.register(stream, _selectors.EVENT_READ)
        while streams.get_map():
            signals.stop_if_caught()
            if _time.monotonic() - heard > patience:
                return error_text, True
            for key, _ in streams.select(0.1):
                heard = _time.monotonic()
                data = key.fileobj.read(1 << 16)
                if not data:
                    streams.unregister(key.fileobj)
                elif key.fileobj is child.out:
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        see(line.decode("utf-8", "surrogateescape"))
                else:
                    error_text = (error_text + data)[-_MOST_ERROR_TEXT:]
    if rest:
        see(rest.decode("utf-8", "surrogateescape"))
    return error_text, False


def _run_child(words, environment, see, patience):
    with _Child(words, environment) as child:
        error_bytes, silent = _listen(child, see, patience)
        code = None if silent else child.wait()
    error_text = error_bytes.decode("utf-8", "surrogateescape")
    if code is None:
        return Ended(signal=_signal.SIGTERM, error_text=error_text, silent=silent)
    return Ended(max(code, 0), max(-code, 0), error_text)


def launch(launcher, ranks, arguments, see, patience=600):
    """Start the ranks and pass on what they print until all have ended.

    Parameters
    ----------
    launcher : Launcher
    ranks : int
    arguments : list of str
        Arguments of the program.
    see : callable
        Gets each line of standard output, a str. When it raises, the ranks are ended.
    patience : float, seconds
        The ranks are ended after so long without any output.

    Returns
    -------
    Ended

    Raises
    ------
    thalweg.measure.signals.Interrupted
        Ctrl-C, or another signal that asks for the end; the ranks have ended.
    """
    words = [*launcher.mpiexec, "-n", str(ranks), launcher.program, *arguments]
    return _run_child(words, environment_for(launcher, ranks), see, patience)


def lines_of(program, arguments, see, patience=600):
    """Start the program without MPI, as for --predict, and pass on its lines, as `launch` does."""
    return _run_child([program, *arguments], dict(_os.environ), see, patience)


# ---- Why it ended ----------------------------------------------------------------------------------------------------

def _telling_line(text):
    """The first line with a letter in it: launchers print lines of dashes. "": none."""
    return next((line for line in text.splitlines() if any(char.isascii() and char.isalpha() for char in line)), "")


def _signal_of_rank(launcher, code):
    """The signal that killed a rank, as far as the exit code of the launcher shows it; 0: none. A shell adds 128, the launcher
    of MPICH nothing; the program itself exits with 0, 1 or 2."""
    if 128 < code < 193:
        return code - 128
    return code if launcher is not None and launcher.kind == "mpich" and 2 < code < 65 else 0


def how_it_ended(launcher, ended, patience):
    """Why a launch failed, in words; `launcher` is None for a program that runs without one."""
    if ended.silent:
        return f"no output for {patience} s: it hangs, or needs a larger limit"
    why = _telling_line(ended.error_text)
    said = f" and printed: {why}" if why else ""
    name = "the program" if launcher is None else "mpiexec"
    if ended.signal:
        return f"{name} ended by signal {ended.signal} ({_signal.strsignal(ended.signal)}){said}"
    number = _signal_of_rank(launcher, ended.exit_code)
    if number:
        return f"a rank was killed by signal {number} ({_signal.strsignal(number)}){said}"
    return f"{name} ended with {ended.exit_code}{said}"
