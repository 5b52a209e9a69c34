"""Shared by the tests of thalweg.measure: records, a program that only pretends to measure, the command in its own process."""

import importlib.util
import json
import os
import pathlib
import stat
import subprocess
import sys

import pytest
from thalweg.measure.parse import parse

ROOT = pathlib.Path(__file__).parents[4]
GOLDEN = pathlib.Path(__file__).parent / "golden"
TIMEOUT = 120  # seconds: a hang is a failure
CELL = {"ranks": 4, "grid": [2, 2], "shape": [8, 16], "order": "c", "cache": "warm"}
TIME = {"kind": "time", "method": "gather", "cell": CELL, "repetition": 1, "phase": "write", "seconds": 0.5,
        "parts": {"open": 0.1},
        "bytes": 512, "cache": "sync"}

needs_statistics = pytest.mark.skipif(importlib.util.find_spec("thalweg.measure.statistics") is None,
                                      reason="thalweg.measure.statistics is missing")
needs_page = pytest.mark.skipif(importlib.util.find_spec("thalweg.measure.page") is None,
                                reason="thalweg.measure.page is missing")


def cell_of(value):
    """The cell of the member `cell` of a record."""
    return parse(line({**TIME, "cell": value}))[1]["cell"]


def line(record):
    return json.dumps(record, separators=(",", ":"))


# A program with three methods, a record for each phase "write"; FAKE_PROBE chooses what goes wrong, in the method "bad".
FAKE = '''\
import json, os, signal, sys, time

WRONG = os.environ.get("FAKE_PROBE", "")
METHODS = [{"id": id, "number": n, "title": f"Method {id}", "built": id != "absent", "library": None, "reason": None}
           for n, id in enumerate(("good", "bad", "better", "absent"), 1)]

def out(record):
    print(json.dumps(record), flush=True)

def fail():
    if WRONG == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if WRONG == "exits":
        sys.stderr.write("----\\nno such luck\\n")
        sys.exit(7)
    if WRONG == "tells":
        out({"kind": "failure", "method": "bad", "cell": None, "phase": "write", "message": "no space left", "rank": 0})
        sys.exit(1)
    if WRONG == "hangs":
        time.sleep(1000)
    if WRONG == "cut off":
        sys.stdout.write('{"kind":"ti')
        sys.exit(9)
    if WRONG == "lies":
        out({"kind": "time", "method": "bad", "seconds": "fast"})

if "--describe" in sys.argv:
    if WRONG == "nonsense":
        print("hello")
        sys.exit(0)
    out({"version": "1.2.3", "mpi": "Fake 1", "kind": "mpich", "mpiexec": os.environ["FAKE_MPIEXEC"], "methods": METHODS})
    sys.exit(0)
if "--storage" in sys.argv:
    folder = sys.argv[2]
    if not os.path.isdir(folder):
        sys.exit(f"thalweg-probe: cannot look at the folder '{folder}': No such file or directory")
    room = os.statvfs(folder)
    out({"kind": "storage", "path": os.path.abspath(folder), "file_system": "fake", "identity": "fake-1",
         "free_bytes": room.f_bavail * room.f_frsize, "profile": ""})
    sys.exit(0)
asked = {}
for name, value in zip(sys.argv[1::2], sys.argv[2::2]):
    asked.setdefault(name, []).append(value)
if WRONG == "never starts":
    sys.stderr.write("no such host\\n")
    sys.exit(3)
print("a library says hello")
ranks = int(os.environ["FAKE_RANKS"])
out({"kind": "launch", "mpi": "Fake 1", "ranks": ranks, "nodes": 1})
for method in METHODS:
    out({"kind": "method", **method})
for repetition in range(int(asked["--repeat"][0]) + 1):
    for text in asked["--cell"]:
        cell = {**json.loads(text), "ranks": ranks, "cache": asked["--cache"][0]}
        shape = cell["shape"]
        for method in asked["--methods"][0].split(","):
            open(os.path.join(asked["--dir"][0], "file"), "w").close()
            out({"kind": "begin", "method": method, "cell": cell, "repetition": repetition})
            if method == "bad":
                fail()
            if WRONG == "waits" and repetition == 2:
                time.sleep(1000)
            if repetition > 0:
                out({"kind": "time", "method": method, "cell": cell, "repetition": repetition, "phase": "write",
                     "seconds": 0.001 * len(method), "parts": {"open": 0.0, "transfer": 0.001, "close": 0.0},
                     "bytes": 4 * shape[0] * shape[1], "cache": cell["cache"]})
if WRONG != "no end":
    out({"kind": "end", "complete": True, "seconds": 1.0})
'''


def make_fake(folder):
    """Writes the program and its launcher; returns their paths."""
    program, mpiexec = folder / "thalweg-probe", folder / "mpiexec"
    program.write_text(f"#!{sys.executable} -IS\n{FAKE}")
    mpiexec.write_text('#!/bin/sh\nexport FAKE_RANKS="$2"\n[ "$2" != "$FAKE_BAD_RANKS" ] || export FAKE_PROBE="never starts"\n'
                       'shift 2\nexec "$@"\n')
    for path in (program, mpiexec):
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return program, mpiexec


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A folder "data", in which the program that pretends is found."""
    folder = tmp_path / "fake"
    folder.mkdir()
    program, mpiexec = make_fake(folder)
    monkeypatch.setenv("THALWEG_PROBE", str(program))
    monkeypatch.setenv("FAKE_MPIEXEC", str(mpiexec))
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.chdir(tmp_path)
    return data


def real_program():
    """The program that measures, of THALWEG_PROBE, on PATH or of a build of this tree; None without one."""
    from thalweg.measure import MeasureError, launch

    for folder in ("", *(str(path.parent) for path in ROOT.glob("build/*/bin/thalweg"))):
        old = os.environ.get("THALWEG_COMMAND_DIR")
        try:
            if folder:
                os.environ["THALWEG_COMMAND_DIR"] = folder
            return launch.find_program()
        except MeasureError:
            pass
        finally:
            os.environ.pop("THALWEG_COMMAND_DIR", None)
            if old is not None:
                os.environ["THALWEG_COMMAND_DIR"] = old
    return None


def command_environment(tmp_path):
    """The environment in which a process imports the thalweg.measure that is tested."""
    if getattr(sys.modules["thalweg"], "__file__", None):
        return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    source = pathlib.Path(__file__).parents[2] / "src"
    shim = tmp_path / "shim" / "thalweg"
    shim.mkdir(parents=True, exist_ok=True)
    (shim / "__init__.py").write_text(f"__path__ = [{str(source / 'thalweg')!r}]\n")
    return {**os.environ, "PYTHONPATH": str(shim.parent), "PYTHONDONTWRITEBYTECODE": "1"}


def start_command(tmp_path, *words, **options):
    return subprocess.Popen([sys.executable, "-m", "thalweg.measure", *map(str, words)], cwd=tmp_path,
                            env=command_environment(tmp_path),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def command(tmp_path, *words, expect=0, **options):
    """Runs the command; returns its standard output and error."""
    process = start_command(tmp_path, *words, **options)
    out, message = process.communicate(timeout=TIMEOUT)
    assert process.returncode == expect, f"{words}: {process.returncode}, {message}"
    return out, message
