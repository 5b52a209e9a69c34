#!/usr/bin/env python3
"""Print the targets of benchmark results as a Markdown table.

Usage: benchmark_table.py RESULTS.json ...      prints the machine and one table for each file
       benchmark_table.py --into PAGE.md RESULTS.json ...
                                                puts them between the lines <!-- results --> and <!-- end --> of a page
Exit status: 0 done, 2 wrong usage or unreadable results.
"""

import json
import pathlib
import sys

BEGIN, END = "<!-- results -->", "<!-- end -->"


def machine_line(report):
    machine, settings = report["machine"], report["settings"]
    memory = machine["memory_bytes"] / 2**30
    return (
        f"`thalweg-bench-{report['benchmark']}`, {settings['effort']} run, on {machine['processor']}, {machine['cores']} cores, "
        f"{memory:.0f} GiB of memory, {machine['system']}; file systems: {', '.join(settings['file_systems'])}; "
        f"thalweg {machine['thalweg']} ({machine['commit']}), GCC {machine['compiler']}; load before the run "
        f"{machine['load_1min']:.1f}."
    )


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(report):
    lines = ["| target | measured | min .. max | target | |", "|---|---|---|---|---|"]
    for row in report["targets"]:
        spread = f"{number(row['min'])} .. {number(row['max'])}"
        verdict = "met" if row["met"] else "**short**"
        lines.append(f"| {row['name']} | {number(row['measured'])} {row['unit']} | {spread} | {row['target']} | {verdict} |")
    return "\n".join(lines)


def put_into(page, text):
    old = page.read_text(encoding="utf-8")
    head, begin, rest = old.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no lines {BEGIN} and {END}")
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def main(argv):
    arguments = argv[1:]
    page = None
    if arguments[:1] == ["--into"] and len(arguments) > 2:
        page = pathlib.Path(arguments[1])
        arguments = arguments[2:]
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        reports = [json.loads(pathlib.Path(name).read_text(encoding="utf-8")) for name in arguments]
        text = "\n\n".join(f"{machine_line(report)}\n\n{table(report)}" for report in reports)
        if page:
            put_into(page, text)
        else:
            print(text)
    except (OSError, ValueError, KeyError) as error:
        print(f"benchmark_table.py: {error!r}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
