"""The printed program uses the method that was chosen, or a remark names the difference."""

import pathlib

import pytest

from thalweg.measure import example

IDS = ["gather", "file-per-task", "file-per-task-dirs", *(f"mpiio-global-{level}" for level in range(4)),
       *(f"mpiio-chunk-{level}" for level in range(4)), "hdf5-contiguous-independent", "hdf5-contiguous-collective",
       "hdf5-chunked-independent", "hdf5-chunked-collective", "mpiio-nonblocking", "pnetcdf", "tw-multifile", "tw-collective",
       "tw-nonblocking", "tw-vpfile", "sionlib"]
SAME = {"c": {"gather", "file-per-task", "mpiio-global-3", "mpiio-chunk-1", "hdf5-contiguous-collective", "tw-multifile", "tw-nonblocking",
              "tw-collective"},
        "fortran": {"file-per-task", "mpiio-global-3", "mpiio-chunk-1", "tw-multifile", "tw-collective"},
        "python": {"mpiio-global-3", "hdf5-contiguous-collective", "tw-vpfile"}}
OF_TASKS = {"file-per-task", "file-per-task-dirs", "mpiio-chunk-0", "mpiio-chunk-1", "mpiio-chunk-2", "mpiio-chunk-3", "tw-multifile"}


@pytest.mark.parametrize("language", SAME)
@pytest.mark.parametrize("name", IDS)
def test_a_program_that_is_not_the_method_says_so(name, language):
    found = example.example_of(name, language)

    assert found.text
    assert '#include "' not in found.text
    assert (found.remark == "") == (name in SAME[language])


@pytest.mark.parametrize("language", SAME)
@pytest.mark.parametrize("name", IDS)
def test_a_program_writes_and_says_how_it_would_read(name, language):
    for phase in ("read", "restart"):
        remark = example.example_of(name, language, phase).remark
        assert "it writes; to read: " in remark
        assert remark.endswith("the grid of the readers") == (phase == "restart")


def test_python_programs_of_data_of_tasks_hold_such_data():
    assert {example.example_of(name, "python").file for name in OF_TASKS} == {"vpfile.py"}


def test_every_program_is_shown_for_some_method():
    shown = {example.example_of(name, language).file for name in IDS for language in SAME}
    there = {path.name for path in pathlib.Path(example.__file__).with_name("skeletons").iterdir()}

    assert there == shown | {"block_of.h", "my_block.inc", "programs.json"}
