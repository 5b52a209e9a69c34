#!/usr/bin/env python3
"""thalweg tune: its output, the saved profile, and the library's use of the profile. Times are not checked."""

import json
import os
import re
import resource
import signal
import subprocess
import time

from cli_support import FINE, IO_ERROR, PROBE, THALWEG, USAGE, CliTest, main, measures

COSTS = ["call_ns", "piece_ns", "read_byte_ns", "write_byte_ns", "staged_read_byte_ns", "staged_write_byte_ns", "copy_byte_ns",
         "copy_piece_ns", "parallel_reads", "parallel_writes"]


# A program whose ranks tell messages, and two-phase I/O of 1 ns per byte and 200 ns per piece of two ranks, divided by the
# working cores.
FAKE = """#!/usr/bin/env python3
import json, os, sys

words = sys.argv[1:]
ranks = int(os.environ.get("RANKS", "1"))


def say(**record):
    print(json.dumps(record), flush=True)


if "--describe" in words:
    print(DESCRIPTION)
    sys.exit()
if "--storage" in words:
    os.execv(PROBE, [PROBE, *words])
if "--network" in words:
    say(kind="network", ranks=ranks, nodes=1, barrier_seconds=1e-6, latency_seconds=1e-6, bytes_per_second=1e9)
    sys.exit()


def option(name):
    return words[words.index(name) + 1]


cells = [json.loads(word) for before, word in zip(words, words[1:]) if before == "--cell"]
workers = min(ranks, os.cpu_count())
for number, method in enumerate(option("--methods").split(","), 1):
    say(kind="method", id=method, number=number, title=method, built=True, outcome="array", collective=True, nonblocking=False, needs="")
    for cell in cells:
        size = 4 * cell["shape"][0] * cell["shape"][1]
        pieces = cell["shape"][0] * cell["grid"][1]
        seconds = 40e-6 + (size + 200 * pieces * (size > 100000)) * 1e-9 / workers
        parts = dict(open=0, transfer=seconds, close=0)
        say(kind="begin", method=method, cell=cell, repetition=0)
        say(kind="facts", method=method, cell=cell, memory_bytes=0, plan="aggregate, 2 workers")
        for repetition in range(1, int(option("--repeat")) + 1):
            for phase in option("--phases").split(","):
                say(kind="time", method=method, cell=cell, repetition=repetition, phase=phase, seconds=seconds, parts=parts,
                    bytes=size, cache="warm", readers=ranks)
say(kind="end", complete=True, seconds=1)
"""


