#!/usr/bin/env python3
"""Draw the curves of thalweg-bench-scale as a picture: predicted time, and messages, by number of tasks.

Usage: draw.py RESULTS.json... PICTURE.svg      from several runs together
       draw.py --into PAGE.md RESULTS.json...   tables between the lines <!-- curves --> and <!-- end curves --> of a page
Exit status: 0 done, 2 wrong usage or unreadable results.
"""

import json
import math
import pathlib
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 440, 300, 70, 30, 120
COLOURS = {
    "open": "#8c8c8c", "write": "#d62728", "read": "#ff9896", "multifile": "#2ca02c", "multifile, threads": "#98df8a",
    "file-per-task": "#1f77b4", "gather": "#9467bd",
}


def curves_of(facts):
    """Points by name of the curve, in order of tasks."""
    curves = {name: [] for name in COLOURS}
    for key, value in facts.items():
        if isinstance(value, dict) and "tasks" in value:
            curves[key.rsplit(" ", 1)[0]].append(value)
    return {name: sorted(points, key=lambda point: point["tasks"]) for name, points in curves.items() if points}


def power_text(exponent, unit):
    if unit == "s":
        return {-6: "1 us", -5: "10 us", -4: "100 us", -3: "1 ms", -2: "10 ms", -1: "100 ms"}.get(exponent, f"{10**exponent:g} s")
    return f"{10**exponent:,.0f}" if exponent >= 0 else f"{10**exponent:g}"


class Chart:
    """Logarithmic in both directions."""

    def __init__(self, at, title, unit, curves, key):
        self.at, self.title, self.unit = at, title, unit
        self.lines = {name: [(p["tasks"], p[key]) for p in points if p[key] > 0] for name, points in curves.items()}
        values = [value for line in self.lines.values() for _, value in line]
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.most = max(tasks for line in self.lines.values() for tasks, _ in line)

    def x(self, tasks):
        return self.at + WIDTH * math.log2(tasks) / math.log2(max(self.most, 2))

    def y(self, value):
        return TOP + HEIGHT * (self.high - math.log10(value)) / max(self.high - self.low, 1)

    def svg(self):
        yield f'<text x="{self.at}" y="{TOP - 12}" font-weight="bold">{self.title}</text>'
        for exponent in range(self.low, self.high + 1):
            y = self.y(10**exponent)
            yield f'<line x1="{self.at}" x2="{self.at + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            yield f'<text x="{self.at - 6}" y="{y + 4:.1f}" text-anchor="end">{power_text(exponent, self.unit)}</text>'
        tasks = 1
        while tasks <= self.most:
            yield f'<text x="{self.x(tasks):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{short(tasks)}</text>'
            tasks *= 16
        for name, line in self.lines.items():
            path = " ".join(f"{self.x(tasks):.1f},{self.y(value):.1f}" for tasks, value in line)
            yield f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>'


def short(tasks):
    for size, letter in ((1 << 20, "M"), (1 << 10, "k")):
        if tasks >= size:
            return f"{tasks // size}{letter}"
    return str(tasks)


def legend(x, names):
    for i, name in enumerate(names):
        y = TOP + 20 * i + 8
        yield f'<line x1="{x}" x2="{x + 20}" y1="{y}" y2="{y}" stroke="{COLOURS[name]}" stroke-width="2"/>'
        yield f'<text x="{x + 26}" y="{y + 4}">{name}</text>'


def scaled(value, units, step):
    """Three digits and the largest unit in which the value is at least one."""
    at = 0
    while value >= step and at + 1 < len(units):
        value, at = value / step, at + 1
    return f"{value:.3g} {units[at]}"


def time_text(seconds):
    return scaled(seconds * 1e6, ("us", "ms", "s"), 1000)


def bytes_text(value):
    return scaled(value, ("B", "KiB", "MiB", "GiB"), 1024)


def tables(curves):
    """Predicted time for some numbers of tasks, and the resources of the largest number."""
    every = sorted({point["tasks"] for points in curves.values() for point in points})
    shown = [n for n in every if n in (16, 1024, 16384, 262144, every[-1])]
    yield "Predicted time:\n"
    yield "| | " + " | ".join(f"{n} tasks" for n in shown) + " |"
    yield "|---" * (len(shown) + 1) + "|"
    for name, points in curves.items():
        times = {point["tasks"]: time_text(point["seconds"]) for point in points}
        yield f"| {name} | " + " | ".join(times.get(n, "") for n in shown) + " |"
    yield f"\nWith {every[-1]} tasks:\n"
    yield "| | collectives | messages of a task, mean | the busiest | largest reception | memory of a task, mean |"
    yield "|---" * 6 + "|"
    for name, points in curves.items():
        last = points[-1]
        yield (f"| {name} | {last['collectives']:.0f} | {last['messages_mean']:.0f} | {last['messages_most']:.0f} | "
               f"{bytes_text(last['received_most'])} | {bytes_text(last['heap_mean'])} |")


def draw(curves):
    charts = [
        Chart(LEFT, "predicted time, by number of tasks", "s", curves, "seconds"),
        Chart(LEFT + WIDTH + GAP, "messages of a task, mean", "", curves, "messages_mean"),
    ]
    end = charts[-1].at + WIDTH + 20
    parts = [part for chart in charts for part in chart.svg()] + list(legend(end, curves))
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{end + 160}" height="{TOP + HEIGHT + 40}" '
    yield 'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
    yield "\n".join(parts) + "\n</svg>\n"


def put_into(page, lines):
    text = page.read_text(encoding="utf-8")
    before, rest = text.split("<!-- curves -->\n", 1)
    behind = rest.split("<!-- end curves -->", 1)[1]
    page.write_text(before + "<!-- curves -->\n" + "\n".join(lines) + "\n<!-- end curves -->" + behind, encoding="utf-8")


def main(argv):
    into = argv[1] == "--into" if len(argv) > 1 else False
    if len(argv) < (4 if into else 3):
        print(__doc__, file=sys.stderr)
        return 2
    results = argv[3:] if into else argv[1:-1]
    try:
        facts = {}
        for name in results:
            facts.update(json.loads(pathlib.Path(name).read_text(encoding="utf-8"))["facts"])
        curves = curves_of(facts)
        if into:
            put_into(pathlib.Path(argv[2]), list(tables(curves)))
        else:
            pathlib.Path(argv[-1]).write_text("".join(draw(curves)), encoding="utf-8")
    except (OSError, ValueError, KeyError, IndexError) as error:
        print(f"draw.py: {error!r}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
