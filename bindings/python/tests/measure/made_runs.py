"""Runs that were never measured, for tests: times of chosen methods, and whole runs of a machine that does not exist."""

import json
import math
import pathlib
import random

from thalweg.measure.records import Cell, Run

GOLDEN = pathlib.Path(__file__).parent / "golden"
MIB = 1 << 20
REPETITIONS = 7


def made_cell(ranks, side=4096, grid=None, order="c", cache="warm"):
    """A square array whose blocks interleave where there are two ranks or more."""
    return Cell(ranks, tuple(grid or (max(1, ranks // 2), min(2, ranks))), (side, side), order, cache)


def run_of(times, facts=(), predicted=False, open_share=0.0):
    """A run with 7 repetitions, 1 % apart, of each (method, cell, seconds[, phase[, spread]])."""
    run = Run()
    for method, cell, seconds, *more in times:
        phase, spread = (*more, *("write", 0.01)[len(more):])
        for i in range(REPETITIONS):
            value = seconds * (1 + spread * (i - REPETITIONS // 2) / (REPETITIONS // 2) / 2)
            run.add_record({
                "kind": "time", "method": method, "cell": cell.to_json(), "phase": phase, "repetition": i + 1,
                "seconds": value, "parts": {"open": seconds * (open_share or 0.01), "transfer": value,
                                            "close": 0}, "bytes": cell.bytes, "cache": cell.cache, "predicted": predicted
            })
    for method, cell, memory in facts:
        run.add_record({
            "kind": "facts", "method": method, "cell": cell.to_json(), "memory_bytes": memory, "plan": None
        })
    return run


# Bandwidth of the whole on one rank in MiB/s, its exponent of growth with ranks, and seconds of an opening.
SPEED = {
    "gather": (900, -0.15, 0.001),
    "file-per-task": (1400, 0.55, 0.0008),
    "file-per-task-dirs": (1380, 0.55, 0.001),
    "mpiio-global-0": (1100, -1.3, 0.001),
    "mpiio-global-1": (1050, -0.9, 0.001),
    "mpiio-global-2": (1080, -0.7, 0.001),
    "mpiio-global-3": (1060, 0.2, 0.0015),
    "mpiio-chunk-0": (1250, 0.45, 0.001),
    "mpiio-chunk-1": (1230, 0.45, 0.001),
    "mpiio-chunk-2": (1240, 0.45, 0.001),
    "mpiio-chunk-3": (1220, 0.44, 0.001),
    "hdf5-contiguous-independent": (950, -0.8, 0.004),
    "hdf5-contiguous-collective": (960, 0.18, 0.004),
    "hdf5-chunked-independent": (700, -0.1, 0.006),
    "hdf5-chunked-collective": (720, 0.0, 0.006),
    "mpiio-nonblocking": (1020, 0.18, 0.002),
    "pnetcdf": (930, 0.17, 0.003),
    "tw-multifile": (1500, 0.62, 0.001),
    "tw-collective": (1420, 0.5, 0.001),
    "tw-nonblocking": (1380, 0.48, 0.001),
    "tw-vpfile": (1350, 0.46, 0.002),
}
OUTCOMES = {
    "file-per-task": "separate", "file-per-task-dirs": "separate", "tw-multifile": "library",
    "hdf5-chunked-independent": "library", "hdf5-chunked-collective": "library", "mpiio-chunk-0": "chunks",
    "mpiio-chunk-1": "chunks", "mpiio-chunk-2": "chunks", "mpiio-chunk-3": "chunks"
}
PHASES = {"write": 1.0, "read": 0.55, "restart": 0.62, "serial": 0.9}
GRIDS = {1: (1, 1), 2: (2, 1), 4: (2, 2), 8: (4, 2)}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'{{ 7 * 7 }}<b>\u202e\u0000\u2028"


def method_records():
    """The records of all methods, as the golden records have them, with their outcomes."""
    found = {}
    for line in (GOLDEN / "scaling.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == "method":
            found[record["id"]] = {**record, "outcome": OUTCOMES.get(record["id"], "array")}
    return list(found.values())


def full_run(cells, seed=1, repetitions=7, limits=True, predicted=()):
    """A run of all methods, with all phases, facts, limits, a failure and a skipped method."""
    rng, run = random.Random(seed), Run()
    run.add_record({
        "kind": "run", "version": "0.4.0", "begun": "2026-03-02T10:15:00Z",
        "command": "thalweg methods --ranks 1,2,4,8 --strong --weak",
        "machine": {"cpu": "Example CPU 8-Core @ 3.00GHz", "cores": 8, "memory_bytes": 32 << 30, "kernel": "Linux 6.1.0"},
        "storage": {"path": "/scratch/example", "kind": "ext4", "identity": "ext4-1234",
                    "free_bytes": 200 << 30}, "scaling": "strong and weak", "cache": "warm", "repetitions": repetitions
    })
    run.add_record({"kind": "launch", "mpi": "MPICH 4.0.2", "ranks": 8, "nodes": 1})
    for record in method_records():
        run.add_record(record)
    for cell in (*cells, *predicted):
        for method in SPEED:
            if (method, cell) != ("gather", cells[-1]):
                add_method(run, rng, method, cell, repetitions if cell in cells else 1, cell in predicted)
        for phase, factor in (("write", 1.0), ("read", 0.4)) if limits else ():
            seconds = factor * cell.bytes / (1700 * MIB * min(cell.ranks, 8) ** 0.65)
            run.add_record({
                "kind": "limit", "cell": cell.to_json(), "phase": phase, "repetition": 1, "seconds": seconds,
                "bytes": cell.bytes
            })
    run.add_record({
        "kind": "failure", "method": "hdf5-chunked-independent", "cell": cells[-1].to_json(), "phase": "write", "rank": 3,
        "message": "'/scratch/example/f.h5': H5Dwrite: no space left on device"
    })
    run.add_record({"kind": "skipped", "method": "gather", "cell": cells[-1].to_json(), "phase": None,
                    "reason": "the array does not fit into half of the memory of one rank"})
    run.add_record({"kind": "end", "complete": True, "seconds": 312.5})
    return run


def add_method(run, rng, method, cell, repetitions, predicted):
    base, grow, first = SPEED[method]
    seconds = first * (1 + 0.1 * cell.ranks) + cell.bytes / (base * MIB *
                                                             cell.ranks**grow) * (1.15 if cell.order == "f" else 1)
    for repetition in range(1, repetitions + 1):
        parts = [(phase, seconds * factor, {}) for phase, factor in PHASES.items()]
        if method in OUTCOMES:
            parts.append(("merge", cell.bytes / (600 * MIB), {}))
        if method.endswith("nonblocking"):
            hidden = 0.85 if method.startswith("tw") else 0.2
            parts.append(("overlap", seconds * (2.2 - hidden),
                          {"compute_seconds": seconds * 1.2, "hidden": hidden * rng.uniform(0.95, 1.05)}))
        for phase, value, more in parts:
            value *= rng.lognormvariate(0, 0.03)
            run.add_record({
                "kind": "time", "method": method, "cell": cell.to_json(), "phase": phase, "repetition": repetition,
                "seconds": value, "parts": {"open": min(first, value / 3), "transfer": value * 0.9, "close": value * 0.02},
                "bytes": cell.bytes, "cache": cell.cache, "predicted": predicted, **more
            })
    run.add_record({
        "kind": "facts", "method": method, "cell": cell.to_json(), "memory_bytes": cell.bytes if method == "gather" else 65536,
        "plan": "aggregate by 2 aggregators" if method == "tw-collective" else None
    })


def scaling_cells(side=4096, small_side=256):
    """Strong and weak scaling in both orders, and small arrays."""
    strong = [Cell(ranks, grid, (side, side), order) for order in ("c", "f") for ranks, grid in GRIDS.items()]
    weak = [Cell(ranks, grid, (round(side * math.sqrt(ranks) / 8) * 8,) * 2) for ranks, grid in GRIDS.items() if ranks > 1]
    return strong + weak + [Cell(ranks, grid, (small_side, small_side)) for ranks, grid in GRIDS.items()]


def hostile_run():
    """A run whose free texts look like markup."""
    run, first = Run(), full_run([Cell(2, (2, 1), (1024, 1024))])
    for line in first.lines:
        record = json.loads(line)
        if record["kind"] == "run":
            record["command"] = record["machine"]["cpu"] = record["storage"]["path"] = record["storage"]["kind"] = record[
                "begun"] = HOSTILE
        elif record["kind"] == "launch":
            record["mpi"] = HOSTILE
        elif record["kind"] == "method" and record["id"] == "file-per-task":
            record["title"] = record["library"] = HOSTILE
        elif record["kind"] == "method" and not record["built"]:
            record["reason"] = HOSTILE
        elif record["kind"] == "facts":
            record["plan"] = HOSTILE
        for member in ("id", "method"):
            if record.get(member) == "file-per-task":
                record[member] = HOSTILE
        run.add_record(record)
    run.add_record({
        "kind": "time", "method": "tw-collective", "cell": first.facts[0]["cell"].to_json(), "phase": HOSTILE,
        "repetition": 1, "seconds": 0.01, "bytes": 4096, "cache": HOSTILE
    })
    run.add_record({"kind": "failure", "method": HOSTILE, "cell": None, "phase": HOSTILE, "message": HOSTILE, "rank": 0})
    return run


def points_of(run):
    """Predictions that are 20 % too long, those on 2 ranks used for the fit."""
    table = run.rows()
    table = table[(table["phase"] == "write") & ~table["predicted"]]
    return [{
        "method": row.method, "phase": row.phase, "cell": row.cell, "predicted": 1.2 * row.median, "measured": row.median,
        "used_for_fit": row.cell.ranks == 2
    } for row in table.itertuples()]
