#!/usr/bin/env python3
"""The independent reader on all golden vpfiles: it reads the valid ones and refuses each invalid one with the right
code."""

import hashlib
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "vpfile"
sys.path.insert(0, str(HERE))
from multifile_base import Refused  # noqa: E402
from vpfile_reader import Vpfile  # noqa: E402

MANIFEST = json.loads((GOLDEN / "manifest.json").read_text())


def open_entry(entry, superblocks=False):
    return Vpfile(str(GOLDEN / entry["files"][0]["file"]), entry["shape"], entry["record"], superblocks)


class GoldenVpfiles(unittest.TestCase):
    def test_files_are_those_of_the_manifest(self):
        listed = set()
        for entry in MANIFEST["valid"] + MANIFEST["invalid"]:
            for file in entry["files"]:
                data = (GOLDEN / file["file"]).read_bytes()
                self.assertEqual((len(data), hashlib.sha256(data).hexdigest()), (file["bytes"], file["sha256"]), file["file"])
                listed.add(file["file"])
        there = {str(p.relative_to(GOLDEN)) for kind in ("valid", "invalid") for p in (GOLDEN / kind).iterdir()}
        self.assertEqual(there, listed)

    def test_valid_files_are_read_as_the_manifest_says(self):
        for entry in MANIFEST["valid"]:
            for superblocks in (False, True):
                with self.subTest(entry["name"], superblocks=superblocks):
                    vpfile = open_entry(entry, superblocks)
                    vpfile.check()
                    streams = [vpfile.stream(vp) for vp in range(vpfile.n)]
                    found = [(len(data), hashlib.sha256(data).hexdigest()) for data in streams]
                    self.assertEqual(found, [(stream["bytes"], stream["sha256"]) for stream in entry["streams"]])

    def test_invalid_files_are_refused_with_the_code_of_the_manifest(self):
        for entry in MANIFEST["invalid"]:
            with self.subTest(entry["name"], rule=entry["rule"]):
                with self.assertRaises(Refused) as caught:
                    open_entry(entry).check()
                self.assertEqual(caught.exception.code, entry["code"], caught.exception)


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # the reader never closes its files
