#!/usr/bin/env python3
"""Tables for docs/performance/methods.md from the records of `thalweg methods --save FILE`.

Usage: methods_table.py NAME=FILE...     NAME: of the storage, as "ext4"

Prints, as Markdown, the best method of Thalweg compared with the best of all others in each cell, and the medians of
all methods in the largest cells. A ratio is the time of the others divided by that of Thalweg: above 1 Thalweg is
faster.
"""

import json
import math
import sys

PHASES = ("write", "read", "restart")
ARRAYS = ("gather", "mpiio-global", "mpiio-nonblocking", "hdf5-contiguous", "pnetcdf")


def load(path):
    """{(phase, cell): {method: (median, low, high)}}; a cell is (ranks, shape, order)."""
    times = {}
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["kind"] == "result" and record["phase"] in PHASES:
                cell = record["cell"]
                key = (record["phase"], (cell["ranks"], "x".join(map(str, cell["shape"])), cell["order"]))
                times.setdefault(key, {})[record["method"]] = tuple(record["seconds"][name] for name in ("median", "low", "high"))
    return times


def fastest(methods, wanted):
    return min(((seconds[0], method) for method, seconds in methods.items() if wanted(method)), default=(math.nan, "-"))


def is_ours(method):
    return method.startswith("tw-")


def leaves_array(method):
    return method.startswith(ARRAYS)


def comparison(name, times):
    print(f"| {name}: cell | " + " | ".join(f"{phase}: ours, best other, ratio" for phase in PHASES) + " |")
    print("|---" * (len(PHASES) + 1) + "|")
    for cell in sorted({cell for _, cell in times}):
        row = [f"{cell[0]} rank{'s' * (cell[0] > 1)}, {cell[1]}, {cell[2]}"]
        for phase in PHASES:
            methods = times.get((phase, cell))
            if methods is None:
                row.append("")
                continue
            ours, others = fastest(methods, is_ours), fastest(methods, lambda method: not is_ours(method))
            row.append(f"{ours[1][3:]} {ours[0] * 1e3:.2f} ms, {others[1]} {others[0] * 1e3:.2f}, {others[0] / ours[0]:.2f}")
        print("| " + " | ".join(row) + " |")


def summary(name, times):
    print(f"| {name} | to the best of all others: geometric mean (least .. most), cells at 1 or more | to the best that leaves the array |")
    print("|---|---|---|")
    for ranks in sorted({cell[0] for _, cell in times}):
        for phase in PHASES:
            cells = [methods for (of, cell), methods in times.items() if of == phase and cell[0] == ranks]
            if not cells:
                continue
            texts = []
            for others, ours in ((lambda method: not is_ours(method), is_ours),
                                 (leaves_array, lambda method: is_ours(method) and method != "tw-multifile")):
                ratios = [fastest(cell, others)[0] / fastest(cell, ours)[0] for cell in cells]
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                texts.append(f"{mean:.2f} ({min(ratios):.2f} .. {max(ratios):.2f}), {sum(r >= 1 for r in ratios)} of {len(ratios)}")
            print(f"| {phase}, {ranks} rank{'s' * (ranks > 1)} | " + " | ".join(texts) + " |")


def medians(name, times):
    ranks = max(cell[0] for _, cell in times)
    cells = sorted(cell for phase, cell in times if phase == "write" and cell[0] == ranks)
    most = max(math.prod(map(int, cell[1].split("x"))) for cell in cells)
    cells = [cell for cell in cells if math.prod(map(int, cell[1].split("x"))) == most]
    columns = [(phase, cell) for cell in cells for phase in ("write", "read")]
    print(f"| {name}, {ranks} ranks, MiB/s | " + " | ".join(f"{cell[1]}, {cell[2]}: {phase}" for phase, cell in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    order = sorted(times[columns[0]], key=lambda method: times[columns[0]][method][0])
    for method in order:
        row = [f"{most * 4 / 2**20 / times[column][method][0]:.0f}" if method in times[column] else "-" for column in columns]
        print(f"| {method} | " + " | ".join(row) + " |")


def main():
    if len(sys.argv) < 2 or not all("=" in word for word in sys.argv[1:]):
        sys.exit(__doc__)
    for word in sys.argv[1:]:
        name, path = word.split("=", 1)
        times = load(path)
        for table in (summary, comparison, medians):
            table(name, times)
            print()


if __name__ == "__main__":
    main()
