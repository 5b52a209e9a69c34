#!/usr/bin/env python3
"""map: well-formed pictures that show every byte, for few and for many ranges."""

import os
import re
import stat
import xml.etree.ElementTree as ElementTree

from cli_support import FINE, UNSAFE, USAGE, CliTest, data, main

FILE = stat.S_IFREG | 0o644
SVG = "{http://www.w3.org/2000/svg}"


class Map(CliTest):
    def drawn(self, path):
        """The rectangles with a tooltip: [(title, x, width)]."""
        root = ElementTree.fromstring((self.folder / path).read_bytes())
        found = []
        for rect in root.iter(SVG + "rect"):
            title = rect.find(SVG + "title")
            if title is not None:
                found.append((title.text, float(rect.get("x")), float(rect.get("width"))))
        return found

    def test_every_byte_of_a_small_file_is_in_the_picture(self):
        self.craft([(FILE, b"file %d" % i, data(30_000 * i, i)) for i in range(9)])

        result = self.json("map", "crafted.tw", "m.svg")

        covered = set()
        for title, x, width in self.drawn("m.svg"):
            self.assertGreaterEqual(x, 0)
            self.assertLessEqual(x + width, 1100)
            first, last = map(int, re.search(r"bytes (\d+) to (\d+) of physical file 0", title).groups())
            covered.add((first, last))
        at = 0
        for first, last in sorted(covered):
            self.assertEqual(first, at)
            at = last + 1
        self.assertEqual(at, (self.folder / "crafted.tw").stat().st_size)
        self.assertEqual(at, result["bytes"])
        self.assertEqual(len(covered), result["ranges"])
        self.assertEqual((result["logical_files"], result["closed"], result["out"]), (9, True, "m.svg"))

    def test_tooltips_name_task_and_file(self):
        self.craft([(FILE, b"<a&b>\"'\x01", data(10_000))])

        self.thalweg("map", "crafted.tw", "m.svg")

        self.assertTrue(any(title.startswith("data of task 0 '<a&b>\"'\\x01'") for title, _, _ in self.drawn("m.svg")))

    def test_many_ranges_are_drawn_in_few_pieces(self):
        self.craft([(FILE, b"", data(5000, i)) for i in range(8000)], "alignment_bytes=512", "chunk_bytes=8KiB")

        ranges = self.json("map", "crafted.tw", "m.svg")["ranges"]
        self.thalweg("map", "crafted.tw", "m.html")

        self.assertGreater(ranges, 0)
        self.assertLess(len(self.drawn("m.svg")), 33 * 500)
        self.assertLess((self.folder / "m.html").stat().st_size, 8 << 20)

    def test_several_physical_files(self):
        self.craft([(FILE, b"", data(5000, i)) for i in range(12)], "physical_files=4")

        self.thalweg("map", "crafted.tw", "m.svg")

        files = {re.search(r"physical file (\d+)", title).group(1) for title, _, _ in self.drawn("m.svg")}
        self.assertEqual(files, {"0", "1", "2", "3"})

    def test_the_page_is_well_formed_and_has_the_picture(self):
        self.craft([(FILE, b"<script>alert(1)</script>", data(10_000)), (FILE, b"caf\xe9", b"x")])

        self.thalweg("map", "crafted.tw", "m.html")

        text = (self.folder / "m.html").read_text(encoding="utf-8")
        root = ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))
        self.assertNotIn("<script>", text)
        self.assertEqual(len(list(root.iter(SVG + "svg"))), 1)

    def test_standard_output_and_the_kind_of_picture(self):
        self.craft([(FILE, b"a", b"x")])

        self.assertTrue(self.thalweg("map", "crafted.tw", "-")[0].startswith(b"<svg "))
        self.assertTrue(self.thalweg("map", "crafted.tw", "-", "--format", "html")[0].startswith(b"<!DOCTYPE html>"))
        self.thalweg("map", "crafted.tw", "m", "--format", "svg")
        self.assertIn("--format", self.thalweg("map", "crafted.tw", "m.png", expect=USAGE)[1])
        self.thalweg("map", "crafted.tw", "-", "--json", expect=USAGE)
        self.thalweg("map", "crafted.tw", "m.svg", "--format", "png", expect=USAGE)

    def test_only_a_picture_of_its_own_is_replaced_without_force(self):
        self.craft([(FILE, b"a", b"x")])
        others = {"other.svg": b"<svg>drawn by hand</svg>", "empty.svg": b"", "other.html": b"<!DOCTYPE html><p>text</p>"}
        for name, content in others.items():
            self.write(name, content)

            self.assertIn("--force", self.thalweg("map", "crafted.tw", name, expect=UNSAFE)[1])
            self.assertEqual((self.folder / name).read_bytes(), content)
            self.thalweg("map", "crafted.tw", name, "--force")
            drawn = (self.folder / name).read_bytes()
            (self.folder / name).write_bytes(drawn[:600])
            self.thalweg("map", "crafted.tw", name)  # now it exists
            self.assertEqual((self.folder / name).read_bytes(), drawn)
        self.leftovers("crafted.tw", *others)

    def test_what_is_no_file_is_never_replaced(self):
        self.craft([(FILE, b"a", b"x")])
        (self.folder / "dir.svg").mkdir()
        os.symlink("crafted.tw", self.folder / "link.svg")
        os.mkfifo(self.folder / "pipe.svg")

        for name in ("dir.svg", "link.svg", "pipe.svg"):
            self.thalweg("map", "crafted.tw", name, "--force", expect=UNSAFE)

        self.leftovers("crafted.tw", "dir.svg", "link.svg", "pipe.svg")

    def test_no_physical_file_is_replaced_under_any_name(self):
        self.craft([(FILE, b"", data(5000, i)) for i in range(6)], "physical_files=3")
        before = self.tree(".")
        os.link(self.folder / "crafted.tw.000002", self.folder / "m.svg")
        os.symlink("crafted.tw", self.folder / "other.tw")

        for file, out in (("crafted.tw", "crafted.tw"), ("./crafted.tw", "crafted.tw.000001"), ("crafted.tw", "m.svg"),
                          ("other.tw", "crafted.tw")):
            message = self.thalweg("map", file, out, "--format", "svg", "--force", expect=UNSAFE)[1]
            self.assertIn("physical file", message)
        (self.folder / "m.svg").unlink()
        (self.folder / "other.tw").unlink()

        self.assertEqual(self.tree("."), before)

if __name__ == "__main__":
    main()
