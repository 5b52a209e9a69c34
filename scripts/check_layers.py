#!/usr/bin/env python3
"""Fail when an #include crosses a layer or a header escapes its quarantine.

Usage: check_layers.py ROOT        (ROOT holds include/, src/, frontends/, ...)
Exit status: 0 clean, 1 at least one violation (one line each), 2 wrong usage.
The tables below are the only statement of the rule; ARCHITECTURE.md quotes them.
"""

import pathlib
import re
import sys

# room -> rooms whose headers it may include (itself is always allowed)
MAY_INCLUDE = {
    "base": set(),
    "os": {"base"},
    "extent": {"base"},
    "plan": {"base", "extent"},
    "view": {"base", "extent"},
    "format": {"base", "extent"},
    "group": {"base", "os"},
    "backend": {"base", "os", "extent"},
    "engine": {"base", "os", "extent", "plan", "group", "backend"},
    "file": {"base", "os", "extent", "plan", "view", "format", "group", "backend", "engine"},
    "vpfile": {"base", "os", "extent", "plan", "format", "group", "backend", "engine", "file"},
    "capi": {"base", "os", "view", "group", "engine", "file", "vpfile"},
}
# These look at the inside on purpose; everything else outside src/ sees include/thalweg only.
INSIDERS = ("tests/", "fuzz/", "bench/plan/", "bench/scale/")
# Programs as a user would write them: they bring their own MPI and OpenMP.
PROGRAMS = ("tests/", "examples/", "bench/",
            "tools/thalweg/advise/skeletons/", "tools/thalweg/methods/snippets/")
# foreign header -> path prefixes that may include it
QUARANTINE = {
    "mpi.h": ("src/group/mpi_", "include/thalweg/group_mpi.h", "frontends/mpi_io/", "frontends/sion/sion_mpi",
              "tools/methods/") + PROGRAMS,
    "omp.h": ("src/group/openmp_", "include/thalweg/group_omp.h", "frontends/omp_file/",
              "frontends/sion/sion_omp") + PROGRAMS,
    "liburing.h": ("src/backend/uring_", "src/os/uring_"),
}
PURE_ROOMS = {"extent", "plan", "view", "format"}  # no operating system, no clock, no threads
IMPURE = re.compile(r"^(sys/|linux/|(unistd|fcntl|pthread|signal|time)\.h$|"
                    r"(thread|mutex|shared_mutex|condition_variable|future|chrono|ctime|filesystem|fstream|iostream)$)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SOURCES = {".c", ".h", ".cpp", ".hpp", ".in"}
PLACES = ("include", "src", "frontends", "bindings", "tools", "bench", "examples", "tests", "fuzz")


def check_file(where, text):
    room = where.split("/")[1] if where.startswith("src/") else None
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        target = header.split("/")[0]
        if room is not None and target in {".", ".."}:
            yield f"{where}:{number}: '{header}': name the room instead"
        if target in MAY_INCLUDE and "/" in header:
            if room is None and not where.startswith(INSIDERS):
                yield f"{where}:{number}: '{header}' is private to src/"
            elif room is not None and target != room and target not in MAY_INCLUDE.get(room, set()):
                yield f"{where}:{number}: room '{room}' may not include '{header}'"
        if header in QUARANTINE and not where.startswith(QUARANTINE[header]):
            yield f"{where}:{number}: '{header}' is quarantined"
        if room in PURE_ROOMS and IMPURE.match(header):
            yield f"{where}:{number}: pure room '{room}' includes '{header}'"


def violations(root):
    for place in PLACES:
        for path in sorted(p for p in (root / place).rglob("*") if p.suffix in SOURCES and p.is_file()):
            yield from check_file(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(violations(pathlib.Path(argv[1])))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
