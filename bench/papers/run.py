#!/usr/bin/env python3
"""Run the experiments of five papers at the size of this machine, and those that can be simulated at the papers' sizes.

Usage: run.py [--full] [--only PAPER]... [--run NAME]... [--build DIR] [--dir DIR] [--json FILE] [--patience S]
       run.py --from FILE

  --full   the benchmarks' full runs (hours) instead of the quick ones (15 minutes on 2 cores)
  --only   this paper only: openmp, methods, stream, nonblocking, sionlib; it may be given several times. The other papers keep
           the results in the file of --json
  --run    this run only (a name in RUNS, methods, methods_large or simulated), likewise
  --build  build folder with the programs (default: build/release)
  --dir    folder on the file system to measure (default: a new one in the build folder)
  --json   file with all results (default: docs/papers/results.json, those of the page)
  --patience  seconds after which a program is ended and its figures are left out (default: 600, --full: 7200)
  --from   writes the page from these results, without measuring
  --page   the page to write to (default: docs/papers.md); its pictures are in a folder of the page's name beside it

The figures of the papers, and where the benchmarks' results have ours, are in figures.json (results.py describes them);
accesses to simulate are in simulations.json, and what an operation costs on their machines is in machines/. Every program that
runs here verifies the bytes that it moves; the simulation moves none. Exit status: 0; 1 a program failed or was ended, or a
result lacks a figure that it should have, and the page has the others; 2 wrong usage.
"""

import argparse
import contextlib
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
PATIENCE = {"quick": 600, "full": 7200}  # seconds of a program
GRACE = 20  # seconds in which a program that is ended puts its files away
LOOK = 2  # seconds in which the load of other programs is taken, before each run
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
# Arrays of 4-byte elements: 4 MiB, and 256 MiB or 1 GiB.
METHODS = {
    "methods": {"quick": ["--ranks", "2,", "--size", "1024", "--repeat", "3"], "full": ["--ranks", "2,", "--size", "1024", "--repeat", "9"]},
    "methods_large": {"quick": ["--ranks", "2,", "--size", "8192", "--repeat", "3"], "full": ["--ranks", "2,", "--size", "16384", "--repeat", "3"]},
}


def runs_of(papers, form):
    """Names of the runs that these papers need."""
    found = {"simulated"}
    for paper in papers:
        specs = [spec for one in paper["figures"] for spec in [one["here"], *one.get("beside", [])] if spec]
        specs += [line for plot in paper["plots"] for line in plot["lines"]]
        found |= {spec["run"] for spec in specs if "run" in spec}
    exist = [name for name, (_, arguments, *_) in RUNS.items() if arguments[form] is not None]
    return [name for name in [*exist, *METHODS, "simulated"] if name in found]


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
    """Runs a command in a process group of its own, and returns what it writes. A program that lasts too long is ended, and
    so is every program when this one is."""
    print(f"== {name}: {' '.join(map(str, command))}", flush=True)
    begun = time.monotonic()
    process = None
    try:
        process = subprocess.Popen(command, env={**ENVIRONMENT, **os.environ}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        output, errors = process.communicate(question, timeout=limit)
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"it was ended after {limit:g} s") from late
    finally:
        if process:
            with process:
                end(process)
    print(f"   {time.monotonic() - begun:.0f} s", flush=True)
    if process.returncode != 0:
        raise RuntimeError(f"exit status {process.returncode}: {errors.strip()[-400:]}")
    return output


def end(process):
    """Ends what is left of a program and of all that it started, by SIGKILL where SIGTERM does not."""
    with contextlib.suppress(ProcessLookupError):  # none is left
        for how in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(process.pid, how)
            until = time.monotonic() + GRACE
            while time.monotonic() < until:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(0.02)


def ended(number, _frame):
    """As Control-C: programs are ended and folders removed on the way out, which a further signal does not break off."""
    for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(one, signal.SIG_IGN)
    raise SystemExit(128 + number)


