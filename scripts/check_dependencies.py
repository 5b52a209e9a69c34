#!/usr/bin/env python3
"""Check that CMake and the package config search only for packages in cmake/dependencies.txt, and that README and
CONTRIBUTING name the compiler and CMake versions of that file.

Usage: check_dependencies.py ROOT
Exit status: 0 clean, 1 at least one complaint (one line each), 2 wrong usage.
"""

import pathlib
import re

import checking

ASKED = re.compile(r"^\s*(?:find_package|find_dependency)\(\s*([\w:]+)|^\s*pkg_check_modules\(.*?([\w${}.-]+)\)\s*$", re.M)
OWN = {"thalweg"}


def listed(root):
    """{name in CMake}, and the words of the group `build`."""
    names, words = set(), []
    for line in (root / "cmake/dependencies.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        group, _, probe, what, cmake = (field.strip() for field in line.split("|"))
        names.update(cmake.split())
        if probe.startswith("has_module "):
            names.add(probe.split()[1])
        if group == "build":
            words.append(what)
    return names, words


def complaints(root):
    names, words = listed(root)
    tracked = [p for p in root.rglob("*") if "build" not in p.relative_to(root).parts and p.is_file()]
    for path in sorted(p for p in tracked if p.name == "CMakeLists.txt" or p.suffix == ".cmake" or p.name.endswith(".cmake.in")):
        text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        for match in ASKED.finditer(text):
            name = match.group(1) or match.group(2)
            if name not in names | OWN and "$" not in name:
                yield f"{path.relative_to(root)}: '{name}' is not in cmake/dependencies.txt"
    versions = re.findall(r"(GCC \d+|Clang \d+|CMake \d+\.\d+)", " ".join(words))
    readme = (root / "README.md").read_text(encoding="utf-8")
    yield from (f"README.md: does not name '{version}', which cmake/dependencies.txt has" for version in versions if version not in readme)


if __name__ == "__main__":
    checking.main(__doc__, complaints)
