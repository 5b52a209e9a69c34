"""The package with the ranks of mpi4py. MPIEXEC overrides the launcher mpiexec."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

LAUNCHER = os.environ.get("MPIEXEC", "mpiexec")
ROOT = pathlib.Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "HYDRA_LAUNCHER": "fork",
               "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "THALWEG_PROFILE": "none"}
CASES = ROOT / "tests" / "languages" / "cases.py"
LANGUAGES = ["c", "cxx", "fortran"]

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed"),
    pytest.mark.skipif(shutil.which(LAUNCHER) is None, reason=f"there is no {LAUNCHER}"),
]


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_python(ranks, program, *arguments):
    # -m mpi4py: an exception on one rank ends all.
    return run(LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", program, *arguments)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_share_a_file(ranks, tmp_path):
    told = run_python(ranks, pathlib.Path(__file__).with_name("mpi_program.py"), tmp_path)
    assert f"passed on {ranks} ranks" in told


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_cases(ranks, tmp_path):
    """tests/languages, in Python: written, and read on another number of ranks."""
    run_python(ranks, CASES, "write", tmp_path / "python")
    run_python(ranks % 3 + 1, CASES, "read", tmp_path / "python")


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("build", ["release", "openmpi"])
def test_cases_of_other_languages(build, ranks, tmp_path):
    """tests/languages: Python reads what programs of a build wrote, which read what Python wrote, on other numbers of ranks."""
    programs = ROOT / "build" / build / "tests"
    languages = [language for language in LANGUAGES if (programs / f"languages_{language}").exists()]
    if not languages:
        pytest.skip(f"{programs} has no programs languages_*: build the preset {build} with MPI")
    launch = (programs / "languages_launch").read_text().split()
    readers = ranks % 3 + 1
    run_python(ranks, CASES, "write", tmp_path / "python")
    for language in languages:
        program = programs / f"languages_{language}"
        run(*launch, "-n", str(ranks), program, "write", tmp_path / language)
        run(*launch, "-n", str(readers), program, "read", tmp_path / "python")
    run_python(readers, CASES, "read", *(tmp_path / language for language in languages))
