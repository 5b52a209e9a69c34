"""Finding and starting the program that measures, and how a launch ends."""

import os
import pathlib
import signal
import threading
import time

import pytest
from measure_support import ROOT, fake  # noqa: F401
from thalweg.measure import MeasureError, launch, signals, storage, surroundings
from thalweg.measure.launch import Ended, Launcher


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def launcher_of(path, kind="mpich"):
    """A launcher that runs a script with "-n RANKS PROGRAM ARGUMENTS"."""
    return Launcher("program", (str(path),), {"kind": kind, "methods": []})


def test_the_program_is_asked_for_or_beside_the_command_or_on_path(tmp_path, monkeypatch):
    for name in ("asked", "environment", "beside/thalweg-probe", "python/thalweg-probe", "path/thalweg-probe"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        script(tmp_path / name, "true")
    monkeypatch.setenv("THALWEG_PROBE", str(tmp_path / "environment"))
    monkeypatch.setenv("THALWEG_COMMAND_DIR", str(tmp_path / "beside"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")

    assert launch.find_program(str(tmp_path / "asked")) == str(tmp_path / "asked")
    assert launch.find_program() == str(tmp_path / "environment")
    monkeypatch.delenv("THALWEG_PROBE")
    assert launch.find_program() == str(tmp_path / "beside/thalweg-probe")
    monkeypatch.delenv("THALWEG_COMMAND_DIR")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python/python"))
    assert launch.find_program() == str(tmp_path / "python/thalweg-probe")
    (tmp_path / "python/thalweg-probe").unlink()
    assert launch.find_program() == str(tmp_path / "path/thalweg-probe")
    monkeypatch.setenv("PATH", str(tmp_path / "beside/nothing"))
    with pytest.raises(MeasureError, match="--program or THALWEG_PROBE"):
        launch.find_program()


@pytest.mark.parametrize("name", ["missing", ".", "plain"])
def test_what_is_no_program(name, tmp_path):
    (tmp_path / "plain").write_text("")
    with pytest.raises(MeasureError, match="is not an executable; see --program") as caught:
        launch.find_program(str(tmp_path / name))
    assert caught.value.exit_code == 3


def test_a_launcher_is_that_of_the_description_or_asked_for(fake, monkeypatch):  # noqa: F811
    assert launch.find_launcher().mpiexec == (os.environ["FAKE_MPIEXEC"],)
    assert launch.find_launcher().description["version"] == "1.2.3"
    assert launch.find_launcher(mpiexec="env A=1  mpi").mpiexec == ("env", "A=1", "mpi")
    with pytest.raises(MeasureError, match="no launcher 'no-such-mpiexec' for the ranks; name one with --mpiexec"):
        launch.find_launcher(mpiexec="no-such-mpiexec -x")
    monkeypatch.setenv("FAKE_MPIEXEC", "/no such/mpi exec")
    with pytest.raises(MeasureError, match="no launcher '/no such/mpi exec'"):
        launch.find_launcher()


@pytest.mark.parametrize("text, why", [
    ("true", "it names no methods"), ("echo hello", "it names no methods"), ("echo '[]'", "it names no methods"),
    ("echo '{\"methods\":7}'", "its 'methods' are no list"), ("echo '{\"methods\":[{\"id\":1}]}'", "lacks a text 'id'"),
    ("echo '{\"kind\":3,\"methods\":[]}'", "its 'kind' is no text"),
    ("echo ---- >&2; echo wrong option >&2; exit 2", "wrong option"), ("kill -9 $$", "it names no methods"),
])
def test_what_describes_itself_wrongly(text, why, tmp_path):
    program = script(tmp_path / "program", text)
    with pytest.raises(MeasureError) as caught:
        launch.find_launcher(program)
    assert why in str(caught.value) and "is it thalweg-probe of this version?" in str(caught.value)


def test_lines_are_passed_on_whole(tmp_path):
    text = "printf 'one\\ntw'; sleep 0.3; printf 'o\\n\\377\\n'; echo said >&2; printf last; printf '%s ' \"$@\" >&2"
    path = script(tmp_path / "run", text)
    seen = []
    ended = launch.launch(launcher_of(path), 3, ["--dir", "x y"], seen.append)

    assert seen == ["one", "two", "\udcff", "last"]
    assert ended == Ended(0, 0, "said\n-n 3 program --dir x y ", False)


@pytest.mark.parametrize("text, kind, told", [
    ("exit 7", "openmpi", "mpiexec ended with 7"),
    ("echo ------ >&2; echo no such host >&2; exit 3", "openmpi", "mpiexec ended with 3 and printed: no such host"),
    ("exit 9", "mpich", "a rank was killed by signal 9 (Killed)"),
    ("exit 139", "openmpi", "a rank was killed by signal 11 (Segmentation fault)"),
    ("exit 2", "mpich", "mpiexec ended with 2"), ("kill -TERM $$", "mpich", "mpiexec ended by signal 15 (Terminated)"),
])
def test_how_it_ended_is_told(text, kind, told, tmp_path):
    launcher = launcher_of(script(tmp_path / "run", text), kind)
    assert launch.how_it_ended(launcher, launch.launch(launcher, 1, [], print), 5) == told


def test_a_launcher_that_is_gone_is_told(tmp_path):
    launcher = launcher_of(tmp_path / "gone")
    ended = launch.launch(launcher, 1, [], print)
    assert ended.exit_code == 127 and "gone': No such file or directory" in launch.how_it_ended(launcher, ended, 5)


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_death(pid):
    limit = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < limit, f"{pid} lives"
        time.sleep(0.01)


@pytest.mark.parametrize("deaf", ["", "trap '' TERM;"])
def test_one_that_is_silent_is_ended_with_all_its_children(deaf, tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "_GRACE_S", 0.3)
    launcher = launcher_of(script(tmp_path / "run", f"{deaf} sleep 1000 & echo $!; wait; sleep 1000"))
    seen = []
    ended = launch.launch(launcher, 1, [], seen.append, patience=6)

    assert ended.silent and ended.signal == signal.SIGTERM
    assert launch.how_it_ended(launcher, ended, 6) == "no output for 6 s: it hangs, or needs a larger limit"
    wait_for_death(int(seen[0]))


def test_an_error_of_the_listener_ends_the_ranks(tmp_path):
    launcher = launcher_of(script(tmp_path / "run", "echo $$; exec sleep 1000"))
    seen = []

    def see(line):
        seen.append(int(line))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        launch.launch(launcher, 1, [], see)
    wait_for_death(seen[0])


def test_a_signal_ends_the_ranks_and_the_handlers_return(tmp_path, capfd):
    launcher = launcher_of(script(tmp_path / "run", "echo $$; exec sleep 1000"))
    seen, handler = [], signal.getsignal(signal.SIGINT)

    def see(line):
        seen.append(int(line))
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(signals.Interrupted) as caught, signals.noted():
        launch.launch(launcher, 1, [], see)
    assert caught.value.number == signal.SIGINT
    assert "thalweg: ending the ranks" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is handler and signals.caught() == 0
    wait_for_death(seen[0])


def test_a_thread_can_start_ranks(tmp_path):
    launcher, ends = launcher_of(script(tmp_path / "run", "echo x")), []

    def run():
        with signals.noted():
            ends.append(launch.launch(launcher, 1, [], ends.append))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ends == ["x", Ended()]


# ---- The environment of the ranks --------------------------------------------------------------------------------------

BATCH = ("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "NHOSTS", "PBS_NODEFILE", "PBS_JOBID", "LSB_JOBID",
         "LSB_MCPU_HOSTS", "JOB_ID", "HYDRA_HOST_FILE", "HYDRA_BINDING", "HYDRA_LAUNCHER", "MPIR_CVAR_CH4_PROGRESS_THROTTLE",
         "OMPI_MCA_mpi_yield_when_idle")


@pytest.fixture
def plain(monkeypatch):
    """No batch system, four cores."""
    for name in BATCH:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launch, "cores", lambda: 4)
    return monkeypatch


def test_ranks_of_mpich_are_bound_where_there_are_cores_and_yield_where_not(plain):
    few, many = (launch.environment_for(launcher_of("x"), n) for n in (4, 5))

    assert (few["HYDRA_BINDING"], few["HYDRA_LAUNCHER"]) == ("core", "fork") and "MPIR_CVAR_CH4_PROGRESS_THROTTLE" not in few
    assert (many["HYDRA_BINDING"], many["MPIR_CVAR_CH4_PROGRESS_THROTTLE"]) == ("none", "1")
    plain.setenv("HYDRA_BINDING", "user")
    assert launch.environment_for(launcher_of("x"), 5)["HYDRA_BINDING"] == "user"


def test_ranks_of_openmpi_may_be_more_than_cores(plain):
    few, many = (launch.environment_for(launcher_of("x", "openmpi"), n) for n in (4, 5))

    assert "OMPI_MCA_mpi_yield_when_idle" not in few and many["OMPI_MCA_mpi_yield_when_idle"] == "1"
    assert "HYDRA_BINDING" not in many


@pytest.mark.parametrize("name, value", [("SLURM_NNODES", "2"), ("LSB_MCPU_HOSTS", "a 16 b 16"), ("PBS_NODEFILE", "nodes")])
def test_a_batch_system_places_ranks_of_several_nodes(name, value, plain, tmp_path):
    (tmp_path / "nodes").write_text("# two\na:1\na\nb\n")
    plain.chdir(tmp_path)
    plain.setenv(name, value)
    plain.setenv("JOB_ID", "1")
    environment = launch.environment_for(launcher_of("x"), 100)

    assert not {"HYDRA_BINDING", "HYDRA_LAUNCHER", "MPIR_CVAR_CH4_PROGRESS_THROTTLE"} & environment.keys()


# ---- Machine and storage -----------------------------------------------------------------------------------------------

def test_facts_of_machine_and_storage(fake):
    machine, found = surroundings.machine_facts(), storage.storage_facts("data")

    assert machine["cores"] >= 1 and machine["memory_bytes"] > 1 << 20 and machine["kernel"].startswith("Linux ")
    assert (found["path"], found["kind"], found["identity"]) == (str(fake), "fake", "fake-1") and found["free_bytes"] > 0
    with pytest.raises(MeasureError, match="^cannot look at the folder 'none': No such file"):
        storage.storage_facts("none")


def test_room_and_memory_are_checked():
    here = {"path": "/data", "kind": "ext4", "identity": "ext4-1", "free_bytes": 1 << 20}
    storage.check_room_and_memory(here, 1, 1)
    with pytest.raises(MeasureError, match="of free space, 1.0 EiB are needed; choose a smaller --size or another --dir"):
        storage.check_room_and_memory(here, 1 << 60, 1)
    with pytest.raises(MeasureError, match="of memory are available, the ranks need 1.0 EiB together; choose a smaller --size"):
        storage.check_room_and_memory(here, 1, 1 << 60)


def test_a_command_as_shell_words():
    assert surroundings.command_text(["thalweg", "methods", "--dir", "a b"]) == "thalweg methods --dir 'a b'"
