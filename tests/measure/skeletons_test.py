#!/usr/bin/env python3
"""The programs that thalweg advise prints: those in C and Fortran run on three and four ranks and write the announced
bytes; those in Python compile, and run where their packages are installed."""

import os
import pathlib
import py_compile
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(os.environ["TW_SKELETONS"])
PROGRAMS = pathlib.Path(os.environ["TW_TESTS"])
THALWEG = PROGRAMS.parent / "bin" / "thalweg"
LIBRARY = os.environ["TW_LIBRARY"]
LAUNCH = os.environ["TW_MPI_LAUNCH"].split()
GRIDS = {3: (3, 1), 4: (2, 2)}  # by number of ranks, as MPI_Dims_create gives them: whole rows; rows and columns are
                                # cut
N = 1024


def reals(value, n):
    return struct.pack("f", value) * n


def lengths(parts):
    """Sizes of the parts of N."""
    return [N * (part + 1) // parts - N * part // parts for part in range(parts)]


def block_sizes(ranks):
    """Elements of each rank's block, in C order."""
    slow, fast = GRIDS[ranks]
    return [rows * columns for rows in lengths(slow) for columns in lengths(fast)]


def array(slow_parts, fast_parts):
    """Content of a file with the whole array; ranks are numbered along the fast index first."""
    content = b""
    for slow, rows in enumerate(lengths(slow_parts)):
        row = b"".join(reals(slow * fast_parts + fast, columns) for fast, columns in enumerate(lengths(fast_parts)))
        content += row * rows
    return content


class Skeletons(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="skeletons-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_ranks(self, ranks, program, path):
        done = subprocess.run([*LAUNCH, "-n", str(ranks), program, path], capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, 0, f"{program}: {done.stdout}{done.stderr}")

    def assert_bytes(self, found, right):
        self.assertEqual(len(found), len(right))
        self.assertTrue(found == right, "bytes are of another rank")

    def assert_logical_files(self, path, sizes):
        if not THALWEG.exists():
            self.assertGreater(path.stat().st_size, 4 * sum(sizes))
            return
        for rank, size in enumerate(sizes):
            done = subprocess.run([THALWEG, "cat", "--quiet", "--task", str(rank), path], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_bytes(done.stdout, reals(rank, size))

    def assert_files(self, path, sizes):
        for rank, size in enumerate(sizes):
            self.assert_bytes(pathlib.Path(f"{path}.{rank:06d}").read_bytes(), reals(rank, size))

    def assert_blocks(self, path, sizes):
        self.assert_bytes(path.read_bytes(), b"".join(reals(rank, size) for rank, size in enumerate(sizes)))

    # ---- C ----------------------------------------------------------------------------------------------------------

    def test_c(self):
        for source in sorted(SOURCES.glob("*.c")):
            program = PROGRAMS / f"skeleton_{source.stem}"
            if source.stem == "hdf5" and not program.exists():
                continue
            for ranks in GRIDS:
                with self.subTest(source.stem, ranks=ranks):
                    path = self.folder / f"{source.stem}.{ranks}.out"
                    self.run_ranks(ranks, program, path)
                    self.assert_written_in_c(source.stem, ranks, path)

    def assert_written_in_c(self, name, ranks, path):
        if name == "file_per_task":
            self.assert_files(path, block_sizes(ranks))
        elif name == "multifile":
            self.assert_logical_files(path, block_sizes(ranks))
        elif name == "mpiio_chunk":
            self.assert_blocks(path, block_sizes(ranks))
        elif name == "hdf5":
            self.assertIn(array(*GRIDS[ranks]), path.read_bytes())  # contiguous, after a header
        else:
            self.assert_bytes(path.read_bytes(), array(*GRIDS[ranks]))

    # ---- Fortran ----------------------------------------------------------------------------------------------------

    def compiled(self, compiler, source):
        program = self.folder / source.stem
        words = [compiler, "-Wall", source, "-o", program, f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-lthalweg_mpi", "-lthalweg"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def test_fortran(self):
        kind = os.environ.get("TW_MPI_KIND", "")
        compiler = shutil.which(f"mpif90.{kind}") or shutil.which("mpif90")
        if compiler is None:
            self.skipTest("there is no Fortran compiler of MPI")
        for source in sorted(SOURCES.glob("*.f90")):
            program = None
            for ranks in GRIDS:
                with self.subTest(source.stem, ranks=ranks):
                    program = program or self.compiled(compiler, source)
                    path = self.folder / f"{source.stem}.{ranks}.out"
                    self.run_ranks(ranks, program, path)
                    self.assert_written_in_fortran(source.stem, ranks, path)

    def assert_written_in_fortran(self, name, ranks, path):
        own = [1024 + rank for rank in range(ranks)]
        if name == "file_per_task":
            self.assert_files(path, [1024 * 1024] * ranks)
        elif name == "multifile":
            self.assert_logical_files(path, own)
        elif name == "mpiio_chunk":
            self.assert_blocks(path, own)
        elif name == "collective":
            self.assert_bytes(path.read_bytes(), array(ranks, 1))  # whole columns
        else:
            self.assertEqual(name, "mpiio_view")
            first, second = GRIDS[ranks]  # the first index is the fastest
            self.assert_bytes(path.read_bytes(), array(second, first))

    # ---- Python -----------------------------------------------------------------------------------------------------

    def test_python(self):
        for source in sorted(SOURCES.glob("*.py")):
            with self.subTest(source.stem):
                py_compile.compile(str(source), cfile=str(self.folder / "compiled"), doraise=True)

    def test_python_of_one_task(self):
        if subprocess.run([sys.executable, "-c", "import numpy, thalweg.vp"], capture_output=True).returncode != 0:
            self.skipTest("there is no package thalweg, or no numpy")
        path = self.folder / "array.vp"
        done = subprocess.run([sys.executable, SOURCES / "vpfile.py", path], capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(path.stat().st_size, 4 * N * N)


if __name__ == "__main__":
    unittest.main()
