#!/usr/bin/env python3
"""The independent reader reads vpfiles of the library byte for byte, by the directory and by the superblocks."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from vpfile_reader import Vpfile  # noqa: E402

WRITER = pathlib.Path(os.environ.get("TW_BIN", ".")).parent / "tests" / "vpfile_writer"
READER = HERE / "vpfile_reader.py"
SEEDS = range(1, 1 + int(os.environ.get("TW_SEEDS", "60")))


def expected_streams(path):
    """Shape and streams as printed by vpfile_writer."""
    with open(path, "rb") as file:
        shape = tuple(int(extent) for extent in file.readline().split(b","))
        streams = []
        while line := file.readline():
            streams.append(file.read(int(line)))
    return shape, streams


class VpfileReader(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vpfile-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = str(self.folder / "streams")

    def write(self, seed):
        subprocess.run([WRITER, self.path, str(seed)], check=True, timeout=120)
        return expected_streams(self.path + ".expected")

    def compare(self, vpfile, shape, streams):
        self.assertEqual(vpfile.shape, shape)
        self.assertEqual([vpfile.stream(vp) for vp in range(vpfile.n)], streams)
        vpfile.check()

    def test_reads_what_the_library_writes(self):
        segments, with_pieces = set(), set()
        for seed in SEEDS:
            with self.subTest(seed):
                shape, streams = self.write(seed)
                by_directory = Vpfile(self.path)
                self.compare(by_directory, shape, streams)
                self.compare(Vpfile(self.path, superblocks=True), shape, streams)
                g = by_directory.geometry
                segments.add((g.R > 0, g.C > 0, g.S > 0))
                with_pieces |= {(g.L > 0, by_directory.directory.has_entry(vp)) for vp in range(by_directory.n) if by_directory.pieces(vp)}
                if g.S and any(by_directory.ib_bytes(vp) for vp in range(by_directory.n)):
                    for side in (".meta", ".first", ".dir", ".batches"):
                        pathlib.Path(self.path + side).unlink(missing_ok=True)
                    self.compare(Vpfile(self.path, shape, superblocks=True), shape, streams)
        self.assertLessEqual({(True, False, False), (True, True, False), (True, True, True), (False, False, True)}, segments)
        self.assertEqual({(lattice, entry) for lattice in (False, True) for entry in (False, True)}, with_pieces)

    def test_gives_out_and_checks(self):
        _shape, streams = self.write(1)
        given = subprocess.run([sys.executable, "-B", READER, "--cat", "0", self.path], capture_output=True, check=True)
        self.assertEqual(given.stdout, streams[0])
        listed = subprocess.run([sys.executable, "-B", READER, "--list", self.path], capture_output=True, check=True)
        self.assertEqual(len(listed.stdout.splitlines()), len(streams))
        checked = subprocess.run([sys.executable, "-B", READER, "--check", self.path], capture_output=True, check=True)
        self.assertEqual(checked.stdout, b"ok\n")

    def test_says_the_code_of_a_refusal(self):
        (self.folder / "streams").write_bytes(b"seven b")
        done = subprocess.run([sys.executable, "-B", READER, "--shape", "2,2", "--check", self.path], capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith(b"TW_ERR_INVALID: "))


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # the reader never closes its files
