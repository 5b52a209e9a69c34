"""Each public call has a twin in Fortran and in Python, or a line with the reason."""

import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("TW_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT / "scripts"))
import check_twins

TREE = {
    "tests/abi/exported_symbols.txt": "# library symbol\nthalweg tw_file_open\nthalweg tw_file_close\nthalweg tw_hint_info\n"
                                      "thalweg_mpi MPI_Finalize\nthalweg_omp_file omp_file_open_all\n",
    "tests/abi/without_fortran.txt": "# reasons\ntw_hint_info: a command lists them\n",
    "tests/abi/without_python.txt": "tw_hint_info: a command lists them\n",
    "bindings/fortran/thalweg.f90": "  type, public :: tw_file\n  contains\n    procedure :: open => file_open\n"
                                    "    procedure :: close => file_close\n  end type\n",
    "bindings/python/src/thalweg/_core.cpp": "int a = tw_file_open(1);\nint b = tw_file_close(1);\n",
}


def found_with(changes):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**TREE, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return list(check_twins.complaints(root))


class CheckTwins(unittest.TestCase):
    def test_twins_and_reasons_are_clean(self):
        self.assertEqual(found_with({}), [])

    def test_a_call_that_only_a_comment_names_has_no_twin(self):
        found = found_with({"bindings/python/src/thalweg/_core.cpp": "int a = tw_file_open(1);  // not tw_file_close\n"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("bindings/python/src/thalweg: 'tw_file_close' has no twin", found[0])

    def test_a_call_without_a_twin_in_one_language_is_named_once(self):
        found = found_with({"tests/abi/without_fortran.txt": ""})
        self.assertEqual(len(found), 1, found)
        self.assertIn("bindings/fortran: 'tw_hint_info' has no twin", found[0])

    def test_lines_without_a_purpose_are_complaints(self):
        found = "\n".join(found_with({"tests/abi/without_python.txt": "tw_hint_info: \ntw_gone: because\ntw_file_open: because\n"}))
        self.assertIn("'tw_hint_info' has no reason", found)
        self.assertIn("'tw_gone' is no call of the library", found)
        self.assertIn("'tw_file_open' has a twin", found)


if __name__ == "__main__":
    unittest.main()
