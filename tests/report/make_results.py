#!/usr/bin/env python3
"""Writes records as a run of `thalweg methods` has them (docs/design/methods.md), of a machine that does not exist.

Usage: make_results.py [--kind full|scaling|one-cell|sizes|hostile] [--methods ID,ID,...] [--seed N] > results.jsonl

full: all methods of tools/methods/method_table.cpp on 1, 2, 4 and 8 ranks, strong and weak scaling, both orders; some are
not built, fail or are skipped. The same arguments give the same bytes.
"""

import argparse
import json
import math
import pathlib
import random
import re
import sys

TABLE = pathlib.Path(__file__).parents[2] / "tools/methods/method_table.cpp"
ENTRY = re.compile(r'MethodInfo\{(\d+), "([^"]+)", "([^"]+)", "([^"]*)", (\w+), (\w+), (\w+)\}')
MIB = 1 << 20
GRIDS = {1: [1, 1], 2: [2, 1], 4: [2, 2], 8: [4, 2]}
ABSENT = {"SIONlib": "not built: SIONlib was not found when Thalweg was built"}
LIBRARIES = {"HDF5": "HDF5 1.10.8 (parallel)", "PnetCDF": "PnetCDF 1.12.3"}

# Bandwidth of the whole on one rank in MiB/s, its exponent of growth with ranks, and seconds of an open.
SPEED = {
    "gather": (900, -0.15, 0.001), "file-per-task": (1400, 0.55, 0.0008), "file-per-task-dirs": (1380, 0.55, 0.001),
    "mpiio-global-0": (1100, -1.3, 0.001), "mpiio-global-1": (1050, -0.9, 0.001), "mpiio-global-2": (1080, -0.7, 0.001),
    "mpiio-global-3": (1060, 0.2, 0.0015), "mpiio-chunk-0": (1250, 0.45, 0.001), "mpiio-chunk-1": (1230, 0.45, 0.001),
    "mpiio-chunk-2": (1240, 0.45, 0.001), "mpiio-chunk-3": (1220, 0.44, 0.001),
    "hdf5-contiguous-independent": (950, -0.8, 0.004), "hdf5-contiguous-collective": (960, 0.18, 0.004),
    "hdf5-chunked-independent": (700, -0.1, 0.006), "hdf5-chunked-collective": (720, 0.0, 0.006),
    "mpiio-nonblocking": (1020, 0.18, 0.002), "pnetcdf": (930, 0.17, 0.003), "tw-multifile": (1500, 0.62, 0.001),
    "tw-collective": (1420, 0.5, 0.001), "tw-nonblocking": (1380, 0.48, 0.001), "tw-vpfile": (1350, 0.46, 0.002),
    "sionlib": (1300, 0.45, 0.003),
}
PHASES = {"write": 1.0, "read": 0.55, "restart": 0.62, "serial": 0.9}


def methods():
    return [(int(n), i, t, needs, outcome) for n, i, t, needs, outcome, _, _ in ENTRY.findall(TABLE.read_text())]


def cell(ranks, shape, order="c", cache="warm"):
    grid = GRIDS[ranks] if len(shape) == 2 else [*GRIDS[ranks], 1]
    return {"ranks": ranks, "grid": grid, "shape": shape, "order": order, "cache": cache}


def size(c):
    return 4 * math.prod(c["shape"])


def time(rng, method, c, phase, repetition, seconds, **more):
    seconds *= rng.lognormvariate(0, 0.03)
    first = SPEED[method][2]
    parts = {"open": round(min(first, seconds / 3), 7), "transfer": round(seconds * 0.9, 7), "close": round(seconds * 0.02, 7)}
    return {"kind": "time", "method": method, "cell": c, "repetition": repetition, "phase": phase, "seconds": round(seconds, 7),
            "parts": parts, "bytes": size(c), "cache": c["cache"], **more}


def times(rng, method, outcome, c, repetitions):
    base, grow, first = SPEED[method]
    serial_factor = 3 if outcome in ("separate", "library", "chunks") else 1
    contiguous = c["ranks"] == 1
    exponent = grow if grow > 0 or not contiguous else 0
    order_cost = 1.15 if c["order"] == "f" and "chunk" not in method and "file-per" not in method else 1
    seconds = first * (1 + 0.1 * c["ranks"]) + size(c) / (base * MIB * c["ranks"] ** exponent) * order_cost
    for repetition in range(1, repetitions + 1):
        for phase, factor in PHASES.items():
            more = {"readers": c["ranks"] + 1} if phase == "restart" else {}
            scale = factor * (serial_factor if phase == "serial" else 1)
            yield time(rng, method, c, phase, repetition, seconds * scale, **more)
        if outcome in ("separate", "chunks", "library"):
            yield time(rng, method, c, "merge", repetition, size(c) / (600 * MIB), **{})
        if method in ("mpiio-nonblocking", "tw-nonblocking"):
            hidden = 0.85 if method.startswith("tw") else 0.2
            compute = seconds * 1.2
            yield time(rng, method, c, "overlap", repetition, compute + seconds * (1 - hidden), compute_seconds=round(compute, 7),
                       hidden=round(min(1, hidden * rng.lognormvariate(0, 0.02)), 4))


