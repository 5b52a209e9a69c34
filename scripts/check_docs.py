#!/usr/bin/env python3
"""Check the Markdown files: targets of relative links and anchors exist, code equals compiled code, the number of
methods is that of their table, and the version is that of include/thalweg/version.h.

A block of code after the line `<!-- FILE -->` must be part of that file of the repository, line by line, with any
indentation. Pages in docs/tutorial contain no other C or C++.

Usage: check_docs.py ROOT
Exit status: 0 clean, 1 at least one complaint (one line each), 2 wrong usage.
"""

import pathlib
import re
import textwrap

import checking

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)[^)]*\)|!\[[^\]]*\]\(([^)\s]+)[^)]*\)")
CODE = re.compile(r"(?:^<!-- (\S+) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
SKIP = {"build", ".git"}
# Pages with the number of methods; the page of `thalweg methods` counts the lines of the table itself.
METHOD_TABLE = "tools/probe/method_table.cpp"
METHOD_COUNTS = {
    "README.md": r"compares \[(\d+) ways\]",
    "docs/performance.md": r"(\d+) ways of writing an array",
    "docs/howto/methods.md": r"(\d+) methods are known",
    "docs/design/methods.md": r"numbered 1 to (\d+)",
    "tools/thalweg/measure.cpp": r"in (\d+) ways",
}


def anchors(path):
    """The anchors of a page's headings, in the form of code hosts."""
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def stands_in(block, source):
    """Whether `source` contains the lines of `block` consecutively, at any indentation."""
    wanted = textwrap.dedent(block)
    lines = source.splitlines(keepends=True)
    n = len(block.splitlines())
    return any(textwrap.dedent("".join(lines[i : i + n])) == wanted for i in range(len(lines) - n + 1))


def code_complaints(root, page):
    name = page.relative_to(root)
    for match in CODE.finditer(page.read_text(encoding="utf-8")):
        source, language, block = match.groups()
        first = block.splitlines()[0] if block else ""
        if source is None:
            if language in {"c", "cpp"} and name.parts[:2] == ("docs", "tutorial"):
                yield f"{name}: no file is given for the code '{first}'"
        elif not (root / source).is_file():
            yield f"{name}: {source} does not exist"
        elif not stands_in(block, (root / source).read_text(encoding="utf-8")):
            yield f"{name}: the code '{first.strip()}' is not part of {source}"


def method_complaints(root):
    if not (root / METHOD_TABLE).is_file():
        return
    known = (root / METHOD_TABLE).read_text(encoding="utf-8").count("MethodInfo{")
    for name, pattern in METHOD_COUNTS.items():
        told = re.findall(pattern, (root / name).read_text(encoding="utf-8"))
        if told != [str(known)]:
            yield f"{name}: {METHOD_TABLE} has {known} methods; '{pattern}' is found with {told}"


def version_complaints(root):
    """include/thalweg/version.h has the version; CMake and pyproject.toml read it there, these repeat it."""
    header = (root / "include/thalweg/version.h").read_text(encoding="utf-8")
    numbers = re.findall(r"define TW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    full, short = ".".join(numbers), ".".join(numbers[:2])
    repeated = {"include/thalweg/version.h": f'as "{full}"', "CITATION.cff": f"version: {full}",
                "src/thalweg.map": f"THALWEG_{short} {{", "examples/cmake_consumer/CMakeLists.txt": f"find_package(thalweg {short} "}
    for name, text in repeated.items():
        if text not in (root / name).read_text(encoding="utf-8"):
            yield f"{name}: does not say '{text}', the version of include/thalweg/version.h"


def complaints(root):
    yield from version_complaints(root)
    yield from method_complaints(root)
    pages = [p for p in root.rglob("*.md") if not SKIP & set(p.relative_to(root).parts)]
    for page in sorted(pages):
        yield from code_complaints(root, page)
        text = re.sub(r"```.*?```", lambda m: "\n" * m.group(0).count("\n"), page.read_text(encoding="utf-8"), flags=re.S)
        for number, line in enumerate(text.splitlines(), 1):
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                link = match.group(1) or match.group(2)
                if re.match(r"[a-z]+:", link):
                    continue
                file_part, _, anchor = link.partition("#")
                target = (page.parent / file_part).resolve() if file_part else page
                where = f"{page.relative_to(root)}:{number}"
                if not target.exists():
                    yield f"{where}: '{link}' leads nowhere"
                elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                    yield f"{where}: no heading '#{anchor}' in {target.name}"


if __name__ == "__main__":
    checking.main(__doc__, complaints)
