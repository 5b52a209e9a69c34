#!/usr/bin/env python3
"""The omp_file benchmark runs, verifies its bytes, names the limit of each row, and its results become a table. Times
are not checked."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(os.environ.get("TW_BIN", "build/release/bin")) / "thalweg-bench-omp-file"
TABLE = pathlib.Path(os.environ.get("TW_SOURCE", ".")) / "scripts/benchmark_table.py"
FORMS = {"write_all", "write_at_all", "write_list_all", "write_com_all"}


class Benchmark(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(os.environ.get("TMPDIR", ".")).resolve()
        self.results = self.folder / "results.json"

    def report(self, *arguments):
        run = subprocess.run(
            [PROGRAM, "--tiny", "--only-dir", "--dir", self.folder, "--json", self.results, *arguments], capture_output=True, text=True
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(self.results.read_text())

    def test_a_tiny_run_reports_every_part_and_leaves_nothing(self):
        left_before = set(self.folder.iterdir())

        names = [target["name"] for target in self.report()["targets"]]

        self.assertEqual(len(names), len(set(names)), "two targets have one name")
        for part in ("an empty collective", "write_all to ordered", "BT-IO", "99 %", "64-byte records"):
            self.assertTrue(any(part in name for name in names), f"no target about '{part}'")
        self.assertEqual(set(self.folder.iterdir()) - left_before - {self.results}, set(), "something was left behind")

    def test_every_row_compares_all_forms_and_names_its_limits(self):
        report = self.report("--part", "segments", "--threads", "1", "3")

        rows = {}
        for target in report["targets"]:
            rows.setdefault(target["place"]["row"], []).append(target)
        for threads in ("1 thread,", "3 threads,"):
            self.assertTrue(any(threads in row for row in rows), f"no row for {threads}")
        for row, targets in rows.items():
            forms = [target for target in targets if target["place"]["variant"]]
            self.assertEqual({target["place"]["variant"] for target in forms}, FORMS, row)
            for target in forms:
                self.assertEqual(target["bound"], 1, row)
                self.assertGreater(target["limits"][0]["value"], 0, row)

    def test_the_results_become_a_table_between_the_marks_of_a_page(self):
        self.report("--part", "segments", "--part", "empty")
        page = self.folder / "page.md"
        page.write_text("before\n<!-- results -->\nold\n<!-- end -->\nbehind\n")

        subprocess.run([sys.executable, TABLE, "--into", page, self.results], check=True)

        lines = page.read_text().splitlines()
        self.assertEqual((lines[0], lines[-1]), ("before", "behind"))
        self.assertNotIn("old", lines)
        self.assertTrue(any("an empty collective" in line for line in lines))
        self.assertEqual(sum("2 threads, 4 KiB, page cache" in line for line in lines), 1)
        page.unlink()


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"{PROGRAM.name} is not part of this build")
        sys.exit(77)
    unittest.main()
