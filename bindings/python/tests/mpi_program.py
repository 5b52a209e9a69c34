"""Started on every rank by test_mpi.py: mpi_program.py FOLDER."""

import pathlib
import sys

import numpy as np
from mpi4py import MPI

import thalweg
from model import Model, contents

comm = MPI.COMM_WORLD
folder = pathlib.Path(sys.argv[1])


def program_of_all(seed):
    """Random accesses by boxes of all ranks have the effect of accesses to one file per VP."""
    random = np.random.default_rng(seed)  # equal on all ranks
    shape = tuple(int(n) for n in random.integers(1, 7, random.integers(1, 4)))
    model, path = Model(shape), folder / f"{seed}.vp"
    f = thalweg.vp.open(path, "w+", shape=shape, comm=comm)
    for _ in range(10):
        step = random.integers(5)
        if step == 0:
            a = random.random((*shape, int(random.integers(0, 5))))
            if random.random() < 0.5:
                a = a[..., ::2]
            where = random.random(shape) < 0.6 if random.random() < 0.4 else None
            f.write(a[f.local], None if where is None else where[f.local])
            model.write(a, where)
        elif step == 1:
            lengths = random.integers(0, 6, shape)
            parts = np.empty(shape, object)
            for index in np.ndindex(*shape):
                parts[index] = random.random(lengths[index])
            mine = list(parts[f.local].ravel())
            f.write_ragged(np.concatenate(mine) if mine else np.empty(0), lengths[f.local])
            model.write_ragged(np.concatenate(list(parts.ravel())), lengths)
        elif step == 2:
            n = int(random.integers(1, 6))
            a, counts = f.read("u2", n, return_counts=True, force=True)
            expected, expected_counts = model.read("u2", n)
            np.testing.assert_array_equal(counts, expected_counts[f.local])
            np.testing.assert_array_equal(a, expected[f.local])
        elif step == 3:
            pos = random.integers(0, 30, shape) if random.random() < 0.5 else int(random.integers(0, 30))
            f.seek(pos[f.local] if isinstance(pos, np.ndarray) else pos)
            model.seek(pos)
        else:
            f.flush()
        np.testing.assert_array_equal(f.tell(), model.tell()[f.local])
    found = contents(f)
    assert found == {index: model.contents()[index] for index in found}
    f.close()
    if comm.rank == 0:  # one task reads the data of several
        with thalweg.vp.open(path) as alone:
            assert contents(alone) == model.contents()


def multifile_of_all():
    """Each rank has a logical file, adds others, and saves its rows of an array, which any number of tasks loads."""
    path = folder / "dump.tw"
    array = np.arange(10 * 6, dtype="f8").reshape(10, 6)
    first, last = 10 * comm.rank // comm.size, 10 * (comm.rank + 1) // comm.size
    with thalweg.Multifile(path, "w", comm=comm) as mf:
        mf.mine.write(b"rank %d" % comm.rank)
        mf.add(f"log/{comm.rank}").write(b"of one rank")
        mf.save("rows", array[first:last], start=(first, 0), shape=array.shape, dims=("y", "x"))
    with thalweg.Multifile(path, comm=comm) as mf:
        assert mf.mine.read() == b"rank %d" % comm.rank
        assert len(mf) == 3 * comm.size
        np.testing.assert_array_equal(mf.load("rows", slice(0, 4)), array[:4])  # of other ranks
        assert mf.array("rows").dims == ("y", "x") and list(mf.arrays()) == ["rows"]
        other = (comm.rank + 1) % comm.size
        assert mf[other].read() == b"rank %d" % other and mf[f"log/{other}"].read() == b"of one rank"
        assert len(list(mf)) == 3 * comm.size
    comm.Barrier()
    with thalweg.Multifile(path) as mf:
        assert sorted(mf.names("log/")) == [f"log/{rank}" for rank in range(comm.size)]
        np.testing.assert_array_equal(mf.load("rows"), array)
        np.testing.assert_array_equal(mf.load("rows", (slice(2, 9, 3), -1)), array[2:9:3, -1])
    comm.Barrier()
    # Wrong arguments of one rank are a failure of all ranks. An abandoned multifile is not closed.
    try:
        thalweg.Multifile(path, "w", comm=comm, n_logical=3 if comm.rank == comm.size - 1 else None)
    except thalweg.InvalidArgument as error:
        assert "n_logical needs ranks" in str(error), str(error)  # all ranks learn why
    else:
        raise AssertionError("wrong arguments of one rank")
    for wrong in ({"ranks": [-4]}, {"ranks": [0], "n_logical": -5}):
        try:
            thalweg.Multifile(path, "w", comm=comm, **(wrong if comm.rank == comm.size - 1 else {}))
        except thalweg.InvalidArgument as error:
            assert "0 or more" in str(error), str(error)
        else:
            raise AssertionError("wrong ranks of one rank")
    mf = thalweg.Multifile(path, "w", comm=comm)
    try:
        if comm.rank == 0:
            mf.abandon()
        mf.close()
        assert comm.rank == 0
    except thalweg.NotClosed:
        assert comm.rank > 0
    comm.Barrier()


