#!/usr/bin/env python3
"""Print the targets of benchmark results as Markdown tables.

Usage: benchmark_table.py RESULTS.json ...      prints the machine and the tables of each file
       benchmark_table.py --into PAGE.md RESULTS.json ...
                                                inserts them between <!-- results --> and <!-- end --> of a page
       benchmark_table.py --comparisons RESULTS.json ...
                                                adds the comparisons, a table for each set of variants, and facts
Similar targets of many cases, as marked by the benchmark, share a table with a row for each case: the worst variant
of each, in bold below its target, and the tightest limit in brackets. The results contain all of them.
Exit status: 0 done, 2 wrong usage or unreadable results.
"""

import argparse
import json
import pathlib
import sys


def machine_line(report):
    machine, settings, targets = report["machine"], report["settings"], report["targets"]
    memory = machine["memory_bytes"] / 2**30
    return (
        f"`thalweg-bench-{report['benchmark']}`, {settings['effort']} run, on {machine['processor']}, {machine['cores']} cores, "
        f"{memory:.0f} GiB of memory, {machine['system']}; file systems: {', '.join(settings['file_systems'])}; "
        f"thalweg {machine['thalweg']} ({machine['commit']}), GCC {machine['compiler']}; load before the run "
        f"{machine['load_1min']:.1f}; {sum(row['met'] for row in targets)} of {len(targets)} targets met."
    )


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def limits_of(target):
    return ", ".join(f"{limit['name']} {number(limit['value'])}" for limit in target.get("limits", []))


def list_of(targets):
    limited = any(limits_of(row) for row in targets)
    lines = ["| target | measured | min .. max | target | |", "|---|---|---|---|---|"]
    if limited:
        lines = ["| target | measured | min .. max | target | limit | |", "|---|---|---|---|---|---|"]
    for row in targets:
        spread = f"{number(row['min'])} .. {number(row['max'])}"
        limit = f" {limits_of(row)} |" if limited else ""
        verdict = "met" if row["met"] else "**short**"
        lines.append(f"| {row['name']} | {number(row['measured'])} {row['unit']} | {spread} | {row['target']} |{limit} {verdict} |")
    return "\n".join(lines)


def merit(target):
    """Result relative to the bound: 1 is just met."""
    ratio = target["measured"] / target["bound"]
    return ratio if target["target"].startswith(">=") else 1 / ratio


def cell(target):
    text = number(target["measured"])
    if not target["met"]:
        text = f"**{text}**"
    if target["place"]["variant"]:
        text += f" {target['place']['variant']}"
    if target.get("limits"):
        text += f" ({number(target['limits'][0]['value'])})"
    return text


def matrix_of(targets):
    columns, rows = {}, {}  # unit and bound of each column; worst target of each column per row
    for target in targets:
        place = target["place"]
        columns.setdefault(place["column"], target["target"])
        cells = rows.setdefault(place["row"], {})
        if place["column"] not in cells or merit(target) < merit(cells[place["column"]]):
            cells[place["column"]] = target
    lines = ["| | " + " | ".join(f"{name} {asked}" for name, asked in columns.items()) + " | (limit) |"]
    lines.append("|---" * (len(columns) + 2) + "|")
    for row, cells in rows.items():
        limit = next((cells[c]["limits"][0]["name"] for c in columns if c in cells and cells[c].get("limits")), "")
        texts = [cell(cells[c]) if c in cells else "" for c in columns]
        lines.append(f"| {row} | " + " | ".join(texts) + f" | {limit} |")
    return "\n".join(lines)


def tables(report):
    alone = [target for target in report["targets"] if "place" not in target]
    placed = [target for target in report["targets"] if "place" in target]
    return "\n\n".join(make(some) for make, some in ((list_of, alone), (matrix_of, placed)) if some)


def pace(comparison, row):
    """Rate of a variant, or its seconds per unit."""
    if comparison["unit"] == "byte":
        return f"{number(comparison['amount'] / row['median_seconds'] / 1e9)} GB/s"
    return f"{number(row['median_seconds'] / comparison['amount'] * 1e6)} us"


def comparison_tables(report):
    """Medians of all variants; comparisons with equal variants share a table."""
    alike = {}
    for comparison in report["comparisons"]:
        variants = tuple(dict.fromkeys(row["variant"] for row in comparison["variants"]))
        for row in comparison["variants"]:
            lines = alike.setdefault(variants, {})
            lines.setdefault(f"{comparison['name']}, {row['phase']}", {})[row["variant"]] = pace(comparison, row)
    texts = []
    for variants, lines in alike.items():
        text = ["| | " + " | ".join(variants) + " |", "|---" * (len(variants) + 1) + "|"]
        text += [f"| {name} | " + " | ".join(cells[variant] for variant in variants) + " |" for name, cells in lines.items()]
        texts.append("\n".join(text))
    facts = [f"| {name} | {number(value)} |" for name, value in report["facts"].items() if isinstance(value, (int, float))]
    return "\n\n".join(texts + (["\n".join(["| also measured | |", "|---|---|", *facts])] if facts else []))


def put_into(page, text):
    begin, end = "<!-- results -->", "<!-- end -->"
    head, begin_found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, end_found, tail = rest.partition(end)
    if not begin_found or not end_found:
        raise ValueError(f"{page} has no lines {begin} and {end}")
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("Usage: ")[2], add_help=False)
    parser.add_argument("--into", type=pathlib.Path)
    parser.add_argument("--comparisons", action="store_true")
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    chosen = parser.parse_args()
    try:
        reports = [json.loads(path.read_text(encoding="utf-8")) for path in chosen.results]
        parts = [part for report in reports for part in (machine_line(report), tables(report))]
        if chosen.comparisons:
            parts += [comparison_tables(report) for report in reports]
        text = "\n\n".join(part for part in parts if part)
        if chosen.into:
            put_into(chosen.into, text)
        else:
            print(text)
    except (OSError, ValueError, KeyError) as error:
        print(f"benchmark_table.py: {error!r}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
