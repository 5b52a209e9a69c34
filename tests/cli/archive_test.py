#!/usr/bin/env python3
"""bench/archive packs, extracts and compares a small tree. Times are not checked."""

import json
import os
import pathlib
import subprocess
import sys

from cli_support import THALWEG, CliTest, main

PROGRAM = pathlib.Path(os.environ.get("TW_SOURCE", ".")).resolve() / "bench/archive"
BUILD = pathlib.Path(THALWEG).parent.parent


class Archive(CliTest):
    def run_it(self, *words):
        return subprocess.run([sys.executable, PROGRAM, BUILD, "--dir", self.folder, *words], capture_output=True, text=True, timeout=120)

    def test_a_small_tree_is_measured_and_nothing_is_left(self):
        self.write("tree/a/b", b"x" * 100_000)
        self.write("tree/c", b"", 0o600)
        os.symlink("a/b", self.folder / "tree/link")

        done = self.run_it("--source", self.folder / "tree", "--threads", "2", "--repetitions", "2", "--save", self.folder / "times")

        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("| thalweg -j 2 |", done.stdout)
        saved = json.loads((self.folder / "times").read_text())
        self.assertEqual(saved["entries"], 12)
        self.assertEqual({name: [len(times) for times in phases.values()] for name, phases in saved["seconds"].items()},
                         {"tar": [2, 2], "thalweg -j 2": [2, 2]})
        self.leftovers("times", "tree")

    def test_a_source_that_is_not_there_is_told(self):
        done = self.run_it("--source", self.folder / "none")

        self.assertEqual(done.returncode, 2)
        self.assertIn("none is no folder", done.stderr)


if __name__ == "__main__":
    main()
