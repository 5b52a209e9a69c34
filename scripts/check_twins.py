#!/usr/bin/env python3
"""Check that the public calls of the C library have twins in Fortran, or a line that says why not.

Usage: check_twins.py ROOT

The calls are those of tests/abi/exported_symbols.txt, of libthalweg and libthalweg_mpi. A twin of tw_TYPE_NAME is a
procedure NAME of type tw_TYPE in bindings/fortran; so is any use of the call in the sources there. Other calls have a line
'call: reason' in tests/abi/without_fortran.txt, which has no line for a call that is gone or has a twin.
Exit status: 0 clean, 1 at least one complaint (one line each), 2 wrong usage.
"""

import re

import checking

SYMBOLS = "tests/abi/exported_symbols.txt"
EXCEPTIONS = "tests/abi/without_fortran.txt"
SOURCES = "bindings/fortran"
TYPE = re.compile(r"^\s*type(?:,[^:\n]*)? :: (tw_\w+)\n(.*?)^\s*end type", re.M | re.S)
PROCEDURE = re.compile(r"^\s*(?:procedure|generic) :: (\w+)", re.M)
COMMENT = re.compile(r"/\*.*?\*/|^\s*!.*?$", re.M | re.S)


def calls(root):
    lines = (root / SYMBOLS).read_text(encoding="utf-8").splitlines()
    return {line.split()[1] for line in lines if line.split()[0] in ("thalweg", "thalweg_mpi") and " tw_" in line}


def twins(root):
    found = set()
    for source in sorted((root / SOURCES).glob("*.[cf]*")):
        text = COMMENT.sub("", source.read_text(encoding="utf-8"))
        for name, body in TYPE.findall(text):
            found |= {f"{name}_{procedure}" for procedure in PROCEDURE.findall(body)}
        if source.name != "thalweg_c.f90":  # declares calls that others make
            found |= set(re.findall(r"\btw_\w+", text))
        found |= {f"tw_{name}" for name in re.findall(r"\bc_((?:multifile|vpfile)_\w+)\(to_c", text)}
    return found


def complaints(root):
    wanted, have = calls(root), twins(root)
    lines = [line for line in (root / EXCEPTIONS).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    excepted = dict(line.partition(": ")[::2] for line in lines)
    for name in sorted(wanted - have - set(excepted)):
        yield f"{SOURCES}: '{name}' has no twin; bind it, or say in {EXCEPTIONS} why not"
    for name, reason in sorted(excepted.items()):
        if not reason:
            yield f"{EXCEPTIONS}: '{name}' has no reason"
        if name not in wanted:
            yield f"{EXCEPTIONS}: '{name}' is no call of the library"
        elif name in have:
            yield f"{EXCEPTIONS}: '{name}' has a twin"


if __name__ == "__main__":
    checking.main(__doc__, complaints)
