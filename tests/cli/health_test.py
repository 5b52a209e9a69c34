#!/usr/bin/env python3
"""verify, repair and every reader on files that are complete, unclosed, damaged or truncated."""

import os
import stat

from cli_support import DAMAGED, FINE, IO_ERROR, CliTest, data, main

FILE = stat.S_IFREG | 0o644
READERS = (["info"], ["ls"], ["cat", "--task", "0"], ["extract", "-C", "out"], ["verify"], ["defrag", "out.tw"], ["map", "out.svg"])


def command(words, path):
    return [words[0], path, *words[1:]]


class NotClosed(CliTest):
    def setUp(self):
        super().setUp()
        self.content = [data(100_000, 1), b"small", data(5000, 2)]
        self.craft([(0, b"", c) for c in self.content], "--unclosed", out="u.tw")

    def test_every_reader_says_so_and_names_the_way_out(self):
        for words in READERS:
            with self.subTest(words):
                _, message = self.thalweg(*command(words, "u.tw"), expect=DAMAGED)
                self.assertIn("thalweg repair", message)

    def test_info_ls_and_map_show_what_is_whole(self):
        info = self.json("info", "u.tw", "--tasks", expect=DAMAGED)
        listing = self.json("ls", "u.tw", expect=DAMAGED)
        drawn = self.json("map", "u.tw", "m.html", expect=DAMAGED)

        self.assertEqual(info["health"], "not closed")
        self.assertFalse(info["closed"])
        self.assertEqual(info["task_bytes"], [len(c) for c in self.content])
        self.assertFalse(listing["closed"])
        self.assertEqual([e["bytes"] for e in listing["entries"]], [len(c) for c in self.content])
        self.assertFalse(drawn["closed"])
        self.assertTrue((self.folder / "m.html").exists())

    def test_nothing_is_read_without_being_asked_and_nothing_is_changed(self):
        before = (self.folder / "u.tw").read_bytes()

        out, _ = self.thalweg("cat", "u.tw", "-t", "0", expect=DAMAGED)
        self.thalweg("extract", "u.tw", "-C", "out", expect=DAMAGED)

        self.assertEqual(out, b"")
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual((self.folder / "u.tw").read_bytes(), before)

    def test_recover_reads_what_is_whole(self):
        for rank, content in enumerate(self.content):
            self.assertEqual(self.thalweg("cat", "u.tw", "-t", str(rank), "--recover")[0], content)
        result = self.json("extract", "u.tw", "-C", "out", "--recover", expect=DAMAGED)

        self.assertFalse(result["closed"])
        self.assertEqual(result["files"], 3)
        self.assertEqual((self.folder / "out/task-000002").read_bytes(), self.content[2])

    def test_repair_brings_every_flushed_byte_back(self):
        first = self.json("repair", "u.tw")
        second = self.json("repair", "--force", "u.tw")

        self.assertTrue(first["repaired"])
        self.assertFalse(first["closed"])
        self.assertEqual(first["logical_bytes"], sum(len(c) for c in self.content))
        self.assertFalse(second["repaired"])
        self.assertTrue(second["closed"])
        for rank, content in enumerate(self.content):
            self.assertEqual(self.thalweg("cat", "u.tw", "-t", str(rank))[0], content)
        self.thalweg("verify", "u.tw")
        self.thalweg("info", "u.tw")

    def test_repair_says_what_it_did(self):
        self.assertIn(b"repaired: 3 logical files", self.thalweg("repair", "u.tw")[0])
        self.assertIn(b"sound, left alone", self.thalweg("repair", "u.tw")[0])


class PartIsMissing(CliTest):
    def setUp(self):
        super().setUp()
        self.content = [data(100_000, i) for i in range(4)]
        self.craft([(FILE, b"f%d" % i, c) for i, c in enumerate(self.content)], "physical_files=2", out="m.tw")
        (self.folder / "m.tw.000001").unlink()

    def test_verify_tells_what_is_lost(self):
        health = self.json("verify", "m.tw", expect=DAMAGED)

        self.assertEqual(health["damaged_logical_files"], 2)
        self.assertIn("m.tw.000001", health["findings"][0])

    def test_extract_takes_the_others(self):
        result = self.json("extract", "m.tw", "-C", "out", expect=DAMAGED)

        self.assertEqual(result["files"], 2)
        self.assertEqual([entry["rank"] for entry in result["failed"]], [2, 3])
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["f0", "f1"])
        self.assertEqual((self.folder / "out/f1").read_bytes(), self.content[1])