def busy_cores():
    """The cores that other programs use, in a while in which this one waits."""
    def ticks():
        numbers = [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="utf-8").split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # all, idle

    all_before, idle_before = ticks()
    time.sleep(LOOK)
    all_after, idle_after = ticks()
    return CORES * (1 - (idle_after - idle_before) / max(all_after - all_before, 1))


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


def kept(found):
    """What the page needs of a benchmark's report, of the records of `thalweg methods`, or of a prediction; 6 digits of a number."""
    if isinstance(found, float):
        return float(f"{found:.6g}")
    if isinstance(found, list):
        return [kept(one) for one in found]
    if not isinstance(found, dict):
        return found
    wanted = set(found)
    if "comparisons" in found:
        wanted = {"machine", "comparisons", "facts"}
    elif "variants" in found:
        wanted = {"name", "amount", "variants"}
    elif "variant" in found:
        wanted = {"variant", "phase", "seconds"}
    elif found.get("kind") == "run":
        wanted = {"kind", "version", "machine"}
    elif found.get("kind") == "time":
        wanted = {"kind", "method", "phase", "seconds", "cell"}
    elif found.get("kind") == "prediction":
        wanted = {name for name in found if name.endswith("_seconds")}
    return {name: kept(one) for name, one in found.items() if name in wanted}


def run_one(name, chosen, scratch):
    """The results of one run."""
    form, build = chosen.form, chosen.build
    output = scratch / f"{name}.json"
    if name in METHODS:
        start([build / "bin/thalweg", "methods", *METHODS[name][form], "--dir", scratch, "--save", output, "--quiet"], chosen.patience, name)
        return [record for record in map(json.loads, output.read_text(encoding="utf-8").splitlines()) if record["kind"] in ("run", "time")]
    program, arguments, ranks, bound = RUNS[name]
    effort = ["--quick"] if form == "quick" else []
    before = on_ranks(build, ranks, bound) if ranks else []
    with contextlib.ExitStack() as folders:
        where = scratch
        if "--delayed" in arguments[form] and os.path.isdir("/dev/shm"):
            where = folders.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm", prefix="papers-"))
        start([*before, build / "bin" / program, *effort, *arguments[form], "--only-dir", "--dir", where, "--json", output],
              chosen.patience, name)
    return json.loads(output.read_text(encoding="utf-8"))


def measure(papers, chosen):
    """All results, with those of earlier runs where only some are wanted; and whether all programs succeeded."""
    results, whole = {"busy_cores": {}, "forms": {}, "runs": {}}, True
    if (chosen.only or chosen.run) and chosen.json.exists():
        results = read_results(chosen.json)
    runs = results["runs"]
    with tempfile.TemporaryDirectory(dir=chosen.dir, prefix="papers-") as folder:
        for name in chosen.run or runs_of(papers, chosen.form):
            steps = {name: lambda name=name: run_one(name, chosen, pathlib.Path(folder))}
            into = runs
            if name == "simulated":
                steps = {case[0]: lambda case=case: simulate(*case, chosen) for case in cases_of(papers, chosen.form)}
                into = runs.setdefault(name, {})
            results["busy_cores"][name], results["forms"][name] = 0 if name == "simulated" else busy_cores(), chosen.form
            for step, act in steps.items():
                into.pop(step, None)
                try:
                    into[step] = kept(act())
                except (RuntimeError, OSError, ValueError) as error:
                    print(f"run.py: {step}: {error}", file=sys.stderr)
                    whole = False
                new = chosen.json.with_name(chosen.json.name + ".new")
                new.write_text(json.dumps(results) + "\n", encoding="utf-8")
                new.replace(chosen.json)
    return results, whole


def read_results(path):
    """The results in a file. Raises ValueError or OSError."""
    results = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(results, dict) or not all(isinstance(results.get(one), dict) for one in ("busy_cores", "forms", "runs")):
        raise ValueError(f"'{path}' has no results of this program; measure all papers again")
    return results


