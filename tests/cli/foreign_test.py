#!/usr/bin/env python3
"""The commands on files of other formats: they name the format and leave the file unchanged."""

import sys
import unittest

sys.dont_write_bytecode = True
from cli_support import DAMAGED, UNSAFE, CliTest  # noqa: E402

FOREIGN = {
    "HDF5": [b"\x89HDF\r\n\x1a\n" + bytes(600), bytes(2048) + b"\x89HDF\r\n\x1a\n" + bytes(600)],
    "NetCDF": [b"CDF\x01" + bytes(4) + b"\0\0\0\x0a" + bytes(600), b"CDF\x05" + bytes(600)],
    "SIONlib": [b"sion\0\0\0\0\xef\3\0\0\6\0\0\0\5\0\0\0" + bytes(600)],
}


class Foreign(CliTest):
    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def each(self):
        """Makes the file "foreign" in one format after the other."""
        for name, contents in FOREIGN.items():
            for content in contents:
                self.write("foreign", content)
                yield name

    def test_every_command_that_reads_names_the_format(self):
        for name in self.each():
            before = self.files()
            for words in (["info"], ["ls"], ["verify"], ["repair"], ["cat", "-t", "0"], ["cat", "--vp", "0"], ["extract", "-C", "out"],
                          ["map", "m.svg"], ["defrag", "o.tw"], ["vp-flatten", "flat"]):
                message = self.thalweg(words[0], "foreign", *words[1:], expect=DAMAGED)[1]
                self.assertIn(f"'foreign' looks like {name}, not a multifile or vpfile", message, words)
            self.assertIn(f"looks like {name}, not a vpfile", self.thalweg("repair", "foreign", "--shape", "4", expect=DAMAGED)[1])
            self.assertEqual(self.files(), before)

    def test_what_lies_beside_does_not_make_it_a_vpfile(self):
        self.write("foreign.meta", b"{}")
        for name in self.each():
            before = self.files()
            for words in (["info"], ["verify"], ["repair"]):
                self.assertIn(f"looks like {name}", self.thalweg(words[0], "foreign", *words[1:], expect=DAMAGED)[1])
            self.assertEqual(self.files(), before)

    def test_import_makes_no_vpfile_of_it(self):
        for name in self.each():
            before = self.files()
            message = self.thalweg("vp-import", "foreign", "--shape", "1", "--record-bytes", "1", expect=UNSAFE)[1]
            self.assertIn(f"looks like {name}", message)
            self.assertEqual(self.files(), before)

    def test_force_replaces_no_file_of_another_format(self):
        self.write("in.txt", b"something to pack")
        self.craft([(0, b"", b"abc")])
        self.craft_vpfile("4", "all 8", "one 2 100", out="a.vp")
        self.craft_vpfile("4", "all 8", out="array.vp")
        for name in self.each():
            before = self.files()
            for words in (["pack", "foreign", "in.txt"], ["defrag", "crafted.tw", "foreign"]):
                for force in ([], ["--force"]):
                    message = self.thalweg(*words, *force, expect=UNSAFE)[1]
                self.assertIn(f"looks like {name}", message)
            self.assertEqual(self.files(), before)
        before = self.files()
        for out in ("a.vp", "array.vp"):
            for words in (["pack", out, "in.txt"], ["defrag", "crafted.tw", out]):
                self.assertIn("is a vpfile", self.thalweg(*words, "--force", expect=UNSAFE)[1])
        self.assertEqual(self.files(), before)
        self.thalweg("verify", "a.vp")

    def test_force_replaces_what_it_did(self):
        self.write("in.txt", b"something to pack")
        for old in (b"", b"any text", b"sionara"):
            self.write("out.tw", old)
            self.thalweg("pack", "out.tw", "in.txt", "--force")
            self.thalweg("pack", "out.tw", "in.txt", "--force")
            self.assertEqual(self.thalweg("cat", "out.tw", "-t", "0")[0], b"something to pack")


if __name__ == "__main__":
    unittest.main()
