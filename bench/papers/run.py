#!/usr/bin/env python3
"""Run the experiments of five papers at the size of this machine, and those that can be simulated at the papers' sizes.

Usage: run.py [--full] [--only PAPER]... [--run NAME]... [--build DIR] [--dir DIR] [--json FILE] [--patience S]
       run.py --from FILE

  --full   the benchmarks' full runs (hours) instead of the quick ones (15 minutes on 2 cores)
  --only   this paper only: openmp, methods, stream, nonblocking, sionlib; it may be given several times. The other papers keep
           the results in the file of --json
  --run    this run only (a name in RUNS, methods or simulated), likewise
  --build  build folder with the programs (default: build/release)
  --dir    folder on the file system to measure (default: a new one in the build folder)
  --json   file with all results (default: papers.json in the build folder)
  --patience  seconds after which a run is ended and its figures are left out (default: 600, --full: 7200)
  --from   writes the page from these results, without measuring
  --page   the page to write to (default: docs/papers.md); its pictures are in a folder of the page's name beside it

The figures of the papers, and where the benchmarks' results have ours, are in figures.json (results.py describes them);
accesses to simulate in simulations.json, and what an operation costs on their machines in machines/. Every program that runs here verifies the bytes that it moves, except for the
simulation, which moves none. Exit status: 0; 1 a program failed, the page has the others; 2 wrong usage.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import page
from results import Results

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAPERS = json.loads((HERE / "figures.json").read_text(encoding="utf-8"))
SIMULATIONS = json.loads((HERE / "simulations.json").read_text(encoding="utf-8"))
PATIENCE = {"quick": 600, "full": 7200}  # seconds of a run
ENVIRONMENT = {"HYDRA_LAUNCHER": "fork", "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMP_WAIT_POLICY": "passive"}


def parts(*names):
    return [word for name in names for word in ("--part", name)]


CORES = os.cpu_count() or 1
THREADS = [str(1 << i) for i in range(5) if 1 << i <= max(4, CORES)]

# name: program, its arguments in both forms (None: not in this form), ranks (0: no MPI), whether ranks are bound to cores
RUNS = {
    "omp": ("thalweg-bench-omp-file", {"quick": [*parts("segments"), "--threads", *THREADS],
                                       "full": [*parts("segments"), "--threads", "1", "2", "4", "8", "16"]}, 0, False),
    "bt": ("thalweg-bench-omp-file", {"quick": [*parts("bt-io"), "--threads", *THREADS],
                                      "full": [*parts("bt-io"), "--threads", "2", "8", "16"]}, 0, False),
    "transport": ("thalweg-bench-omp-file", {form: [*parts("transport"), "--threads", *THREADS] for form in ("quick", "full")}, 0, False),
    "vp": ("thalweg-bench-vpfile", {"quick": parts("requests"), "full": parts("requests")}, 0, False),
    "multifile": ("thalweg-bench-multifile", {form: parts("bandwidth", "physical-files", "alignment", "growth", "create")
                                              for form in ("quick", "full")}, 0, False),
    "ranks2": ("thalweg-bench-collective", {form: parts("coll-perf", "trace") for form in ("quick", "full")}, 2, False),
    "ranks4": ("thalweg-bench-collective", {form: parts("coll-perf", "particles") for form in ("quick", "full")}, 4, False),
    "ranks8": ("thalweg-bench-collective", {"quick": parts("coll-perf") if CORES >= 8 else None, "full": parts("coll-perf")}, 8, False),
    "overlap": ("thalweg-bench-collective", {form: [*parts("overlap"), "--delayed"] for form in ("quick", "full")}, 2, True),
    "outstanding": ("thalweg-bench-collective", {form: [*parts("outstanding"), "--delayed"] for form in ("quick", "full")}, 2, True),
}
METHODS = {"quick": ["--ranks", "2,", "--size", "1024", "--repeat", "3"], "full": []}


def runs_of(papers, form):
    """Names of the runs that these papers need."""
    found = {"simulated"}
    for paper in papers:
        specs = [spec for one in paper["figures"] for spec in [one["here"], *one.get("beside", [])] if spec]
        specs += [line for plot in paper["plots"] for line in plot["lines"]]
        found |= {spec["run"] for spec in specs if "run" in spec}
    exist = [name for name, (_, arguments, *_) in RUNS.items() if arguments[form] is not None]
    return [name for name in [*exist, "methods", "simulated"] if name in found]


def launcher(build):
    """mpiexec of the build, and whether it is MPICH's."""
    cache = build / "CMakeCache.txt"
    found = re.search(r"^MPIEXEC_EXECUTABLE:[^=]*=(.+)$", cache.read_text(encoding="utf-8"), re.M) if cache.exists() else None
    program = found[1] if found else "mpiexec"
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return program, not re.search(r"open[ -]*(mpi|rte)|prrte", version.stdout + version.stderr, re.I)