def file_of_all():
    """The ranks write their parts of one array, in blocks and with halos, and read the parts of others."""
    path = folder / "field.dat"
    whole = np.arange(9 * 8, dtype="f8").reshape(9, 8)
    first, last = 9 * comm.rank // comm.size, 9 * (comm.rank + 1) // comm.size
    local = np.pad(whole[first:last], 1, constant_values=-1)
    with thalweg.File(path, "w+", comm=comm) as f:
        f.write_array(local, start=(first, 0), shape=whole.shape, halo=1)
        back = np.zeros((2, 8))
        f.read_array(back, start=(comm.rank, 0), shape=whole.shape)
        np.testing.assert_array_equal(back, whole[comm.rank : comm.rank + 2])
        assert f.size() == whole.nbytes
        f.seek(0, 2)
        f.write_all(b"%d" % comm.rank * (comm.rank + 1))
        order = bytearray(f.size() - whole.nbytes)
        f.read_at_all(order, whole.nbytes)
        assert order == b"".join(b"%d" % rank * (rank + 1) for rank in range(comm.size)), order
        requests = [f.iwrite_at_all(np.full(3, comm.rank, "u1"), 3 * (i * comm.size + comm.rank)) for i in range(5)]
        assert [request.wait() for request in requests] == [3] * 5
        f.set_view(thalweg.view.strided(5, 3, 3 * comm.size), 3 * comm.rank)
        mine = np.zeros(15, "u1")
        assert f.read_view_all(mine) == 15 and (mine == comm.rank).all()
        f.set_view()
        # Wrong arguments of one rank are a failure of all, also of those that only start an access.
        is_last = comm.rank == comm.size - 1
        for call in (lambda: f.write_array(local, halo=9 if is_last else 1, start=(first, 0), shape=whole.shape),
                     lambda: f.write_array(local, order="K" if is_last else "C", halo=1, start=(first, 0), shape=whole.shape),
                     lambda: f.write_array(local, halo=2**70 if is_last else 1, start=(first, 0), shape=whole.shape),
                     lambda: f.write_array(local, order="\udc80" if is_last else "C", halo=1, start=(first, 0), shape=whole.shape),
                     lambda: f.seek(0, 2**40 if is_last else 0),
                     lambda: f.read_at_all(bytes(3) if is_last else bytearray(3), 0),
                     lambda: f.iread_at_all(bytes(3) if is_last else bytearray(3), 0).wait(),
                     lambda: f.seek(2**70 if is_last else 0), lambda: f.truncate(2**70 if is_last else 0),
                     lambda: f.set_view(thalweg.view.contiguous(1), 2**70 if is_last else 0)):
            try:
                call()
            except (thalweg.InvalidArgument, thalweg.OutOfRange):
                continue
            raise AssertionError("wrong arguments of one rank")
    comm.Barrier()
    f = thalweg.File(path, "r", comm=comm)
    try:
        if comm.rank == 0:
            f.abandon()
        f.close()
        assert comm.rank == 0
    except thalweg.NotClosed:
        assert comm.rank > 0
    comm.Barrier()


