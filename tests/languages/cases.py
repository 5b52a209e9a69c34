"""The cases of README.md in Python: mpiexec -n RANKS python -m mpi4py cases.py write|read PREFIX..."""

import sys

import numpy as np
from mpi4py import MPI

import thalweg

comm = MPI.COMM_WORLD
ROWS, COLUMNS = 12, 8
FIELD = np.add.outer(100.0 * np.arange(ROWS), np.arange(COLUMNS))
first, last = ROWS * comm.rank // comm.size, ROWS * (comm.rank + 1) // comm.size


def line_of(r, n):
    return f"rank {r} has rows {ROWS * r // n} to {ROWS * (r + 1) // n - 1}\n".encode()


def write_shared(prefix):
    with thalweg.File(f"{prefix}.dat", "w", comm=comm) as f:
        f.write_array(np.pad(FIELD[first:last], 1, constant_values=-1), start=(first, 0), shape=FIELD.shape, halo=1)
        f.seek(FIELD.nbytes)
        f.write_all(b"%c" % (ord("a") + comm.rank) * (comm.rank + 1))
        behind = FIELD.nbytes + comm.size * (comm.size + 1) // 2
        assert f.iwrite_at(np.array([1000 + comm.rank], "i8"), behind + 8 * comm.rank).wait() == 8


def read_shared(prefix, writers):
    left, right = COLUMNS * comm.rank // comm.size, COLUMNS * (comm.rank + 1) // comm.size
    expected = b"".join(b"%c" % (ord("a") + r) * (r + 1) for r in range(writers))
    expected += np.arange(1000, 1000 + writers, dtype="i8").tobytes()
    with thalweg.File(f"{prefix}.dat", comm=comm) as f:
        assert f.size() == FIELD.nbytes + len(expected), f.size()
        part = np.zeros((ROWS, right - left))
        f.read_array(part, start=(0, left), shape=FIELD.shape)
        np.testing.assert_array_equal(part, FIELD[:, left:right])
        rest = bytearray(len(expected) + 1)
        assert f.read_at_all(rest, FIELD.nbytes) == len(expected)
        assert rest[:-1] == expected, rest


def write_cells(prefix):
    rows = np.repeat(np.arange(first, last), COLUMNS).reshape(-1, COLUMNS)
    with thalweg.vp.open(f"{prefix}.vp", "w", shape=FIELD.shape, comm=comm) as f:
        f.write(FIELD[f.local])
        f.write(rows, where=rows % 2 == 0)


def read_cells(prefix):
    with thalweg.vp.open(f"{prefix}.vp", comm=comm) as f:
        np.testing.assert_array_equal(f.read("f8"), FIELD[first:last])
        rows, counts = f.read("i8", return_counts=True)
        np.testing.assert_array_equal(counts, np.repeat([[i % 2 == 0] for i in range(first, last)], COLUMNS, axis=1))
        np.testing.assert_array_equal(rows, np.arange(first, last)[:, None] * counts)
        stream = f[first, 5].read()
        assert stream == FIELD[first, 5].tobytes() + (np.int64(first).tobytes() if first % 2 == 0 else b""), stream


def failure(kind, call):
    """The message of a call that fails on all ranks, without the task that it names where there are several."""
    try:
        call()
    except kind as error:
        assert type(error) is kind, repr(error)
        messages = comm.allgather(str(error))
        assert messages == [messages[0]] * comm.size, messages
        return messages[0].removeprefix("task 0: ") + "\n"
    raise AssertionError(f"no {kind.__name__}")


def failures_of(prefix):
    wrong = comm.rank == 0
    u = np.zeros(1)
    found = [
        failure(thalweg.NotFound, lambda: thalweg.Multifile(f"{prefix}.missing", comm=comm)),
        failure(thalweg.InvalidArgument, lambda: thalweg.vp.open(
            f"{prefix}.none", "w", shape=(ROWS, -1 if wrong else COLUMNS), comm=comm)),
        failure(thalweg.UnknownHint, lambda: thalweg.File(f"{prefix}.dat", comm=comm, hints={"colour": "blue"})),
    ]
    with thalweg.File(f"{prefix}.dat", comm=comm) as f:
        found.append(failure(thalweg.WrongMode, lambda: f.write_at_all(u, 0)))
        found.append(failure(thalweg.InvalidArgument, lambda: f.read_at_all(u, -1 if wrong else 0)))
        f.read_at_all(u, 8)
        assert u == FIELD[0, 1]
    return "".join(found)


def write_multifile(prefix, failures):
    with thalweg.Multifile(f"{prefix}.tw", "w", comm=comm) as mf:
        mf.mine.write(np.array([first, last], "i8"))
        mf.mine.write(FIELD[first:last])
        request = mf.isync()
        mf.add(f"log/{comm.rank}", permissions=0o100644).write(line_of(comm.rank, comm.size))
        mf.attributes["ranks"] = str(comm.size)
        mf.attributes["failures"] = failures
        request.wait()


def read_multifile(prefix, failures):
    with thalweg.Multifile(f"{prefix}.tw", comm=comm) as mf:
        writers = int(mf.attributes["ranks"])
        assert mf.attributes["failures"].decode() == failures, (mf.attributes["failures"], failures)
        assert "log/none" not in mf and len(mf) == 2 * writers
        for w in range(writers * comm.rank // comm.size, writers * (comm.rank + 1) // comm.size):
            begin, end = np.frombuffer(mf[w].read(16), "i8")
            assert (begin, end) == (ROWS * w // writers, ROWS * (w + 1) // writers), (begin, end)
            assert mf[w].read()[16:] == FIELD[begin:end].tobytes()
            assert mf[f"log/{w}"].read() == line_of(w, writers)
    return writers


for prefix in sys.argv[2:]:
    if sys.argv[1] == "write":
        write_shared(prefix)
        write_cells(prefix)
        write_multifile(prefix, failures_of(prefix))
    else:
        read_shared(prefix, read_multifile(prefix, failures_of(prefix)))
        read_cells(prefix)
