#!/usr/bin/env python3
"""The independent reader reads what the thalweg command writes, with every checksum, codec and number of files."""

import importlib.util
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
from multifile_reader import Multifile  # noqa: E402

THALWEG = os.environ.get("THALWEG") or shutil.which("thalweg") or "thalweg"
READER = HERE / "multifile_reader.py"
CAN_ZSTD = bool(importlib.util.find_spec("zstandard") or shutil.which("zstd"))


def content_of(number):
    """Empty, small, of several granules, compressible and not."""
    text = f"line of file {number}\n".encode() * (number * 700)
    return b"" if number == 0 else text if number % 2 else bytes((i * i >> 3) & 255 for i in range(number * 9000))


class Reader(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="interop-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.files = {f"f{i}": content_of(i) for i in range(6)}
        for name, data in self.files.items():
            (self.folder / name).write_bytes(data)

    def pack(self, *words):
        subprocess.run([THALWEG, "pack", *words, "-q", "m.tw", *sorted(self.files)], cwd=self.folder, check=True, timeout=120)

    def check(self):
        found = {logical.name.decode(): b"".join(logical.blocks()) for logical in Multifile(str(self.folder / "m.tw"))}
        self.assertEqual(found, self.files)

    def test_reads_what_pack_writes(self):
        for hints in ((), ("checksum=none",), ("physical_files=3",), ("granule_bytes=4KiB", "alignment_bytes=512"),
                      ("chunk_bytes=5000", "buffer_bytes=0"), ("buffer_bytes=0", "physical_files=2", "granule_bytes=4KiB")):
            with self.subTest(hints):
                self.pack("-f", *(word for hint in hints for word in ("--hint", hint)))
                self.check()

    def test_reads_physical_files_that_were_made_later(self):
        for i in range(4):
            self.files[f"large{i}"] = os.urandom(3 << 20)
            (self.folder / f"large{i}").write_bytes(self.files[f"large{i}"])
        self.pack("-j", "2", "--hint", "physical_files=auto", "--hint", "checksum=none")  # the reader is slow with checksums
        self.assertTrue((self.folder / "m.tw.000001").exists())
        self.check()
        checked = subprocess.run([sys.executable, "-B", READER, "--check", "m.tw"], cwd=self.folder, capture_output=True, check=True)
        self.assertEqual(checked.stdout, b"ok\n")

    def test_reads_compressed_files(self):
        for codec in ("lz4", "zstd") if CAN_ZSTD else ("lz4",):
            with self.subTest(codec):
                self.pack("-f", "--compress", codec)
                self.check()

    def test_lists_gives_out_and_checks(self):
        self.pack()
        listed = subprocess.run([sys.executable, "-B", READER, "--list", "m.tw"], cwd=self.folder, capture_output=True, check=True)
        self.assertIn(b" f5\n", listed.stdout)
        self.assertIn(b"creator=", listed.stdout)
        given = subprocess.run([sys.executable, "-B", READER, "--cat", "5", "m.tw"], cwd=self.folder, capture_output=True, check=True)
        self.assertEqual(given.stdout, self.files["f5"])
        found = subprocess.run([sys.executable, "-B", READER, "--find", "f5", "m.tw"], cwd=self.folder, capture_output=True, check=True)
        self.assertEqual(found.stdout, b"5\n")
        checked = subprocess.run([sys.executable, "-B", READER, "--check", "m.tw"], cwd=self.folder, capture_output=True, check=True)
        self.assertEqual(checked.stdout, b"ok\n")

    def test_keeps_of_a_damaged_index_what_the_command_keeps(self):
        self.pack()
        whole = (self.folder / "m.tw").read_bytes()
        begin = whole.rindex(b"TWINDEX1")
        for at in range(begin + 20, len(whole), 4096):
            with self.subTest(at):
                hurt = bytearray(whole)
                hurt[at] ^= 64
                (self.folder / "m.tw").write_bytes(hurt)
                reader = Multifile(str(self.folder / "m.tw"), True)
                found = [(logical.name.decode(), b"".join(logical.blocks())) for logical in reader]
                attributes = reader.attributes
                subprocess.run([THALWEG, "repair", "m.tw"], cwd=self.folder, capture_output=True, check=False)
                repaired = Multifile(str(self.folder / "m.tw"))
                self.assertEqual(found, [(logical.name.decode(), b"".join(logical.blocks())) for logical in repaired])
                self.assertEqual(attributes, repaired.attributes)
                self.assertEqual([data for _name, data in found], [data for _name, data in sorted(self.files.items())])

    def test_says_the_code_of_a_refusal(self):
        (self.folder / "none.tw").write_bytes(b"no multifile")
        done = subprocess.run([sys.executable, "-B", READER, "--check", "none.tw"], cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith(b"TW_ERR_CORRUPT: "))


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # the reader never closes its files
