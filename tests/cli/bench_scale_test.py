#!/usr/bin/env python3
"""thalweg-bench-scale at its smallest size: every curve is present and can be plotted."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["TW_BIN"]) / "thalweg-bench-scale"
DRAW = pathlib.Path(os.environ["TW_SOURCE"]) / "bench" / "scale" / "draw.py"
CURVES = ("open", "write", "read", "multifile", "multifile, threads", "file-per-task", "gather")


class BenchScale(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.results = pathlib.Path(cls.folder.name) / "scale.json"
        cls.run_ = subprocess.run([PROGRAM, "--tiny", "--json", cls.results], capture_output=True, text=True, timeout=120)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_curve_goes_from_one_task_to_256(self):
        self.assertEqual(self.run_.returncode, 0, self.run_.stderr)
        facts = json.loads(self.results.read_text(encoding="utf-8"))["facts"]
        for curve in CURVES:
            for tasks in (1, 4, 16, 64, 256):
                point = facts[f"{curve} {tasks}"]
                self.assertEqual(point["tasks"], tasks)
                self.assertGreater(point["seconds"], 0)

    def test_messages_grow_as_the_logarithm(self):
        facts = json.loads(self.results.read_text(encoding="utf-8"))["facts"]
        for curve in ("open", "write", "read"):
            point = facts[f"{curve} 256"]
            self.assertLess(point["messages_mean"], 3 * 8 * point["collectives"])

    def test_two_phase_writes_are_compared_and_counted_by_formula(self):
        results = pathlib.Path(self.folder.name) / "nodes.json"
        run = subprocess.run([PROGRAM, "--nodes", "16", "--json", results], capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)  # it checks the formula against what was simulated
        facts = json.loads(results.read_text(encoding="utf-8"))["facts"]
        for pattern in ("4 pieces of 1 KiB", "a block of 64 KiB"):
            for way in ("each rank, by literature", "each node, by literature", "ours, no relays", "ours, relays", "ours"):
                self.assertGreater(facts[f"two-phase: {pattern}, 16 nodes, {way}"]["seconds"], 0)

    def test_a_picture_has_every_curve(self):
        picture = pathlib.Path(self.folder.name) / "scale.svg"
        subprocess.run([sys.executable, DRAW, self.results, picture], check=True, timeout=60)
        text = picture.read_text(encoding="utf-8")
        for curve in CURVES:
            self.assertIn(f">{curve}</text>", text)

    def test_a_page_gets_the_tables_between_its_marks(self):
        page = pathlib.Path(self.folder.name) / "page.md"
        page.write_text("before\n<!-- curves -->\nold\n<!-- end curves -->\nbehind\n", encoding="utf-8")
        subprocess.run([sys.executable, DRAW, "--into", page, self.results], check=True, timeout=60)
        text = page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("before\n<!-- curves -->\nPredicted time:\n"), text)
        self.assertTrue(text.endswith("\n<!-- end curves -->\nbehind\n"), text)
        self.assertIn("With 256 tasks:", text)
        for curve in CURVES:
            self.assertEqual(text.count(f"| {curve} |"), 2)


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"{PROGRAM.name} is not part of this build")
        sys.exit(77)
    unittest.main()
