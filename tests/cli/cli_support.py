"""Shared by the tests of the thalweg command.

Environment: THALWEG, the command; TW_BIN, its folder (test programs are in ../tests). TMPDIR is optional.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

THALWEG = os.environ.get("THALWEG") or shutil.which("thalweg")
if THALWEG is None:
    sys.exit("set THALWEG to the thalweg command of a build, as build/release/bin/thalweg")
THALWEG = os.path.abspath(THALWEG)
PROBE = pathlib.Path(THALWEG).with_name("thalweg-probe")
PROGRAMS = pathlib.Path(os.environ.get("TW_BIN") or os.path.dirname(THALWEG)).resolve().parent / "tests"
CRAFT = PROGRAMS / "cli_craft_multifile"
CRAFT_VPFILE = PROGRAMS / "cli_craft_vpfile"

FINE, DAMAGED, USAGE, IO_ERROR, UNSAFE = range(5)


class CliTest(unittest.TestCase):
    """Each test runs in a fresh folder."""

    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cli-"))
        self.addCleanup(self.remove_folder)

    def remove_folder(self):
        for root, folders, _ in os.walk(self.folder):
            for name in folders:
                path = os.path.join(root, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(self.folder)

    def thalweg(self, *words, expect=FINE, stdin=b"", **options):
        """Runs the command; returns (stdout, stderr), bytes and text."""
        done = subprocess.run([THALWEG, *words], input=stdin, capture_output=True, cwd=self.folder, timeout=120, **options)
        message = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, expect, f"{words}: {message}")
        if expect in (USAGE, IO_ERROR, UNSAFE):
            self.assertTrue(message.startswith("thalweg: "), message)
        return done.stdout, message

    def json(self, *words, expect=FINE, **options):
        """Runs the command with --json; returns the object."""
        out, _ = self.thalweg(words[0], "--json", *words[1:], expect=expect, **options)
        result = json.loads(out)
        self.assertEqual(result["command"], words[0])
        self.assertEqual(result["exit_code"], expect)
        return result

    def craft(self, entries, *words, out="crafted.tw"):
        """Makes a multifile through the library; an entry is (mode, name, content), the last ones (mode, name, content,
        part)."""
        lines = [f"{mode:o} {name.hex() or '-'} {content.hex() or '-'}{''.join(f' {p}' for p in part)}\n"
                 for mode, name, content, *part in entries]
        subprocess.run([CRAFT, out, *words], input="".join(lines).encode(), check=True, cwd=self.folder, timeout=120)
        return out

    def craft_vpfile(self, shape, *steps, out="crafted.vp", options=()):
        """Makes a vpfile through the library; the steps are those of craft_vpfile.c, the content that of stream()."""
        subprocess.run([CRAFT_VPFILE, out, shape, *options], input="\n".join(steps).encode(), check=True, cwd=self.folder, timeout=120)
        return out

    def write(self, name, content=b"", mode=0o644):
        path = os.path.join(os.fsencode(self.folder), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)

    def tree(self, top):
        """Returns {name: (kind, mode, content or target)} of everything below a folder; names are bytes."""
        found = {}
        top = os.path.join(os.fsencode(self.folder), os.fsencode(top))
        for root, folders, files in os.walk(top):
            for name in folders + files:
                path = os.path.join(root, name)
                status = os.lstat(path)
                key = os.path.relpath(path, top)
                if os.path.islink(path):
                    found[key] = ("link", os.readlink(path))
                elif os.path.isdir(path):
                    found[key] = ("folder", status.st_mode & 0o7777)
                else:
                    with open(path, "rb") as file:
                        found[key] = ("file", status.st_mode & 0o7777, file.read())
        return found

    def leftovers(self, *expected):
        """Asserts the names in the folder."""
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(expected))


def measures():
    """Whether the probe of this build measures: built without MPI it only predicts, and says so."""
    return subprocess.run([PROBE, "--describe"], capture_output=True).returncode == 0


def data(n, seed=1):
    """Returns n incompressible bytes, equal for equal seeds."""
    import random

    return random.Random(seed).randbytes(n)


def stream(vp, n):
    """The first n bytes that craft_vpfile() writes to the stream of a virtual processor."""
    return bytes((vp * 31 + p * 7 + p // 256) % 256 for p in range(n))


main = unittest.main
