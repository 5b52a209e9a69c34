#!/usr/bin/env python3
"""pack, extract and defrag preserve the files."""

import fcntl
import os
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import time

from cli_support import FINE, IO_ERROR, THALWEG, UNSAFE, USAGE, CliTest, data, main

FILE = stat.S_IFREG | 0o644
DIRECTORY = stat.S_IFDIR | 0o755
F_OFD_SETLK = 37  # fcntl(2); Python has no name for it


class RoundTrip(CliTest):
    def make_tree(self):
        self.write("tree/plain.txt", b"hello\n")
        self.write("tree/empty")
        self.write("tree/.hidden", b"h")
        self.write("tree/sub/deep/er/x", b"x" * 70_000, 0o755)
        self.write("tree/read-only", b"r", 0o444)
        self.write("tree/big", data((8 << 20) + 4321), 0o600)
        self.write("tree/line\nbreak", b"n")
        self.write(b"tree/not-utf8-\xff\xfe", b"u")
        self.write("tree/-dash", b"d")
        self.write("tree/[a,b]", b"l")
        self.write("tree/ spaces and 'quotes\" ", b"s")
        os.mkdir(self.folder / "tree/empty-folder")
        os.mkdir(self.folder / "tree/closed-folder")
        self.write("tree/closed-folder/inside", b"i")
        os.chmod(self.folder / "tree/closed-folder", 0o555)
        os.symlink("plain.txt", self.folder / "tree/link")
        os.symlink("/nowhere/at/all", self.folder / "tree/dangling")
        os.symlink("sub", self.folder / "tree/link-to-folder")

    def test_a_tree_comes_back_the_same(self):
        self.make_tree()

        packed = self.json("pack", "t.tw", "tree")
        extracted = self.json("extract", "t.tw", "-C", "out")

        self.assertEqual(self.tree("out/tree"), self.tree("tree"))
        self.assertEqual(packed["logical_files"], len(self.tree("tree")) + 1)
        self.assertEqual(packed["skipped"], [])
        self.assertEqual(packed["changed"], [])
        self.assertIn("strategy", packed)
        self.assertEqual(extracted["failed"], [])
        self.assertEqual(extracted["directory"], "out")
        self.assertEqual(extracted["symlinks"], 3)
        self.assertEqual(extracted["bytes"], packed["bytes"])
        self.assertEqual(extracted["files"] + extracted["directories"] + extracted["symlinks"], packed["logical_files"])

    def test_compressed_and_with_hints(self):
        self.make_tree()
        for words in (["--compress", "zstd"], ["--compress", "lz4"], ["--hint", "chunk_bytes=64KiB", "--hint", "checksum=none"],
                      ["--hint", "physical_files=3"]):
            with self.subTest(words):
                self.thalweg("pack", "--force", *words, "t.tw", "tree")
                self.thalweg("extract", "t.tw", "-C", "out", "--force")
                self.assertEqual(self.tree("out/tree"), self.tree("tree"))
                self.thalweg("verify", "t.tw")

    def test_any_number_of_threads_stores_and_extracts_the_same(self):
        self.make_tree()
        for i in range(300):
            self.write(f"tree/many/{i % 7}/{i}", data(37 * i, i))
        entries = None

        for threads in ("1", "2", "5", "1000"):
            with self.subTest(threads):
                packed = self.json("pack", "--force", "-j", threads, "t.tw", "tree")
                extracted = self.json("extract", "t.tw", "-j", threads, "-C", "out" + threads)

                listed = self.json("ls", "t.tw")["entries"]
                stored = [(entry["name"], entry["mode"], entry["bytes"]) for entry in listed]
                entries = entries or stored
                self.assertEqual(stored, entries)
                self.assertEqual(len(stored), packed["logical_files"])
                self.assertEqual(extracted["files"] + extracted["directories"] + extracted["symlinks"], packed["logical_files"])
                self.assertEqual(extracted["bytes"], packed["bytes"])
                self.assertEqual(self.tree("out" + threads + "/tree"), self.tree("tree"))
                self.thalweg("verify", "t.tw")
                self.assertEqual(self.json("info", "t.tw")["physical_files"], 1)
        for words in (["pack", "u.tw", "tree"], ["extract", "t.tw", "-C", "none"]):
            for bad in ("0", "-1", "x", "1025"):
                self.thalweg(*words, "-j", bad, expect=USAGE)

    def test_more_threads_than_files(self):
        self.write("one", b"1")

        self.thalweg("pack", "one.tw", "-j", "7", "one")
        self.thalweg("pack", "none.tw", "-j", "7", "-T", "-")
        for name, files in (("one.tw", {b"one": ("file", 0o644, b"1")}), ("none.tw", {})):
            self.thalweg("extract", name, "-j", "7", "-C", "out-" + name)
            self.assertEqual(self.tree("out-" + name), files)

    def test_a_failing_thread_ends_the_pack_with_one_message(self):
        for i in range(40):
            self.write(f"d/{i:02d}", data(50_000, i))
        # Also root cannot read this one at its start.
        (self.folder / "list").write_bytes(b"d\n/proc/self/mem\n")

        for threads in ("1", "2", "3"):
            _, message = self.thalweg("pack", "t.tw", "-j", threads, "--quiet", "-T", "list", expect=IO_ERROR)

            self.assertIn("cannot read '/proc/self/mem'", message)
            self.assertEqual(message.count("\n"), 1, message)
            self.leftovers("d", "list")

    def test_a_failing_thread_ends_the_extract_with_one_message(self):
        self.craft([(DIRECTORY, b"d", b""), *((FILE, b"d/%02d" % i, data(9000, i)) for i in range(40))])
        self.write("out/d/33", b"old")

        _, message = self.thalweg("extract", "crafted.tw", "-j", "3", "-C", "out", expect=UNSAFE)

        self.assertIn("'out/d/33' exists", message)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertEqual(self.tree("out/d")[b"33"], ("file", 0o644, b"old"))
        for name, (_, _, content) in self.tree("out/d").items():
            self.assertIn(content, (b"old", data(9000, int(name))))  # no passing name, and none is short

    def test_names_are_stored_as_given(self):
        self.write("d/x", b"1")
        self.write("y", b"2")

        self.thalweg("pack", "t.tw", "./y", "d/", "-C", str(self.folder))

        names = [entry["name"] for entry in self.json("ls", "t.tw")["entries"]]
        self.assertEqual(names, ["./y", "d", "d/x"])

    def test_paths_are_taken_below_the_directory_option(self):
        self.write("a/b/c", b"1")

        self.thalweg("pack", "t.tw", "-C", "a", "b")

        self.assertEqual([e["name"] for e in self.json("ls", "t.tw")["entries"]], ["b", "b/c"])

    def test_absolute_names_are_kept_warned_about_and_extracted_only_as_relative(self):
        self.write("d/x", b"1")
        top = str(self.folder)

        _, warning = self.thalweg("pack", "t.tw", top + "/d")
        _, refusal = self.thalweg("extract", "t.tw", "-C", "out", expect=UNSAFE)
        self.thalweg("extract", "t.tw", "-C", "out", "--relative")

        self.assertIn("-C DIR", warning)
        self.assertIn("--relative", refusal)
        self.assertEqual(self.tree("out" + top + "/d"), self.tree("d"))

    def test_lists_from_standard_input_and_from_a_file(self):
        for name in ("a", "b", "with\nnewline"):
            self.write(name, name.encode())
        (self.folder / "list").write_bytes(b"a\nb\n")

        self.thalweg("pack", "1.tw", "--files-from", "-", stdin=b"a\nb\n")
        self.thalweg("pack", "2.tw", "-", stdin=b"b\na\n")
        self.thalweg("pack", "3.tw", "--files-from", "list")
        self.thalweg("pack", "4.tw", "-0", "-T", "-", stdin=b"with\nnewline\0a\0")

        names = [[e["name"] for e in self.json("ls", f"{i}.tw")["entries"]] for i in (1, 2, 3, 4)]
        self.assertEqual(names, [["a", "b"], ["b", "a"], ["a", "b"], ["with\nnewline", "a"]])

    def test_a_name_met_twice_is_stored_once(self):
        self.write("d/x", b"1")

        self.thalweg("pack", "t.tw", "d", "d/x", "d")

        self.assertEqual([e["name"] for e in self.json("ls", "t.tw")["entries"]], ["d", "d/x"])

    def test_only_some_are_extracted(self):
        self.craft([(FILE, b"f%d" % i, b"%d" % i) for i in range(10)])

        self.thalweg("extract", "crafted.tw", "--task", "1", "3-5", "-C", "some")
        self.thalweg("extract", "--task", "2", "crafted.tw", "-C", "one")
        self.thalweg("extract", "crafted.tw", "f7", "f9", "-C", "named")

        self.assertEqual(sorted(os.listdir(self.folder / "some")), ["f1", "f3", "f4", "f5"])
        self.assertEqual(os.listdir(self.folder / "one"), ["f2"])
        self.assertEqual(sorted(os.listdir(self.folder / "named")), ["f7", "f9"])
        self.thalweg("extract", "crafted.tw", "--task", "10", expect=USAGE)
        self.thalweg("extract", "crafted.tw", "--task", "5-3", expect=USAGE)
        self.thalweg("extract", "crafted.tw", "--task", "x", expect=USAGE)
        self.thalweg("extract", "crafted.tw", "f10", expect=USAGE)

    def test_names_are_chosen_as_by_tar(self):
        names = ["a", "src", "src/x.c", "src/sub/y.c", "src/y.h", "srcs", "odd[1]", "[x]"]
        self.craft([(DIRECTORY if name == "src" else FILE, name.encode(), b"" if name == "src" else name.encode()) for name in names])

        for chosen, wanted in ((["a"], ["a"]), (["src"], ["src", "src/x.c", "src/sub/y.c", "src/y.h"]), (["src/"], ["src", "src/x.c", "src/sub/y.c", "src/y.h"]),
                               (["*.c"], ["src/x.c", "src/sub/y.c"]), (["src/s*"], ["src/sub/y.c"]), (["s?c/?.[ch]", "a"], ["a", "src/x.c", "src/y.h"]),
                               (["odd[1]"], ["odd[1]"]), (["[x]"], ["[x]"]), (["*"], names)):
            with self.subTest(chosen):
                self.assertEqual([e["name"] for e in self.json("ls", "crafted.tw", *chosen)["entries"]], wanted)
                data = "".join(name for name in wanted if name != "src").encode()
                self.assertEqual(self.thalweg("cat", "crafted.tw", *chosen)[0], data)
                self.thalweg("extract", "crafted.tw", *chosen, "-C", "out")
                stored = sorted(str(p.relative_to(self.folder / "out")) for p in (self.folder / "out").rglob("*") if p.is_file())
                self.assertEqual(stored, sorted(set(wanted) - {"src"}))
                shutil.rmtree(self.folder / "out")
        for command in ("ls", "cat", "extract"):
            _, message = self.thalweg(command, "crafted.tw", "a", "sr", "*.f90", expect=USAGE)
            self.assertIn("no logical file named 'sr'", message)
        self.assertFalse((self.folder / "sr").exists() or (self.folder / "a").exists())

    def test_of_equal_names_the_last_is_found_and_extracted(self):
        self.craft([(FILE, b"log", b"first"), (FILE, b"a", b"a"), (FILE, b"d/log", b"old"), (FILE, b"log", b"last"),
                    (stat.S_IFLNK | 0o777, b"d/log", b"../log")])

        self.assertEqual(self.thalweg("cat", "crafted.tw", "log")[0], b"last")
        self.assertEqual(self.thalweg("cat", "crafted.tw", "log", "d/")[0], b"oldlast../log")  # d/ is looked for in all names
        self.assertEqual([e["rank"] for e in self.json("ls", "crafted.tw", "log")["entries"]], [3])
        self.assertEqual([e["rank"] for e in self.json("ls", "crafted.tw", "l*")["entries"]], [0, 3])
        _, message = self.thalweg("extract", "crafted.tw", "-C", "out")
        self.assertEqual(self.tree("out"), {b"a": ("file", 0o644, b"a"), b"log": ("file", 0o644, b"last"), b"d": ("folder", 0o755),
                                            b"d/log": ("link", "../log".encode())})
        self.assertEqual(message.count("\n"), 1)
        self.assertIn("2 files left out, as a later one has the same name", message)
        self.assertEqual(self.json("extract", "crafted.tw", "-C", "again")["superseded"], 2)
        self.assertEqual(self.json("extract", "crafted.tw", "log", "-C", "one")["superseded"], 0)
        self.assertEqual(self.tree("one"), {b"log": ("file", 0o644, b"last")})
        self.thalweg("extract", "crafted.tw", "--task", "0", "-C", "first")
        self.assertEqual(self.tree("first"), {b"log": ("file", 0o644, b"first")})
        self.thalweg("extract", "crafted.tw", "--task", "0-3", "--pattern", "%d", "-C", "each")
        self.assertEqual([content for _, _, content in sorted(self.tree("each").values())], [b"a", b"first", b"last", b"old"])

    def test_parts_of_a_name_become_files_with_their_number(self):
        self.craft([(FILE, b"x", b"x"), *((FILE, b"run/rho", b"part %d;" % part, part) for part in (0, 1, 12, 1))])

        self.assertEqual(self.thalweg("cat", "crafted.tw", "run/rho")[0], b"part 0;part 1;part 12;part 1;")
        self.assertEqual(self.thalweg("cat", "crafted.tw", "run/rho.12")[0], b"part 12;")
        self.assertEqual([(e["rank"], e["part"]) for e in self.json("ls", "crafted.tw", "run/rho.1")["entries"]], [(4, 1)])
        _, message = self.thalweg("extract", "crafted.tw", "-C", "out")
        self.assertEqual({name: entry[2] for name, entry in self.tree("out").items() if entry[0] == "file"},
                         {b"x": b"x", b"run/rho.0": b"part 0;", b"run/rho.1": b"part 1;", b"run/rho.12": b"part 12;"})
        self.assertIn("1 file left out", message)
        self.thalweg("cat", "crafted.tw", "run/rho.2", expect=USAGE)
        self.thalweg("cat", "crafted.tw", "run/rho.99999999999999999999", expect=USAGE)

    def test_a_part_and_a_name_that_would_be_one_file_are_refused(self):
        self.craft([(FILE, b"rho.1", b"a name"), (FILE, b"rho", b"a part", 1)])

        self.assertIn("would be one file", self.thalweg("extract", "crafted.tw", "-C", "out", expect=UNSAFE)[1])
        self.leftovers("crafted.tw")
        self.assertEqual(self.thalweg("cat", "crafted.tw", "rho.1")[0], b"a name")
        self.craft([(0, b"", b"no name"), (FILE, b"task-000000", b"a name")])
        self.assertIn("would be one file", self.thalweg("extract", "crafted.tw", "-C", "out", expect=UNSAFE)[1])

    def test_files_are_named_by_pattern(self):
        self.craft([(FILE, b"/evil/../%d" % i, b"%d" % i) for i in range(3)] + [(0, b"", b"3")])

        self.thalweg("extract", "crafted.tw", "-C", "out", "--pattern", "task-%06d.bin")
        self.thalweg("extract", "crafted.tw", "-C", "sub", "--pattern", "100%%/%3d", "--task", "0")

        self.assertEqual(sorted(os.listdir(self.folder / "out")), [f"task-{i:06d}.bin" for i in range(4)])
        self.assertEqual((self.folder / "out/task-000003.bin").read_bytes(), b"3")
        self.assertEqual((self.folder / "sub/100%/  0").read_bytes(), b"0")

    def test_a_file_without_a_name_is_called_by_its_task(self):
        self.craft([(0, b"", b"zero"), (0, b"", b"one")])

        self.thalweg("extract", "crafted.tw", "-C", "out")

        self.assertEqual((self.folder / "out/task-000001").read_bytes(), b"one")

    def test_bad_patterns_are_refused(self):
        self.craft([(0, b"", b"x")])
        for pattern in ("none", "%s", "%d%d", "%n", "%", "%06", "%*d", "%ld", "%-3d", "%999999999999d", "%%"):
            with self.subTest(pattern):
                self.assertIn("exactly one %d", self.thalweg("extract", "crafted.tw", "--pattern", pattern, expect=USAGE)[1])
        for pattern in ("../%d", "/tmp/%d"):
            self.thalweg("extract", "crafted.tw", "--pattern", pattern, expect=UNSAFE)
        self.leftovers("crafted.tw")

    def test_an_existing_file_is_replaced_only_by_force(self):
        self.write("a", b"new")
        self.thalweg("pack", "t.tw", "a")
        self.write("out/a", b"old", 0o600)

        self.assertIn("--force", self.thalweg("extract", "t.tw", "-C", "out", expect=UNSAFE)[1])
        self.assertEqual((self.folder / "out/a").read_bytes(), b"old")
        self.thalweg("extract", "t.tw", "-C", "out", "--force")
        self.assertEqual(self.tree("out"), {b"a": ("file", 0o644, b"new")})
        self.assertIn("--force", self.thalweg("pack", "t.tw", "a", expect=UNSAFE)[1])
        self.thalweg("pack", "t.tw", "a", "--force")

    def test_what_is_being_written_is_not_replaced(self):
        self.write("a", b"new")
        for name in ("s.tw", "t.tw"):
            self.thalweg("pack", name, "a")
        before = (self.folder / "t.tw").read_bytes()
        with open(self.folder / "t.tw", "r+b") as writer:
            session = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 1 << 62, 1, 0)  # the lock that the library takes
            fcntl.fcntl(writer, F_OFD_SETLK, session)

            self.assertIn("being written", self.thalweg("pack", "--force", "t.tw", "a", expect=UNSAFE)[1])
            self.assertIn("being written", self.thalweg("defrag", "--force", "s.tw", "t.tw", expect=UNSAFE)[1])

        self.leftovers("a", "s.tw", "t.tw")
        self.assertEqual((self.folder / "t.tw").read_bytes(), before)
        self.thalweg("pack", "--force", "t.tw", "a")
        self.thalweg("defrag", "--force", "s.tw", "t.tw")
        self.thalweg("defrag", "--force", "t.tw", "t.tw")

    def test_what_is_no_part_is_not_replaced(self):
        self.write("a", b"new")
        self.write("b", b"new")
        self.thalweg("pack", "t.tw", "a")
        before = (self.folder / "t.tw").read_bytes()
        self.write("t.tw.000001", b"something else")
        words = ("pack", "--force", "t.tw", "a", "b", "--hint", "physical_files=2")

        self.assertIn("t.tw.000001", self.thalweg(*words, expect=UNSAFE)[1])

        self.leftovers("a", "b", "t.tw", "t.tw.000001")
        self.assertEqual((self.folder / "t.tw").read_bytes(), before)
        self.assertEqual((self.folder / "t.tw.000001").read_bytes(), b"something else")
        self.write("t.tw.000001")
        self.thalweg(*words)
        self.thalweg("verify", "t.tw")

    def test_a_failing_pack_leaves_nothing_and_keeps_what_was_there(self):
        self.write("a", b"new")
        self.thalweg("pack", "t.tw", "a")
        before = (self.folder / "t.tw").read_bytes()

        self.thalweg("pack", "new.tw", "a", "missing", expect=IO_ERROR)
        self.thalweg("pack", "new.tw", expect=USAGE)
        self.thalweg("pack", "new.tw", "a", "--hint", "chunk_bites=1", expect=USAGE)
        self.thalweg("pack", "new.tw", "a", "--hint", "nonsense", expect=USAGE)
        self.thalweg("pack", "no/such/folder/new.tw", "a", expect=IO_ERROR)
        self.thalweg("pack", "--force", "t.tw", "a", "missing", expect=IO_ERROR)

        self.leftovers("a", "t.tw")
        self.assertEqual((self.folder / "t.tw").read_bytes(), before)

    def test_a_full_storage_leaves_nothing(self):
        self.write("big", data(3 << 20))
        self.thalweg("pack", "t.tw", "big")

        def small_files_only():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        self.thalweg("pack", "new.tw", "big", expect=IO_ERROR, preexec_fn=small_files_only)
        self.thalweg("extract", "t.tw", "-C", "out", expect=IO_ERROR, preexec_fn=small_files_only)
        self.thalweg("defrag", "t.tw", "new.tw", expect=IO_ERROR, preexec_fn=small_files_only)

        self.leftovers("big", "out", "t.tw")
        self.assertEqual(os.listdir(self.folder / "out"), [])

    def test_a_file_of_another_size_than_promised_is_stored_as_read_with_a_warning(self):
        if not os.path.exists("/proc/version"):
            self.skipTest("no /proc")
        with open("/proc/version", "rb") as file:  # its reported size is 0 bytes
            content = file.read()

        result = self.json("pack", "t.tw", "-C", "/proc", "version")
        _, warning = self.thalweg("pack", "t.tw", "--force", "-C", "/proc", "version")

        self.assertEqual(result["changed"], ["version"])
        self.assertIn("changed while it was read", warning)
        self.assertEqual(self.thalweg("cat", "t.tw", "version")[0], content)

    def test_little_space_is_reserved_for_small_files(self):
        for i in range(200):
            self.write(f"d/{i}", data(1000 * i, i))

        self.thalweg("pack", "t.tw", "d")

        space = self.json("info", "t.tw")["space"]
        self.assertLess(space["total"], 1.5 * space["data"])

    def test_an_unreadable_file_fails_the_pack(self):
        if os.geteuid() == 0:
            self.skipTest("root can read everything")
        self.write("secret", b"x", 0)

        self.assertIn("secret", self.thalweg("pack", "t.tw", "secret", expect=IO_ERROR)[1])

        self.leftovers("secret")

    def test_special_files_are_refused_or_left_out(self):
        self.write("d/x", b"x")
        os.mkfifo(self.folder / "d/pipe")
        with socket.socket(socket.AF_UNIX) as server:
            os.chdir(self.folder)  # the path of a socket has a short limit
            server.bind("d/socket")

        self.assertIn("--skip-special", self.thalweg("pack", "t.tw", "d", expect=UNSAFE)[1])
        packed = self.json("pack", "t.tw", "d", "--skip-special")

        self.assertEqual(packed["skipped"], ["d/pipe", "d/socket"])
        self.assertEqual([e["name"] for e in self.json("ls", "t.tw")["entries"]], ["d", "d/x"])

    def test_replacing_a_multifile_removes_its_other_physical_files(self):
        for name in "abcdef":
            self.write(name, data(5000))
        self.thalweg("pack", "t.tw", *"abcdef", "--hint", "physical_files=3")
        self.leftovers(*"abcdef", "t.tw", "t.tw.000001", "t.tw.000002")

        self.thalweg("pack", "t.tw", "a", "--force", "--hint", "physical_files=1")

        self.leftovers(*"abcdef", "t.tw")
        self.thalweg("verify", "t.tw")

    def test_a_physical_file_in_the_way_is_not_overwritten(self):
        for name in "ab":
            self.write(name, b"x")
        self.write("t.tw.000001", b"precious")

        self.thalweg("pack", "t.tw", *"ab", "--hint", "physical_files=2", expect=UNSAFE)

        self.leftovers("a", "b", "t.tw.000001")

    def test_many_small_files(self):
        for i in range(3000):
            self.write(f"d/{i % 30}/{i}", b"%d" % i * (i % 50))

        self.thalweg("pack", "t.tw", "d")
        self.thalweg("extract", "t.tw", "-C", "out")

        self.assertEqual(self.tree("out/d"), self.tree("d"))

    def test_an_interrupted_pack_removes_what_it_began(self):
        self.write("big", b"")
        os.truncate(self.folder / "big", 20 << 30)  # a hole: takes long to read and no space
        with subprocess.Popen([THALWEG, "pack", "t.tw", "big", "--compress", "zstd"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as pack:
            deadline = time.monotonic() + 60
            while not any(name.startswith("t.tw") for name in os.listdir(self.folder)):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            pack.send_signal(signal.SIGINT)
            self.assertEqual(pack.wait(timeout=60), -signal.SIGINT)

        self.leftovers("big")

    def test_defrag_keeps_everything(self):
        self.make_tree()
        self.thalweg("pack", "t.tw", "tree", "--hint", "chunk_bytes=64KiB")

        result = self.json("defrag", "t.tw", "d.tw")
        self.thalweg("extract", "d.tw", "-C", "out")

        self.assertEqual(self.tree("out/tree"), self.tree("tree"))
        self.assertEqual(result["to"], "d.tw")
        self.assertEqual(result["physical_bytes_after"], (self.folder / "d.tw").stat().st_size)
        self.assertGreater(result["physical_bytes_before"], 0)
        space = self.json("info", "d.tw")["space"]
        self.assertEqual(space["holes"], 0)
        self.assertEqual(self.json("info", "d.tw")["physical_files"], 1)
        self.thalweg("defrag", "t.tw", "d.tw", expect=UNSAFE)
        self.thalweg("defrag", "t.tw", "d.tw", "--force", "--compress", "zstd")
        self.assertEqual(self.json("info", "d.tw")["sizes"], self.json("info", "t.tw")["sizes"])
        self.thalweg("defrag", "missing.tw", "e.tw", expect=IO_ERROR)
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("e.tw") or ".part" in n], [])

    def test_an_empty_multifile(self):
        self.craft([])

        self.assertEqual(self.json("ls", "crafted.tw")["entries"], [])
        self.assertEqual(self.json("info", "crafted.tw")["logical_files"], 0)
        self.assertEqual(self.json("extract", "crafted.tw", "-C", "out")["files"], 0)
        self.thalweg("verify", "crafted.tw")
        self.thalweg("map", "crafted.tw", "m.svg")
        self.thalweg("cat", "crafted.tw", "--task", "0", expect=USAGE)


