#!/usr/bin/env python3
"""Compare MPI-IO on Thalweg with that of the MPI libraries, on the same programs.

Usage: run.py [--quick] [--dir DIR]... [--turns N] [--case CASE]... [--json FILE] NAME=MPICC,MPIEXEC[,LIBRARY[,H5PCC]]...

  NAME=MPICC,MPIEXEC[,LIBRARY[,H5PCC]]  an MPI: its compiler, its launcher, the libthalweg_mpiio that was built for it, and
           the compiler of its parallel HDF5, without which there is no row of HDF5
  --case   measure this one only; it may be given several times
  --dir    folder on the file system to measure; several are measured one after the other (default: the current one)
  --turns  turns of all variants, in a new random order each (default 5; --quick: 1)
  --json   writes all times

Every MPI is measured as it is, Open MPI with both of its implementations, and with the library preloaded where one is
given. A variant's time is the median of the repetitions of a turn; the ratio is the best time of the MPIs' own
implementations in this turn over ours, and the table has the median of the turns, with the least and the greatest. What
is hidden behind computing says something only on storage that waits: with LD_PRELOAD=.../bench_delay.so the folders are
such (bench/collective/delay.cpp).
Waiting ranks yield their cores, which they share. Exit status: 0, 1 a program failed or found wrong bytes, 2 wrong usage.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# case, part, ranks, least ratio that is wanted
TARGETS = [
    ("coll_perf", "write", 4, 1.3),
    ("coll_perf", "read", 4, 1.6),
    ("coll_perf", "write", 8, 1.3),
    ("coll_perf", "read", 8, 1.3),  # 1.2 on emulated storage
    ("interleaved", "write", 4, 2.0),
    ("interleaved", "read", 4, 2.0),
    ("contiguous", "write", 4, 1.0),
    ("contiguous", "read", 4, 1.0),
    ("strided_reads", "read", 4, 1.5),
    ("open_close", "open_close", 8, 1.0),
    ("shared", "write_shared", 4, 3.0),
    ("ordered", "write_ordered", 4, 2.0),
    ("hdf5", "write_chunked", 4, 1.2),
    ("hdf5", "read_chunked", 4, 1.0),
]
# Rows without a peer: case, ranks, what is compared, the ratio from the times of a turn, least that is wanted.
OWN_TARGETS = [
    ("outstanding", 2, "16 outstanding strided writes, against blocking ones",
     lambda t: t["write_blocking"] / t["write_outstanding"], 1.0),
    ("outstanding", 2, "16 outstanding strided reads, against blocking ones",
     lambda t: t["read_blocking"] / t["read_outstanding"], 1.0),
    *((case, 2, f"{name}, {shape}, hidden behind computing, of what the cores allow",
       lambda t, part=part: hidden(t, part), 0.9)
      for case, shape in (("overlap", "strided"), ("overlap_contiguous", "contiguous"))
      for name, part in (("iwrite_all", "write"), ("iread_all", "read"))),
]
ENVIRONMENT = {
    "HYDRA_LAUNCHER": "fork",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
}


def hidden(times, part):
    """The hidden part of an access, of the part that is no processor time. Computing takes as long as the access alone."""
    alone, both, cpu = (times[f"{part}_{what}"] for what in ("alone", "both", "cpu"))
    return (2 * alone - both) / max(alone - cpu, 1e-9)


class Variant:
    """One MPI with one implementation of MPI-IO."""

    def __init__(self, name, launcher, programs, environment, is_ours):
        self.name, self.launcher, self.programs = name, launcher, programs
        self.environment, self.is_ours = environment, is_ours

    def run(self, case, ranks, path, edge, repetitions):
        """The times of each part, in seconds."""
        program = self.programs.get(case, self.programs[""])
        if program is None:
            return {}
        command = [self.launcher, "-n", str(ranks), program, case, path, str(edge), str(repetitions)]
        done = subprocess.run(command, env={**os.environ, **ENVIRONMENT, **self.environment}, capture_output=True,
                              text=True, timeout=1200)
        if done.returncode != 0 and not self.is_ours:
            print(f"{self.name}: {case} fails with {ranks} ranks, and is left out", file=sys.stderr)
            return {}
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        times = {}
        for line in done.stdout.splitlines():
            part, _, seconds = line.partition(" ")
            times.setdefault(part, []).append(float(seconds))
        return {part: statistics.median(values) for part, values in times.items()}


def preloads(*libraries):
    """LD_PRELOAD with what the caller preloads already."""
    return {"LD_PRELOAD": ":".join(filter(None, [*libraries, os.environ.get("LD_PRELOAD", "")]))}


def variants_of(argument, folder):
    name, _, rest = argument.partition("=")
    parts = rest.split(",")
    if not 2 <= len(parts) <= 4 or not name:
        sys.exit(f"run.py: '{argument}' is no NAME=MPICC,MPIEXEC[,LIBRARY[,H5PCC]]")
    compiler, launcher = parts[:2]
    programs = {"": str(folder / f"cases-{name}"), "hdf5": str(folder / f"hdf5-{name}") if len(parts) == 4 else None}
    subprocess.run([compiler, "-O2", "-o", programs[""], str(HERE / "cases.c"), "-ldl"], check=True)
    if programs["hdf5"]:
        subprocess.run([parts[3], "-O2", "-o", programs["hdf5"], str(HERE / "hdf5_case.c"), f"-I{HERE}"], check=True, cwd=folder)
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout
    made = [Variant(name, launcher, programs, {}, False)]
    if "HYDRA" not in version:
        romio = "romio341" if "5." in version else "romio321"
        made.append(Variant(f"{name} ROMIO", launcher, programs, {"OMPI_MCA_io": romio}, False))
    if len(parts) >= 3:
        made.append(Variant(f"{name} Thalweg", launcher, programs, preloads(os.path.abspath(parts[2])), True))
    return made


def measure(variants, folder, edge, repetitions, turns, wanted):
    """times[(case, ranks)][turn][variant name][part], every turn in another order."""
    cases = {(case, ranks) for case, _, ranks, _ in TARGETS} | {(case, ranks) for case, ranks, *_ in OWN_TARGETS}
    cases = sorted(one for one in cases if not wanted or one[0] in wanted)
    times = {case: [{} for _ in range(turns)] for case in cases}
    for turn in range(turns):
        jobs = [(case, variant) for case in cases for variant in variants]
        random.shuffle(jobs)
        for (case, ranks), variant in jobs:
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                path = os.path.join(scratch, "file")
                times[case, ranks][turn][variant.name] = variant.run(case, ranks, path, edge, repetitions)
    return times


def row(times, variants, case, part, ranks, target, ours):
    """The best of the MPIs' own against one of ours."""
    turns = times.get((case, ranks), [])
    own = [v.name for v in variants if not v.is_ours and all(part in turn[v.name] for turn in turns)]
    if not turns or not own or any(part not in turn[ours] for turn in turns):
        return None
    ratios = sorted(min(turn[name][part] for name in own) / turn[ours][part] for turn in turns)
    best = min(own, key=lambda name: statistics.median(turn[name][part] for turn in turns))
    median = statistics.median(ratios)
    milliseconds = [statistics.median(turn[name][part] for turn in turns) * 1e3 for name in (best, ours)]
    return (f"| {case}, {part} | {ranks} | {best} {milliseconds[0]:.2f} | {ours} {milliseconds[1]:.2f} | "
            f"{median:.2f} ({ratios[0]:.2f} .. {ratios[-1]:.2f}) | {target} | {'met' if median >= target else 'missed'} |")