def ranks_may_have_no_vps():
    path = folder / "few.vp"
    with thalweg.vp.open(path, "w+", shape=(2,), comm=comm) as f:
        f.write(np.full((*f.local_shape, 3), 1.5))
        f.seek(8)
        a, counts = f.read(fill=-1.0, return_counts=True)
        assert a.shape == (*f.local_shape, 3) and (counts == 2).all() and (a[..., 2] == -1).all()
    comm.Barrier()


def dtypes_are_stored():
    """One rank without data learns the dtype of the others; two dtypes are none."""
    path, shape = folder / "typed.vp", (comm.size, 4)
    with thalweg.vp.open(path, "w", shape=shape, comm=comm) as f:
        f.write(np.full((*f.local_shape, 2), comm.rank, "f4"))
        assert f.dtype == np.float32
    with thalweg.vp.open(path, comm=comm, box=np.s_[comm.rank : comm.rank + 1, :]) as f:
        a = f.read()
        assert a.dtype == np.float32 and a.shape == (1, 4, 2) and (a == comm.rank).all()
        f.seek(0)
        try:
            f.read("i4" if comm.rank == 0 else "f4", 2)
            raise AssertionError("read")
        except thalweg.InvalidArgument as error:
            assert "float32" in str(error), str(error)
    comm.Barrier()
    with thalweg.vp.open(path, "a", comm=comm) as f:
        f.write(np.zeros(f.local_shape, "i8" if comm.rank == 0 else "f4"))
    with thalweg.vp.open(path, comm=comm) as f:
        assert f.dtype is None
        f.read("u1", 8)
    comm.Barrier()


def failures_are_those_of_all():
    """An error of one rank is raised on all, and the next access succeeds."""
    shape, last = (4, comm.size), comm.size - 1
    path = folder / "failures.vp"
    try:
        thalweg.vp.open(path, "w", shape=shape if comm.rank < last else (4, -1), comm=comm)
        raise AssertionError("opened")
    except thalweg.InvalidArgument:
        pass
    for wrong in ({"shape": (4, 2**70)}, {"mode": "w\0"}, {"path": "a\0b"}, {"hints": "\udc80"}):
        try:
            thalweg.vp.open(**{"path": path, "mode": "w", "shape": shape, "comm": comm, **(wrong if comm.rank == last else {})})
            raise AssertionError("opened")
        except thalweg.InvalidArgument:
            pass
    try:
        thalweg.vp.open(path if comm.rank < last else 1.5, "w", shape=shape, comm=comm)
        raise AssertionError("opened")
    except (thalweg.InvalidArgument, TypeError) as error:
        assert isinstance(error, TypeError) == (comm.rank == last)
    with thalweg.vp.open(path, "w+", shape=shape, comm=comm) as f:
        a = np.arange(4.0 * comm.size).reshape(shape)
        try:
            f.write(a[f.local] if comm.rank < last else np.zeros(99))
            raise AssertionError("written")
        except thalweg.InvalidArgument as error:
            assert "(99,)" in str(error), str(error)
        f.write(a[f.local])
        try:
            f.read(float if comm.rank < last else object)
            raise AssertionError("read")
        except (thalweg.InvalidArgument, TypeError) as error:
            assert "Python objects" in str(error), str(error)
        f.seek(0)
        np.testing.assert_array_equal(f.read(float), a[f.local])
        try:
            f.read(float, 1 if comm.rank < last else 2**62)
            raise AssertionError("read")
        except thalweg.InvalidArgument:
            pass
        f.seek(0)
        np.testing.assert_array_equal(f.read(float), a[f.local])
        try:
            f.write_ragged(np.zeros(0), np.zeros(f.local_shape, int) - (comm.rank == last))
            raise AssertionError("written")
        except thalweg.InvalidArgument as error:
            assert "below 0" in str(error), str(error)
        # The VPs of the last rank request one item more: all ranks get EndOfStream.
        lengths = np.full(f.local_shape, int(comm.rank == last))
        f.write_ragged(np.ones(int(lengths.sum())), lengths)
        f.seek(0)
        try:
            f.read(float, 2)
            assert comm.size == 1
        except EOFError as error:
            assert comm.size > 1 and (error.counts == 1 + lengths).all()
        if comm.size > 1:
            other = (0, 0) if comm.rank > 0 else (3, last)
            try:
                f[other]
                raise AssertionError("indexed")
            except thalweg.BadIndex as error:
                assert "another task" in str(error), str(error)
    try:
        thalweg.vp.open(folder / "nothing.vp", comm=comm)
        raise AssertionError("opened")
    except FileNotFoundError:
        pass


