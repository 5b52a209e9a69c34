#!/usr/bin/env python3
"""Messages contain real names, ready commands and ranges, and no repetition."""

import os
import resource
import shlex
import stat
import subprocess

from cli_support import DAMAGED, FINE, IO_ERROR, THALWEG, USAGE, CliTest, data, main

FILE = stat.S_IFREG | 0o644


class Commands(CliTest):
    """A proposed command can be copied into a shell."""

    def test_repair_is_proposed_with_the_real_name(self):
        for name in ("u.tw", "with space.tw", "it's $HOME.tw", "./-dash.tw"):
            self.craft([(0, b"", b"abc"), (0, b"", b"def")], "--unclosed", "physical_files=2", out=name)
            for words in (["cat", "-t", "1"], ["verify"], ["info"], ["map", "m.html", "--force"]):
                with self.subTest(name=name, words=words):
                    out, message = self.thalweg(words[0], name, *words[1:], expect=DAMAGED)
                    self.assert_proposes(out.decode() + message, name)
            self.assertIn("thalweg repair", (self.folder / "m.html").read_text())
            out, _ = self.thalweg("repair", name)  # both files are unclosed
            self.assert_proposes(out.decode(), name)

    def assert_proposes(self, text, name):
        found = [line.split("thalweg repair ")[1].split("`")[0] for line in text.splitlines() if "thalweg repair " in line]
        self.assertTrue(found, text)
        for word in found:
            self.assertEqual(shlex.split(word), [name], text)

    def test_a_truncated_file_gets_its_name(self):
        self.craft([(0, b"", data(100_000))], out="with space.tw")
        os.truncate(self.folder / "with space.tw", 90_000)

        _, message = self.thalweg("cat", "with space.tw", "-t", "0", expect=DAMAGED)

        self.assert_proposes(message, "with space.tw")
        self.assertIn("'with space.tw': is truncated", message)

    def test_a_name_that_begins_with_a_dash_is_no_option(self):
        self.craft([(0, b"", b"abc")], "--unclosed", out="-x.tw")

        _, message = self.thalweg("info", "--", "-x.tw", expect=DAMAGED)

        self.assertIn("thalweg repair ./-x.tw", message)