def own_row(times, variant, case, ranks, what, ratio, target):
    if (case, ranks) not in times:
        return None
    ratios = sorted(ratio(turn[variant]) for turn in times[case, ranks])
    median = statistics.median(ratios)
    return (f"| {what} | {ranks} | | {variant} | {median:.2f} ({ratios[0]:.2f} .. {ratios[-1]:.2f}) | {target} | "
            f"{'met' if median >= target else 'missed'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--dir", action="append")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--json")
    parser.add_argument("mpi", nargs="+")
    given = parser.parse_args()
    edge, repetitions, turns = (128, 2, 1) if given.quick else (512, 3, 5)
    results = {}
    with tempfile.TemporaryDirectory() as made:
        variants = [variant for argument in given.mpi for variant in variants_of(argument, pathlib.Path(made))]
        for folder in given.dir or ["."]:
            try:
                times = measure(variants, folder, edge, repetitions, given.turns or turns, given.case)
            except (RuntimeError, subprocess.TimeoutExpired) as failure:
                print(failure, file=sys.stderr)
                return 1
            print(f"{folder}: an array of {edge}^3 ints, times in ms\n")
            print("| case | ranks | best of the MPIs' own | Thalweg | ratio | wanted | |\n|---|---|---|---|---|---|---|")
            ours = [variant.name for variant in variants if variant.is_ours]
            rows = [row(times, variants, *target, name) for target in TARGETS for name in ours]
            rows += [own_row(times, name, *target) for target in OWN_TARGETS for name in ours]
            print("\n".join(filter(None, rows)))
            results[folder] = {f"{case} {ranks}": turns for (case, ranks), turns in times.items()}
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
