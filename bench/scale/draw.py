#!/usr/bin/env python3
"""Draw the curves of thalweg-bench-scale as a picture: predicted time, and messages, against the number of tasks.

Usage: draw.py RESULTS.json PICTURE.svg
Exit status: 0 done, 2 wrong usage or unreadable results.
"""

import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 440, 300, 70, 30, 120
COLOURS = {
    "open": "#8c8c8c", "write": "#d62728", "read": "#ff9896", "multifile": "#2ca02c", "multifile, threads": "#98df8a",
    "file-per-task": "#1f77b4", "gather": "#9467bd",
}


def curves_of(facts):
    """Points by name of the curve, in the order of tasks."""
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


def main(argv):
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(argv[1], encoding="utf-8") as file:
            curves = curves_of(json.load(file)["facts"])
    except (OSError, ValueError, KeyError) as error:
        print(f"draw.py: {error!r}", file=sys.stderr)
        return 2
    charts = [
        Chart(LEFT, "predicted time, by number of tasks", "s", curves, "seconds"),
        Chart(LEFT + WIDTH + GAP, "messages of a task, mean", "", curves, "messages_mean"),
    ]
    end = charts[-1].at + WIDTH + 20
    parts = [part for chart in charts for part in chart.svg()] + list(legend(end, curves))
    with open(argv[2], "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{end + 160}" height="{TOP + HEIGHT + 40}" ')
        file.write('font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n')
        file.write("\n".join(parts) + "\n</svg>\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
