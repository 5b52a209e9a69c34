#!/usr/bin/env python3
"""The benchmark of collectives runs on two ranks, verifies its bytes, and its delayed storage is slow. Other times are
not checked. TW_MPI_LAUNCH is the launcher of the build."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["TW_BIN"]) / "thalweg-bench-collective"
MERGE = pathlib.Path(os.environ["TW_SOURCE"]) / "bench/collective/merge.py"
TABLE = pathlib.Path(os.environ["TW_SOURCE"]) / "scripts/benchmark_table.py"
LAUNCH = shlex.split(os.environ["TW_MPI_LAUNCH"])


class Benchmark(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        self.results = self.folder / "results.json"

    def report(self, *arguments, launch=(*LAUNCH, "-n", "2")):
        run = subprocess.run(
            [*launch, PROGRAM, "--tiny", "--only-dir", "--dir", self.folder, "--json", self.results, *arguments],
            capture_output=True, text=True, timeout=120,
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(self.results.read_text())

    def test_without_a_launcher_it_starts_four_ranks(self):
        settings = self.report("--part", "small", launch=())["settings"]

        self.assertEqual(settings["ranks"], 4)

    def test_a_tiny_run_compares_every_part_and_leaves_nothing(self):
        names = [comparison["name"] for comparison in self.report()["comparisons"]]

        self.assertEqual(len(names), len(set(names)), "two comparisons have one name")
        for part in ("coll_perf", "overlap, strided", "16 collectives", "pieces of 8 B", "4-D array", "2 ranks x 2 threads"):
            self.assertTrue(any(part in name for name in names), f"nothing about '{part}'")
        self.assertEqual(list(self.folder.iterdir()), [self.results], "something was left behind")

    def test_delayed_storage_takes_its_time(self):
        comparison = self.report("--delayed", "--part", "coll-perf")["comparisons"][0]

        for row in comparison["variants"]:
            if "memcpy" not in row["variant"]:
                self.assertGreater(row["median_seconds"], 100e-6, row["variant"])
            if row["variant"] == "limit: one stream":
                self.assertGreater(row["median_seconds"], 100e-6 + comparison["amount"] / 1e9)

    def test_results_are_joined_and_become_a_table(self):
        self.report("--part", "coll-perf")
        joined = self.folder / "joined.json"

        subprocess.run([sys.executable, MERGE, joined, self.results], check=True, capture_output=True)

        table = subprocess.run([sys.executable, TABLE, "--comparisons", joined], check=True, capture_output=True, text=True).stdout
        self.assertIn("coll_perf 16^3", table)
        self.assertIn("| ours |", table)


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"{PROGRAM.name} is not part of this build")
        sys.exit(77)
    unittest.main()
