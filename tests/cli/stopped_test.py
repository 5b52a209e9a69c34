#!/usr/bin/env python3
"""What is stopped by a signal or fails half way leaves nothing of its own behind, and what was there as it was."""

import os
import resource
import signal
import stat
import subprocess
import time

from cli_support import IO_ERROR, THALWEG, CliTest, data, main

FILE = stat.S_IFREG | 0o644


class Stopped(CliTest):
    def stop(self, words, begun, number=signal.SIGINT, **options):
        """Starts the command, sends it the signal as soon as begun() is true; returns what it said."""
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
        """long.tw: d (read-only), d/big: a GiB of zeros, compressed, so that only extracting it takes long."""
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

                self.assertNotIn("big", seen)  # its name is for the whole file
                self.assertEqual(self.tree(out), {b"d": ("folder", 0o555)})
                self.assertNotIn(".part", message)

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


if __name__ == "__main__":
    main()
