#!/usr/bin/env python3
"""Errors are reported and end the launch without a hang: wrong options, folders, a full disk, a killed rank."""

import os
import pathlib
import signal
import subprocess
import time

from probe_support import PROGRAM, TIMEOUT, ProbeTest, built, cell, content, main

WRONG_OPTIONS = 2
ONE = ("--cell", cell((8, 8)))

# One method of each library, and those with their own error paths.
FULL_DISK = {"gather", "file-per-task", "mpiio-global-0", "mpiio-global-3", "mpiio-nonblocking", "hdf5-contiguous-collective",
             "hdf5-chunked-independent", "pnetcdf", "tw-multifile", "tw-collective", "tw-nonblocking", "tw-vpfile"}
# Open MPI 4.1 dereferences a null pointer where the request of a file failed (ompi_errhandler_request_invoke).
CRASHES = "mpiio-nonblocking" if os.environ["TW_MPI_KIND"] == "openmpi" else None


class Options(ProbeTest):
    def refused(self, *words, ranks=2):
        launch = self.launch(ranks, *words)
        self.assertEqual(launch.code, WRONG_OPTIONS, f"{words}: {launch.err}")
        self.assertEqual(launch.lines, [], "records of a launch that did not begin")
        said = [line for line in launch.err.splitlines() if line.startswith("thalweg-probe: ")]
        self.assertEqual(len(said), 1, launch.err)
        return said[0]

    def test_wrong_options_are_named_once_and_end_all_ranks(self):
        here = ("--dir", self.folder)
        self.assertIn("--frobnicate", self.refused(*here, *ONE, "--frobnicate"))
        self.assertIn("magic not in {gather,", self.refused(*here, *ONE, "--methods", "gather,magic"))
        self.assertIn("for 3 ranks", self.refused(*here, "--cell", cell((8, 8), (3, 1))))
        self.assertIn("--cell", self.refused(*here))

    # --describe checks all options and starts no ranks.
    def test_wrong_cells(self):
        for wrong in ('{"shape": "8x8"}', cell((0, 8)), cell((8, 8, 8, 8)), cell((-1,)), cell(()), '{"grid": [1, 1]}', cell((8, 8), (1,)),
                      cell((8,), (0,)), '{"shape": [8], "order": 7}', cell((9999999999, 9999999999)), cell((8,), ragged=True),
                      cell((8, 8), (1, 2), ragged=True), cell((8, 8), order="f", ragged=True), cell((8, 8), ragged=2), "", "[]"):
            with self.subTest(cell=wrong):
                done = subprocess.run([PROGRAM, "--describe", "--cell", wrong], capture_output=True, text=True, timeout=TIMEOUT)
                self.assertEqual(done.returncode, WRONG_OPTIONS, done.stderr)
                self.assertIn("--cell", done.stderr)
                if '"ragged": true' in wrong:
                    self.assertIn("a ragged array has rows and their mean length, order c, and a grid such as [4, 1]", done.stderr)


class Failures(ProbeTest):
    def failed(self, launch):
        self.assertNotEqual(launch.code, 0)
        self.assertGreater(len(launch.failure), 0, launch.err)
        self.assert_well_formed_failures(launch)
        self.assertEqual(launch.end, [], "a failed launch is not complete")
        return launch.failure[0]

    def assert_well_formed_failures(self, launch):
        for failure in launch.failure:
            self.assertEqual(set(failure) - {"kind"}, {"method", "cell", "phase", "message", "rank"})

    # Permissions do not matter to root, so the folder is one in which no file can be created.
    def test_folders_that_nobody_can_write_to(self):
        for folder in ("/proc", str(self.folder / "nowhere")):
            failure = self.failed(self.launch(2, "--dir", folder, *ONE))

            self.assertIn(f"'{folder}'", failure["message"])
            self.assertIsNone(failure["method"])

    def test_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        before = self.small_disk(disk)
        for id in sorted(FULL_DISK & set(built())):
            with self.subTest(method=id):
                launch = self.launch(2, "--dir", disk, "--methods", id, "--repeat", "1", "--phases", "write,read", "--cell",
                                     cell((1024, 1024)), before=before)
                if id == CRASHES:
                    self.assertNotEqual(launch.code, 0)
                    continue
                failure = self.failed(launch)
                self.assertEqual(failure["method"], id)
                self.assertEqual(failure["cell"]["shape"], [1024, 1024])

    # Makes a program see a 2 MiB file system at the folder.
    def small_disk(self, folder):
        mount = f'mount -t tmpfs -o size=2m none {folder} && exec "$@"'
        for how in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
            before = [*how, "sh", "-c", mount, "sh"]
            try:
                if subprocess.run([*before, "true"], capture_output=True, timeout=TIMEOUT).returncode == 0:
                    return before
            except FileNotFoundError:
                break
        self.skipTest("no file system may be mounted here")

    def test_a_killed_rank(self):
        process = self.start(3, "--dir", self.folder, "--repeat", "1000000", "--methods", "mpiio-global-3,tw-collective,gather",
                             "--cell", cell((300, 200), (3, 1)))
        self.wait_for(lambda: '"time"' in content(process.out), "something is measured")
        ranks = self.ranks()
        self.assertEqual(len(ranks), 3)

        os.kill(ranks[-1], signal.SIGKILL)

        launch = self.finish(process)
        self.assertNotEqual(launch.code, 0)
        self.assertEqual(launch.end, [])
        # Reported by the launcher, on standard output or error.
        self.assertRegex(launch.out + launch.err, "(?i)killed|signal 9|BAD TERMINATION")
        self.wait_for(lambda: not self.ranks(), "the other ranks end")

    # Ranks of this test, recognised by their folder.
    def ranks(self):
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.path.samefile(process / "exe", PROGRAM) and str(self.folder).encode() in (process / "cmdline").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue
        return sorted(found)

    def wait_for(self, is_so, what):
        for _ in range(600):
            if is_so():
                return
            time.sleep(0.05)
        self.fail(f"30 seconds were not enough until {what}")


if __name__ == "__main__":
    main()
