#!/usr/bin/env python3
"""Ranks with limited memory: every run ends, with equal statuses on all ranks or with a line that gives the reason.
When MPI itself runs out of memory, the line is MPI's or its launcher's."""

import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["TW_PROGRAM"]
LAUNCH = shlex.split(os.environ["TW_MPI_LAUNCH"])
ALL = "THALWEG_ALL_STRIDES" in os.environ
LIMIT_SECONDS = 100
# Which ranks are limited, and their additional memory in KiB.
POOR = ["all", "late", "last"]
EXTRA_KIB = [0, 64, 256, 512, *range(1024, 24576, 1024)] if ALL else [64, 1024, 6144]
RANKS = [2, 3, 4] if ALL else [3]
OURS = re.compile(r"thalweg: out of memory.*; the program ends")
OF_MPI = re.compile(r"Fatal error in|MPI_ERR|BAD TERMINATION|Primary job  terminated|mpirun noticed|PMIX|UCX +ERROR")


def run(ranks, kib, who, folder):
    """Exit status and output; None after a hang."""
    command = [*LAUNCH, "-n", str(ranks), PROGRAM, str(kib), str(folder), who]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as started:
        try:
            words, _ = started.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            started.terminate()  # the launcher ends its ranks
            return None, started.communicate()[0]
    return started.returncode, words


class MemoryLimit(unittest.TestCase):
    def test_every_run_ends_alike_or_with_a_reason(self):
        for ranks, who, kib in itertools.product(RANKS, POOR, EXTRA_KIB):
            with self.subTest(ranks=ranks, who=who, kib=kib), tempfile.TemporaryDirectory() as folder:
                status, words = run(ranks, kib, who, pathlib.Path(folder))
                if status and not words:  # a launcher that ends its ranks may lose what they printed
                    status, words = run(ranks, kib, who, pathlib.Path(folder))
                self.assertIsNotNone(status, f"no end within {LIMIT_SECONDS} s: {words}")
                self.assertNotIn("told different things", words)
                if status != 0:
                    self.assertTrue(OURS.search(words) or OF_MPI.search(words), f"status {status}: {words}")

    def test_enough_memory_is_enough(self):
        with tempfile.TemporaryDirectory() as folder:
            status, words = run(2, 1 << 20, "all", pathlib.Path(folder))

        self.assertEqual((status, words.split()[-1:]), (0, ["0"]), words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
