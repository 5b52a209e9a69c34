#!/usr/bin/env python3
"""libthalweg_mpiio as a file: what it exports, what it needs, and that it loads where there is no MPI."""

import os
import re
import subprocess
import unittest

LIBRARY = os.environ["TW_MPIIO"]

FILES = """open close delete set_size preallocate get_size get_group get_amode set_info get_info set_view get_view seek
get_position get_byte_offset seek_shared get_position_shared get_type_extent set_atomicity get_atomicity sync
c2f f2c toint fromint create_errhandler set_errhandler get_errhandler call_errhandler""".split()
BLOCKING = ["_at", "_at_all", "", "_all", "_shared", "_ordered"]
NONBLOCKING = ["_at", "_at_all", "", "_all", "_shared"]
SPLIT = ["_at_all", "_all", "_ordered"]


def functions():
    """The chapter on I/O of MPI 4.1 (14), and of 9.3 what concerns files."""
    yield from (f"File_{name}" for name in FILES)
    yield from ("File_get_type_extent_c", "Register_datarep", "Register_datarep_c")
    for name in ("read", "write"):
        counted = [name + kind for kind in BLOCKING] + [f"i{name}{kind}" for kind in NONBLOCKING]
        counted += [f"{name}{kind}_begin" for kind in SPLIT]
        for one in counted:
            yield from (f"File_{one}", f"File_{one}_c")
        yield from (f"File_{name}{kind}_end" for kind in SPLIT)


def output_of(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    return done.returncode, done.stdout, done.stderr


class Preload(unittest.TestCase):
    def test_a_process_without_mpi_is_not_disturbed(self):
        for command in (["sh", "-c", "true"], ["sh", "-c", "sh -c 'ls / > /dev/null'"]):
            with self.subTest(command=command):
                got = output_of(*command, env={**os.environ, "LD_PRELOAD": LIBRARY})
                self.assertEqual(got, (0, "", ""))

    def test_every_reference_to_mpi_is_a_call_that_is_bound_late(self):
        status, text, _ = output_of("readelf", "-rW", LIBRARY)
        self.assertEqual(status, 0)
        lines = [line for line in text.splitlines() if re.search(r"\b(P?MPIX?_|ompi_|opal_|MPIR_|mpi_)", line)]
        self.assertTrue(lines)
        wrong = [line for line in lines if "JUMP_SLO" not in line]
        self.assertEqual(wrong, [])
        self.assertNotRegex(output_of("readelf", "-dW", LIBRARY)[1], r"NEEDED.*libmpi|FLAGS.*\bNOW\b|BIND_NOW")

    def test_every_function_of_the_chapter_is_exported_under_both_names(self):
        exported = set(re.findall(r" [TWi] (P?MPI_\w+)", output_of("nm", "-D", "--defined-only", LIBRARY)[1]))
        wanted = {prefix + name for name in functions() for prefix in ("MPI_", "PMPI_")}
        self.assertEqual(sorted(wanted - exported), [])

    def test_nothing_but_names_of_mpi_is_exported(self):
        names = re.findall(r" [A-Z] (\S+)", output_of("nm", "-D", "--defined-only", LIBRARY)[1])
        self.assertEqual([name for name in names if not re.match(r"P?MPIX?_|[op]?mpi_file_create_errhandler", name)], [])


if __name__ == "__main__":
    unittest.main()
