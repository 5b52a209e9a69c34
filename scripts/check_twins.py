#!/usr/bin/env python3
"""Check that the public calls of the C library have twins in Fortran and in Python, or a line that says why not.

Usage: check_twins.py ROOT

The calls are those of tests/abi/exported_symbols.txt, of libthalweg and libthalweg_mpi. A twin of tw_TYPE_NAME is, in Fortran, a
procedure NAME of type tw_TYPE in bindings/fortran, or any use of the call in the sources there; in Python, a use of the call in
the sources of the extension, bindings/python/src/thalweg/*.cpp, or, of tw_file_NAME, the method NAME of thalweg.File. Other calls have a line 'call: reason' in
tests/abi/without_fortran.txt or tests/abi/without_python.txt, which has no line for a call that is gone or has a twin.
Exit status: 0 clean, 1 at least one complaint (one line each), 2 wrong usage.
"""

import re

import checking

SYMBOLS = "tests/abi/exported_symbols.txt"
TYPE = re.compile(r"^\s*type(?:,[^:\n]*)? :: (tw_\w+)\n(.*?)^\s*end type", re.M | re.S)
PROCEDURE = re.compile(r"^\s*(?:procedure|generic) :: (\w+)", re.M)
COMMENT = re.compile(r"/\*.*?\*/|^\s*!.*?$", re.M | re.S)
CPP_COMMENT = re.compile(r"/\*.*?\*/|//.*?$", re.M | re.S)


def calls(root):
    lines = (root / SYMBOLS).read_text(encoding="utf-8").splitlines()
    return {line.split()[1] for line in lines if line.split()[0] in ("thalweg", "thalweg_mpi") and " tw_" in line}


def fortran_twins(folder):
    found = set()
    for source in sorted(folder.glob("*.[cf]*")):
        text = COMMENT.sub("", source.read_text(encoding="utf-8"))
        for name, body in TYPE.findall(text):
            found |= {f"{name}_{procedure}" for procedure in PROCEDURE.findall(body)}
        if source.name != "thalweg_c.f90":  # declares calls that others make
            found |= set(re.findall(r"\btw_\w+", text))
        found |= {f"tw_{name}" for name in re.findall(r"\bc_((?:multifile|vpfile)_\w+)\(to_c", text)}
    return found


def python_twins(folder):
    found = {name for source in folder.glob("*.[ch]pp")
             for name in re.findall(r"\btw_\w+", CPP_COMMENT.sub("", source.read_text(encoding="utf-8")))}
    for source in folder.glob("file.py"):
        found |= {f"tw_file_{name}" for name in re.findall(r"^    def (\w+)", source.read_text(encoding="utf-8"), re.M)}
    return found


LANGUAGES = [("bindings/fortran", "tests/abi/without_fortran.txt", fortran_twins),
             ("bindings/python/src/thalweg", "tests/abi/without_python.txt", python_twins)]


def complaints(root):
    wanted = calls(root)
    for sources, exceptions, twins in LANGUAGES:
        have = twins(root / sources)
        lines = (root / exceptions).read_text(encoding="utf-8").splitlines()
        excepted = dict(line.partition(": ")[::2] for line in lines if not line.startswith("#"))
        for name in sorted(wanted - have - set(excepted)):
            yield f"{sources}: '{name}' has no twin; bind it, or say in {exceptions} why not"
        for name, reason in sorted(excepted.items()):
            if not reason:
                yield f"{exceptions}: '{name}' has no reason"
            if name not in wanted:
                yield f"{exceptions}: '{name}' is no call of the library"
            elif name in have:
                yield f"{exceptions}: '{name}' has a twin"


if __name__ == "__main__":
    checking.main(__doc__, complaints)