class Damaged(CliTest):
    def setUp(self):
        super().setUp()
        self.content = [data(200_000, 1), data(150_000, 2), b"small and sound"]
        self.write("good.tw.source")  # keeps the folder's listing constant
        self.craft([(FILE, b"f%d" % i, c) for i, c in enumerate(self.content)], out="d.tw")
        self.pristine = (self.folder / "d.tw").read_bytes()

    def damage(self, rank, at):
        """Flips one bit of the stored bytes of a logical file."""
        image = bytearray(self.pristine)
        place = self.pristine.index(self.content[rank][at:at + 64])
        image[place] ^= 0x10
        (self.folder / "d.tw").write_bytes(image)

    def test_verify_finds_a_flipped_bit(self):
        self.assertEqual(self.json("verify", "d.tw")["findings"], [])
        self.damage(0, 123_456)

        health = self.json("verify", "d.tw", expect=DAMAGED)
        out, _ = self.thalweg("verify", "d.tw", expect=DAMAGED)

        self.assertEqual(health["damaged_logical_files"], 1)
        self.assertGreaterEqual(len(health["findings"]), 1)
        self.assertEqual(health["logical_files"], 3)
        self.assertEqual(health["status"], "TW_ERR_CORRUPT")
        self.assertEqual(len(out.splitlines()), len(health["findings"]))

    def test_cat_gives_no_wrong_bytes(self):
        for at in (0, 70_000, 199_000):
            self.damage(0, at)

            out, message = self.thalweg("cat", "d.tw", "-t", "0", expect=DAMAGED)

            self.assertTrue(self.content[0].startswith(out))
            self.assertLessEqual(len(out), at)
            self.assertIn("d.tw", message)
        self.assertEqual(self.thalweg("cat", "d.tw", "-t", "1")[0], self.content[1])

    def test_extract_leaves_the_damaged_file_out_and_brings_the_others(self):
        self.damage(1, 100_000)

        result = self.json("extract", "d.tw", "-C", "out", expect=DAMAGED)

        self.assertEqual([f["name"] for f in result["failed"]], ["f1"])
        self.assertEqual(result["files"], 2)
        self.assertEqual(self.tree("out"), {b"f0": ("file", 0o644, self.content[0]), b"f2": ("file", 0o644, self.content[2])})

    def test_a_damaged_file_does_not_replace_a_sound_one(self):
        self.damage(1, 100_000)
        self.write("out/f1", b"old and sound")

        self.thalweg("extract", "d.tw", "-C", "out", "--force", expect=DAMAGED)

        self.assertEqual((self.folder / "out/f1").read_bytes(), b"old and sound")
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["f0", "f1", "f2"])

    def test_defrag_of_a_damaged_file_leaves_nothing(self):
        self.damage(0, 5000)

        self.thalweg("defrag", "d.tw", "e.tw", expect=DAMAGED)

        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("e.tw")], [])

    def test_a_file_cut_short_is_refused(self):
        for bytes_left in (0, 1, 511, 512, 4095, 4096, len(self.pristine) // 2, len(self.pristine) - 1):
            (self.folder / "d.tw").write_bytes(self.pristine[:bytes_left])
            for words in READERS:
                with self.subTest(bytes_left=bytes_left, words=words):
                    out, _ = self.thalweg(*command(words, "d.tw"), expect=DAMAGED)
                    if words[0] == "cat":
                        self.assertTrue(self.content[0].startswith(out))

    def test_what_is_no_multifile_is_refused(self):
        self.write("text", b"no multifile at all\n" * 1000)
        for words in READERS + (["repair"],):
            with self.subTest(words):
                _, message = self.thalweg(*command(words, "text"), expect=DAMAGED)
                self.assertIn("text", message)
        self.assertEqual((self.folder / "text").read_bytes(), b"no multifile at all\n" * 1000)

    def test_a_directory_is_refused(self):
        os.mkdir(self.folder / "dir")
        for words in READERS:
            done_out, message = self.thalweg(*command(words, "dir"), expect=IO_ERROR)
            self.assertIn("dir", message)

    def test_metadata_flips_never_give_wrong_bytes(self):
        """Every 97th bit of the first page and of the last pages."""
        size = len(self.pristine)
        for bit in [*range(0, 8 * 2048, 997), *range(8 * (size - 3 * 4096), 8 * size, 3001)]:
            image = bytearray(self.pristine)
            image[bit // 8] ^= 1 << bit % 8
            (self.folder / "d.tw").write_bytes(image)
            out = self.any_exit("cat", "d.tw", "-t", "1")
            self.assertTrue(out in (b"", self.content[1]) or self.content[1].startswith(out), bit)

    def any_exit(self, *words):
        import subprocess

        from cli_support import THALWEG

        done = subprocess.run([THALWEG, *words], capture_output=True, cwd=self.folder, timeout=60)
        self.assertIn(done.returncode, (FINE, DAMAGED, IO_ERROR), done.stderr)
        return done.stdout


if __name__ == "__main__":
    main()
