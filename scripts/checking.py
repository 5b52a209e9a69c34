"""The command line that the check scripts share: one folder, one line for each complaint."""

import pathlib
import sys


def main(usage, complaints):
    """Exits with 0 when complaints(root) has none, with 1 when it has some, with 2 after wrong usage."""
    if len(sys.argv) != 2:
        print(usage, file=sys.stderr)
        sys.exit(2)
    found = list(complaints(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
