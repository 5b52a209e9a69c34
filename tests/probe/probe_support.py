"""Shared by the tests of thalweg-probe: starting it, and its records (docs/design/methods.md).

Environment: TW_MPI_LAUNCH, the launcher of the build; TW_MPI_KIND, its MPI; TW_BIN, the folder of the program. TMPDIR
is optional.
"""

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["TW_BIN"]).resolve() / "thalweg-probe"
WITHOUT_LIBRARIES = PROGRAM.parent.parent / "tests" / "probe_without_libraries"
LAUNCH = shlex.split(os.environ["TW_MPI_LAUNCH"])
TIMEOUT = 120  # seconds: a hang is a failure

PHASES = ("write", "read", "restart", "serial", "merge", "overlap")
IDS = (
    "gather", "file-per-task", "file-per-task-dirs", "mpiio-global-0", "mpiio-global-1", "mpiio-global-2", "mpiio-global-3",
    "mpiio-chunk-0", "mpiio-chunk-1", "mpiio-chunk-2", "mpiio-chunk-3", "hdf5-contiguous-independent",
    "hdf5-contiguous-collective", "hdf5-chunked-independent", "hdf5-chunked-collective", "mpiio-nonblocking", "pnetcdf",
    "tw-multifile", "tw-collective", "tw-nonblocking", "tw-vpfile", "sionlib",
)
# Methods whose file has the array contiguously; the files of the others are merged.
GLOBAL = tuple(id for id in IDS if id in ("gather", "mpiio-nonblocking", "pnetcdf", "tw-collective", "tw-nonblocking", "tw-vpfile")
               or id.startswith(("mpiio-global", "hdf5-contiguous")))
OVERLAPPING = ("mpiio-nonblocking", "tw-nonblocking")

TEXT, NUMBER, WHOLE, OPTIONAL_TEXT = str, (int, float), int, (str, type(None))
MEMBERS = {
    "launch": {"mpi": TEXT, "ranks": WHOLE, "nodes": WHOLE, "yields": bool},
    "method": {"id": TEXT, "number": WHOLE, "title": TEXT, "outcome": TEXT, "collective": bool, "nonblocking": bool, "needs": TEXT,
               "built": bool, "library": OPTIONAL_TEXT, "reason": OPTIONAL_TEXT},
    "begin": {"method": TEXT, "cell": dict, "repetition": WHOLE},
    "time": {"method": TEXT, "cell": dict, "repetition": WHOLE, "phase": TEXT, "seconds": NUMBER, "parts": dict, "bytes": WHOLE,
             "cache": TEXT},
    "limit": {"cell": dict, "phase": TEXT, "repetition": WHOLE, "seconds": NUMBER, "bytes": WHOLE},
    "facts": {"method": TEXT, "cell": dict, "memory_bytes": WHOLE, "plan": OPTIONAL_TEXT},
    "skipped": {"method": TEXT, "cell": (dict, type(None)), "phase": OPTIONAL_TEXT, "reason": TEXT},
    "failure": {"method": OPTIONAL_TEXT, "cell": (dict, type(None)), "phase": OPTIONAL_TEXT, "message": TEXT, "rank": WHOLE},
    "end": {"complete": bool, "seconds": NUMBER},
}
CELL = {"ranks": WHOLE, "grid": list, "shape": list, "order": TEXT, "cache": TEXT}


class Launch:
    """Result of one launch: the records of standard output, by kind."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.records = {kind: [] for kind in MEMBERS}
        self.lines = [line for line in out.splitlines() if line.startswith("{")]
        for line in self.lines:
            record = json.loads(line)
            self.records[record["kind"]].append(record)

    def __getattr__(self, kind):
        return self.__dict__["records"][kind]


class ProbeTest(unittest.TestCase):
    """Each test runs in a fresh folder."""

    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="methods-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, ranks, *words, before=(), program=PROGRAM):
        # Output goes to files, as a process that outlives the launcher would keep a pipe open. A process group of its
        # own lets the test end all processes.
        out, err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        process = subprocess.Popen([*before, *LAUNCH, "-n", str(ranks), program, *map(str, words)], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, start_new_session=True)
        process.out, process.err = out, err
        self.addCleanup(end_group, process)
        return process

    def finish(self, process):
        try:
            process.wait(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail(f"a hang: nothing after {TIMEOUT} s.\n{content(process.out)[-2000:]}\n{content(process.err)[-2000:]}")
        return Launch(process.returncode, content(process.out), content(process.err))

    def launch(self, ranks, *words, **how):
        return self.finish(self.start(ranks, *words, **how))

    def measure(self, ranks, *words, **how):
        """Runs a launch that must succeed and be complete."""
        launch = self.launch(ranks, "--dir", self.folder, *words, **how)
        self.assertEqual(launch.code, 0, f"{launch.failure}\n{launch.err[-2000:]}")
        self.assertEqual(launch.failure, [])
        self.assertEqual([end["complete"] for end in launch.end], [True])
        self.assert_well_formed(launch)
        return launch

    def assert_well_formed(self, launch):
        for kind, records in launch.records.items():
            for record in records:
                self.assert_members(record, MEMBERS[kind])
                if record.get("cell") is not None:
                    self.assert_members(record["cell"], CELL)
        for time in launch.time:
            self.assert_members(time["parts"], {"open": NUMBER, "transfer": NUMBER, "close": NUMBER})
            self.assertGreater(time["seconds"], 0)
            self.assertIn(time["phase"], PHASES)
            self.assertEqual(time["phase"] == "restart", "readers" in time, time)
            self.assertEqual(time["phase"] == "overlap", "hidden" in time and "compute_seconds" in time, time)
        self.assertEqual([method["id"] for method in launch.method], list(IDS))

    def assert_members(self, record, members):
        for name, kind in members.items():
            self.assertIn(name, record, record)
            self.assertIsInstance(record[name], kind, f"{name} of {record}")


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    process.out.close()
    process.err.close()


def content(file):
    # pread: the position is shared with the process.
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


def cell(shape, grid=None, order="c", **more):
    members = {"shape": shape, "order": order, **more}
    return json.dumps(members if grid is None else {**members, "grid": grid})


def built():
    """The ids of the methods of this build."""
    said = json.loads(subprocess.run([PROGRAM, "--describe"], check=True, capture_output=True, text=True, timeout=TIMEOUT).stdout)
    return [method["id"] for method in said["methods"] if method["built"]]


def main():
    if not PROGRAM.exists():
        print(f"{PROGRAM.name} is not part of this build")
        sys.exit(77)
    unittest.main()
