#!/usr/bin/env python3
"""Print the size budgets of the tree, and fail where the tree has grown above what it may have.

Usage: scripts/budgets.py [ROOT] [CALLGRIND_FILE]

CALLGRIND_FILE is what `valgrind --tool=callgrind --toggle-collect=tw_file_write_all` wrote about a program in which a
team of threads makes that call (scripts/run_nightly.sh, part valgrind); with it, the files that the call enters are
counted, headers left out.

What is above its budget may not grow: its ceiling is what the tree has now. Lower the ceiling with each cut, until it
is the budget.

A code line has something on it besides blanks and comments, in Python besides docstrings, too. A type is a class, struct, union or enum that is defined
with a body. A member function is a declaration with a parameter list in a class body (constructors, operators and
destructors too). An entry point is a function that the shared libraries export (tests/abi/exported_symbols.txt).
Exit status: 0 all ceilings are kept, 1 one is exceeded, 2 wrong usage.
"""

import ast
import collections
import pathlib
import re
import sys

MEASURE = "bindings/python/src/thalweg/measure"
SOURCES = {".c", ".h", ".cpp", ".hpp"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL)
TYPE = re.compile(
    r"^[ \t]*(?:template\s*<[^;{]*>\s*)?(?:class|struct|union|enum(?:\s+class)?)\s+(?:\[\[[^\]]*\]\]\s*)?"
    r"(?:alignas\([^)]*\)\s*)?(?:TW_SHARED\s+)?(\w+)[^;{}()=]*\{",
    re.MULTILINE,
)
CALL_HEAD = re.compile(r"([~\w]+|operator[^\w\s(]+|operator\(\))\s*\($")


def without_comments(text):
    """The text without comments; strings are recognised."""
    return COMMENT.sub(lambda m: m.group(0) if m.group(0)[0] in "\"'" else "\n" * m.group(0).count("\n"), text)


def code_lines(path):
    return sum(1 for line in without_comments(path.read_text(encoding="utf-8")).splitlines() if line.strip())


def python_lines(path):
    """Lines of a module with something besides blanks, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    documented = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None:
            documented.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if line.strip() and not line.lstrip().startswith("#") and number not in documented)


def sources_below(root, *folders):
    return [p for f in folders for p in sorted((root / f).rglob("*")) if p.suffix in SOURCES and p.is_file()]


def body_of(text, start):
    """The text between the brace at `start` and its partner."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1 : at]
    return text[start + 1 :]


def member_functions(body):
    """Declarations with a parameter list at the first level of a class body."""
    flat, depth = [], 0
    for char in body:
        depth -= char == "}"
        if depth == 0:
            flat.append(char)
        depth += char == "{"
        if char == "}" and depth == 0:
            flat.append(";")
    count = 0
    for declaration in "".join(flat).split(";"):
        head = re.sub(r"\b(?:public|private|protected)\s*:", "", declaration)
        head = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", head)).strip()
        parenthesis = head.find("(")
        if parenthesis <= 0 or re.match(r"(friend|using|typedef|static_assert|enum|struct|class)\b", head):
            continue
        before = head[:parenthesis]
        if "=" in before and "operator" not in before:
            continue
        count += CALL_HEAD.search(head[: parenthesis + 1]) is not None
    return count


def types_of(path):
    """[(name, member functions)] of the types defined in a file."""
    text = re.sub(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", '""', without_comments(path.read_text(encoding="utf-8")))
    return [(m.group(1), member_functions(body_of(text, m.end() - 1))) for m in TYPE.finditer(text)]


def entry_points(root):
    lines = (root / "tests/abi/exported_symbols.txt").read_text(encoding="utf-8").splitlines()
    return sum(1 for line in lines if re.search(r" tw_\w+$", line))


def budgets(root):
    """[(what, value, budget, ceiling, where)]"""
    inside = sources_below(root, "src")
    largest = max(inside, key=code_lines)
    types = [(count, name, path) for path in inside for name, count in types_of(path)]
    widest = max(types)
    folders = collections.Counter(path.parent for path in inside)
    fullest = max(folders, key=folders.get)

    def lines(*rooms):
        return sum(map(code_lines, sources_below(root, *rooms)))

    return [
        ("code lines of src/", lines("src"), 25000, 33516, ""),
        ("code lines of src/, sim/ and testing/", lines("src", "sim", "testing"), 31000, 36596, ""),
        ("code lines of the largest file of src/", code_lines(largest), 500, 500, largest.relative_to(root)),
        ("types in src/", len(types), 300, 411, ""),
        ("files in the largest folder of src/", folders[fullest], 25, 25, fullest.relative_to(root)),
        ("public entry points", entry_points(root), 170, 170, ""),
        ("member functions of the largest class", widest[0], 35, 35, f"{widest[1]}, {widest[2].relative_to(root)}"),
        ("code lines of tools/", lines("tools"), 7000, 8776, ""),
        ("code lines of thalweg.measure", sum(map(python_lines, sorted((root / MEASURE).glob("*.py")))), 4000, 3982, ""),
    ]


def entered_files(callgrind):
    """The sources in src/ of which something ran. Callgrind names a file once, in any kind of line."""
    named = re.findall(r"^c?(?:fl|fi|fe)=(?:\(\d+\))?\s*(\S+)$", callgrind.read_text(encoding="utf-8"), re.MULTILINE)
    return {name[name.rindex("/src/") + 1 :] for name in named if "/src/" in name and name.endswith(".cpp")}


def main(argv):
    if len(argv) > 3:
        print(__doc__, file=sys.stderr)
        return 2
    failed = False
    rows = budgets(pathlib.Path(argv[1] if len(argv) > 1 else "."))
    if len(argv) == 3:
        entered = sorted(entered_files(pathlib.Path(argv[2])))
        if not entered:
            print(f"{argv[2]}: nothing of src/ ran: was the call made?", file=sys.stderr)
            return 2
        rows.append(("files entered by one tw_file_write_all", len(entered), 20, 24, ", ".join(entered)))
    for what, value, budget, ceiling, where in rows:
        verdict = ""
        if value > budget:
            verdict = f"  {value - budget} above its budget; may not grow above {ceiling}"
        if value > ceiling:
            failed = True
            verdict = f"  FAILED: {value - ceiling} more than it may have ({ceiling})"
        print(f"{what:<40} {value:>6} of {budget:>6}{verdict}{f'  ({where})' if where else ''}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv))
