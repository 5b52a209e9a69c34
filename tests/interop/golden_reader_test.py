#!/usr/bin/env python3
"""The independent reader on all golden files: it reads the valid ones and refuses each invalid one with the right code."""

import hashlib
import importlib.util
import json
import pathlib
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
sys.path.insert(0, str(HERE))
from multifile_base import Refused, split_name  # noqa: E402
from multifile_reader import Multifile  # noqa: E402

MANIFEST = json.loads((GOLDEN / "manifest.json").read_text())
CAN_ZSTD = bool(importlib.util.find_spec("zstandard") or shutil.which("zstd"))


def open_entry(entry):
    return Multifile(str(GOLDEN / entry["files"][0]["file"]), entry["open"] == "recover")


class GoldenFiles(unittest.TestCase):
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
            with self.subTest(entry["name"]):
                multifile = open_entry(entry)
                self.assertEqual({k.decode("latin-1"): v.decode("latin-1") for k, v in multifile.attributes.items()},
                                 entry["attributes"])
                logical = list(multifile)
                self.assertEqual(len(logical), len(entry["logical"]))
                for found, expected in zip(logical, entry["logical"]):
                    name, part = split_name(found.name)
                    self.assertEqual((name.decode("latin-1"), part, found.mode),
                                     (expected["name"], expected.get("part"), expected["mode"]))
                    self.check_content(found, expected)
                self.check_names(multifile, logical)

    def check_names(self, multifile, logical):
        """Each name is found, and leads to the highest rank that has it."""
        highest = {found.name: rank for rank, found in enumerate(logical) if found.name}
        for stored, rank in highest.items():
            self.assertEqual(multifile.find(*split_name(stored)), rank)
        for name, part in ((b"no such name", None), (b"no such name", 0), (b"", None)):
            with self.assertRaises(Refused) as caught:
                multifile.find(name, part)
            self.assertEqual(caught.exception.code, "TW_ERR_NOT_FOUND")

    def check_content(self, found, expected):
        try:
            data = b"".join(found.blocks())
        except Refused as refused:
            if refused.code == "TW_ERR_NOT_BUILT" and not CAN_ZSTD:
                return  # refused with the right code
            self.assertEqual(refused.code, expected.get("code"))
            return
        self.assertNotIn("code", expected)
        self.assertEqual((len(data), hashlib.sha256(data).hexdigest()), (expected["bytes"], expected["sha256"]))

    def test_closed_valid_files_are_sound(self):
        for entry in MANIFEST["valid"]:
            if entry["open"] == "read" and (CAN_ZSTD or "zstd" not in entry["name"] and "codecs" not in entry["name"]):
                with self.subTest(entry["name"]):
                    open_entry(entry).check()

    def test_invalid_files_are_refused_with_the_code_of_the_manifest(self):
        for entry in MANIFEST["invalid"]:
            with self.subTest(entry["name"], rule=entry["rule"]):
                with self.assertRaises(Refused) as caught:
                    open_entry(entry).check()
                if caught.exception.code != "TW_ERR_NOT_BUILT" or CAN_ZSTD:
                    self.assertEqual(caught.exception.code, entry["code"], caught.exception)


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # the reader never closes its files
