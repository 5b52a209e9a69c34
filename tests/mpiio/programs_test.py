#!/usr/bin/env python3
"""Programs as users have them, compiled by the MPI's own compilers: Fortran, a file left open, the other MPI."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = os.environ["TW_MPIIO"]
KIND = os.environ["TW_MPI_KIND"]
LAUNCH = os.environ["TW_MPI_LAUNCH"].split()
COMPILER = os.environ["TW_MPICC"]
TOOL = os.environ.get("TW_THALWEG")

LEFT_OPEN = """
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_ordered(file, "bytes", 5, MPI_CHAR, MPI_STATUS_IGNORE);
  if (argc > 2) MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""

# As HDF5 closes its files: in the callback of an attribute of MPI_COMM_SELF, which it set before it opened one.
CLOSED_AT_THE_END = """
#include <mpi.h>
#include <stddef.h>
static MPI_File file;
static MPI_Request begun;
static char much[1 << 24];
static int at_end(MPI_Comm comm, int key, void* value, void* extra) {
  int rank;
  MPI_Request request;
  int done = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (!done) MPI_Test(&begun, &done, MPI_STATUS_IGNORE);
  if (MPI_File_iwrite_at(file, 3 * rank, "one", 3, MPI_CHAR, &request)) return MPI_ERR_OTHER;
  if (MPI_Wait(&request, MPI_STATUS_IGNORE)) return MPI_ERR_OTHER;
  if (MPI_File_write_at_all(file, 6 + 3 * rank, "all", 3, MPI_CHAR, MPI_STATUS_IGNORE)) return MPI_ERR_OTHER;
  if (MPI_File_iwrite_at_all(file, 12 + 3 * rank, "end", 3, MPI_CHAR, &request)) return MPI_ERR_OTHER;
  if (MPI_Wait(&request, MPI_STATUS_IGNORE)) return MPI_ERR_OTHER;
  return MPI_File_close(&file);
}
int main(int argc, char** argv) {
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_shared(file, "early", 5, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_iread_at(file, 0, much, sizeof much, MPI_CHAR, &begun);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""

# Prints hints in force, one of which the program sets.
HINTS = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  const char* names[] = {"thalweg_method", "cb_nodes", "nonsense"};
  MPI_File file;
  MPI_Info info;
  int rank, found, i;
  char value[100];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info_create(&info);
  MPI_Info_set(info, names[0], "direct");
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
  MPI_Info_free(&info);
  MPI_File_get_info(file, &info);
  for (i = 0; i < 3; ++i) {
    MPI_Info_get(info, names[i], 99, value, &found);
    if (rank == 0) printf("%s %s%s", names[i], found ? value : "none", i < 2 ? ", " : "\\n");
  }
  MPI_Info_free(&info);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""

# The disk of rank 1 is full.
FULL_DISK = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
static int is_full(void) {
  const char* rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  return rank != NULL && strcmp(rank, "1") == 0;
}
#define FULL if (is_full()) { errno = ENOSPC; return -1; }
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) { FULL struct iovec v = {(void*)data, n}; return pwritev2(fd, &v, 1, at, 0); }
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t at) { return pwrite(fd, data, n, at); }
ssize_t pwritev(int fd, const struct iovec* v, int n, off_t at) { FULL return pwritev2(fd, v, n, at, 0); }
ssize_t pwritev64(int fd, const struct iovec* v, int n, off64_t at) { return pwritev(fd, v, n, at); }
"""

