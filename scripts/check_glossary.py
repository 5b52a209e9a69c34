#!/usr/bin/env python3
"""Check that docs/glossary.md has a line for every word that it must have.

Usage: check_glossary.py ROOT

Wanted in the first column of its tables: as code, the types of the public C headers (tw_*) and the classes, structs and
enums at namespace level in the headers of src/engine, src/store, src/multifile and src/vpfile; as words, the nouns in the names of
hints. A name stands in one line only, and a line that names a type which no longer exists is a complaint.
Exit status: 0 clean, 1 at least one complaint (one line each), 2 wrong usage.
"""

import pathlib
import re

import checking

ROOMS = ("src/engine", "src/store", "src/multifile", "src/vpfile")
HINTS = "src/base/hint_table.cpp"
NO_NOUNS = {"bytes", "files", "on", "assume", "overwrite", "writes"}  # parts of hint names without a line of their own
CLASS = re.compile(r"^(?:template\s*<[^>]*>\s*)?(?:class|struct|enum class|union)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^;{]*\{", re.M)
# typedef struct X {...} X; typedef struct X X; typedef int32_t X; typedef int (*X)(...);
TYPEDEF = re.compile(r"^typedef\s[^;{(]*(?:\(\*\s*)?\b(tw_\w+)\)?\s*(?:;|\{|\()", re.M)


def public_types(root):
    headers = sorted((root / "include/thalweg").glob("*.h"))
    return {name for header in headers for name in TYPEDEF.findall(header.read_text(encoding="utf-8"))}


def classes(root, folders):
    headers = [header for folder in folders for header in sorted((root / folder).rglob("*.hpp"))]
    return {name: header for header in headers for name in CLASS.findall(header.read_text(encoding="utf-8"))}


def hint_nouns(root):
    """{noun: the first hint with it}"""
    nouns = {}
    for hint in re.findall(r'^    \{"(\w+)",', (root / HINTS).read_text(encoding="utf-8"), re.M):
        for noun in set(hint.split("_")) - NO_NOUNS:
            nouns.setdefault(noun.removesuffix("s"), hint)
    return nouns


def first_column(page):
    cells = [line.split("|")[1] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    names = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    words = " ".join(re.sub(r"`[^`]*`", "", cell) for cell in cells).lower()
    return names, words


def complaints(root):
    names, words = first_column(root / "docs/glossary.md")
    types, wanted = public_types(root), classes(root, ROOMS)
    for name in sorted(types - set(names)):
        yield f"docs/glossary.md: no line for '{name}' of the public headers"
    for name, header in sorted(wanted.items()):
        if name not in names:
            yield f"docs/glossary.md: no line for '{name}' of {header.relative_to(root)}"
    for noun, hint in sorted(hint_nouns(root).items()):
        if not re.search(rf"\b{noun}", words):
            yield f"docs/glossary.md: no line for '{noun}' of the hint '{hint}'"
    for name in sorted(set(names) - types - set(wanted)):
        yield f"docs/glossary.md: '{name}' is not a type of the public headers, nor of {', '.join(ROOMS)}"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"docs/glossary.md: '{name}' has two lines"


if __name__ == "__main__":
    checking.main(__doc__, complaints)
