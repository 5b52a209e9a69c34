"""Records of a made-up machine, whose constants are known, and a program that pretends to simulate and to measure."""

import stat
import sys

import numpy as np

from thalweg.measure import terms
from thalweg.measure.parse import Cell
from thalweg.measure.plan import grid_for
from thalweg.measure.records import Run


def method(name, number, outcome, collective, needs="", built=True):
    return {"kind": "method", "id": name, "number": number, "title": f"Title of {name}", "built": built, "library": None, "reason": None,
            "outcome": outcome, "collective": collective, "nonblocking": "nonblocking" in name, "needs": needs}


METHODS = [method("gather", 1, "array", True), method("file-per-task", 2, "separate", False),
           method("file-per-task-dirs", 3, "separate", False), method("mpiio-global-0", 4, "array", False),
           method("mpiio-global-3", 7, "array", True), method("mpiio-chunk-0", 8, "chunks", False),
           method("mpiio-chunk-3", 11, "chunks", True), method("hdf5-chunked-collective", 15, "library", True, "HDF5"),
           method("pnetcdf", 17, "array", True, "PnetCDF", built=False), method("tw-multifile", 18, "library", False),
           method("tw-collective", 19, "array", True), method("tw-nonblocking", 20, "array", True), method("tw-vpfile", 21, "array", True)]
BY_ID = {one["id"]: one for one in METHODS}

# Seconds, by the names of terms.TERMS: a file per task is the fastest, then a multifile.
CONSTANTS = {
    "gather": {"fixed": 1e-4, "meeting": 1e-5, "byte": 1e-9},
    "file-per-task": {"fixed": 1e-4, "per_rank": 5e-5, "shared_byte": 2e-10},
    "mpiio-global-0": {"fixed": 1e-3, "byte": 2e-10, "run": 5e-6},
    "mpiio-global-3": {"fixed": 1e-3, "meeting": 1e-4, "byte": 6e-10},
    "mpiio-chunk-3": {"fixed": 1e-3, "byte": 4e-10},
    "hdf5-chunked-collective": {"fixed": 5e-3, "byte": 6e-10},
    "tw-multifile": {"fixed": 4e-4, "shared_byte": 3e-10},
    "tw-collective": {"fixed": 2e-4, "meeting": 5e-5, "byte": 3.5e-10},
    "tw-nonblocking": {"fixed": 3e-4, "meeting": 5e-5, "byte": 4.2e-10},
    "tw-vpfile": {"fixed": 3e-4, "meeting": 5e-5, "byte": 4.4e-10},
}


def cell(ranks, *shape, grid=None, **members):
    return Cell(ranks, grid or grid_for(ranks, len(shape)), shape, **members)


def calibration_cells(sides=(256, 512, 1024, 2048), ranks=(1, 2, 4)):
    cells = [cell(n, side, side) for n in ranks for side in sides]
    return cells + [cell(n, 4096, 256, grid=(1, n)) for n in ranks if n > 1]


def seconds_of(name, phase, one, readers=0, constants=None):
    values = (constants or CONSTANTS)[name]
    factors = terms.terms_of(BY_ID[name], phase, terms.load_of(one, phase, readers, 2))
    return float(sum(factors[terms.TERMS.index(term)] * value for term, value in values.items()))


def made_run(cells=None, noise=0.0, common=0.0, seed=1, constants=None, phases=("write", "read", "restart"), repetitions=3, identity="made-up",
             methods=None, scale=None):
    """A run on 2 cores: times of each method are disturbed by exp(noise * normal), all of a cell by exp(common * normal)."""
    rng, run = np.random.default_rng(seed), Run()
    constants = constants or CONSTANTS
    run.add_record({"kind": "run", "version": "1.0", "machine": {"cores": 2}, "storage": {"path": "/x", "kind": "made", "identity": identity}})
    run.add_record({"kind": "launch", "mpi": "MPICH 4.0.2", "ranks": 2, "nodes": 1})
    for one in methods or METHODS:
        run.add_record(one)
    for one in cells or calibration_cells():
        for phase in phases:
            readers = max(1, one.ranks // 2)
            shared = np.exp(common * rng.standard_normal())
            for name in constants:
                own = np.exp(noise * rng.standard_normal()) * (scale(name, phase, one) if scale else 1.0)
                seconds = seconds_of(name, phase, one, readers if phase == "restart" else 0, constants) * shared * own
                for repetition in range(1, repetitions + 1):
                    run.add_record({"kind": "time", "method": name, "cell": one.to_json(), "repetition": repetition, "phase": phase,
                                    "seconds": seconds, "parts": {"open": 0, "transfer": seconds, "close": 0}, "bytes": one.bytes,
                                    "cache": one.cache, "readers": readers if phase == "restart" else 0})
    run.add_record({"kind": "end", "complete": True, "seconds": 1.0})
    return run


# Simulates an access as the bytes of all tasks over the bandwidth of the storage, a call of 1 us for each piece, and opening; a gather
# is ten times slower. What is asked is appended to the file SIMULATED.
SIMULATOR = '''
import json, os, sys

asked = json.load(sys.stdin)
if os.environ.get("SIMULATED"):
    with open(os.environ["SIMULATED"], "a") as file:
        file.write(json.dumps(asked) + "\\n")
if os.environ.get("SIMULATOR") == "fails":
    print(json.dumps({"kind": "failure", "message": "tasks is 0, must be 1 .. 1048576"}))
    sys.exit(0)
if os.environ.get("SIMULATOR") == "dies":
    sys.exit("out of luck")
machine = asked["machine"]
for access in asked["accesses"]:
    size = access["tasks"] * access["pieces"] * access["piece_bytes"]
    transfer = size * machine["server_byte_ns"] / machine["servers"] * 1e-9 + access["pieces"] * 1e-6
    files = access["tasks"] if access["way"] == "file-per-task" else 1
    opening = files * machine["create_ns" if access["direction"] == "write" else "open_ns"] * 1e-9
    print(json.dumps({"kind": "prediction", "way": access["way"], "direction": access["direction"], "tasks": access["tasks"],
                      "open_seconds": opening, "transfer_seconds": transfer * (10 if access["way"] == "gather" else 1),
                      "close_seconds": 0.0}))
    if os.environ.get("SIMULATOR") == "stops":
        break
'''


def make_simulator(folder):
    """Write the program that simulates; returns its path."""
    program = folder / "thalweg-probe"
    program.write_text(f"#!{sys.executable} -IS\n{SIMULATOR}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program