class Wording(CliTest):
    def test_a_task_that_is_not_there_is_answered_with_the_range(self):
        self.craft([(0, b"", b"x")] * 4)
        self.craft([], out="none.tw")
        self.craft([(0, b"", b"x")] * 4, "--unclosed", out="u.tw")

        for words in (["crafted.tw"], ["u.tw", "--recover"]):
            _, message = self.thalweg("cat", *words, "--task", "99", expect=USAGE)
            self.assertIn("no task 99: ", message)
            self.assertIn("has tasks 0 to 3", message)
        self.assertIn("no logical files", self.thalweg("cat", "none.tw", "-t", "0", expect=USAGE)[1])
        self.assertIn("numbered from 0", self.thalweg("cat", "crafted.tw", "--task", "-1", expect=USAGE)[1])
        self.assertIn("numbered from 0", self.thalweg("cat", "missing.tw", "--task=-1", expect=USAGE)[1])

    def test_a_missing_folder_is_named(self):
        self.write("a", b"x")
        self.thalweg("pack", "t.tw", "a")
        for words in (["pack", "no/such/n.tw", "a"], ["defrag", "t.tw", "no/such/n.tw"], ["map", "t.tw", "no/such/m.svg"],
                      ["extract", "t.tw", "-C", "no/such/out"], ["man", "--directory", "no/such"]):
            with self.subTest(words):
                self.assertIn("the folder 'no/such' does not exist", self.thalweg(*words, expect=IO_ERROR)[1])
        self.thalweg("extract", "t.tw", "-C", "out/")
        self.leftovers("a", "out", "t.tw")

    def test_no_message_names_its_file_twice(self):
        self.write("text", b"no multifile at all\n" * 1000)
        self.write("a", b"x")
        self.craft([(FILE, b"a", data(100_000))], out="whole.tw")
        whole = (self.folder / "whole.tw").read_bytes()
        for n in (0, 100, 600, 5000, 90_000, len(whole) - 1):
            (self.folder / f"cut{n}.tw").write_bytes(whole[:n])
        (self.folder / "folder").mkdir()

        for name in ["text", "missing.tw", "folder", *(p.name for p in self.folder.glob("cut*.tw"))]:
            for command in (["cat", name, "-t", "0"], ["verify", name], ["defrag", name, "o.tw"], ["extract", name, "-C", "out"]):
                with self.subTest(command):
                    out, message = self.thalweg(*command, expect=IO_ERROR if name in ("missing.tw", "folder") else DAMAGED)
                    for line in message.splitlines() + out.decode().splitlines():
                        self.assertLessEqual(line.split("`")[0].count(name), 1, line)

    def test_no_message_of_a_failing_creation_names_its_file_twice_or_proposes_to_repair_it(self):
        self.write("a", data(2000))
        long_name = "n" * 250
        self.assertEqual(self.thalweg("pack", long_name, "a", expect=IO_ERROR)[1].count(long_name), 1)

        failed = 0
        for limit in range(0, 300_000, 4096):
            def small_files_only(limit=limit):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            done = subprocess.run([THALWEG, "pack", "t.tw", "a", "--force"], cwd=self.folder, capture_output=True, timeout=60,
                                  preexec_fn=small_files_only)
            if done.returncode == FINE:
                break
            failed += 1
            message = done.stderr.decode()
            self.assertEqual(done.returncode, IO_ERROR, message)
            self.assertEqual(message.count("t.tw"), 1, message)
            self.assertNotIn("repair", message)
            self.leftovers("a")
        self.assertGreater(failed, 3)

    def test_verify_says_each_sentence_once(self):
        self.craft([(0, b"", data(100_000))], out="d.tw")
        image = bytearray((self.folder / "d.tw").read_bytes())
        self.craft([(0, b"", b"abc")] * 2, "--unclosed", "physical_files=2", out="u.tw")
        image[image.index(data(100_000)[:64])] ^= 1
        (self.folder / "d.tw").write_bytes(image)
        self.write("text", b"no multifile")

        for name in ("d.tw", "u.tw", "text"):
            out, message = self.thalweg("verify", name, expect=DAMAGED)
            lines = out.decode().splitlines() + [line.removeprefix("thalweg: ") for line in message.splitlines()]
            self.assertEqual(len(lines), len(set(lines)), lines)
            self.assertTrue(message)

    def test_repair_of_what_is_no_multifile_says_only_that(self):
        self.write("text", b"no multifile")

        out, message = self.thalweg("repair", "text", expect=DAMAGED)

        self.assertEqual(out, b"")
        self.assertIn("neither a multifile nor a vpfile", message)

    def test_only_what_is_alike_is_proposed(self):
        self.write("a")
        for word, proposed in (("chunk_byte", "chunk_bytes"), ("verfiy", "verify"), ("foo", None), ("v", None), ("chunks", None)):
            _, message = self.thalweg("pack", "t.tw", "a", "--hint", f"{word}=1", expect=USAGE)
            self.assertIn("thalweg hints", message)
            self.assert_proposal(message, proposed)
        for word, proposed in (("exract", "extract"), ("lx", None), ("cta", None), ("packing", None), ("mao", "map")):
            _, message = self.thalweg(word, "x", expect=USAGE)
            self.assert_proposal(message, proposed)

    def assert_proposal(self, message, proposed):
        if proposed:
            self.assertIn(f"did you mean '{proposed}'", message)
        else:
            self.assertNotIn("did you mean", message)


class EmptyPaths(CliTest):
    def test_an_empty_path_is_a_usage_error(self):
        self.craft([])
        for words in (["info", ""], ["ls", ""], ["verify", ""], ["cat", ""], ["map", "crafted.tw", ""], ["repair", ""],
                      ["defrag", "crafted.tw", ""], ["pack", "", "x"], ["extract", "crafted.tw", "-C", ""]):
            with self.subTest(words):
                _, message = self.thalweg(*words, expect=USAGE)
                self.assertIn(" is empty", message)


if __name__ == "__main__":
    main()