class Tune(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {k: v for k, v in os.environ.items() if k != "THALWEG_PROFILE"}
        self.environment["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.environment["THALWEG_PROBE"] = str(self.folder / "none")  # unless a test sets it
        self.profile = self.folder / "config/thalweg/storage.json"
        (self.folder / "data").mkdir()

    def tune(self, *words, expect=FINE, **environment):
        return self.thalweg("tune", *words, expect=expect, env=self.environment | environment)

    def tune_json(self, *words, expect=FINE):
        return self.json("tune", *words, expect=expect, env=self.environment)

    def small(self, *words, expect=FINE):
        return self.tune_json("data", "--size", "1MiB", "--repetitions", "2", *words, expect=expect)

    def assert_no_scratch_file(self):
        self.assertEqual(os.listdir(self.folder / "data"), [])

    def identity(self):
        return self.tune_json("data", "--show")["write"].split("'")[1]

    def keep(self, text):
        self.profile.parent.mkdir(parents=True, exist_ok=True)
        self.profile.write_text(text)

    def keep_entry(self, **members):
        self.keep(json.dumps({"version": 1, "file_systems": [{"id": self.identity()} | members]}))

    def way(self, *words):
        text = self.tune_json("data", "--show", *words)["write"]
        return next(line for line in text.splitlines() if line.startswith("way: "))

    def test_keeps_what_it_measured(self):
        result = self.small()

        self.assert_no_scratch_file()
        kept = json.loads(self.profile.read_text())
        self.assertEqual(kept, {"version": 1, "file_systems": [result["entry"]]})
        entry = result["entry"]
        self.assertEqual(entry["id"], self.identity())
        self.assertTrue(entry["id"].startswith(entry["kind"] + "-"))
        self.assertEqual(sorted(entry["buffered"]), sorted(COSTS))
        for cost in entry["buffered"].values():
            self.assertGreaterEqual(cost, 0)
        self.assertTrue(result["stored"])
        for speed in result["measured"]:
            self.assertGreater(speed["mib_per_s"]["median"], 0)
            self.assertLessEqual(speed["mib_per_s"]["least"], speed["mib_per_s"]["most"])
        self.check_files(result)
        self.assertEqual(os.listdir(self.profile.parent), ["storage.json"])

    def test_direct_io_is_allowed_only_where_every_contest_was_won(self):
        result = self.small()

        for direction, allowed in (("write", result["entry"]["direct_writes"]), ("read", result["entry"]["direct_reads"])):
            self.assertEqual(allowed, result["direct_gains"].get(direction, 0) > 1.05, result["direct_gains"])

    def test_the_library_believes_what_was_kept(self):
        self.small()

        self.assertIn("', profile of 20", self.tune_json("data", "--show")["read"])

    def test_quick_measures_with_64_mebibytes_and_prints_tables(self):
        out = self.tune("data", "--quick", "--repetitions", "1")[0].decode()

        self.assertIn("64.0 MiB", out)
        self.assertEqual(self.small("--quick", "--no-methods")["bytes"], 2**20)
        for part in ("write, overwriting, 1 thread, system calls", "to 1 file\n", "create_ns: ", "direct_writes: ", "written to '"):
            self.assertIn(part, out)

    def test_dry_run_changes_nothing(self):
        self.assertFalse(self.small("--dry-run")["stored"])

        self.assert_no_scratch_file()
        self.leftovers("data")

    def test_quiet_says_nothing(self):
        self.assertEqual(self.tune("data", "--size", "1MiB", "--repetitions", "1", "--quiet"), (b"", ""))

    def test_entries_of_other_file_systems_stay(self):
        other = {"id": "other", "news": [1, 2]}
        self.keep(json.dumps({"version": 1, "more": "x", "file_systems": [other, {"id": self.identity()}, "odd"]}))

        result = self.small()

        kept = json.loads(self.profile.read_text())
        self.assertEqual(kept, {"version": 1, "more": "x", "file_systems": [other, result["entry"], "odd"]})

    def test_what_is_no_profile_is_not_overwritten(self):
        for text in ("nonsense", "[]", '{"version": 2, "file_systems": []}', '{"version": 1}'):
            with self.subTest(text):
                self.keep(text)
                self.assertIn("is not a profile", self.small(expect=IO_ERROR)["error"]["message"])
                self.assertIn("is not a profile", self.tune("--show", expect=IO_ERROR)[1])
                self.assertEqual(self.profile.read_text(), text)

    def test_a_profile_behind_a_link_is_replaced_there(self):
        self.keep("")
        self.profile.rename(self.folder / "elsewhere.json")
        self.profile.symlink_to(self.folder / "elsewhere.json")

        self.small()

        self.assertTrue(self.profile.is_symlink())
        self.assertEqual(json.loads((self.folder / "elsewhere.json").read_text())["version"], 1)

    def test_wrong_folders_are_named(self):
        self.write("file")
        self.assertIn("missing", self.tune("missing", expect=IO_ERROR)[1])
        self.assertIn("is not a folder", self.tune("file", expect=IO_ERROR)[1])
        self.assertIn("missing", self.tune("--show", "missing", expect=IO_ERROR)[1])

    def test_wrong_usage(self):
        self.assertIn("the folder to measure is missing", self.tune(expect=USAGE)[1])
        self.tune("data", "--size", "0", expect=USAGE)
        self.tune("data", "--size", "-1", expect=USAGE)
        self.tune("data", "--repetitions", "0", expect=USAGE)
        self.tune("--show", "data", "--tasks", "2000000", expect=USAGE)
        self.tune("--show", "data", "--extents", "9", "--length", "2", "--stride", "1", expect=USAGE)
        for off in ("none", ""):
            self.assertIn("turned off", self.tune("data", expect=USAGE, THALWEG_PROFILE=off)[1])

    def test_too_little_room_is_told_before_anything_is_done(self):
        message = self.tune("data", "--size", "1048576GiB", expect=IO_ERROR)[1]

        self.assertIn("of free space", message)
        self.leftovers("data")

    def test_a_folder_that_cannot_be_written_to(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        os.chmod(self.folder / "data", 0o500)
        self.assertIn("scratch folder", self.tune("data", "--size", "1MiB", expect=IO_ERROR)[1])
        os.chmod(self.folder / "data", 0o700)
        os.chmod(self.folder, 0o500)
        self.assertIn("config", self.tune("data", "--size", "1MiB", expect=IO_ERROR)[1])
        os.chmod(self.folder, 0o700)

    def test_a_file_where_the_folder_of_the_profile_should_be(self):
        self.write("config")

        self.assertIn("config", self.tune("data", "--size", "1MiB", expect=IO_ERROR)[1])
        self.assert_no_scratch_file()

    def test_a_write_that_fails_leaves_nothing(self):
        limit = (512 * 1024, 512 * 1024)
        message = self.thalweg("tune", "data", "--size", "1MiB", expect=IO_ERROR, env=self.environment,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))[1]

        self.assertIn("cannot write", message)
        self.assert_no_scratch_file()
        self.assertFalse(self.profile.exists())

    def test_interrupted_it_leaves_nothing(self):
        process = subprocess.Popen([THALWEG, "tune", "data", "--size", "1MiB", "--repetitions", "1000"], cwd=self.folder,
                                   env=self.environment, stderr=subprocess.PIPE)
        for _ in range(6000):
            if os.listdir(self.folder / "data") or process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)

        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assert_no_scratch_file()
        self.assertFalse(self.profile.exists())

    def check_files(self, result):
        """More files are chosen only where they are 20 % faster than the fewer ones chosen before."""
        best = chosen = 0
        for speed in result["measured"]:
            found = re.search(r" to (\d+) files?$", speed["what"])
            if found and speed["mib_per_s"]["median"] >= 1.2 * best:
                best, chosen = speed["mib_per_s"]["median"], int(found[1])
        self.assertEqual(result["entry"]["physical_files"], chosen)

    def test_without_the_program_of_ranks_it_says_so_and_keeps_the_rest(self):
        result = self.small()

        self.assertEqual(len(result["remarks"]), 1)
        self.assertIn("no measurements with ranks: '", result["remarks"][0])
        self.assertGreater(result["entry"]["create_ns"], 0)
        self.assertEqual(self.small("--no-methods")["remarks"], [])

    def fake_ranks(self):
        """A substitute for thalweg-probe, and an mpiexec that starts it once."""
        methods = [{"id": method, "built": method != "pnetcdf"} for method in ("gather", "file-per-task", "tw-collective", "pnetcdf")]
        description = json.dumps({"mpi": "Fake 1", "kind": "mpich", "mpiexec": str(self.folder / "mpiexec"), "methods": methods})
        program = FAKE.replace("DESCRIPTION", repr(description)).replace("PROBE", repr(str(PROBE)))
        self.write("program", program.encode(), 0o755)
        self.write("mpiexec", b'#!/bin/sh\nRANKS=$2; export RANKS; shift 2; exec "$@"\n', 0o755)
        self.environment["THALWEG_PROBE"] = str(self.folder / "program")

    def test_what_ranks_tell_becomes_part_of_the_entry(self):
        self.fake_ranks()
        result = self.small("--quick")

        entry = result["entry"]
        self.assertEqual(result["remarks"], [])
        self.assertEqual(entry["buffered"]["message_ns"], 3000)
        self.assertEqual(entry["buffered"]["round_ns"], 20000)
        self.assertAlmostEqual(entry["buffered"]["exchange_piece_ns"] + entry["buffered"]["copy_piece_ns"], 200, places=2)
        self.assertEqual(entry["network"][0]["ranks"], 2)
        self.assertGreaterEqual(result["fit_error"], 0)
        records = [json.loads(line) for line in (self.profile.parent / "methods.jsonl").read_text().splitlines()]
        self.assertEqual(records[0]["storage"]["identity"], self.identity())
        self.assertEqual({r["method"] for r in records if r["kind"] == "time"}, {"gather", "file-per-task", "tw-collective"})
        self.assert_no_scratch_file()
        self.assertIn("', profile of 20", self.tune_json("data", "--show")["read"])

    def test_without_python_it_says_what_to_install_and_keeps_the_rest(self):
        self.fake_ranks()
        self.write("python", b"#!/bin/sh\nexit 1\n", 0o755)
        self.environment["THALWEG_PYTHON"] = str(self.folder / "python")
        result = self.small("--quick")

        self.assertEqual(len(result["remarks"]), 1)
        self.assertIn("-m pip install numpy scipy", result["remarks"][0])
        self.assertGreater(result["entry"]["create_ns"], 0)
        for command in ("methods", "advise"):
            self.assertIn("-m pip install numpy scipy", self.thalweg(command, "--quick", expect=IO_ERROR, env=self.environment)[1])

    OF_RANKS = ("message_ns", "round_ns", "exchange_byte_ns", "exchange_piece_ns")

    def test_what_ranks_found_before_stays_where_nothing_new_was_found(self):
        self.fake_ranks()
        before = self.small("--quick")["entry"]
        self.environment["THALWEG_PROBE"] = str(self.folder / "none")

        for words in (("--no-methods",), ()):
            with self.subTest(words):
                result = self.small(*words)

                after = result["entry"]
                self.assertEqual(after["network"], before["network"])
                for name in self.OF_RANKS:
                    self.assertEqual(after["buffered"][name], before["buffered"][name])
                self.assertIn("kept from the previous profile", result["remarks"][-1])
                self.assertIn("', profile of 20", self.tune_json("data", "--show")["read"])

    def test_costs_between_ranks_that_make_no_sense_are_not_kept(self):
        self.keep_entry(buffered={"message_ns": "x", "round_ns": -1, "exchange_byte_ns": 1e300}, network=None)

        result = self.small("--no-methods")

        self.assertEqual(result["remarks"], [])
        self.assertEqual(sorted(result["entry"]["buffered"]), sorted(COSTS))

    def test_time_for_the_storage_that_is_used_up_leaves_fewer_repetitions(self):
        result = self.tune_json("data", "--size", "1MiB", "--repetitions", "5", "--no-methods", "--seconds", "0.001")

        self.assertEqual(len(result["remarks"]), 1)
        self.assertIn("fewer repetitions, at least 3", result["remarks"][0])
        self.assertEqual(self.small("--no-methods", "--seconds", "0.001")["remarks"], [])  # two repetitions are the minimum anyway

    def test_real_ranks(self):
        """A complete run at the smallest size, with the program of this build."""
        if not measures():
            self.skipTest("built without MPI")
        del self.environment["THALWEG_PROBE"]
        result = self.tune_json("data", "--quick", "--size", "1MiB", "--repetitions", "1", "--seconds", "24")

        self.assertEqual([remark for remark in result["remarks"] if "was reached" not in remark], [])
        entry = result["entry"]
        self.assertGreater(entry["network"][0]["latency_seconds"], 0)
        for name in self.OF_RANKS[:3]:
            self.assertGreater(entry["buffered"][name], 0)
        self.assertGreater(result["fit_error"], 0)
        self.assert_no_scratch_file()
        told = self.json("advise", "--ranks", "2", "--bytes", "1MiB", "--dir", "data", env=self.environment)
        self.assertTrue(told["measured"])
        self.assertIn("tw-collective", [choice["method"] for choice in told["choices"]])
        self.assertIn("', profile of 20", self.tune_json("data", "--show")["read"])

    def test_show_without_a_profile(self):
        out = self.tune("--show", "data")[0].decode()

        self.assertIn("no measurements", out)
        self.assertIn("; defaults\n", out)
        self.assertEqual(self.tune_json("--show")["file_systems"], [])
        self.leftovers("data")

    def test_every_size_has_the_units_of_hints(self):
        def shown(unit, factor):
            words = ("data", "--show", "--extents", "9", "--length")
            told = self.tune_json(*words, f"16{unit}", "--stride", f"64{unit}")["write"]
            self.assertEqual(told, self.tune_json(*words, str(16 * factor), "--stride", str(64 * factor))["write"], unit)

        for unit, factor in (("KB", 1000), ("KiB", 1024), ("K", 1024), ("kb", 1000), ("MB", 10**6), ("MiB", 2**20)):
            shown(unit, factor)
        self.tune("data", "--size", "1MB", expect=USAGE)  # at least 1 MiB

    def test_show_explains_the_access_that_is_asked_for(self):
        words = ("data", "--show", "--tasks", "4", "--extents", "100", "--length", "1KiB")
        both = self.tune_json(*words, "--stride", "4KiB")

        self.assertIn("write: interleaved: 4 tasks, 400 runs of 1.0 KiB", both["write"])
        self.assertIn("read: interleaved: 4 tasks, 400 runs of 1.0 KiB", both["read"])
        self.assertIn("contiguous", self.tune_json(*words)["write"])

    def test_a_profile_decides_what_is_done(self):
        self.assertEqual(self.way("--length", "1GiB"), "way: through the page cache")
        cheap = {"call_ns": 10000, "write_byte_ns": 0.01, "staged_write_byte_ns": 0.01}
        self.keep_entry(direct_writes=True, queue_depth=5, transfer_bytes=131073, direct=cheap)

        way = self.way("--length", "1GiB")
        if way != "way: through the page cache: this file system has no direct I/O":
            self.assertEqual(way, "way: past the page cache, 5 transfers of 128 KiB in flight per worker")
            self.assertIn("would be slower for this access", self.way("--length", "4KiB"))
        self.assertIn("way: through the page cache\n", self.tune_json("data", "--show")["read"])

    def test_a_profile_raises_the_number_of_physical_files(self):
        names = [f"{i}" for i in range(8)]
        for name in names:
            self.write(name, os.urandom(1 << 20))
        for measured, planned in ((1, 4), (6, 6)):
            self.keep_entry(physical_files=measured)
            self.thalweg("pack", "-f", "-j", "8", "--hint", "physical_files=auto", "data/t.tw", *names, env=self.environment)
            info = self.json("info", "data/t.tw")
            self.assertEqual(info["planned_files"], planned)
            self.assertEqual("6 per node as `thalweg tune` measured on" in info["strategy"], planned == 6)
            self.thalweg("verify", "data/t.tw")

    def test_a_profile_makes_multifiles_be_written_past_the_page_cache(self):
        content = os.urandom(3_000_001)
        self.write("f", content)
        as_measured = "; direct writes of 128 KiB, 5 in flight (measured by `thalweg tune`); "
        for direct_ns, hints in ((0.1, []), (0.1, ["--hint", "io=buffered"]), (0.9, [])):
            self.keep_entry(direct_writes=True, queue_depth=5, transfer_bytes=128 << 10, buffered={"write_byte_ns": 0.5},
                            direct={"write_byte_ns": direct_ns})
            possible = self.way("--length", "1GiB") != "way: through the page cache: this file system has no direct I/O"
            self.thalweg("pack", "-f", *hints, "data/t.tw", "f", env=self.environment)
            strategy = self.json("info", "data/t.tw")["strategy"]
            cheaper = direct_ns < 0.5 and not hints
            self.assertEqual(as_measured in strategy, possible and cheaper, strategy)
            self.assertEqual("; buffered writes" in strategy, not (possible and cheaper), strategy)
            self.assertEqual(self.thalweg("cat", "data/t.tw", "f")[0], content)

    def test_physical_files_behind_missing_ones_are_moved_and_replaced(self):
        """Which of the up to six physical files are made depends on the tasks whose data do not fit into the first one."""
        names = [f"{i}" for i in range(8)]
        self.keep_entry(physical_files=6)
        for large in (["0", "1"], ["0", "5", "6"], ["6", "7"]):
            for name in names:
                self.write(name, os.urandom(8 << 20 if name in large else 10))
            self.thalweg("pack", "-f", "-j", "8", "--hint", "physical_files=auto", "data/t.tw", *names, env=self.environment)
            files = self.json("info", "data/t.tw")["physical_files"]
            self.assertEqual(len(os.listdir(self.folder / "data")), files)
            self.thalweg("verify", "data/t.tw")
            for name in names:
                self.assertEqual(self.thalweg("cat", "data/t.tw", name)[0], (self.folder / name).read_bytes())

    def test_a_profile_that_is_wrong_changes_nothing(self):
        self.keep_entry(direct_writes=True, queue_depth=0)

        self.assertEqual(self.way("--length", "1GiB"), "way: through the page cache")
        self.assertIn("; defaults\n", self.tune_json("data", "--show")["read"])

    def test_the_environment_names_another_profile(self):
        self.keep_entry(direct_writes=True)
        other = str(self.folder / "other.json")

        shown = json.loads(self.tune("data", "--show", "--json", THALWEG_PROFILE=other)[0])

        self.assertEqual((shown["profile"], shown["file_systems"]), (other, []))


if __name__ == "__main__":
    main()
