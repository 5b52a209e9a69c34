"""The worked example runs: written on the available ranks, read on another number of them, and drawn."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import thalweg

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python"
SMALL = ["--cells", "24", "16", "--steps", "6", "--particles", "100"]
WITH_MPI = importlib.util.find_spec("mpi4py") is not None and shutil.which(os.environ.get("MPIEXEC", "mpiexec")) is not None


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transport")
    done = subprocess.run([EXAMPLES / "run_transport.sh", folder, *SMALL], capture_output=True, text=True, timeout=240,
                          env={**os.environ, "PYTHON": sys.executable, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_other_ranks_read_the_same_totals(run):
    folder, told = run
    expected = [(4, 1), (4, 3)] if WITH_MPI else [(1, 1)]
    for writers, readers in expected:
        assert f"written on {writers}, read on {readers}: equal totals in each of 6 steps" in told
    steps = (folder / "written.txt").read_text().splitlines()
    assert len(steps) == 6 and all(" 0 particles" not in step for step in steps)


def test_any_number_of_ranks_writes_the_same_particles(run, tmp_path):
    folder, _ = run
    alone = subprocess.run([sys.executable, EXAMPLES / "transport.py", tmp_path / "alone.vp", *SMALL], check=True,
                           capture_output=True, text=True)
    assert alone.stdout == (folder / "written.txt").read_text()
    with thalweg.vp.open(folder / "transport.vp") as a, thalweg.vp.open(tmp_path / "alone.vp") as b:
        assert a.shape == b.shape == (24, 16)
        found, expected = a.read_ragged(), b.read_ragged()
    assert (found[1] == expected[1]).all() and (found[0] == expected[0]).all()


def test_the_picture_shows_something(run):
    matplotlib = pytest.importorskip("matplotlib.image")
    picture = run[0] / "transport.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    pixels = matplotlib.imread(picture)
    assert pixels.shape[0] > 300 and pixels.shape[1] > 500
    inside = pixels[100:300, 100:500, :3]
    assert inside.std() > 0.05 and len({tuple(pixel) for row in inside for pixel in row}) > 50


def test_a_killed_run_is_repaired_and_read_as_far_as_it_was_flushed(tmp_path):
    path = tmp_path / "killed.vp"
    run = subprocess.Popen([sys.executable, EXAMPLES / "transport.py", path, *SMALL[:3], "--steps", "100000"], text=True,
                           stdout=subprocess.PIPE)
    told = [run.stdout.readline() for _ in range(5)]
    run.kill()
    run.communicate()
    with pytest.raises(thalweg.NotClosed):
        thalweg.vp.open(path)
    assert thalweg.vp.repair(path).repaired
    read = subprocess.run([sys.executable, EXAMPLES / "transport_view.py", path], check=True, capture_output=True, text=True)
    assert told == read.stdout.splitlines(keepends=True)[:5]
