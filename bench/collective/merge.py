#!/usr/bin/env python3
"""Join the results of single runs of thalweg-bench-collective, and add the targets that need several runs.

Usage: merge.py OUT.json RUN.json ...
Targets across runs compare medians: 8 ranks with 4, and on delayed storage Thalweg with the best MPI. Prints all
targets.
Exit status: 0 done, 2 wrong usage or unreadable results.
"""

import json
import re
import sys

NAME = re.compile(r"(?P<mpi>.+), (?P<ranks>\d+) ranks?, (?P<storage>\S+): (?P<what>coll_perf \d+\^3)$")
OURS = "ours"


def rates(comparisons):
    """Returns {(mpi, ranks, storage, what): {(variant, phase): bytes per second}} of the coll_perf runs."""
    found = {}
    for comparison in comparisons:
        match = NAME.match(comparison["name"])
        if match:
            key = (match["mpi"], int(match["ranks"]), match["storage"], match["what"])
            found[key] = {
                (row["variant"], row["phase"]): comparison["amount"] / row["median_seconds"] for row in comparison["variants"]
            }
    return found


def target(name, measured, bound):
    return {"name": name, "measured": measured, "min": measured, "max": measured, "bound": bound, "unit": "x",
            "target": f">= {bound} x", "met": measured >= bound}


def more_ranks(found):
    """8 ranks on the cores of 4: waiting must not take time from working ranks."""
    for (mpi, ranks, storage, what), rate in found.items():
        few = found.get((mpi, 4, storage, what))
        if ranks == 8 and few and storage != "delayed":
            for phase in ("write", "read"):
                measured = rate[OURS, phase] / few[OURS, phase]
                yield target(f"{mpi}, {storage}: {what}: 8 ranks to 4 ranks of ours, {phase}", measured, 0.7)


def best_of_all(found):
    """On delayed storage with 8 ranks: Thalweg on each MPI compared with the best MPI-IO."""
    slow = {key: rate for key, rate in found.items() if key[1] == 8 and key[2] == "delayed"}
    for (mpi, _, _, what), rate in slow.items():
        for phase in ("write", "read"):
            peers = [(other[variant, phase], key[0]) for key, other in slow.items() if key[3] == what
                     for variant, some in other if some == phase and variant.startswith("MPI_File_")]
            best, whose = max(peers)
            yield target(f"{mpi}, 8 ranks, delayed: {what}: ours to the best of all MPIs ({whose}), {phase}",
                         rate[OURS, phase] / best, 1.2)


def merged(reports):
    comparisons = [comparison for report in reports for comparison in report["comparisons"]]
    found = rates(comparisons)
    kinds = sorted({kind for report in reports for kind in report["settings"]["file_systems"]})
    return {
        "benchmark": "collective",
        "settings": {"effort": reports[0]["settings"]["effort"], "file_systems": kinds,
                     "runs": [report["settings"] for report in reports],
                     "seconds": sum(report["settings"]["seconds"] for report in reports)},
        "machine": reports[0]["machine"],  # of the first run: later ones see the benchmark's own load
        "comparisons": comparisons,
        "facts": {key: value for report in reports for key, value in report["facts"].items()},
        "targets": [row for report in reports for row in report["targets"]] + [*more_ranks(found), *best_of_all(found)],
    }


def main(argv):
    if len(argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        reports = []
        for path in argv[2:]:
            with open(path, encoding="utf-8") as file:
                reports.append(json.load(file))
        report = merged(reports)
        with open(argv[1], "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
    except (OSError, ValueError, KeyError) as error:
        print(f"merge.py: {error!r}", file=sys.stderr)
        return 2
    for row in report["targets"]:
        print(f"{'met  ' if row['met'] else 'SHORT'}  {row['measured']:8.3g} {row['unit']:3} ({row['target']})  {row['name']}")
    print(f"{sum(row['met'] for row in report['targets'])} of {len(report['targets'])} targets met; {argv[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
