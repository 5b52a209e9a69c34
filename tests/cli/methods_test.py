#!/usr/bin/env python3
"""thalweg methods: what it measures, prints and writes, with the real program under the real mpiexec. Times are not
checked."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cli_support import FINE, IO_ERROR, PROBE, THALWEG, UNSAFE, USAGE, CliTest, main, measures

FEW = "gather,file-per-task,mpiio-global-0,tw-multifile,tw-collective"
SMALL = ["--ranks", "2", "--size", "40", "--order", "c", "--repeat", "1", "--methods", FEW]


def ranks_in(folder):
    """Processes of thalweg-probe started in a folder, without mpiexec and its helpers."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name = os.path.basename((entry / "cmdline").read_bytes().split(b"\0")[0])
            where = os.readlink(entry / "cwd")
        except OSError:
            continue
        if name == b"thalweg-probe" and where == os.path.realpath(folder):
            found.append(int(entry.name))
    return found


@unittest.skipUnless(measures(), "built without MPI")
class Methods(CliTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "data"
        self.data.mkdir()

    def methods(self, *words, expect=FINE, **options):
        return self.thalweg("methods", *words, expect=expect, **options)

    def records(self, *words, expect=FINE):
        out, message = self.methods("--json", "--dir", "data", *words, expect=expect)
        return [json.loads(line) for line in out.splitlines()], message

    def assert_clean(self):
        self.assertEqual(os.listdir(self.data), [])

    def start(self, *words):
        return subprocess.Popen([THALWEG, "methods", "--dir", "data", *words], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for_ranks(self, process, n, made="*/*/*/*/*"):
        """Waits until the ranks have created their files in the folder; returns the ranks."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit and process.poll() is None:
            ranks = ranks_in(self.folder)
            if len(ranks) >= n and any(self.data.glob(made)):
                return ranks
            time.sleep(0.01)
        process.kill()
        self.fail(f"no ranks: {process.communicate()[1]}")

    def assert_no_ranks(self):
        limit = time.monotonic() + 30
        while ranks_in(self.folder):
            self.assertLess(time.monotonic(), limit, "ranks are left")
            time.sleep(0.05)

    def test_measures_each_method_in_each_cell(self):
        records, _ = self.records(*SMALL)

        self.assert_clean()
        self.assertEqual(records[0]["kind"], "run")
        self.assertEqual(records[-1] | {"seconds": 0}, {"kind": "end", "complete": True, "seconds": 0})
        self.assertEqual({r["ranks"] for r in records if r["kind"] == "launch"}, {1, 2})
        if len(os.sched_getaffinity(0)) >= 2:  # each rank has a core, even when bound to it
            self.assertFalse([r for r in records if r["kind"] == "launch" and r["yields"]])
        self.assertEqual(records[0]["scaling"], "strong and weak")
        cells = {json.dumps(r["cell"]) for r in records if r["kind"] == "result"}
        for method in FEW.split(","):
            for phase in ("write", "read", "serial"):
                found = [json.dumps(r["cell"]) for r in records if r["kind"] == "result" and (r["method"], r["phase"]) == (method, phase)]
                self.assertEqual((sorted(found), len(set(found))), (sorted(cells), len(found)), (method, phase))
        self.assertFalse([r for r in records if r["kind"] == "failure"])

    def test_a_table_for_people(self):
        out, _ = self.methods("--dir", "data", *SMALL)

        text = out.decode()
        for word in ("gather", "tw-collective", "write, MiB/s", "read, MiB/s", "restart, MiB/s"):
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_a_page_can_be_made_again_of_the_records(self):
        self.methods("--dir", "data", *SMALL, "--save", "run.jsonl", "--html", "a.html")
        self.methods("--from", "run.jsonl", "--html", "b.html")

        page = (self.folder / "a.html").read_text()
        self.assertEqual(page, (self.folder / "b.html").read_text())
        self.assertIn("Thalweg collective", page)
        self.methods("--from", "run.jsonl", "--html", "a.html", "--save", "run2.jsonl")  # a page of its own may be replaced
        self.assertEqual((self.folder / "run.jsonl").read_text(), (self.folder / "run2.jsonl").read_text())

    def test_what_is_there_stays(self):
        self.methods("--dir", "data", *SMALL, "--save", "run.jsonl")
        (self.folder / "mine.html").write_text("mine")

        self.methods("--from", "run.jsonl", "--html", "mine.html", expect=UNSAFE)
        self.methods("--from", "run.jsonl", "--save", "run.jsonl", expect=UNSAFE)
        self.assertEqual((self.folder / "mine.html").read_text(), "mine")

    def test_a_grid_is_one_number_of_ranks(self):
        records, _ = self.records("--grid", "1x3", "--size", "5x2", "--order", "f", "--repeat", "1", "--methods", "gather,tw-vpfile")

        self.assertEqual([r["ranks"] for r in records if r["kind"] == "launch"], [3])
        self.assertEqual(records[0]["scaling"], "none")
        cells = [r["cell"] for r in records if r["kind"] == "result"]
        self.assertTrue(cells and all(c == {"ranks": 3, "grid": [1, 3], "shape": [5, 2], "order": "f", "cache": "warm"} for c in cells))

    def test_wrong_words_are_refused_before_anything_is_started(self):
        for words, part in ((["--methods", "gahter"], "did you mean 'gather'"), (["--phases", "writ"], "did you mean 'write'"),
                            (["--grid", "2x2", "--ranks", "3"], "4 parts, for 3 ranks"), (["--ranks", "0"], "'0' is not a number"),
                            (["--ranks", "two"], "'two' is not a number"), (["--size", "3x"], "'' is not a number"),
                            (["--size", "2x2x2x2"], "two dimensions"), (["--size", "1099511627776x1099511627776"], "too large"),
                            (["--grid", "2x2", "--ranks", "1,2"], "--grid needs a single number"),
                            (["--grid", "2x3x1", "--size", "64"], "--size 256x256x256"),
                            (["--ranks", "16,64", "--size", "1073741824", "--weak"], "too large an array"), (["--order", "z"], "--order")):
            with self.subTest(words=words):
                _, message = self.methods("--dir", "data", *words, expect=USAGE)
                self.assertIn(part, message)
        self.assert_clean()

    def test_a_folder_that_is_missing_or_no_folder(self):
        (self.folder / "file").write_text("")
        for name in ("missing", "file", "/proc"):
            with self.subTest(folder=name):
                _, message = self.methods("--dir", name, *SMALL, expect=IO_ERROR)
                self.assertIn(f"'{name}'", message)

    def test_too_little_room_is_seen_before(self):
        _, message = self.methods("--dir", "data", "--ranks", "2", "--size", "4000000", expect=IO_ERROR)
        self.assertRegex(message, "of free space, .* are needed|of memory are available")
        self.assertIn("--size", message)
        self.assert_clean()

    def test_no_program(self):
        _, message = self.methods("--dir", "data", *SMALL, "--program", "none", expect=IO_ERROR)
        self.assertIn("'none' is not an executable", message)
        _, message = self.methods("--dir", "data", *SMALL, "--program", "/bin/true", expect=IO_ERROR)
        self.assertIn("is it thalweg-probe", message)
        _, message = self.methods("--dir", "data", *SMALL, "--mpiexec", "no-such-mpiexec", expect=IO_ERROR)
        self.assertIn("--mpiexec", message)
        self.assert_clean()

    def broken_mpiexec(self, ranks, script):
        """An mpiexec that behaves differently for one number of ranks."""
        real = json.loads(subprocess.run([PROBE, "--describe"], capture_output=True, check=True).stdout)["mpiexec"]
        self.write("mpiexec", f'#!/bin/sh\nif [ "$2" = {ranks} ]; then\n{script}\nfi\nexec {real} "$@"\n'.encode(), 0o755)
        return ["--mpiexec", str(self.folder / "mpiexec")]

    def assert_one_rank_is_kept(self, *words):
        records, message = self.records(*SMALL, *words, expect=IO_ERROR)
        self.assertEqual({r["cell"]["ranks"] for r in records if r["kind"] == "result"}, {1})
        self.assertTrue(records[-1]["complete"])
        self.assertEqual(len([r for r in records if r["kind"] == "failure" and r["method"] is None]), 1, message)
        self.assert_clean()
        return message

    def test_a_launch_that_fails_costs_only_itself(self):
        message = self.assert_one_rank_is_kept(*self.broken_mpiexec(2, "echo no such host >&2; exit 3"))
        self.assertIn("2 ranks of", message)

        _, message = self.methods("--dir", "data", *SMALL, *self.broken_mpiexec(1, "echo no such host >&2; exit 3"), expect=IO_ERROR)
        self.assertIn("no such host", message)

    def test_a_line_that_was_cut_off_is_a_failure_of_its_method(self):
        begin = {"kind": "begin", "method": "gather", "repetition": 0,
                 "cell": {"ranks": 2, "grid": [2, 1], "shape": [40, 40], "order": "c", "cache": "warm"}}
        once = f"""[ -e ../cut ] || {{ touch ../cut; echo '{json.dumps(begin)}'; printf '{{"kind":"ti'; exit 9; }}"""
        records, message = self.records(*SMALL, *self.broken_mpiexec(2, once.replace("../cut", str(self.folder / "cut"))), expect=IO_ERROR)

        self.assertEqual([r["method"] for r in records if r["kind"] == "failure"], ["gather"], message)
        self.assertTrue({r["method"] for r in records if r["kind"] == "result" and r["cell"]["ranks"] == 2} >= {"tw-collective"})

    def test_caches_that_were_not_met_are_told(self):
        out, _ = self.methods("--dir", "data", *SMALL, "--cache", "drop", "--phases", "write,read")

        self.assertIn("actual cache of the times", out.decode())
        self.assertRegex(out.decode(), "write, cache sync: all methods")

    def test_names_of_files_that_cannot_be(self):
        for words, part in ((["--html", "-"], "--json"), (["--save", "-"], "--json"), (["--html", "a", "--save", "a"], "two names")):
            _, message = self.methods("--dir", "data", *SMALL, *words, expect=USAGE)
            self.assertIn(part, message)

    def test_records_that_are_damaged(self):
        (self.folder / "bad.jsonl").write_text('{"kind":"run"}\n{"kind":\n')
        _, message = self.methods("--from", "bad.jsonl", expect=1)
        self.assertIn("bad.jsonl", message)
        (self.folder / "deep.jsonl").write_text('{"kind":"run","storage":' + "[" * 200000 + "]" * 200000 + "}\n")
        _, message = self.methods("--from", "deep.jsonl", "--html", "a.html", expect=1)
        self.assertIn("too deep", message)
        (self.folder / "wrong.jsonl").write_text('{"kind":"run","version":"x","storage":{"identity":5}}\n')
        self.methods("--from", "wrong.jsonl", "--html", "a.html")

    def test_a_rank_that_is_killed_costs_its_method_only(self):
        process = self.start("--ranks", "2,", "--size", "1500", "--repeat", "20", "--json", "--methods", "gather,tw-collective,mpiio-global-3",
                             "--patience", "60")
        os.kill(self.wait_for_ranks(process, 2)[-1], signal.SIGKILL)
        out, message = process.communicate(timeout=120)

        self.assertEqual(process.returncode, IO_ERROR, message)
        records = [json.loads(line) for line in out.splitlines()]
        failed = [r["method"] for r in records if r["kind"] == "failure"]
        self.assertEqual(len(failed), 1, message)
        self.assertIn("signal 9 (Killed)", message)
        self.assertIn("failed and is skipped", message)
        self.assertTrue(records[-1]["complete"])
        measured = {r["method"] for r in records if r["kind"] == "result"}
        self.assertEqual(measured | set(failed), {"gather", "tw-collective", "mpiio-global-3"})
        self.assert_clean()
        self.assert_no_ranks()

    def test_ctrl_c_tells_what_was_finished_and_cleans_up(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.start("--ranks", "2,", "--size", "1500", "--repeat", "1000", "--save", "run.jsonl", "--methods", FEW)
                self.wait_for_ranks(process, 2, "*/*/2.*")  # the first repetition is complete
                process.send_signal(number)
                out, message = process.communicate(timeout=60)

                self.assertEqual(process.returncode, -number, message)
                records = [json.loads(line) for line in (self.folder / "run.jsonl").read_text().splitlines()]
                self.assertEqual((records[-1]["kind"], records[-1]["complete"]), ("end", False))
                self.assertLessEqual(set(FEW.split(",")), {r["method"] for r in records if r["kind"] == "result"})
                self.assertIn("tw-collective", out)
                self.assertIn("The run is incomplete", out)
                self.assert_clean()
                self.assert_no_ranks()

    def test_records_of_a_stopped_run_can_be_read_again(self):
        process = self.start("--ranks", "2,", "--size", "1500", "--repeat", "1000", "--json", "--methods", FEW)
        self.wait_for_ranks(process, 2, "*/*/2.*")  # the first repetition is complete
        process.send_signal(signal.SIGINT)
        out, message = process.communicate(timeout=60)

        self.assertEqual(process.returncode, -signal.SIGINT, message)
        records = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((records[-1]["kind"], records[-1]["complete"]), ("end", False))
        (self.folder / "run.jsonl").write_text(out)
        table, _ = self.methods("--from", "run.jsonl")
        self.assertIn("The run is incomplete", table.decode())

    def test_records_are_lines_whatever_fails(self):
        name = "n" * 250  # no room for the temporary name
        records, message = self.records(*SMALL, "--save", name, expect=IO_ERROR)
        self.assertEqual((records[-1]["kind"], records[-1]["complete"]), ("end", True))
        self.assertIn(f"'{name}'", message)
        failures, _ = self.records("--ranks", "0", expect=USAGE)
        self.assertEqual([(failure["command"], failure["exit_code"]) for failure in failures], [("methods", USAGE)])

    def test_a_killed_command_leaves_no_ranks(self):
        process = self.start("--ranks", "2,", "--size", "1500", "--repeat", "1000", "--methods", FEW)
        self.wait_for_ranks(process, 2)
        process.kill()
        process.communicate()

        self.assert_no_ranks()

    def test_the_quick_form_is_of_all_methods(self):
        records, _ = self.records("--quick", "--size", "20", "--size", "3x4x5", "--repeat", "1", "--ranks", "2,")

        described = json.loads(subprocess.run([PROBE, "--describe"], capture_output=True, check=True).stdout)
        told = {r["id"]: (r["built"], r["reason"]) for r in records if r["kind"] == "method"}
        self.assertEqual(told, {m["id"]: (m["built"], m["reason"]) for m in described["methods"]})
        measured = {r["method"] for r in records if r["kind"] == "result"}
        self.assertEqual(measured, {m["id"] for m in described["methods"] if m["built"]})
        self.assert_clean()


if __name__ == "__main__":
    if not measures():
        sys.exit(77)
    main()
