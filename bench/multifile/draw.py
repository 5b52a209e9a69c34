#!/usr/bin/env python3
"""Draw how the number of physical files and the alignment of chunks change the speed of a multifile.

Usage: draw.py RESULTS.json PICTURE.svg
RESULTS.json: thalweg-bench-multifile --part physical-files --part alignment --json RESULTS.json. Needs matplotlib.
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "thalweg"})
from matplotlib import pyplot

WIDTH, HEIGHT = 9, 6  # inches
ROWS = (("number of physical files", "physical files"), ("alignment of chunks", "alignment, bytes"))
PHASES = ("write", "read")


def speeds(comparison, phase):
    """GB/s by the number in the name of the variant; None: task-local files."""
    found = {}
    for one in comparison["variants"]:
        number = next((int(word) for word in one["variant"].split() if word.isdigit()), None)
        if one["phase"] == phase:
            found[number] = comparison["amount"] / one["median_seconds"] / 1e9
    return found


def main(results, picture):
    with open(results, encoding="utf-8") as file:
        comparisons = [one for one in json.load(file)["comparisons"] if "synced" not in one["name"]]
    figure, panels = pyplot.subplots(len(ROWS), len(PHASES), figsize=(WIDTH, HEIGHT), layout="constrained")
    for row, (name, axis) in zip(panels, ROWS):
        for panel, phase in zip(row, PHASES):
            for comparison in comparisons:
                if not comparison["name"].startswith(name):
                    continue
                points = speeds(comparison, phase)
                local = points.pop(None, None)
                line, = panel.plot(list(points), list(points.values()), "o-", label=comparison["file_system"])
                if local is not None:
                    panel.axhline(local, color=line.get_color(), linestyle=":",
                                  label=f"{comparison['file_system']}, task-local files")
            panel.set(title=phase, xlabel=axis, ylabel="GB/s", ylim=(0, None))
            panel.set_xscale("log", base=2)
            panel.set_xticks(list(points), labels=list(points), minor=False)
            panel.legend(fontsize="small")
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
