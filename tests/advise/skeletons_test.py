#!/usr/bin/env python3
"""The programs that thalweg advise prints: those in C and Fortran run on three ranks and write what they say, those in
Python compile."""

import os
import pathlib
import py_compile
import shutil
import struct
import subprocess
import tempfile
import unittest

SOURCES = pathlib.Path(os.environ["TW_SKELETONS"])
PROGRAMS = pathlib.Path(os.environ["TW_TESTS"])
LIBRARY = os.environ["TW_LIBRARY"]
LAUNCH = os.environ["TW_MPI_LAUNCH"].split()
RANKS = 3  # a grid of 3 x 1: whole rows, or columns where the first index is the fastest
N = 1024


class Skeletons(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="skeletons-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_ranks(self, program, path):
        done = subprocess.run([*LAUNCH, "-n", str(RANKS), program, path], capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, 0, f"{program}: {done.stdout}{done.stderr}")

    def assert_array(self, content):
        """Rows of rank 0, then of rank 1, then of rank 2, or columns."""
        self.assertEqual(len(content), 4 * N * N)
        values = struct.unpack(f"{N * N}f", content)
        bounds = [N * rank // RANKS for rank in range(RANKS + 1)]
        for rank in range(RANKS):
            for row in (bounds[rank], bounds[rank + 1] - 1):
                self.assertEqual(set(values[row * N : (row + 1) * N]), {float(rank)})

    def test_c(self):
        for source in sorted(SOURCES.glob("*.c")):
            program = PROGRAMS / f"skeleton_{source.stem}"
            if source.stem == "hdf5" and not program.exists():
                continue
            with self.subTest(source.stem):
                path = self.folder / f"{source.stem}.out"
                self.run_ranks(program, path)
                self.assert_written(source.stem, path)

    def assert_written(self, name, path):
        if name == "file_per_task":
            self.assert_array(b"".join(pathlib.Path(f"{path}.{rank:06d}").read_bytes() for rank in range(RANKS)))
        elif name in ("multifile", "hdf5"):
            self.assertGreater(path.stat().st_size, 4 * N * N)
        else:
            self.assert_array(path.read_bytes())

    def test_fortran(self):
        kind = os.environ.get("TW_MPI_KIND", "")
        compiler = shutil.which(f"mpif90.{kind}") or shutil.which("mpif90")
        if compiler is None:
            self.skipTest("there is no Fortran compiler of MPI")
        for source in sorted(SOURCES.glob("*.f90")):
            with self.subTest(source.stem):
                program = self.folder / source.stem
                words = [compiler, "-Wall", source, "-o", program, f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-lthalweg_mpi", "-lthalweg"]
                done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                path = self.folder / f"{source.stem}.out"
                self.run_ranks(program, path)
                if source.stem in ("collective", "mpiio_view"):
                    content = path.read_bytes()
                    self.assertEqual(len(content), 4 * N * N)
                elif source.stem == "mpiio_chunk":
                    self.assertEqual(path.stat().st_size, sum(4 * (1024 + rank) for rank in range(RANKS)))

    def test_python(self):
        for source in sorted(SOURCES.glob("*.py")):
            with self.subTest(source.stem):
                py_compile.compile(str(source), cfile=str(self.folder / "compiled"), doraise=True)


if __name__ == "__main__":
    unittest.main()