class Sparse(CliTest):
    def test_zeros_come_back_as_a_hole(self):
        with open(self.folder / "s", "wb") as file:
            file.write(b"begin")
            file.seek(40 << 20)
            file.write(b"middle")
            file.truncate((60 << 20) + 7)
        self.thalweg("pack", "t.tw", "s")

        self.thalweg("extract", "t.tw", "-C", "out")

        self.assertEqual((self.folder / "out/s").read_bytes(), (self.folder / "s").read_bytes())
        if (self.folder / "s").stat().st_blocks < 4096:  # no sparse files on this file system
            self.assertLess((self.folder / "out/s").stat().st_blocks, 4096)


class PackedNames(CliTest):
    def test_the_multifile_that_is_replaced_is_not_stored(self):
        self.write("d/a", b"a")
        self.write("d/b", b"b")
        self.thalweg("pack", "d/self.tw", "-C", "d", "a", "b", "--hint", "physical_files=2")

        _, message = self.thalweg("pack", "--force", "d/self.tw", "-C", "d", ".")

        self.assertEqual([entry["name"] for entry in self.json("ls", "d/self.tw")["entries"]], [".", "./a", "./b"])
        self.assertIn("skipped './self.tw'", message)
        self.assertIn("skipped './self.tw.000001'", message)

    def test_names_that_mean_one_place_are_told(self):
        self.write("d/a", b"a")

        _, message = self.thalweg("pack", "x.tw", "d/a", "./d/a", "d//a")
        _, left_out = self.thalweg("extract", "x.tw", "-C", "out")
        _, quiet = self.thalweg("pack", "y.tw", "d", "./d/.")

        self.assertIn("2 names equal another one", message)
        self.assertIn("2 files left out", left_out)
        self.assertEqual(self.tree("out/d"), self.tree("d"))
        self.assertNotIn("3 names", quiet)


if __name__ == "__main__":
    main()
