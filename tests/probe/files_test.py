#!/usr/bin/env python3
"""Files left by the methods contain the array, recomputed here from its definition in tools/probe/array.hpp."""

import math
import struct
import sys

from probe_support import GLOBAL, ProbeTest, built, cell, main

SEED = 1
QUICK = ("--repeat", "1", "--no-warm-up", "--keep", "--phases", "write,read,merge")


def elements(n, repetition=1):
    """The array as reals: element i by its place in the file."""
    seed = SEED + repetition
    hashes = (((i + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03) % 2**64 for i in range(n))
    return [float(value >> 40) for value in hashes]


def as_bytes(reals, order):
    return struct.pack(f"{order}{len(reals)}f", *reals)


NATIVE = "<" if sys.byteorder == "little" else ">"


class Files(ProbeTest):
    def kept(self, ranks, *cells):
        """Runs the cells; returns their folders."""
        self.measure(ranks, *QUICK, *(word for one in cells for word in ("--cell", cell(*one))))
        (scratch,) = self.folder.iterdir()
        return [scratch / f"1.{n}" for n in range(len(cells))]

    def content(self, id, folder):
        files = [path for path in (folder / id).rglob("*") if path.is_file()]
        self.assertGreater(len(files), 0, id)
        return {path: path.read_bytes() for path in files}

    def check_global_files(self, folder, n):
        for id in built():
            if id not in GLOBAL:
                continue
            # PnetCDF's files are big-endian on every machine.
            expected = as_bytes(elements(n), ">" if id == "pnetcdf" else NATIVE)
            found = [path for path, data in self.content(id, folder).items() if expected in data]
            self.assertEqual(len(found), 1, f"{id}: the array is in {found}")
            if id == "gather" or id.startswith("mpiio"):
                self.assertEqual(found[0].read_bytes(), expected, f"{id}: more than the array")

    def check_merged_files(self, folder, n):
        for id in built():
            if id not in GLOBAL:
                merged = folder / f"{id}.merged"
                self.assertEqual(merged.read_bytes(), as_bytes(elements(n), NATIVE), id)

    def test_hold_the_array(self):
        cells = [((40, 31), (1, 3), "c"), ((5, 6, 7), (3, 1, 1), "f")]
        for folder, (shape, _, _) in zip(self.kept(3, *cells), cells):
            self.check_global_files(folder, math.prod(shape))
            self.check_merged_files(folder, math.prod(shape))

    # A file per task has the block of its rank only: of 2 x 2, rank 1 has the last columns of the first rows.
    def test_separate_files_are_blocks(self):
        self.measure(4, *QUICK, "--methods", "file-per-task,file-per-task-dirs", "--cell", cell((6, 5), (2, 2)))
        (scratch,) = self.folder.iterdir()
        all = elements(6 * 5)
        block = [all[row * 5 + column] for row in range(3) for column in range(2, 5)]
        for id in ("file-per-task", "file-per-task-dirs"):
            contents = self.content(id, scratch / "1.0")
            self.assertEqual(len(contents), 4)
            self.assertIn(as_bytes(block, NATIVE), contents.values())


if __name__ == "__main__":
    main()