def a_rank_that_raises_certifies_nothing():
    """abandon() waits for no rank. The others are in an MPI call of their own, then in the close, which fails on all of
    them."""
    if comm.size == 1:
        return
    path = folder / "half.vp"
    for leaver in (0, comm.size - 1):
        raised = None
        try:
            with thalweg.vp.open(path, "w", shape=(2, comm.size), comm=comm) as f:
                f.write(np.full(f.local_shape, 1.5))
                f.flush()
                if comm.rank == leaver:
                    raise RuntimeError("half of it")
                comm.Barrier()
        except RuntimeError as error:
            raised = error
            comm.Barrier()
        except thalweg.NotClosed as error:
            raised = error
            assert f"task {leaver} has abandoned it" in str(error), str(error)
        assert isinstance(raised, RuntimeError) == (comm.rank == leaver), raised
        comm.Barrier()
        if comm.rank == 0:
            try:
                thalweg.vp.open(path)
                raise AssertionError("opened")
            except thalweg.NotClosed:
                pass
            thalweg.vp.repair(path)
            with thalweg.vp.open(path) as f:
                assert (f.read(float) == 1.5).all()
        comm.Barrier()


def boxes_may_be_given():
    path = folder / "boxes.vp"
    columns = np.s_[:, 2 * comm.rank : 2 * comm.rank + 2]
    a = np.arange(3 * 2 * comm.size).reshape(3, -1)
    with thalweg.vp.open(path, "w", shape=a.shape, comm=comm, box=columns) as f:
        assert f.local_shape == (3, 2)
        f.write(a[columns])
        assert f.mode == ("NB" if comm.size == 1 else f.mode)
    with thalweg.vp.open(path, comm=comm) as f:
        np.testing.assert_array_equal(f.read(int), a[f.local])
    # All VPs on the last rank: the others have none, and make the calls.
    whole = np.s_[:, :] if comm.rank == comm.size - 1 else np.s_[:0, :0]
    with thalweg.vp.open(path, shape=a.shape, comm=comm, box=whole) as f:
        np.testing.assert_array_equal(f.read(int), a[whole])
        values, lengths = f.read_ragged()
        assert values.size == 0 and not lengths.any()


for seed in range(10 if comm.size < 3 else 4):
    program_of_all(seed)
failures_are_those_of_all()
a_rank_that_raises_certifies_nothing()
boxes_may_be_given()
multifile_of_all()
file_of_all()
dtypes_are_stored()
ranks_may_have_no_vps()
everything = comm.gather(MPI.Get_library_version().split(",")[0], root=0)
if comm.rank == 0:
    print(f"passed on {comm.size} ranks: {everything[0].splitlines()[0]}")
