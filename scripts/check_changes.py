#!/usr/bin/env python3
"""Check the fragments in changes/: known type, not empty, ends with a newline.

Usage: check_changes.py ROOT
Exit status: 0 clean, 1 at least one complaint (one line each), 2 wrong usage.
"""

import checking

TYPES = {"feature", "fix", "api", "format"}


def complaints(root):
    for path in sorted((root / "changes").iterdir()):
        if path.name == "README.md":
            continue
        parts = path.name.split(".")
        if len(parts) != 3 or parts[1] not in TYPES or parts[2] != "md":
            yield f"changes/{path.name}: the name must be <number or word>.<{'|'.join(sorted(TYPES))}>.md"
            continue
        text = path.read_text(encoding="utf-8")
        if not text.strip() or not text.endswith("\n"):
            yield f"changes/{path.name}: is empty or does not end with a newline"


if __name__ == "__main__":
    checking.main(__doc__, complaints)
