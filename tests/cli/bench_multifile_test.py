#!/usr/bin/env python3
"""The multifile benchmark runs, verifies its bytes, and writes valid results. Times are not checked."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(os.environ.get("TW_BIN", "build/release/bin")) / "thalweg-bench-multifile"


class Benchmark(unittest.TestCase):
    def test_a_tiny_run_reports_every_part(self):
        folder = pathlib.Path(os.environ.get("TMPDIR", ".")).resolve()
        results = folder / "results.json"
        left_before = set(folder.iterdir())

        run = subprocess.run([PROGRAM, "--tiny", "--dir", folder, "--json", results], capture_output=True, text=True)

        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(results.read_text())
        self.assertEqual(report["benchmark"], "multifile")
        self.assertIn("processor", report["machine"])
        names = [target["name"] for target in report["targets"]]
        self.assertEqual(len(names), len(set(names)), "two targets have one name")
        for part in ("write, 2 tasks", "64-byte records", "memory for", "open, read, close one", "create 1k", "1 KiB"):
            self.assertTrue(any(part in name for name in names), f"no target about '{part}'")
        for target in report["targets"]:
            self.assertIsInstance(target["measured"], (int, float), target)
            self.assertIsInstance(target["target"], str, target)
            self.assertIsInstance(target["met"], bool, target)
            self.assertIn(target["name"], run.stdout)
        self.assertEqual(set(folder.iterdir()) - left_before - {results}, set(), "something was left behind")

    def test_a_folder_that_is_not_there_is_a_usage_error_and_is_not_made(self):
        missing = pathlib.Path(os.environ.get("TMPDIR", ".")).resolve() / "no-such-folder"

        run = subprocess.run([PROGRAM, "--tiny", "--dir", missing / "below"], capture_output=True, text=True, timeout=60)

        self.assertEqual(run.returncode, 2)
        self.assertIn(str(missing / "below"), run.stderr)
        self.assertFalse(missing.exists())

    def test_an_unknown_option_is_a_usage_error(self):
        run = subprocess.run([PROGRAM, "--no-such-option"], capture_output=True, text=True)

        self.assertEqual(run.returncode, 2)


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"{PROGRAM.name} is not part of this build")
        sys.exit(77)
    unittest.main()
