#!/usr/bin/env python3
"""info, ls and cat: their output, as text and as JSON."""

import json
import os
import pathlib
import stat
import subprocess

from cli_support import DAMAGED, FINE, IO_ERROR, THALWEG, USAGE, CliTest, data, main

FILE = stat.S_IFREG | 0o640


class Inspect(CliTest):
    def setUp(self):
        super().setUp()
        self.content = [b"hello\n", b"", data(300_000), b"\0\1\xff" * 7]
        self.craft([(FILE, b"a.txt", self.content[0]), (FILE, b"empty", b""), (FILE, b"dir/big", self.content[2]), (0, b"", self.content[3])])

    def test_info_tells_sizes_space_and_health(self):
        info = self.json("info", "crafted.tw", "--tasks")

        self.assertEqual(info["file"], "crafted.tw")
        self.assertEqual(info["health"], "closed")
        self.assertTrue(info["closed"])
        self.assertEqual(info["logical_files"], 4)
        self.assertGreaterEqual(info["physical_files"], 1)
        self.assertEqual(info["task_bytes"], [len(c) for c in self.content])
        total = sum(len(c) for c in self.content)
        sizes = info["sizes"]
        self.assertEqual((sizes["total"], sizes["min"], sizes["max"], sizes["empty"], sizes["named"]), (total, 0, 300_000, 1, 3))
        self.assertEqual(sum(row["files"] for row in sizes["histogram"]), 4)
        for row in sizes["histogram"]:
            inside = [c for c in self.content if row["from_bytes"] <= len(c) < row["below_bytes"]]
            self.assertEqual(row["files"], len(inside))
        space = info["space"]
        parts = [space[k] for k in ("headers", "frames", "data", "tails", "holes", "index")]
        self.assertEqual(space["total"], sum(parts))
        self.assertGreaterEqual(space["data"], total)
        self.assertIn("creator", info["attributes"])
        for key in ("format", "uuid", "sessions", "checksum", "alignment_bytes", "granule_bytes"):
            self.assertIn(key, info)

    def test_info_space_is_the_size_of_the_physical_files(self):
        os.sync()  # from here on the blocks of the files stay as they are
        info = self.json("info", "crafted.tw")

        files = [path.stat() for path in self.folder.glob("crafted.tw*")]
        self.assertEqual(info["space"]["total"], sum(file.st_size for file in files))
        self.assertEqual(info["space"]["on_disk"], sum(file.st_blocks * 512 for file in files))

    def test_info_text_names_every_task_on_request(self):
        short, _ = self.thalweg("info", "crafted.tw")
        long, _ = self.thalweg("info", "--tasks", "crafted.tw")

        self.assertIn(b"logical files   4", short)
        self.assertNotIn(b"task          2", short)
        self.assertRegex(long, rb"task +2 +300000\n")

    def test_info_tells_which_physical_files_exist(self):
        names = [f"{i}" for i in range(4)]
        for size, n, text in ((1000, 1, b"1 of up to 2"), (3 << 20, 2, b"2")):
            for name in names:
                self.write(name, os.urandom(size))
            self.thalweg("pack", "-f", "-j", "2", "--hint", "physical_files=auto", "t.tw", *names)
            self.assertEqual(sorted(path.name for path in self.folder.glob("t.tw*")), ["t.tw", "t.tw.000001"][:n])
            info = self.json("info", "t.tw")
            self.assertEqual((info["physical_files"], info["planned_files"]), (n, 2))
            self.assertIn("up to 2 physical files (one per task), the first one for 4 MiB of each node; ", info["strategy"])
            told, _ = self.thalweg("info", "t.tw")
            self.assertIn(b"\nphysical files  " + text + b"\n", told)
            self.assertIn("on_disk", info["space"])
            self.thalweg("verify", "t.tw")
        self.thalweg("map", "t.tw", "t.svg")
        self.thalweg("defrag", "t.tw", "d.tw")
        (self.folder / "t.tw.000001").unlink()
        told, _ = self.thalweg("verify", "t.tw", expect=DAMAGED)
        self.assertIn(b"t.tw.000001", told)

    def test_the_strategy_is_told_and_kept(self):
        self.write("a", data(100_000))
        self.write("b", b"b")

        told, _ = self.thalweg("pack", "t.tw", "a", "b", "--hint", "physical_files=2")
        packed = self.json("pack", "u.tw", "a", "b", "--hint", "physical_files=2")["strategy"]
        copy = self.json("defrag", "t.tw", "d.tw")["strategy"]
        again, _ = self.thalweg("defrag", "t.tw", "e.tw", "--compress", "zstd")

        self.assertIn("2 physical files (as asked for)", packed)
        self.assertIn("(chosen by thalweg pack)", packed)  # the chunks
        chosen = self.json("pack", "v.tw", "a")["strategy"]
        self.assertTrue(chosen.startswith("1 physical file (chosen by thalweg pack); "), chosen)
        self.assertNotIn("asked for", chosen)
        self.assertEqual(self.json("info", "v.tw")["strategy"], chosen)
        self.assertIn(b"\nstrategy: " + packed.encode() + b"\n", told)
        self.assertIn("1 physical file ", copy)
        self.assertIn(b"compression zstd", again)
        self.assertEqual(self.json("info", "t.tw")["strategy"], packed)
        self.assertEqual(self.json("info", "d.tw")["strategy"], copy)
        self.assertIn(b"\nstrategy        " + packed.encode() + b"\n", self.thalweg("info", "t.tw")[0])
        self.craft([(FILE, b"a", b"x")], "--unclosed")  # attributes are written at the close
        self.assertIsNone(self.json("info", "crafted.tw", expect=1)["strategy"])

    def test_ls_lists_rank_size_mode_name(self):
        out, _ = self.thalweg("ls", "crafted.tw")

        lines = [line.split() for line in out.splitlines()]
        self.assertEqual(lines[0], [b"0", b"6", b"-rw-r-----", b"a.txt"])
        self.assertEqual(lines[2], [b"2", b"300000", b"-rw-r-----", b"dir/big"])
        self.assertEqual(lines[3], [b"3", b"21", b"-"])

    def test_ls_json_has_an_entry_for_each_logical_file(self):
        listing = self.json("ls", "crafted.tw")

        self.assertTrue(listing["closed"])
        self.assertEqual(listing["entries"][0], {"rank": 0, "bytes": 6, "name": "a.txt", "mode": "100640"})
        self.assertEqual(listing["entries"][3], {"rank": 3, "bytes": 21, "name": "", "mode": None})

    def test_ls_tells_the_parts_of_a_name(self):
        parts = pathlib.Path(__file__).resolve().parents[1] / "golden/valid/added_parts.tw"
        lines = self.thalweg("ls", str(parts))[0].decode().splitlines()
        self.assertTrue(lines[0].endswith("  temperature (part 1)") and lines[2].endswith("  temperature"), lines)
        entries = self.json("ls", str(parts), "temperature*")["entries"]
        self.assertEqual([entry.get("part") for entry in entries], [1, 0, None, 2**63 - 1, 256])
        for name, part in (("temperature", None), ("temperature.0", 0), (f"temperature.{2**63 - 1}", 2**63 - 1)):
            entries = self.json("ls", str(parts), name)["entries"]
            self.assertEqual([entry.get("part") for entry in entries], [part])

    def test_ls_null_gives_names_as_they_are(self):
        out, _ = self.thalweg("ls", "--null", "crafted.tw")

        self.assertEqual(out, b"a.txt\0empty\0dir/big\0\0")

    def test_names_that_could_harm_a_terminal_are_shown_harmless(self):
        names = [b"line\nbreak", b"\x1b[31mred", b"caf\xe9", "käse".encode(), b"back\\slash", "\u202eevil".encode()]
        self.craft([(FILE, name, b"x") for name in names], out="odd.tw")

        out, _ = self.thalweg("ls", "odd.tw")
        listing = self.json("ls", "odd.tw")

        self.assertEqual(len(out.splitlines()), len(names))
        for shown in (rb"line\nbreak", rb"\x1b[31mred", rb"caf\xe9", "käse".encode(), rb"back\\slash", rb"\u202eevil"):
            self.assertIn(b"  " + shown + b"\n", out)
        self.assertNotIn(b"\x1b", out)
        self.assertEqual(bytes.fromhex(listing["entries"][2]["name_hex"]), names[2])
        self.assertNotIn("name_hex", listing["entries"][3])

    def test_cat_gives_the_bytes_by_task_and_by_name(self):
        for rank, content in enumerate(self.content):
            self.assertEqual(self.thalweg("cat", "crafted.tw", "--task", str(rank))[0], content)
        self.assertEqual(self.thalweg("cat", "crafted.tw", "dir/big")[0], self.content[2])

    def test_cat_json_goes_to_standard_error(self):
        out, errors = self.thalweg("cat", "crafted.tw", "--task", "0", "--json")

        self.assertEqual(out, self.content[0])
        self.assertEqual(json.loads(errors), {"command": "cat", "file": "crafted.tw", "entries": [{"rank": 0, "name": "a.txt", "mode": "100640", "bytes": 6}],
                                              "exit_code": 0})

    def test_cat_refuses_what_is_not_there(self):
        self.assertIn("4", self.thalweg("cat", "crafted.tw", "--task", "4", expect=USAGE)[1])
        self.thalweg("cat", "crafted.tw", "--task", "-1", expect=USAGE)
        self.assertIn("thalweg ls", self.thalweg("cat", "crafted.tw", "nobody", expect=USAGE)[1])
        self.thalweg("cat", "crafted.tw", expect=USAGE)
        self.thalweg("cat", "crafted.tw", "--task", "1", "empty", expect=USAGE)

    def test_cat_ends_quietly_when_the_reader_goes_away(self):
        with subprocess.Popen([THALWEG, "cat", "crafted.tw", "-t", "2"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as cat:
            cat.stdout.read(10)
            cat.stdout.close()
            self.assertEqual(cat.stderr.read(), b"")
            self.assertEqual(cat.wait(timeout=60), FINE)

    def test_ls_ends_quietly_when_the_reader_goes_away(self):
        self.craft([(FILE, b"a long name %d" % i, b"") for i in range(20_000)], out="many.tw")
        with subprocess.Popen([THALWEG, "ls", "many.tw"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ls:
            ls.stdout.readline()
            ls.stdout.close()
            self.assertEqual(ls.stderr.read(), b"")
            self.assertEqual(ls.wait(timeout=60), FINE)

    def test_a_full_disk_behind_standard_output_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["ls"], ["info"], ["cat", "-t", "2"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([THALWEG, words[0], "crafted.tw", *words[1:]], cwd=self.folder, stdout=full,
                                      stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, IO_ERROR)
            self.assertIn(b"standard output", done.stderr)

    def test_a_missing_file_is_named(self):
        for command in ("info", "ls", "verify", "repair"):
            self.assertIn("nothing.tw", self.thalweg(command, "nothing.tw", expect=IO_ERROR)[1])

    def test_files_named_like_commands_and_lists_are_just_files(self):
        for name in ("info", "ls", "[a,b]", "{}", "%%", "-dash"):
            self.craft([(0, b"", b"x")], out=name)
            self.assertEqual(self.json("info", "--", name)["file"], name)


class OddAttributes(CliTest):
    def test_keys_that_are_no_utf8_stay_apart(self):
        self.craft([], "@6bff", "@6bfe", "@6b")

        info = self.json("info", "crafted.tw")

        self.assertEqual([entry["key"] for entry in info["other_attributes"]], [{"hex": "6bfe"}, {"hex": "6bff"}])
        self.assertEqual(info["attributes"]["k"], "v")
        self.assertIn(b"attribute       hex 6bff = v", self.thalweg("info", "crafted.tw")[0])


if __name__ == "__main__":
    main()
