#!/usr/bin/env python3
"""Compare the exports of the shared libraries with tests/abi/exported_symbols.txt.

Usage: check_symbols.py LIBRARY_FOLDER [--update]

Each line of the contract is 'library symbol'. Removing a symbol breaks programs; adding one is a promise and requires
--update. Symbols of the version node THALWEG_PRIVATE are for libthalweg_mpi only, without promise; any other symbol
without the prefix of its library is an error, except MPI_Finalize. Libraries that were not built are not checked.
Exit status: 0 equal, 1 different (one line each), 2 wrong usage.
"""

import pathlib
import subprocess
import sys

CONTRACT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "abi" / "exported_symbols.txt"
LIBRARIES = {"thalweg": "tw_", "thalweg_mpi": "tw_", "thalweg_omp_file": "omp_file_"}  # and the prefix of its symbols
OF_MPI = {("libthalweg_mpi.so", "MPI_Finalize")}  # completes outstanding work first


def exported(path, prefix):
    """Public symbols of one library, and complaints about stray ones."""
    listing = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", str(path)], check=True,
                             capture_output=True, text=True).stdout
    public, strays = set(), []
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        symbol, _, version = name.partition("@")
        version = version.lstrip("@")
        if kind == "A" or version == "THALWEG_PRIVATE":
            continue
        if symbol.startswith(prefix) or (path.name, symbol) in OF_MPI:
            public.add(symbol)
        else:
            strays.append(f"{path.name}: exports '{symbol}', which is not {prefix}*")
    return public, strays


def main(argv):
    update = "--update" in argv
    folders = [argument for argument in argv[1:] if argument != "--update"]
    if len(folders) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    promised = {tuple(line.split()) for line in CONTRACT.read_text().splitlines() if line and not line.startswith("#")} \
        if CONTRACT.exists() else set()
    complaints, found = [], set()
    for library, prefix in LIBRARIES.items():
        path = pathlib.Path(folders[0]) / f"lib{library}.so"
        if not path.exists():
            found |= {entry for entry in promised if entry[0] == library}
            continue
        public, strays = exported(path, prefix)
        complaints += strays
        found |= {(library, symbol) for symbol in public}
    if update:
        header = "# Exports of the libraries, 'library symbol' per line. Written by scripts/check_symbols.py --update.\n"
        CONTRACT.write_text(header + "".join(f"{library} {symbol}\n" for library, symbol in sorted(found)))
    else:
        complaints += [f"lib{library}.so: '{symbol}' is gone" for library, symbol in sorted(promised - found)]
        complaints += [f"lib{library}.so: '{symbol}' is new; if intended, run scripts/check_symbols.py {folders[0]} --update"
                       for library, symbol in sorted(found - promised)]
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