def on_ranks(build, ranks, bound):
    """The words before a program that starts it on ranks; waiting ranks yield where they are more than the cores."""
    program, is_mpich = launcher(build)
    words = [program, *([] if is_mpich else ["--oversubscribe"]), "-bind-to" if is_mpich else "--bind-to", "core" if bound else "none",
             "-n", str(ranks)]
    if is_mpich and ranks > CORES:
        words += ["env", f"LD_PRELOAD={build}/lib/thalweg/bench_yield.so"]
    return words


def start(command, limit, name, question=""):
    """Runs a command in a process group of its own, and returns what it writes; a run that lasts too long is ended."""
    print(f"== {name}: {' '.join(map(str, command))}", flush=True)
    begun = time.monotonic()
    with subprocess.Popen(command, env={**ENVIRONMENT, **os.environ}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, start_new_session=True) as process:
        try:
            output, errors = process.communicate(question, timeout=limit)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate()
            if isinstance(reason, KeyboardInterrupt):
                raise
            raise RuntimeError(f"it was ended after {limit} s") from reason
    print(f"   {time.monotonic() - begun:.0f} s", flush=True)
    if process.returncode != 0:
        raise RuntimeError(f"exit status {process.returncode}: {errors.strip()[-400:]}")
    return output


def shape_of(array, tasks):
    """Pieces of a task in a square array of 4-byte elements, columns contiguous, divided into blocks (strong), or in blocks of
    n x n (weak)."""
    px = 1 << (tasks.bit_length() - 1) // 2
    height, width = (array["weak"], array["weak"]) if "weak" in array else (array["strong"] // px, array["strong"] // (tasks // px))
    return {"pieces": width, "piece_bytes": 4 * height, "in_turn": px}


def cases_of(papers, form):
    """Names, machines and accesses to simulate, the latter two in the form of thalweg-probe --predict."""
    wanted = {paper["id"] for paper in papers}
    for case in SIMULATIONS:
        if case["for"] not in wanted:
            continue
        for machine, tasks, way in itertools.product(case["machines"], case["sizes"][form], case.get("ways", [None])):
            access = {"direction": "write", **case.get("access", {}), "tasks": tasks}
            if way:
                access.update(shape_of(case["array"], tasks), way=way)
            costs = {key: value for key, value in machine_of(machine).items() if key != "what"}
            yield case["name"].format(tasks=tasks, machine=machine, way=way), {**costs, **case.get("with", {})}, access


def machine_of(name):
    return json.loads((HERE / f"machines/{name}.json").read_text(encoding="utf-8"))


def simulate(name, machine, access, chosen):
    """The prediction of one case."""
    question = json.dumps({"machine": machine, "accesses": [access]})
    record = json.loads(start([chosen.build / "bin/thalweg-probe", "--predict"], chosen.patience, name, question))
    if record["kind"] != "prediction":
        raise RuntimeError(record["message"])
    return record


def run_one(name, chosen, scratch):
    """The results of one run."""
    form, build = chosen.form, chosen.build
    output = scratch / f"{name}.json"
    if name == "methods":
        start([build / "bin/thalweg", "methods", *METHODS[form], "--dir", scratch, "--save", output, "--quiet"], chosen.patience, name)
        return [record for record in map(json.loads, output.read_text(encoding="utf-8").splitlines()) if record["kind"] in ("run", "time")]
    program, arguments, ranks, bound = RUNS[name]
    effort = ["--quick"] if form == "quick" else []
    before = on_ranks(build, ranks, bound) if ranks else []
    where = chosen.slow if "--delayed" in arguments[form] else scratch
    start([*before, build / "bin" / program, *effort, *arguments[form], "--only-dir", "--dir", where, "--json", output],
          chosen.patience, name)
    return json.loads(output.read_text(encoding="utf-8"))


def measure(papers, chosen):
    """All results, with those of earlier runs where only some papers are wanted; and whether all programs succeeded."""
    runs, whole = {}, True
    if (chosen.only or chosen.run) and chosen.json.exists():
        runs = json.loads(chosen.json.read_text(encoding="utf-8"))["runs"]
    with tempfile.TemporaryDirectory(dir=chosen.dir, prefix="papers-") as folder:
        for name in chosen.run or runs_of(papers, chosen.form):
            steps = {name: lambda name=name: run_one(name, chosen, pathlib.Path(folder))}
            into = runs
            if name == "simulated":
                steps = {case[0]: lambda case=case: simulate(*case, chosen) for case in cases_of(papers, chosen.form)}
                into = runs.setdefault(name, {})
            for step, act in steps.items():
                try:
                    into[step] = act()
                except (RuntimeError, OSError, ValueError) as error:
                    print(f"run.py: {step}: {error}", file=sys.stderr)
                    whole = False
                chosen.json.write_text(json.dumps({"form": chosen.form, "runs": runs}, indent=1), encoding="utf-8")
    return {"form": chosen.form, "runs": runs}, whole


def machine_line(results):
    reports = [report for report in results["runs"].values() if "machine" in report]
    if not reports:
        return "Nothing was measured here: only the simulated columns are filled."
    machine = reports[0]["machine"]
    load = max(report["machine"]["load_1min"] for report in reports)
    line = (f"`bench/papers/run.py`, {results['form']} runs, on {machine['processor']}, {machine['cores']} cores, "
            f"{machine['memory_bytes'] / 2**30:.0f} GiB of memory, {machine['system']}; "
            f"thalweg {machine['thalweg']} ({machine['commit']}), GCC {machine['compiler']}; highest load before a run {load:.1f}.")
    if load > machine["cores"]:
        line += " **Measured on a busy machine: other programs took most of the cores, single rows are inconclusive.**"
    return line


def write_page(results, target):
    values = Results(results["runs"])
    machines = {}
    for case in SIMULATIONS:
        for machine in case["machines"]:
            text = f"{machine}: {machine_of(machine)['what']}"
            if text not in machines.setdefault(case["for"], []):
                machines[case["for"]].append(text)
    page.put_into(target, "\n".join(page.lines(PAPERS, values, machine_line(results), machines)))
    folder = target.with_suffix("")
    folder.mkdir(exist_ok=True)
    for paper in PAPERS:
        (folder / f"{paper['id']}.svg").write_text("".join(page.picture(paper, values)), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", dest="form", action="store_const", const="full", default="quick")
    parser.add_argument("--only", action="append", choices=[paper["id"] for paper in PAPERS])
    parser.add_argument("--run", action="append", choices=[*RUNS, "methods", "simulated"])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--dir", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--patience", type=float)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/papers.md")
    chosen = parser.parse_args()
    chosen.patience = chosen.patience or PATIENCE[chosen.form]
    whole = True
    if chosen.source:
        try:
            results = json.loads(chosen.source.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            parser.error(f"--from: {error}")
    else:
        chosen.build = chosen.build.resolve()
        if not (chosen.build / "bin").is_dir():
            parser.error(f"'{chosen.build}' has no programs; `make papers` builds them")
        chosen.dir = (chosen.dir or chosen.build).resolve()
        chosen.json = (chosen.json or chosen.build / "papers.json").resolve()
        chosen.slow = "/dev/shm" if os.path.isdir("/dev/shm") else chosen.dir
        papers = [paper for paper in PAPERS if not chosen.only or paper["id"] in chosen.only]
        results, whole = measure(papers, chosen)
    write_page(results, chosen.page)
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
