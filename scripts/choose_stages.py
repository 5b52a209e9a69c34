#!/usr/bin/env python3
"""Choose the stages of `make test-all` that a CI run adds to `make test`.

Usage: scripts/choose_stages.py [--minutes M] [--base COMMIT]

Prints the names of stages of scripts/run_tests.sh with a total of at most M minutes (default 22). The number of commits
selects two stages of a rotation, so that five consecutive runs cover every stage. Then come stages for files that
differ from COMMIT (default: the upstream of this branch, if it differs from HEAD), then others.
"""

import argparse
import pathlib
import re
import subprocess

# name, minutes on 2 cores from an empty build, files it concerns
STAGES = [
    ("openmpi", 8, r"src/(async|group|engine|sharedfile|capi)/|tests/mpi(io)?/|frontends/mpiio/|tools/probe/|cmake/Mpi"),
    ("python", 6, r"bindings/python/|include/|pyproject.toml|examples/python/|scripts/build_wheel"),
    ("asan-ubsan", 12, r"src/|sim/|testing/|tests/(unit|conformance|multifile|sharedfile|vpfile|crash)/"),
    ("archer", 4, r"frontends/omp_file/|tests/omp_file/"),
    ("minimal", 6, r"CMake|cmake/|_absent\.cpp|include/"),
    ("tsan", 10, r"src/(async|group|os|storage|engine|sharedfile)/"),
    ("tidy", 12, r"src/|frontends/|\.clang-tidy"),
]


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent)
    return done.stdout.strip() if done.returncode == 0 else None


def choose(minutes, commits, changed):
    """Stage names. `changed`: paths, or None for an unknown base."""
    touched = [name for name, _, about in STAGES if changed and any(re.search(about, path) for path in changed)]
    names = [name for name, _, _ in STAGES]
    pairs = [names[i : i + 2] for i in range(0, len(names), 2)]
    turn = pairs[commits % len(pairs)]
    takes = {name: minutes_of for name, minutes_of, _ in STAGES}
    chosen, left = [], minutes
    # The rotation comes first: otherwise, with changes always in src/, the other stages would never run.
    for name in dict.fromkeys(turn + touched + names):
        if takes[name] <= left:
            chosen.append(name)
            left -= takes[name]
    return [name for name, _, _ in STAGES if name in chosen]


def changed_since(base):
    base = base or git("rev-parse", "--verify", "-q", "@{upstream}")
    if not base or base == git("rev-parse", "HEAD"):
        return None
    names = git("diff", "--name-only", f"{base}...HEAD")
    return names.splitlines() if names is not None else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=22)
    parser.add_argument("--base")
    chosen = parser.parse_args()
    commits = int(git("rev-list", "--count", "HEAD") or 0)
    print(" ".join(choose(chosen.minutes, commits, changed_since(chosen.base))))


if __name__ == "__main__":
    main()