# Each rank prints whether its write failed for want of space: alone, together, together through a view with holes, and the
# same nonblocking. Then what a file without a name does, and a handle that was closed.
FAULTS = """
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static char told[200];
static void tell(int error) {
  int kind = error;
  if (error) MPI_Error_class(error, &kind);
  strcat(told, kind == MPI_SUCCESS ? " ok" : kind == MPI_ERR_NO_SPACE ? " space" : kind == MPI_ERR_FILE ? " closed" :
               kind == MPI_ERR_NO_SUCH_FILE ? " missing" : " other");
}
int main(int argc, char** argv) {
  MPI_File file, gone;
  MPI_Request request;
  MPI_Datatype every_other;
  int rank, fails;
  char data[8] = "datadat";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  tell(MPI_File_write_at(file, 8 * rank, data, 8, MPI_CHAR, MPI_STATUS_IGNORE));
  tell(MPI_File_write_at_all(file, 8 * rank, data, 8, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_Type_vector(2, 4, 8, MPI_CHAR, &every_other);
  MPI_Type_commit(&every_other);
  MPI_File_set_view(file, 4 * rank, MPI_CHAR, every_other, "native", MPI_INFO_NULL);
  fails = MPI_File_write_all(file, data, 8, MPI_CHAR, MPI_STATUS_IGNORE);
  if (rank == 1) tell(fails);
  MPI_File_iwrite_at(file, 0, data, 8, MPI_CHAR, &request);
  tell(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_File_iwrite_at_all(file, 0, data, 8, MPI_CHAR, &request);
  fails = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) tell(fails);
  if (rank == 0) remove(argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  tell(MPI_File_read_at(file, 0, data, 4, MPI_CHAR, MPI_STATUS_IGNORE));
  tell(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, MPI_INFO_NULL, &gone));
  gone = file;
  tell(MPI_File_close(&file));
  tell(MPI_File_read_at(gone, 0, data, 4, MPI_CHAR, MPI_STATUS_IGNORE));
  tell(MPI_File_write_all(gone, data, 4, MPI_CHAR, MPI_STATUS_IGNORE));
  tell(MPI_File_close(&gone));
  printf("%d:%s\\n", rank, told);
  MPI_Type_free(&every_other);
  MPI_Finalize();
  return 0;
}
"""


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "file"

    def compile(self, compiler, source, *options):
        program = self.folder / pathlib.Path(source).stem
        subprocess.run([compiler, *options, "-o", str(program), str(source)], check=True, cwd=self.folder)
        return program

    def run_ranks(self, program, *arguments, **environment):
        command = [*LAUNCH, "-n", "2", str(program), str(self.path), *arguments]
        return subprocess.run(command, env={**os.environ, "LD_PRELOAD": LIBRARY, **environment}, capture_output=True,
                              text=True, check=False, timeout=100)

    def c_program(self, text, compiler=COMPILER):
        source = self.folder / "program.c"
        source.write_text(text)
        return self.compile(compiler, source)

    def test_fortran_programs_by_all_three_interfaces(self):
        compiler = COMPILER.replace("mpicc", "mpif90")
        for kind in ("mpif", "mpi", "f08"):
            with self.subTest(kind=kind):
                # mpif.h declares no interfaces, and gfortran compares the calls with each other.
                program = self.compile(compiler, HERE / f"fortran_{kind}.f90", "-w", "-fallow-argument-mismatch",
                                       f"-I{HERE}")
                done = self.run_ranks(program, THALWEG_MPIIO_REPORT="1")
                self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
                self.assertIn("thalweg: ", done.stderr)

    def test_a_file_that_is_left_open_is_named_and_has_its_bytes(self):
        done = self.run_ranks(self.c_program(LEFT_OPEN))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(f"'{self.path}' was not closed before MPI_Finalize"), 1, done.stderr)
        self.assertEqual(self.path.read_bytes(), b"bytesbytes")

    def test_a_file_may_be_closed_by_a_callback_within_mpi_finalize(self):
        done = self.run_ranks(self.c_program(CLOSED_AT_THE_END))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.path.read_bytes(), b"oneoneallallendend")

    def test_hints_come_from_the_file_of_romio_too(self):
        hints = self.folder / "hints"
        hints.write_text("# of this machine\nthalweg_method naive\ncb_nodes\ncb_nodes 1\ncb_nodes 2\nnonsense 3\n")
        done = self.run_ranks(self.c_program(HINTS), ROMIO_HINTS=str(hints))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "thalweg_method direct, cb_nodes 1, nonsense none\n")

    def test_a_report_is_one_line_of_each_file(self):
        done = self.run_ranks(self.c_program(LEFT_OPEN), "close", THALWEG_MPIIO_REPORT="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("thalweg: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(f"'{self.path}': 2 ranks, 0.0 MiB written by 2 calls, 0.0 MiB read by 0 calls", lines[0])

    def test_a_full_disk_of_one_rank_is_told_and_waited_for_by_none(self):
        shim = self.folder / "full_disk.c"
        shim.write_text(FULL_DISK)
        library = self.compile("cc", shim, "-shared", "-fPIC")
        done = self.run_ranks(self.c_program(FAULTS), LD_PRELOAD=f"{LIBRARY}:{library}", THALWEG_URING="0")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = " ok missing ok closed closed closed"
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(lines[0], f"0: ok ok ok{after}")
        # Rank 0 may write what rank 1 passes to an access of both through a view.
        self.assertRegex(lines[1], f"^1: space space (space|ok) space (space|ok){after}$")

    def test_two_copies_of_the_library_are_as_one(self):
        other = shutil.copy(LIBRARY, self.folder / "copy.so")
        done = self.run_ranks(self.c_program(CLOSED_AT_THE_END), LD_PRELOAD=f"{LIBRARY}:{other}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.path.read_bytes(), b"oneoneallallendend")

    def run_by_command(self, *arguments):
        command = [TOOL, "run", "--library", LIBRARY, *arguments[:-1], "--", *LAUNCH, "-n", "2", arguments[-1], str(self.path), "close"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    @unittest.skipUnless(TOOL, "built without the thalweg command")
    def test_the_command_sets_it_up_and_tells_what_the_program_did(self):
        program = self.c_program(LEFT_OPEN)
        self.assertIn(f"'{self.path}': 2 ranks, 0.0 MiB written by 2 calls", self.run_by_command(program))
        page = self.folder / "files.html"
        self.assertNotIn("2 ranks", self.run_by_command("--report", page, program))
        text = page.read_text()
        self.assertIn("<h1>1 file by ", text)
        self.assertIn(f"<tr><th>{self.path}</th><td>2</td><td>2</td>", text)
        self.assertIn("10 B</td>", text)
        self.assertEqual([path.name for path in self.folder.glob("files.html*")], ["files.html"])
        self.run_by_command("--report", page, program)  # replaces its own page
        page.write_text("notes")
        refused = subprocess.run([TOOL, "run", "--library", LIBRARY, "--report", page, "--", "true"], check=False,
                                 capture_output=True, text=True, timeout=100)
        self.assertEqual((refused.returncode, page.read_text()), (4, "notes"), refused.stderr)

    @unittest.skipUnless(TOOL, "built without the thalweg command")
    def test_the_command_returns_the_exit_code_of_the_program(self):
        for options in ([], ["--report", self.folder / "page.html"]):
            for words, code in ((["sh", "-c", "exit 7"], 7), ([self.folder / "nothing"], 127)):
                done = subprocess.run([TOOL, "run", "--library", LIBRARY, *options, "--", *words], check=False,
                                      capture_output=True, text=True, timeout=100)
                self.assertEqual(done.returncode, code, done.stderr)

    @unittest.skipUnless(TOOL, "built without the thalweg command")
    def test_the_command_passes_signals_on_and_leaves_only_its_page(self):
        page = self.folder / "page.html"
        command = [TOOL, "run", "--library", LIBRARY, "--report", page, "--", "sh", "-c", "echo begun; exec sleep 90"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            self.assertEqual(running.stdout.readline(), "begun\n")
            running.terminate()
            self.assertEqual(running.wait(60), 128 + signal.SIGTERM)
        self.assertEqual([path.name for path in self.folder.glob("page.html*")], ["page.html"])

    @unittest.skipUnless(TOOL and KIND == "openmpi", "the launcher of Open MPI has the option")
    def test_the_command_goes_with_the_option_that_passes_variables(self):
        done = subprocess.run([TOOL, "run", "--library", LIBRARY, "--", *LAUNCH, "-x", "HOME", "-n", "2",
                               self.c_program(LEFT_OPEN), self.path, "close"], capture_output=True, text=True, check=False,
                              timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"'{self.path}': 2 ranks", done.stderr)

    def test_a_program_of_the_other_mpi_gets_one_clear_line(self):
        other = shutil.which("mpicc.openmpi" if KIND == "mpich" else "mpicc.mpich")
        if other is None:
            self.skipTest("only one MPI is installed")
        # One process, without a launcher: that of the other MPI has other options.
        done = subprocess.run([str(self.c_program(LEFT_OPEN, other)), str(self.path)], env={**os.environ, "LD_PRELOAD": LIBRARY},
                              capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, "was built for (MPICH|Open MPI), but the program uses ")


if __name__ == "__main__":
    unittest.main()
