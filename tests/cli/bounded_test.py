#!/usr/bin/env python3
"""Work is bounded by the stored bytes and ends at a signal, and --json always prints an object."""

import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import struct
import subprocess
import time

import hostile_files as hostile
from cli_support import DAMAGED, FINE, IO_ERROR, THALWEG, CliTest, main

FILE = stat.S_IFREG | 0o644
LAST = hostile.MANY - 1
UNDER_COVERAGE = "GCOV_ERROR_FILE" in os.environ  # programs without optimization, which count: ten times as long


class Bounded(CliTest):
    """Runs the command with limits of memory, CPU time and file size."""

    def limited(self, *words, expect=None):
        code, out, message = hostile.run_limited(words, self.folder)
        told = f"{words}: {message}"
        self.assertIn(code, hostile.DOCUMENTED if expect is None else [expect], told)
        if code not in (FINE, DAMAGED):
            self.assertTrue(message.startswith("thalweg: "), told)
        return out, message

    def limited_json(self, *words, expect=None):
        out, _ = self.limited(words[0], "--json", *words[1:], expect=expect)
        return json.loads(out)

    def bytes_in_folder(self):
        return sum(path.stat().st_blocks * 512 for path in self.folder.rglob("*") if path.is_file())


class Multifiles(Bounded):
    def test_ls_tells_ranges_of_what_is_not_stored(self):
        for made, entries, code in (
                (hostile.unclosed_claims, [(0, 300), (1, 150), (2, LAST, 0)], DAMAGED),
                (hostile.listed_claims, [(0, 0), (1, 5), (2, 0), (3, 4), (4, 0), (5, 0), (6, 0), (7, 3), (8, LAST, 0)], FINE),
                (hostile.missing_claims, [(0, 4), (1, LAST, "TW_ERR_NOT_FOUND")], DAMAGED)):
            with self.subTest(made.__name__):
                name = hostile.store(made(), self.folder)

                found = self.limited_json("ls", name, expect=code)["entries"]

                self.assertEqual([tuple(e[k] for k in ("rank", "last_rank", "bytes") if k in e)
                                  + ((e["error"]["status"],) if "error" in e else ()) for e in found], entries)
                lines = self.limited("ls", name, expect=code)[0].decode().splitlines()
                self.assertEqual([line.split()[0] for line in lines],
                                 ["-".join(str(rank) for rank in e[:-1]) for e in entries if e[-1] != "TW_ERR_NOT_FOUND"])
                self.limited("ls", "--null", name, expect=code)

    def test_info_counts_what_is_not_stored_as_empty_or_unreadable(self):
        for made, sizes, rest in (
                (hostile.unclosed_claims, [300, 150], {"tasks": LAST - 1, "bytes": 0}),
                (hostile.listed_claims, [0, 5, 0, 4, 0, 0, 0, 3], {"tasks": LAST - 7, "bytes": 0}),
                (hostile.missing_claims, [4], {"tasks": LAST, "bytes": None})):
            with self.subTest(made.__name__):
                name = hostile.store(made(), self.folder)

                info = self.limited_json("info", "--tasks", name)

                self.assertEqual(info["task_bytes"], [*sizes, rest])
                known = rest["bytes"] is not None
                self.assertEqual(info["sizes"]["empty"], sizes.count(0) + (rest["tasks"] if known else 0))
                self.assertEqual(info["sizes"]["unreadable"], 0 if known else rest["tasks"])
                self.limited("info", "--tasks", name)

    def test_a_repair_writes_no_more_than_it_recovers(self):
        name = hostile.store(hostile.unclosed_claims(), self.folder)
        before = self.bytes_in_folder()

        self.limited("repair", name, expect=FINE)

        self.assertLess(self.bytes_in_folder(), before + 64 * 1024)
        self.limited("verify", name, expect=FINE)
        self.assertEqual(self.limited("cat", "--task", "0", name, expect=FINE)[0], hostile.valid_cases.pattern(300))

    def test_what_is_missing_is_one_finding(self):
        name = hostile.store(hostile.missing_claims(), self.folder)
        for command in ("verify", "repair"):
            found = self.limited_json(command, name, expect=DAMAGED)
            self.assertEqual(found["damaged_logical_files"], LAST)
            self.assertLess(len(found["findings"]), 5)

    def test_map_and_cat_and_defrag_go_by_what_is_there(self):
        name = hostile.store(hostile.listed_claims(), self.folder)
        self.limited("map", name, "out.svg", expect=FINE)
        self.limited("map", name, "out.html", expect=FINE)
        self.assertEqual(self.limited("cat", name, "greeting", expect=FINE)[0], b"hello")
        self.assertEqual(self.limited("cat", "--task", str(LAST), name, expect=FINE)[0], b"")
        self.limited("defrag", name, "copy.tw", expect=FINE)
        self.assertEqual(self.limited_json("ls", "copy.tw")["entries"][-1], {"rank": 8, "last_rank": LAST, "bytes": 0, "name": "", "mode": None})

    def test_extract_makes_no_files_of_many_that_are_empty(self):
        name = hostile.store(hostile.listed_claims(), self.folder)

        result = self.limited_json("extract", name, "-C", "out", expect=FINE)

        self.assertEqual(result["left_out"], [{"rank": 8, "last_rank": LAST}])
        self.assertEqual(sorted(self.tree("out")), [b"greeting", *(b"task-%06d" % r for r in (0, 2, 4, 5, 6, 7)), b"zeros"])
        few = self.limited_json("extract", name, "-C", "few", "--task", "100-110", expect=FINE)
        self.assertEqual((few["files"], few["left_out"]), (11, []))

    def test_extract_leaves_gaps_out(self):
        name = hostile.store(hostile.far_gap(gap=1 << 25), self.folder)

        self.limited("extract", name, "-C", "out", expect=FINE)

        status = (self.folder / "out/task-000000").stat()
        self.assertEqual(status.st_size, hostile.FAR_END + (1 << 25))
        self.assertLess(status.st_blocks * 512, 1 << 20)
        self.limited("extract", hostile.store(hostile.far_gap(), self.folder), "-C", "far", expect=IO_ERROR)
        self.assertEqual(self.tree("far"), {})


