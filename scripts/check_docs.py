#!/usr/bin/env python3
"""Check the Markdown files: every relative link and every anchor leads somewhere.

Usage: check_docs.py ROOT
Exit status: 0 clean, 1 at least one dead link (one line each), 2 wrong usage.
"""

import pathlib
import re
import sys

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)[^)]*\)|!\[[^\]]*\]\(([^)\s]+)[^)]*\)")
SKIP = {"build", ".git"}


def anchors(path):
    """The anchors of a page's headings, made the way code hosts make them."""
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def complaints(root):
    pages = [p for p in root.rglob("*.md") if not SKIP & set(p.relative_to(root).parts)]
    for page in sorted(pages):
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


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(complaints(pathlib.Path(argv[1]).resolve()))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
