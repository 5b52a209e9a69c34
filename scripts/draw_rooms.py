#!/usr/bin/env python3
"""Draw the rooms of the tree and the includes between them: docs/architecture.svg.

Usage: scripts/draw_rooms.py [--check] [ROOT]      --check: fail when the picture is not that of the tree

A box is a room (a folder of src/, sim/ or testing/, with its number of code lines); rooms in one row have the same level, which is one above the highest room
that they include. An arrow leads from a room to one that it includes, unless another arrow's way leads there too. sim/ and testing/, which use whatever they
need, are in the highest row, without arrows.
Exit status: 0 drawn or right, 1 the picture is out of date, 2 wrong usage.
"""

import pathlib
import re
import sys

from budgets import SOURCES, code_lines
from check_layers import INCLUDE, MAY_INCLUDE, room_of

PICTURE = "docs/architecture.svg"
BESIDE = ("sim", "testing")  # rooms outside src/
BOX, GAP_X, GAP_Y, MARGIN = (150, 44), 18, 46, 20
COLOURS = {"pure": "#e3f0e3", "engine": "#e4ecf7", "file": "#fbefd9", "beside": "#f0f0f0", "low": "#f7f7f7"}


def top(room):
    """Parts of one room are one box: multifile/read and multifile/write are in 'multifile', all that is pure bytes in 'formats'."""
    return "formats" if room.endswith("/format") else room.split("/")[0]


def rooms(root):
    """{room: (code lines, rooms that it includes)}"""
    found = {}
    for path in sorted(p for place in ("src", *BESIDE) for p in (root / place).rglob("*") if p.suffix in SOURCES):
        where = path.relative_to(root).as_posix()
        room = top(where if where.startswith(BESIDE) else room_of(where.removeprefix("src/")))
        lines, includes = found.setdefault(room, [0, set()])
        found[room][0] += code_lines(path)
        for match in map(INCLUDE.match, path.read_text(encoding="utf-8").splitlines()):
            if match and (target := room_of(match.group(1)) if not match.group(1).startswith(BESIDE) else match.group(1)):
                if (root / "src" / match.group(1)).exists() or (root / match.group(1)).exists():
                    includes.add(top(target))
    return {room: (lines, includes - {room}) for room, (lines, includes) in found.items()}


def levels(graph):
    """{room: level}. Rooms that include each other (a room and a part of it that is used below) take the level without the other."""
    known = {}

    def level(room, seen=()):
        if room not in known and room not in seen:
            below = [level(other, (*seen, room)) for other in graph[room][1] if other not in seen]
            known[room] = 1 + max((value for value in below if value is not None), default=-1)
        return known.get(room)

    for room in graph:
        level(room)
    return known


def reduced(graph):
    """The includes that no longer way replaces."""

    def reach(room, without, seen):
        for other in graph[room][1]:
            if (room, other) != without and other not in seen:
                seen.add(other)
                reach(other, without, seen)
        return seen

    return {(a, b) for a in graph for b in graph[a][1] if b not in reach(a, (a, b), set())}


def colour(room):
    if room in BESIDE:
        return COLOURS["beside"]
    if room == "access":
        return COLOURS["pure"]
    if room in ("sharedfile", "multifile", "vpfile", "formats"):
        return COLOURS["file"]
    return COLOURS["engine"] if room in ("engine", "group", "storage", "async") else COLOURS["low"]


def draw(graph):
    rows, levels_of = {}, levels(graph)
    levels_of.update(dict.fromkeys(set(BESIDE) & set(graph), max(levels_of.values())))
    for room, level in sorted(levels_of.items()):
        rows.setdefault(level, []).append(room)
    widest = max(map(len, rows.values()))
    width = 2 * MARGIN + widest * BOX[0] + (widest - 1) * GAP_X
    height = 2 * MARGIN + len(rows) * BOX[1] + (len(rows) - 1) * GAP_Y
    at = {}
    for number, level in enumerate(sorted(rows, reverse=True)):
        row = rows[level]
        begin = (width - len(row) * BOX[0] - (len(row) - 1) * GAP_X) / 2
        for i, room in enumerate(row):
            at[room] = (begin + i * (BOX[0] + GAP_X), MARGIN + number * (BOX[1] + GAP_Y))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for a, b in sorted(edge for edge in reduced(graph) if edge[0] not in BESIDE):
        (xa, ya), (xb, yb) = at[a], at[b]
        below = levels_of[a] - levels_of[b] > 1  # such an arrow goes round the boxes between
        begin, end = (xa + BOX[0] * (0.9 if below else 0.5), xb + BOX[0] * (0.9 if below else 0.5))
        bend = BOX[0] * 0.5 if below else 0
        parts.append(
            f'<path d="M{begin:.0f} {ya + BOX[1]:.0f} C{begin + bend:.0f} {ya + BOX[1] + GAP_Y * 0.7:.0f} '
            f'{end + bend:.0f} {yb - GAP_Y * 0.7:.0f} {end:.0f} {yb:.0f}" fill="none" stroke="#99a" marker-end="url(#a)"/>'
        )
    for room, (x, y) in sorted(at.items()):
        lines = graph[room][0]
        parts.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX[0]}" height="{BOX[1]}" rx="5" fill="{colour(room)}" stroke="#556"/>')
        parts.append(f'<text x="{x + BOX[0] / 2:.0f}" y="{y + 20:.0f}" text-anchor="middle" font-size="15">{room}</text>')
        parts.append(f'<text x="{x + BOX[0] / 2:.0f}" y="{y + 36:.0f}" text-anchor="middle" font-size="11" fill="#556">{lines / 1000:.1f}k lines</text>')
    return "\n".join([*parts, "</svg>", ""])


def main(argv):
    check = "--check" in argv
    rest = [argument for argument in argv[1:] if argument != "--check"]
    if len(rest) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(rest[0] if rest else ".")
    picture, made = root / PICTURE, draw(rooms(root))
    if not check:
        picture.write_text(made, encoding="utf-8")
        return 0

    def arrows(text):
        return re.sub(r"[\d.]+k lines", "", text)

    if not picture.exists() or arrows(picture.read_text(encoding="utf-8")) != arrows(made):
        print(f"{PICTURE} is not the picture of the tree: run scripts/draw_rooms.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
