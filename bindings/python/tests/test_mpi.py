"""thalweg.vp with the ranks of mpi4py. MPIEXEC overrides the launcher mpiexec."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

LAUNCHER = os.environ.get("MPIEXEC", "mpiexec")

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed"),
    pytest.mark.skipif(shutil.which(LAUNCHER) is None, reason=f"there is no {LAUNCHER}"),
]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_share_a_file(ranks, tmp_path):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "HYDRA_LAUNCHER": "fork",
                   "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "THALWEG_PROFILE": "none"}
    program = pathlib.Path(__file__).with_name("mpi_program.py")
    # -m mpi4py: an exception on one rank ends all.
    done = subprocess.run([LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(program), str(tmp_path)],
                          env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"passed on {ranks} ranks" in done.stdout
