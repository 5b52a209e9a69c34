#!/usr/bin/env python3
"""No command replaces a file that a program is writing, nor a side file of it, whatever --force says."""

import fcntl
import os
import struct

from cli_support import UNSAFE, CliTest, main

FILE = 0o100644
LINK = 0o120777
F_OFD_SETLK = 37  # the fcntl module of older Pythons does not have it
SESSION, WRITERS = 0, 1  # bytes behind 2**62: docs/format/multifile.md, section 8


class LiveFile(CliTest):
    def setUp(self):
        super().setUp()
        self.craft([(FILE, b"a", b"kept"), (FILE, b"b", b"kept")], "physical_files=2", out="live.tw")
        self.craft_vpfile("4", "all 8", "one 2 100", out="live.vp")
        self.craft([(FILE, b"a", b"abc")], out="src.tw")
        self.write("a", b"abc")
        for name in ("live.tw", "live.vp"):
            opened = os.open(self.folder / name, os.O_RDWR)
            self.addCleanup(os.close, opened)
            session = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, (1 << 62) + SESSION, 1, 0)
            fcntl.fcntl(opened, F_OFD_SETLK, session)
        self.before = self.tree(".")

    def live_names(self):
        names = sorted(n.decode() for n in self.before if n.startswith(b"live."))
        self.assertIn("live.tw.000001", names)
        self.assertIn("live.vp.meta", names)
        self.assertIn("live.vp.dir", names)
        return names

    def assert_refused(self, *words):
        self.assertIn("being written", self.thalweg(*words, expect=UNSAFE)[1], words)
        self.assertEqual(self.tree("."), self.before, words)

    def test_extract_puts_no_file_in_its_place(self):
        for name in self.live_names():
            for kind in (FILE, LINK):
                self.craft([(kind, name.encode(), b"other")])
                self.before = self.tree(".")

                self.assert_refused("extract", "crafted.tw", "--force")

    def test_extract_refuses_before_it_copies(self):
        os.mkdir(self.folder / "out")
        os.link(self.folder / "live.tw", self.folder / "out/b")
        self.craft([(FILE, b"b", b"other")])
        self.before = self.tree(".")

        self.assert_refused("extract", "crafted.tw", "--force", "-C", "out")

    def test_map_draws_over_none(self):
        for name in self.live_names():
            self.assert_refused("map", "src.tw", name, "--force", "--format", "svg")

    def test_pack_and_defrag_replace_none(self):
        for name in self.live_names():
            self.thalweg("pack", name, "a", "--force", expect=UNSAFE)
            self.thalweg("defrag", "src.tw", name, "--force", expect=UNSAFE)
            self.assertEqual(self.tree("."), self.before)

    def test_pages_and_records_of_methods_replace_none(self):
        self.write("records", b'{"kind":"run","version":1}\n')
        self.before = self.tree(".")
        for name in self.live_names():
            for option in ("--html", "--save"):
                self.assert_refused("methods", "--from", "records", option, name, "--force")

    def test_manual_pages_replace_none(self):
        os.mkdir(self.folder / "man")
        os.link(self.folder / "live.tw", self.folder / "man/thalweg-cat.1")

        self.assertIn("being written", self.thalweg("man", "--directory", "man", expect=UNSAFE)[1])

        self.assertEqual(self.tree(".")[b"live.tw"], self.before[b"live.tw"])

    def test_what_nobody_writes_is_replaced(self):
        self.write("note.meta", b"old")
        self.craft([(FILE, b"note.meta", b"new"), (LINK, b"note.dir", b"old")])

        self.thalweg("extract", "crafted.tw", "--force")
        self.thalweg("extract", "crafted.tw", "--force")
        self.thalweg("map", "src.tw", "note.meta", "--force", "--format", "svg")

        self.assertIn(b"<svg", (self.folder / "note.meta").read_bytes())


if __name__ == "__main__":
    main()
