"""``python3 -m thalweg.measure COMMAND``: the commands of this package."""

import sys as _sys

from .cli import main as _main

if __name__ == "__main__":
    try:
        _sys.exit(_main())
    except KeyboardInterrupt:  # before the command notes signals
        _sys.exit(130)