def texts_of(report):
    """The machine of a run, and the program with its compiler; None where it does not tell."""
    if isinstance(report, list):
        machine = next((record["machine"] for record in report if record["kind"] == "run"), None)
        processor, system, program = machine and machine["cpu"], machine and machine["kernel"], None
    else:
        machine = report.get("machine")
        processor, system = machine and machine["processor"], machine and machine["system"]
        program = machine and f"thalweg {machine['thalweg']} ({machine['commit']}), compiler {machine['compiler']}"
    if not machine:
        return "a machine that was not recorded", program
    return f"{processor}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB of memory, {system}", program


def grouped(texts):
    """The texts of runs, a dict; each once, with the names of its runs where there are several texts."""
    alike = {}
    for name, text in texts.items():
        if text:
            alike.setdefault(text, []).append(name)
    return "; ".join(text if len(alike) == 1 else f"{text} ({', '.join(names)})" for text, names in alike.items())


def machine_line(results):
    measured = [name for name in results["runs"] if name != "simulated"]
    if not measured:
        return "Nothing was measured here: only the simulated columns are filled."
    texts = {name: texts_of(results["runs"][name]) for name in measured}
    machines, programs = (grouped({name: text[i] for name, text in texts.items()}) for i in (0, 1))
    full = [name for name in measured if results["forms"][name] == "full"]
    form = "full runs" if len(full) == len(measured) else f"quick runs ({', '.join(full)}: full)" if full else "quick runs"
    busy = max(results["busy_cores"][name] for name in measured)
    line = f"`bench/papers/run.py`, {form}, on {machines}{'; ' if programs else ''}{programs}. Before a run other programs used {busy:.1f} cores at most."
    if busy > 0.25 * CORES:
        line += " **Measured beside other programs: single rows are inconclusive.**"
    return line


def tell_missing(results):
    """Names figures that have no result though their run was made."""
    values, all_there = Results(results["runs"]), True
    for paper in PAPERS:
        for figure in paper["figures"]:
            for spec in filter(values.missing, [figure["here"], *figure.get("beside", [])]):
                print(f"run.py: {paper['id']}: {figure['what']}: no such result in the run {spec['run']}: {spec}", file=sys.stderr)
                all_there = False
    return all_there


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
    parser.add_argument("--run", action="append", choices=[*RUNS, *METHODS, "simulated"])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--dir", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--patience", type=float)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/papers.md")
    chosen = parser.parse_args()
    chosen.patience = PATIENCE[chosen.form] if chosen.patience is None else chosen.patience
    if chosen.patience <= 0:
        parser.error(f"--patience: {chosen.patience:g} is not a time above 0 s")
    for name in chosen.run or []:
        if name in RUNS and RUNS[name][1][chosen.form] is None:
            parser.error(f"--run: {name} is part of a full run only, unless there are as many cores as ranks; add --full")
    whole = True
    if page.MARK not in (chosen.page.read_text(encoding="utf-8") if chosen.page.is_file() else ""):
        parser.error(f"--page: '{chosen.page}' is no page with the line {page.MARK.strip()}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)
    if chosen.source:
        try:
            results = read_results(chosen.source)
        except (OSError, ValueError) as error:
            parser.error(f"--from: {error}")
    else:
        chosen.build = chosen.build.resolve()
        if not (chosen.build / "bin").is_dir():
            parser.error(f"'{chosen.build}' has no programs; `make papers` builds them")
        chosen.dir = (chosen.dir or chosen.build).resolve()
        chosen.json = (chosen.json or ROOT / "docs/papers/results.json").resolve()
        for option, folder in (("--dir", chosen.dir), ("--json", chosen.json.parent)):
            if not os.access(folder, os.W_OK | os.X_OK):
                parser.error(f"{option}: nothing can be written in '{folder}'")
        papers = [paper for paper in PAPERS if not chosen.only or paper["id"] in chosen.only]
        try:
            results, whole = measure(papers, chosen)
        except ValueError as error:
            parser.error(f"--json: {error}")
    write_page(results, chosen.page)
    return 0 if tell_missing(results) and whole else 1


if __name__ == "__main__":
    sys.exit(main())
