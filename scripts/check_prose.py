#!/usr/bin/env python3
"""Check what a machine can see of sentences: comments, documents and commit subjects.

Usage: check_prose.py [--range FROM..TO] ROOT

Complaints: a sentence of a comment or a document that begins with "Of" or "The same" and a lower-case word; a string literal that does; in the public headers, a label
of a contract (Call:, Blocking:, Threads:, Returns) that is not at the begin of a line; a commit subject of the range that is longer than
72 characters or has a ";". Without --range the commits that the upstream of this branch lacks are looked at, or the last 20 where it has none.
Exit status: 0 clean, 1 at least one complaint (one line each), 2 wrong usage.
"""

import argparse
import pathlib
import re
import subprocess
import sys

CODE = {".c", ".h", ".cpp", ".hpp", ".f90", ".cu"}
SCRIPTS = {".py", ".sh", ".cmake"}
TEXTS = {"src", "tools", "frontends", "bindings"}  # folders whose string literals people read
SKIP = {"build", ".git", "corpus", "golden"}
BEGIN = re.compile(r"(?:^|[.!?:;]\s+|^[-*|]\s+)((?:Of|The same),? (?:a |an |the )?[a-z][\w-]*)")
STRING = re.compile(r'"((?:Of|The same)\b[^"]*)"')
LABEL = re.compile(r"\S.*?\s(Call:|Blocking:|Threads:|Returns TW_)")
MOST = 72


def comment_blocks(path, text):
    """(line number, text) of each run of comment lines, joined."""
    if path.suffix == ".md":
        yield from paragraphs(text)
        return
    if path.suffix in CODE:
        found = re.finditer(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+|//[^\n]*", text, re.S | re.M)
        strip = r"^[ \t]*(?://[/!]?<?|/\*+|\*/|\*)[ \t]?|\*/$"
    else:
        found = re.finditer(r"(?:^[ \t]*#[^\n!]*\n)+|(?<=\s)#\s[^\n]*", text, re.M)
        strip = r"^[ \t]*#[ \t]?"
    for match in found:
        lines = [re.sub(strip, "", line).strip() for line in match.group(0).strip().splitlines()]
        yield text.count("\n", 0, match.start()) + 1, " ".join(lines)


def paragraphs(text):
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
    number = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        if paragraph.strip() and not paragraph.startswith("    "):
            yield number, " ".join(paragraph.split())
        number += paragraph.count("\n")


def prose_complaints(root):
    for path in sorted(p for p in root.rglob("*") if p.suffix in CODE | SCRIPTS | {".md"} and p.is_file()):
        where = path.relative_to(root)
        if SKIP & set(where.parts):
            continue
        text = path.read_text(encoding="utf-8")
        if where.parts[0] in TEXTS and path.suffix in CODE:
            for match in STRING.finditer(text):
                yield f"{where}:{text.count(chr(10), 0, match.start()) + 1}: a text begins with '{match.group(1)[:30]}': name its subject"
        for number, block in comment_blocks(path, text):
            for match in BEGIN.finditer(block):
                yield f"{where}:{number}: a sentence begins with '{match.group(1)}': name its subject"
        if where.parts[:2] == ("include", "thalweg") and path.suffix == ".h":
            for number, line in enumerate(text.splitlines(), 1):
                line = re.sub(r"^\s*/?\*+/?\s?", "", line)
                if match := LABEL.match(line):
                    yield f"{where}:{number}: '{match.group(1)}' stands within a line: a contract has one line for each label"


def subject_complaints(root, commits):
    def git(*arguments):
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    commits = commits or ("@{upstream}..HEAD" if git("rev-parse", "-q", "--verify", "@{upstream}") else "-20")
    for line in git("log", "--format=%h %s", commits).splitlines() if commits else []:
        commit, _, subject = line.partition(" ")
        if len(subject) > MOST:
            yield f"commit {commit}: the subject has {len(subject)} characters, at most {MOST}: {subject}"
        if ";" in subject:
            yield f"commit {commit}: the subject names more than one thing: {subject}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--range", default="")
    parser.add_argument("root", type=pathlib.Path)
    chosen = parser.parse_args()
    found = [*prose_complaints(chosen.root), *subject_complaints(chosen.root, chosen.range)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