def facts(method, outcome, c):
    files = c["ranks"] if outcome == "separate" else 1
    block = size(c) // c["ranks"]
    memory = {"gather": size(c)}.get(method, 0)
    if method in ("mpiio-global-1", "mpiio-global-3", "hdf5-contiguous-collective", "pnetcdf", "mpiio-nonblocking"):
        memory = min(block, 16 * MIB)
    if method in ("tw-collective", "tw-nonblocking", "tw-vpfile"):
        memory = min(block, 4 * MIB)
    hints = {}
    if method.startswith(("mpiio", "hdf5", "pnetcdf")):
        hints = {"cb_buffer_size": "16777216", "cb_nodes": str(min(2, c["ranks"])), "romio_cb_write": "automatic", "romio_ds_write": "automatic"}
    if method.startswith("tw"):
        hints = {"aggregators": str(min(2, c["ranks"])), "io": "auto", "strategy": "auto"}
    plan = None
    if method in ("tw-collective", "tw-nonblocking"):
        plan = f"write: interleaved: {c['ranks']} tasks, {c['shape'][0]} runs, density 1.00: aggregate by {min(2, c['ranks'])} aggregators"
    return {"kind": "facts", "method": method, "cell": c, "files": files, "folders": 2 if method.endswith("dirs") else 0,
            "file_bytes": size(c) + (2048 if outcome == "library" else 0), "stored_bytes": size(c) + 4096 * files, "memory_bytes": memory + 65536,
            "hints": hints, "plan": plan}


def cells_of(kind):
    if kind == "scaling":
        return [cell(ranks, [256, 256]) for ranks in (2, 4)]
    if kind == "one-cell":
        return [cell(2, [1024, 1024])]
    if kind == "sizes":
        return [cell(4, [n, n]) for n in (512, 1024, 2048)]
    strong = [cell(ranks, [4096, 4096], order) for order in ("c", "f") for ranks in GRIDS]
    weak = [cell(ranks, [round(4096 * math.sqrt(ranks) / 8) * 8] * 2) for ranks in GRIDS if ranks > 1]
    return strong + weak


def head(kind, cells, repetitions):
    yield {"kind": "run", "version": "0.4.0", "begun": "2026-03-02T10:15:00Z", "command": "thalweg methods --ranks 1,2,4,8 --size 4096 --strong --weak",
           "machine": {"cpu": "Example CPU 8-Core @ 3.00GHz", "cores": 8, "memory_bytes": 32 << 30, "kernel": "Linux 6.1.0"},
           "storage": {"path": "/scratch/example", "kind": "ext4", "identity": "ext4-1234", "free_bytes": 200 << 30},
           "scaling": {"full": "strong+weak", "scaling": "strong"}.get(kind, "none"), "cache": "warm", "repetitions": repetitions, "profile": "/home/user/.config/thalweg/storage.json"}
    for ranks in sorted({c["ranks"] for c in cells}):
        yield {"kind": "launch", "mpi": "MPICH Version: 4.0.2", "ranks": ranks, "nodes": 1, "thread_level": "multiple"}
        for number, method, title, needs, _ in methods():
            yield {"kind": "method", "id": method, "number": number, "title": title, "built": needs not in ABSENT,
                   "library": LIBRARIES.get(needs), "reason": ABSENT.get(needs)}


def mishaps(cells):
    last = cells[-1]
    yield {"kind": "failure", "method": "hdf5-chunked-independent", "cell": last, "phase": "write", "rank": 3,
           "message": "'/scratch/example/f.h5': H5Dwrite: no space left on device"}
    yield {"kind": "skipped", "method": "gather", "cell": last, "phase": None, "reason": "the array does not fit into half of the memory of one rank"}


def records(kind, seed, chosen):
    rng = random.Random(seed)
    repetitions = {"full": 7, "scaling": 6}.get(kind, 3)
    cells = cells_of(kind)
    yield from head(kind, cells, repetitions)
    left_out = {"hdf5-chunked-independent", "gather"} if kind == "full" else set()
    for c in cells:
        for _, method, _, needs, outcome in methods():
            if needs in ABSENT or (chosen and method not in chosen) or (c is cells[-1] and method in left_out):
                continue
            yield facts(method, outcome, c)
            yield from times(rng, method, outcome, c, repetitions)
    if kind == "full":
        yield from mishaps(cells)
    yield {"kind": "end", "complete": True, "seconds": 312.5}


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'\u202e\u0000\u2028"


def hostile(records_of):
    """Replaces every free text by text that looks like markup."""
    for record in records_of:
        if record["kind"] == "run":
            record["command"] = record["machine"]["cpu"] = record["storage"]["path"] = record["storage"]["kind"] = record["begun"] = HOSTILE
        if record["kind"] == "launch":
            record["mpi"] = record["thread_level"] = HOSTILE
        if record["kind"] == "method" and record["number"] == 2:
            record["id"] = record["title"] = record["library"] = HOSTILE
        if record["kind"] == "method" and not record["built"]:
            record["reason"] = HOSTILE
        if record.get("method") == "file-per-task":
            record["method"] = HOSTILE
        if record["kind"] == "facts":
            record["hints"][HOSTILE] = HOSTILE
            record["plan"] = HOSTILE
        yield record
    yield {"kind": "failure", "method": HOSTILE, "cell": None, "phase": HOSTILE, "message": HOSTILE, "rank": 0}
    yield {"kind": "unheard of", "text": HOSTILE}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=["full", "scaling", "one-cell", "sizes", "hostile"], default="full")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--methods", help="only these have times, ids with commas")
    asked = parser.parse_args()
    chosen = set(asked.methods.split(",")) if asked.methods else None
    made = records("one-cell" if asked.kind == "hostile" else asked.kind, asked.seed, chosen)
    if asked.kind == "hostile":
        made = hostile(made)
    for record in made:
        sys.stdout.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
