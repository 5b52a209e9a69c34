#!/usr/bin/env python3
"""Fail when an #include crosses a layer or a header escapes its quarantine.

Usage: check_layers.py ROOT        (ROOT holds include/, src/, frontends/, ...)
Exit status: 0 clean, 1 at least one violation (one line each), 2 wrong usage.
The tables below are the only statement of the rule; ARCHITECTURE.md quotes them.
"""

import pathlib
import re

import checking

# Rooms from the lowest level to the highest: folder -> folders whose headers it may include (itself is always allowed).
# A file belongs to the room with the longest matching folder.
_LOW = {"base", "os", "access"}
_GROUPS = {"async", "group", "group/team"}
_FORMATS = {"store/format", "multifile/format", "vpfile/format"}
_STORE = {"store", "store/format"}
_ENGINE = _LOW | _GROUPS | {"storage", "engine", "engine/plan", "engine/transfer", "engine/two_phase"}
_MULTIFILE = _LOW | _GROUPS | _STORE | {"storage", "formats", "multifile", "multifile/format", "sharedfile"}
_VPFILE = _ENGINE | _STORE | {"formats", "sharedfile", "vpfile", "vpfile/format"}
MAY_INCLUDE = {
    "base": set(),
    "os": {"base"},
    "access": {"base"},
    "storage": {"base", "os", "access"},
    "async": {"base", "os", "access", "storage"},
    "store/format": {"base"},
    "store": {"base", "storage", "store/format"},
    "multifile/format": {"base", "store/format"},
    "vpfile/format": {"base", "store/format"},
    "formats": {"base", "storage"} | _FORMATS,
    "group": {"base", "os", "async", "group/team"},
    "group/team": {"base", "os", "async", "group"},
    "group/hybrid": {"base", "os", "async", "group", "group/team"},
    "group/mpi": {"base", "os", "async", "group"},
    "engine/plan": {"base", "access"},
    "engine/transfer": _ENGINE - {"engine/two_phase"},
    "engine/two_phase": _ENGINE,
    "engine": _ENGINE,
    "sharedfile": _ENGINE | {"formats"},
    "multifile/read": _MULTIFILE,
    "multifile/write": _MULTIFILE | _ENGINE | {"multifile/read"},
    "multifile/check": _MULTIFILE | {"multifile/read", "multifile/write"},
    "multifile/tier": _MULTIFILE | {"multifile/read", "multifile/write", "multifile/check"},
    "multifile": _MULTIFILE | {"multifile/read", "multifile/write"},
    "vpfile/streams": _VPFILE,
    "vpfile": _VPFILE | {"vpfile/streams"},
    "vpfile/check": _VPFILE | {"vpfile/streams"},
    "capi": _ENGINE | {"group/mpi", "sharedfile", "multifile", "multifile/check", "multifile/tier", "vpfile",
                       "vpfile/check"},
}
# These use internal headers; other files outside src/ use include/thalweg only.
INSIDERS = ("sim/", "testing/", "tests/", "fuzz/", "bench/plan/", "bench/scale/", "bench/multifile/sim_bench.cpp")
# Folders outside src/ that are included by their own names: folder -> permitted users.
OUTSIDE = {
    "sim": ("sim/", "testing/", "tests/", "fuzz/", "bench/scale/", "bench/multifile/sim_bench.cpp", "tools/probe/predict"),
    "testing": ("testing/", "tests/", "fuzz/"),
}
# Programs like those of users, with their own MPI and OpenMP.
PROGRAMS = ("tests/", "examples/", "bench/", "bindings/python/src/thalweg/measure/")
# foreign header -> path prefixes that may include it
QUARANTINE = {
    "mpi.h": ("src/group/mpi/", "include/thalweg/group_mpi.h", "frontends/mpiio/", "frontends/sion/sion_mpi",
              "tools/probe/") + PROGRAMS,
    "omp.h": ("src/group/openmp_", "include/thalweg/group_omp.h", "frontends/omp_file/",
              "frontends/sion/sion_omp") + PROGRAMS,
    "liburing.h": ("src/storage/uring_",),
}
PURE_ROOMS = {"access", "engine/plan", "store/format", "multifile/format", "vpfile/format"}  # no operating system, clock or threads
IMPURE = re.compile(r"^(sys/|linux/|(unistd|fcntl|pthread|signal|time)\.h$|"
                    r"(thread|mutex|shared_mutex|condition_variable|future|chrono|ctime|filesystem|fstream|iostream)$)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SOURCES = {".c", ".h", ".cpp", ".hpp", ".in"}
PLACES = ("include", "src", "sim", "testing", "frontends", "bindings", "tools", "bench", "examples", "tests", "fuzz")


def room_of(path):
    """The room of a path below src/, or None."""
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    while folder and folder not in MAY_INCLUDE:
        folder = folder.rpartition("/")[0]
    return folder or None


def check_file(root, where, text):
    room = room_of(where.removeprefix("src/")) if where.startswith("src/") else None
    if where.startswith("src/") and room is None:
        yield f"{where}:1: this folder is no room: add it to MAY_INCLUDE in scripts/check_layers.py"
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        first = header.split("/")[0]
        target = room_of(header) if (root / "src" / header).exists() else None
        if room is not None and first in {".", ".."}:
            yield f"{where}:{number}: '{header}': name the room instead"
        if target is not None:
            if room is None and not where.startswith(INSIDERS):
                yield f"{where}:{number}: '{header}' is private to src/"
            elif room is not None and target != room and target not in MAY_INCLUDE[room]:
                yield f"{where}:{number}: room '{room}' may not include '{header}'"
        if first in OUTSIDE and not where.startswith(OUTSIDE[first]):
            yield f"{where}:{number}: '{header}' is not for this folder"
        if header in QUARANTINE and not where.startswith(QUARANTINE[header]):
            yield f"{where}:{number}: '{header}' is quarantined"
        if room in PURE_ROOMS and IMPURE.match(header):
            yield f"{where}:{number}: pure room '{room}' includes '{header}'"


def violations(root):
    for place in PLACES:
        for path in sorted(p for p in (root / place).rglob("*") if p.suffix in SOURCES and p.is_file()):
            yield from check_file(root, path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    named = {}
    for path in sorted(p for p in (root / "src").rglob("*") if p.suffix in SOURCES):
        other = named.setdefault(path.name, path)
        if other is not path:
            yield f"{path.relative_to(root)}:1: '{other.relative_to(root)}' has this name already: file names are unique in src/"


if __name__ == "__main__":
    checking.main(__doc__, violations)
