#!/usr/bin/env python3
"""A command that fails or is stopped by a signal leaves no files of its own and no change to existing ones."""

import os
import resource
import signal
import stat
import subprocess
import time

from cli_support import IO_ERROR, THALWEG, UNSAFE, USAGE, CliTest, data, main

FILE = stat.S_IFREG | 0o644


class Stopped(CliTest):
    def stop(self, words, begun, number=signal.SIGINT, **options):
        """Starts the command, sends the signal once begun() is true; returns its output."""
        with subprocess.Popen([THALWEG, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as child:
            deadline = time.monotonic() + 60
            while not begun():
                self.assertIsNone(child.poll(), "ended before it was stopped")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.001)
            child.send_signal(number)
            _, message = child.communicate(timeout=60)
            self.assertEqual(child.returncode, -number)
        return message.decode()

    def pack_a_long_one(self):
        """long.tw: d (read-only), d/big: a GiB of zeros, compressed, so that extracting takes long."""
        self.write("d/big")
        os.truncate(self.folder / "d/big", 1 << 30)
        os.chmod(self.folder / "d", 0o555)
        self.thalweg("pack", "long.tw", "d", "--compress", "zstd")

    def names_in(self, folder):
        try:
            return os.listdir(self.folder / folder)
        except FileNotFoundError:
            return []


class Extract(Stopped):
    def test_a_stopped_extract_leaves_no_short_file_and_sets_the_modes_of_directories(self):
        self.pack_a_long_one()
        for number in (signal.SIGINT, signal.SIGTERM):
            for force in ([], ["--force"]):
                out = f"out{number}{''.join(force)}"
                seen = []

                message = self.stop(["extract", "long.tw", "-C", out, *force], lambda: seen.extend(self.names_in(out + "/d")) or seen,
                                    number)

                self.assertNotIn("big", seen)  # only the complete file gets its name
                self.assertEqual(self.tree(out), {b"d": ("folder", 0o555)})
                self.assertNotIn(".part", message)

    def test_several_threads_are_stopped_together(self):
        for i in range(3):
            self.write(f"d/{i}")
            os.truncate(self.folder / f"d/{i}", 1 << 30)

        self.stop(["pack", "t.tw", "d", "-j", "3"], lambda: any(".part" in name for name in os.listdir(self.folder)))
        self.leftovers("d")
        self.thalweg("pack", "t.tw", "d", "--compress", "zstd", "-j", "3")
        self.stop(["extract", "t.tw", "-C", "out", "-j", "3"], lambda: len(self.names_in("out/d")) > 1)
        self.assertEqual([name for name in self.names_in("out/d") if ".part" in name], [])

    def test_a_stopped_extract_keeps_the_file_it_was_to_replace(self):
        self.pack_a_long_one()
        self.write("out/d/big", b"old")

        self.stop(["extract", "long.tw", "-C", "out", "--force"], lambda: len(self.names_in("out/d")) > 1)

        self.assertEqual(self.tree("out/d"), {b"big": ("file", 0o644, b"old")})

    def test_a_failing_extract_leaves_no_short_file_and_does_not_name_the_passing_one(self):
        self.craft([(stat.S_IFDIR | 0o500, b"d", b""), (FILE, b"d/big", data(3 << 20))])

        def small_files_only():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        _, message = self.thalweg("extract", "crafted.tw", "-C", "out", expect=IO_ERROR, preexec_fn=small_files_only)

        self.assertEqual(self.tree("out"), {b"d": ("folder", 0o500)})
        self.assertIn("d/big", message)
        self.assertNotIn(".part", message)

    def test_the_longest_names_have_passing_names_too(self):
        names = [b"n" * 255, b"m" * 201, b"k" * 200]
        self.craft([(FILE, name, name) for name in names])

        self.thalweg("extract", "crafted.tw", "-C", "out")

        self.assertEqual(self.tree("out"), {name: ("file", 0o644, name) for name in names})


class Replace(Stopped):
    """pack --force and defrag --force over a multifile of several physical files."""

    def setUp(self):
        super().setUp()
        for name in "abcdef":
            self.write(name, data(5000, ord(name)))
        self.thalweg("pack", "t.tw", *"abcdef", "--hint", "physical_files=3")
        self.before = self.tree(".")

    def test_more_as_many_and_fewer_physical_files_replace_the_old_ones(self):
        for count in (5, 2, 2, 1, 3):
            self.thalweg("pack", "t.tw", *"abcdef", "--force", "--hint", f"physical_files={count}")

            self.leftovers(*"abcdef", "t.tw", *(f"t.tw.{k:06d}" for k in range(1, count)))
            self.thalweg("verify", "t.tw")
            self.assertEqual(self.json("info", "t.tw")["physical_files"], count)
        self.thalweg("defrag", "t.tw", "t.tw", "--force")  # the source is the target
        self.leftovers(*"abcdef", "t.tw")
        self.thalweg("verify", "t.tw")

    def test_the_old_one_is_put_back_when_the_new_one_cannot_move_in(self):
        (self.folder / "t.tw.000003").mkdir()  # blocks number 3, after number 4 has been renamed
        self.write("t.tw.000004", b"\x89THALW\r\n, and more")  # begins like a physical file
        self.before = self.tree(".")

        _, message = self.thalweg("pack", "t.tw", *"abcdef", "--force", "--hint", "physical_files=5", expect=UNSAFE)

        self.assertIn("'t.tw.000003' is a directory", message)
        self.assertEqual(self.tree("."), self.before)

    def test_a_failing_pack_keeps_all_of_the_old_one(self):
        (self.folder / "list").write_bytes(b"a\nmissing\n")
        (self.folder / "zeros").write_bytes(b"a\0b\0")
        os.mkdir(self.folder / "folder")
        self.before = self.tree(".")

        for words, code, told in ((["-T", "list"], IO_ERROR, "missing"), (["-T", "none"], IO_ERROR, "none"),
                                  (["-T", "folder"], IO_ERROR, "folder"), (["-T", "zeros"], USAGE, "--null"),
                                  (["a", "--hint", "physical_files=x"], USAGE, "physical_files")):
            with self.subTest(words):
                _, message = self.thalweg("pack", "t.tw", "--force", *words, expect=code)
                self.assertIn(told, message)
                self.assertNotIn(".part", message)
        self.thalweg("pack", "t.tw", "--force", "-T", "-", stdin=b"a\nmissing\n", expect=IO_ERROR)

        self.assertEqual(self.tree("."), self.before)

    def test_a_pack_that_is_stopped_while_it_reads_its_list_keeps_the_old_one(self):
        for given in (b"", b"a\n"):
            with subprocess.Popen([THALWEG, "pack", "t.tw", "--force", "-T", "-"], cwd=self.folder, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as pack:
                pack.stdin.write(given)
                pack.stdin.flush()
                self.wait_until_asleep(pack.pid)
                pack.send_signal(signal.SIGINT)
                self.assertEqual(pack.wait(timeout=60), -signal.SIGINT)

            self.assertEqual(self.tree("."), self.before)

    def wait_until_asleep(self, pid):
        deadline = time.monotonic() + 60
        asleep = 0
        while asleep < 5:
            with open(f"/proc/{pid}/stat", "rb") as stat_file:
                asleep = asleep + 1 if stat_file.read().rsplit(b")", 1)[1].split()[0] == b"S" else 0
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_a_stopped_pack_and_a_stopped_defrag_keep_the_old_one(self):
        self.write("big")
        os.truncate(self.folder / "big", 1 << 30)
        self.thalweg("pack", "long.tw", "a", "big", "b", "--compress", "zstd")
        before = {path: path.read_bytes() for path in self.folder.glob("t.tw*")}

        for words in (["pack", "t.tw", "big", "--compress", "zstd"], ["defrag", "long.tw", "t.tw", "--compress", "zstd"]):
            message = self.stop([*words, "--force"], lambda: len(list(self.folder.glob("t.tw*"))) > len(before))

            self.assertNotIn(".part", message)
            self.assertEqual({path: path.read_bytes() for path in self.folder.glob("t.tw*")}, before)


if __name__ == "__main__":
    main()