class Vpfiles(Bounded):
    VPS = 1 << 36

    def claim(self):
        """A vpfile with 2^36 streams, four of which have bytes: the side file reaches the file size limit."""
        self.craft_vpfile(str(self.VPS), "one 0 20", "one 5 100", f"one {self.VPS // 2} 7", f"one {self.VPS - 1} 3",
                          options=["--few", "--hints", "block_bytes=16,superblock_bytes=4096"])
        return "crafted.vp"

    def test_every_command_goes_by_what_is_there(self):
        name = self.claim()

        info = self.limited_json("info", "--tasks", name, expect=FINE)
        self.assertEqual((info["sizes"]["total"], info["sizes"]["empty"]), (130, self.VPS - 4))
        self.assertLess(len(info["vp_bytes"]), 2000)
        self.limited("info", "--tasks", name, expect=FINE)
        self.limited("verify", name, expect=FINE)
        self.limited("map", name, "out.svg", expect=FINE)
        self.assertEqual(self.limited("cat", "--vp", "5", name, expect=FINE)[0], hostile.stream(5, 100))
        self.assertEqual(self.limited("cat", "--vp", "6", name, expect=FINE)[0], b"")
        result = self.limited_json("extract", name, "-C", "out", expect=FINE)
        names = self.tree("out")
        self.assertEqual(len(names), result["files"])
        for vp in (0, 5, self.VPS // 2, self.VPS - 1):
            self.assertIn(b"vp-%06d" % vp, names)
        self.assertLess(result["files"], 4000)  # a thousand, plus those whose entries share a page with a stored one
        left_out = sum(r["last_vp"] - r["vp"] + 1 for r in result["left_out"])
        self.assertEqual(left_out + result["files"], self.VPS)
        _, message = self.limited("vp-flatten", name, "flat.bin", expect=IO_ERROR)
        self.assertRegex(message, r"68719476736 records of 100 bytes; the file system has \d+ bytes free")

    def test_a_repair_writes_no_more_than_it_recovers(self):
        name = self.claim()
        for side in (".first", ".dir"):
            (self.folder / (name + side)).unlink()
        before = self.bytes_in_folder()

        self.thalweg("repair", name)

        self.assertLess(self.bytes_in_folder(), before + (1 << 20))
        self.limited("verify", name, expect=FINE)

    def test_a_meta_alone_may_claim_any_shape(self):
        """2 KiB that describe 2^40 streams and nothing else."""
        self.craft_vpfile("2", "all 0")
        name = "crafted.vp"
        meta = bytearray((self.folder / (name + ".meta")).read_bytes())
        for slot in hostile.meta_slots(meta):
            struct.pack_into("<Q", meta, slot + 56, hostile.MANY)
            hostile.seal_meta(meta, slot)
        (self.folder / (name + ".meta")).write_bytes(meta)

        for words in (["info", "--tasks", name], ["verify", name], ["map", name, "out.svg"], ["cat", "--vp", "7", name],
                      ["extract", name, "-C", "out"], ["repair", name], ["vp-flatten", name, "flat"]):
            with self.subTest(words):
                self.limited(*words)
        self.assertLess(len(self.tree("out")), 2000)


class Json(CliTest):
    """--json prints one object, whatever fails."""

    def setUp(self):
        super().setUp()
        self.names = [b"name%d" % i for i in range(300)]  # several pages of entries
        self.craft([(FILE, name, b"x") for name in self.names], "physical_files=1")
        self.path = self.folder / "crafted.tw"
        self.index = self.path.read_bytes().rindex(b"TWINDEX1")

    def damage(self, offset):
        content = bytearray(self.path.read_bytes())
        content[offset] ^= 1
        self.path.write_bytes(content)

    def test_ls_goes_on_behind_entries_that_cannot_be_read(self):
        self.damage(self.index + 2 * 4096 + 100)  # the second page of entries

        listed = self.json("ls", "crafted.tw", expect=DAMAGED)

        bad = [e for e in listed["entries"] if "error" in e]
        self.assertEqual([(e["rank"], e["last_rank"], e["error"]["status"]) for e in bad], [(102, 203, "TW_ERR_CORRUPT")])
        self.assertEqual([e["name"].encode() for e in listed["entries"] if "error" not in e], self.names[:102] + self.names[204:])
        self.assertNotIn("error", listed)
        lines, message = self.thalweg("ls", "crafted.tw", expect=DAMAGED)
        self.assertEqual(len(lines.splitlines()), 198)
        self.assertRegex(message, r"^thalweg: task 102-203: .*checksum")
        names, _ = self.thalweg("ls", "-0", "crafted.tw", expect=DAMAGED)
        self.assertEqual(names.split(b"\0")[:-1], self.names[:102] + self.names[204:])

    def test_ls_tells_single_entries_that_cannot_be_read(self):
        names_at = self.path.read_bytes().rindex(b"name0name1")
        self.damage(names_at + 1)  # the only page of names

        listed = self.json("ls", "crafted.tw", expect=DAMAGED)

        self.assertEqual([(e["rank"], e["error"]["status"]) for e in listed["entries"]], [(r, "TW_ERR_CORRUPT") for r in range(300)])
        _, message = self.thalweg("ls", "crafted.tw", expect=DAMAGED)
        self.assertEqual(len(message.splitlines()), 300)

    def test_a_physical_file_that_cannot_be_read_costs_its_own_entries_only(self):
        self.craft([(FILE, name, b"x") for name in self.names], "physical_files=3", out="parts.tw")
        part = self.folder / "parts.tw.000001"

        def a_directory():
            part.mkdir()

        def a_loop():
            part.symlink_to(part.name)

        for made in (a_directory, a_loop):
            with self.subTest(made.__name__):
                part.unlink(missing_ok=True)
                made()
                entries = self.json("ls", "parts.tw", expect=DAMAGED)["entries"]
                self.assertEqual([(e["rank"], e["last_rank"], e["error"]["status"]) for e in entries if "error" in e],
                                 [(100, 199, "TW_ERR_IO")])
                self.assertEqual([e["name"].encode() for e in entries if "error" not in e], self.names[:100] + self.names[200:])
                lines, message = self.thalweg("ls", "parts.tw", expect=DAMAGED)
                self.assertEqual(len(lines.splitlines()), 200)
                self.assertRegex(message, r"^thalweg: task 100-199: .*parts.tw.000001")
                info = self.json("info", "parts.tw", expect=DAMAGED)
                self.assertEqual((info["health"], info["sizes"]["unreadable"], info["sizes"]["total"]), ("damaged", 100, 200))
                self.thalweg("cat", "parts.tw", "name299")
                for command in (["ls", "parts.tw", "name29*"], ["cat", "parts.tw", "name29*"], ["extract", "parts.tw", "name29*", "-C", "some", "--force"]):
                    self.assertIn("there may be more of these names", self.thalweg(*command, expect=DAMAGED)[1])
                self.thalweg("cat", "parts.tw", "name150", expect=DAMAGED)
            part.rmdir() if part.is_dir() else part.unlink()

    def test_info_tells_the_rest(self):
        self.damage(self.index + 2 * 4096 + 100)

        info = self.json("info", "--tasks", "crafted.tw", expect=DAMAGED)

        self.assertEqual((info["health"], info["sizes"]["unreadable"], info["sizes"]["total"]), ("damaged", 102, 198))
        self.assertEqual(info["error"]["status"], "TW_ERR_CORRUPT")
        self.assertEqual(info["task_bytes"], [1] * 102 + [None] * 102 + [1] * 96)

    def test_what_is_no_multifile_is_an_object_too(self):
        self.write("text", b"no multifile at all")
        for command in ("ls", "info", "verify", "repair", "extract"):
            self.assertEqual(self.json(command, "text", expect=DAMAGED)["error"]["status"], "TW_ERR_CORRUPT")
        self.assertEqual(self.json("ls", "none", expect=IO_ERROR)["error"]["status"], "TW_ERR_NOT_FOUND")


class Busy(CliTest):
    """Makes a multifile of N logical files of a byte, closed and not, and stops commands that are busy with it."""

    N = 0
    # Seconds of its own CPU time between a signal and the end; the system's to free memory comes on top.
    LIMIT = 3 if UNDER_COVERAGE else 0.2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = pathlib.Path(os.environ.get("TMPDIR") or "/tmp") / f"many-{os.getpid()}-{cls.N}"
        cls.store.mkdir()
        lines = "".join("100644 %s 61\n" % (b"file%d" % i).hex() for i in range(cls.N))
        subprocess.run([hostile.CRAFT, "many.tw", "physical_files=1"], input=lines.encode(), check=True, cwd=cls.store, timeout=300)
        cls.many = str(cls.store / "many.tw")
        content = pathlib.Path(cls.many).read_bytes()
        index = content.rindex(b"TWINDEX1")
        cls.unclosed = str(cls.store / "unclosed.tw")  # without its closed state, and thus without its index
        with open(cls.unclosed, "wb") as file:
            file.write(content[:1024] + bytes(512) + content[1536:index])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.store)
        super().tearDownClass()

    @staticmethod
    def user_ticks(pid):
        """CPU time of a process in its own code."""
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11])

    @classmethod
    def ticks(cls, pid):
        """CPU time of a process."""
        return cls.user_ticks(pid) + int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[12])

    @staticmethod
    def transferred(pid, kind):
        """Bytes that a process has read (kind "rchar") or written ("wchar")."""
        lines = pathlib.Path(f"/proc/{pid}/io").read_text().split()
        return int(lines[lines.index(f"{kind}:") + 1])

    @staticmethod
    def handles(pid, number):
        """Whether a process has a handler for a signal."""
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().split()
        return int(lines[lines.index("SigCgt:") + 1], 16) >> (number - 1) & 1

    def stop_busy(self, words, number=signal.SIGINT, begun=None, stdout=subprocess.PIPE):
        """Sends the signal once the command handles it and then begun(pid) is true, by default after 3 ticks of CPU time; returns
        (stdout, stderr)."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        with subprocess.Popen([THALWEG, *words], cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE) as child:
            deadline = time.monotonic() + 100
            started = None
            begun = begun or (lambda pid: self.ticks(pid) >= started + 3)
            while started is None or not begun(child.pid):
                if started is None and self.handles(child.pid, number):
                    started = self.ticks(child.pid)
                self.assertIsNone(child.poll(), f"{words} ended before it was stopped")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.001)
            used = self.user_ticks(child.pid)
            child.send_signal(number)
            out, message = child.communicate(timeout=60)
            self.assertEqual(child.returncode, -number, words)
        self.assertIn(f"stopped by {signal.Signals(number).name}", message.decode())
        if not hostile.is_sanitized():
            spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before - used / os.sysconf("SC_CLK_TCK")
            self.assertLess(spent, self.LIMIT, f"{words} after {used} ticks")
        return out, message.decode()


class Millions(Busy):
    """What takes long with millions of logical files only."""

    N = 100_000 if hostile.is_sanitized() else 2_000_000

    def test_pieces_that_are_merged(self):
        last = [0, 0]  # bytes read, and ticks when they were

        def computes(pid):
            now = self.transferred(pid, "rchar")
            if now != last[0]:
                last[:] = now, self.ticks(pid)
            return now > 0.99 * os.path.getsize(self.unclosed) and self.ticks(pid) >= last[1] + 2

        self.stop_busy(["info", self.unclosed], signal.SIGTERM, computes)

    def test_writers_that_are_not_destroyed(self):
        def is_almost_copied(pid):
            return self.transferred(pid, "wchar") > 0.9 * os.path.getsize(self.unclosed)

        self.stop_busy(["defrag", self.many, "copy.tw"], signal.SIGTERM, is_almost_copied)
        self.assertEqual(os.listdir(self.folder), [])


class Many(Busy):
    """A busy command ends soon after a signal, reports its progress, and completes its JSON object; so does one without
    memory."""

    N = 100_000 if hostile.is_sanitized() else 400_000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.vps = str(cls.store / "many.vp")
        subprocess.run([hostile.CRAFT_VPFILE, cls.vps, str(2 * cls.N), "--few", "--hints", "block_bytes=16,superblock_bytes=65536"],
                       input="".join(f"one {vp} 40\n" for vp in range(cls.N)).encode(), check=True, timeout=300)

    def test_every_command_that_reads_many_entries(self):
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        shutil.copy(self.many, self.folder / "mine.tw")
        for i, words in enumerate((["info", self.many], ["map", self.many, "out.svg"], ["verify", self.many], ["repair", "mine.tw"],
                                   ["defrag", self.many, "copy.tw"], ["extract", self.many, "-C", "out"])):
            with self.subTest(words):
                _, message = self.stop_busy(words, numbers[i % 3])
                self.assertIn(f"{words[0]}: ", message)
                self.assertIn(" done", message)
                self.assertFalse((self.folder / "copy.tw").exists())
        self.thalweg("verify", "mine.tw")

    def test_a_gap_that_is_written_out(self):
        _, message = self.stop_busy(["cat", "--task", "0", hostile.store(hostile.far_gap(), self.folder)], stdout=subprocess.DEVNULL)
        self.assertRegex(message, r"cat: .*B done")

    def test_what_was_not_closed(self):
        shutil.copy(self.unclosed, self.folder / "mine.tw")
        for words in (["ls", self.unclosed], ["info", self.unclosed], ["cat", "--recover", "--task", "1", self.unclosed],
                      ["extract", "--recover", self.unclosed, "-C", "out"], ["verify", self.unclosed], ["repair", "mine.tw"]):
            with self.subTest(words):
                _, message = self.stop_busy(words)
                self.assertRegex(message, r": .*B of .*B done")
        self.thalweg("repair", "mine.tw")
        self.assertEqual(self.json("verify", "mine.tw")["logical_files"], self.N)

    def test_every_command_that_reads_many_streams(self):
        for side in ("", ".meta"):
            shutil.copy(self.vps + side, self.folder / ("mine.vp" + side))  # its side files are missing
        for words in (["info", self.vps], ["verify", self.vps], ["repair", "mine.vp"], ["extract", self.vps, "-C", "out"],
                      ["vp-flatten", self.vps, "flat"]):
            with self.subTest(words):
                _, message = self.stop_busy(words, signal.SIGTERM)
                self.assertIn(f"{words[0]}: ", message)
        self.assertFalse((self.folder / "flat").exists())
        self.thalweg("repair", "mine.vp")
        self.thalweg("verify", "mine.vp")

    def test_a_stopped_command_ends_its_object(self):
        for words in (["info", "--json", self.many], ["verify", "--json", self.many]):
            out, _ = self.stop_busy(words, signal.SIGTERM)
            found = json.loads(out)
            self.assertEqual((found["command"], found["exit_code"], found["error"]["status"]), (words[0], 128 + signal.SIGTERM, "TW_ERR_STOPPED"))

    def stop_writing(self, *words):
        """The reader takes a part; the command then blocks in a write until the signal comes. Returns the object and
        stderr."""
        with subprocess.Popen([THALWEG, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as child:
            begin = child.stdout.read(10_000)
            self.wait_until_asleep(child.pid)
            child.send_signal(signal.SIGINT)
            out, message = child.communicate(timeout=10)
        self.assertEqual(child.returncode, -signal.SIGINT)
        return json.loads(begin + out), message.decode()

    def test_a_list_that_is_stopped_is_an_object(self):
        found, message = self.stop_writing("ls", "--json", self.many)
        self.assertEqual((found["exit_code"], found["error"]["status"]), (128 + signal.SIGINT, "TW_ERR_STOPPED"))
        self.assertEqual([e["rank"] for e in found["entries"]], list(range(len(found["entries"]))))
        self.assertRegex(message, rf"stopped by SIGINT; ls: \d+ of {self.N} logical files done")

    def reads_of(self, *words):
        """The number of read calls that a command makes."""
        with subprocess.Popen([THALWEG, *words], stdout=subprocess.DEVNULL) as child:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            return self.transferred(child.pid, "syscr")

    def test_a_name_is_found_without_reading_all(self):
        number = self.N // 2
        plain = self.reads_of("cat", self.many, "--task", str(number))
        for words in (["cat", self.many], ["ls", self.many], ["extract", self.many, "-C", str(self.folder), "-j", "1"]):
            with self.subTest(words):
                self.assertLess(self.reads_of(*words, f"file{number}"), plain + 20)

    def held(self, words, n):
        """Takes n bytes of the output, waits until the command blocks in a write, and returns what it has read and its peak
        memory until then, what it reads in all, and the length of its output."""
        with subprocess.Popen([THALWEG, *words], stdout=subprocess.PIPE, bufsize=0) as child:
            taken = 0
            while taken < n:
                taken += len(child.stdout.read(min(n - taken, 1 << 20)))
            self.wait_until_asleep(child.pid)
            read = self.transferred(child.pid, "rchar")
            lines = pathlib.Path(f"/proc/{child.pid}/status").read_text().split()
            peak = int(lines[lines.index("VmHWM:") + 1])
            taken += len(child.stdout.read())
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            return read, peak, self.transferred(child.pid, "rchar"), taken

    def test_names_are_listed_while_they_are_read(self):
        read, _, in_all, length = self.held(["ls", self.many, "file*"], 1000)
        self.assertLess(read, in_all / 10)
        _, peak, _, _ = self.held(["ls", self.many, "file*"], length - 200_000)
        _, plain, _, _ = self.held(["ls", self.many], length - 200_000)
        if not hostile.is_sanitized():
            self.assertLess(peak, plain + 1024)

    def test_an_object_that_is_complete_gets_no_other_behind_it(self):
        found, message = self.stop_writing("info", "--json", "--tasks", self.many)
        self.assertEqual(found["task_bytes"], [1] * self.N)
        self.assertIn("stopped by SIGINT", message)

    def test_memory_that_cannot_be_had_is_told_in_the_object(self):
        if hostile.is_sanitized():
            self.skipTest("a sanitizer needs all of the address space")

        def limited(kib, *words):
            return subprocess.run(["sh", "-c", f'ulimit -v {kib}; exec "$0" "$@"', THALWEG, *words], cwd=self.folder,
                                  capture_output=True, timeout=60)

        enough_to_start = next(kib for kib in range(4 << 10, 1 << 20, 1 << 10) if limited(kib, "--version").returncode == FINE)
        told = 0
        kib = enough_to_start
        while (done := limited(kib, "info", "--json", "--tasks", self.many)).returncode != FINE:
            kib += kib // 2 if UNDER_COVERAGE else 1 << 10
            told += 1
            found = json.loads(done.stdout)
            self.assertEqual((found["command"], found["exit_code"], found["error"]["status"]), ("info", IO_ERROR, "TW_ERR_NO_MEMORY"))
            self.assertEqual(done.returncode, IO_ERROR)
        self.assertGreater(told, 0)

    def wait_until_asleep(self, pid):
        deadline = time.monotonic() + 60
        asleep = 0
        while asleep < 5:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            asleep = asleep + 1 if state == "S" else 0
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


if __name__ == "__main__":
    main()
