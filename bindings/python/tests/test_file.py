"""The shared file, requests and views."""

import asyncio
import os

import numpy as np
import pytest

import thalweg
from thalweg import File, view


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "field.dat")


def test_a_file_is_plain_bytes(path):
    with File(path, "w+") as f:
        assert f.write_all(b"one ") == 4 and f.write_all(b"two ") == 4
        assert f.write_at_all(np.frombuffer(b"XYZ", "u1"), 12) == 3
        assert f.write_at(b"....", 8) == 4
        back = bytearray(20)
        assert f.read_at(back, 0) == 15 and bytes(back[:15]) == b"one two ....XYZ"
        assert f.seek(-3, 2) == 12
        word = np.zeros(3, "S1")
        assert f.read_all(word) == 3 and word.tobytes() == b"XYZ"
        assert f.size() == f.end() == 15
        assert "direct" in f.last_plan or f.last_plan
        f.truncate(4)
        f.preallocate(100)
        f.sync()
        assert f.size() >= 4
    assert open(path, "rb").read(4) == b"one "
    with File(path, "a") as f:
        end = f.size()
        f.write_all(b"more")
    assert os.path.getsize(path) == end + 4
    with pytest.raises(thalweg.Exists):
        File(path, "x")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("halo", [0, 2, (1, 0, 2), ((0, 1), (2, 0), (0, 0))])
def test_parts_of_an_array(path, order, halo):
    whole = np.arange(6 * 7 * 8, dtype="i4").reshape(6, 7, 8)
    pairs = [(halo, halo)] * 3 if isinstance(halo, int) else [(one, one) if isinstance(one, int) else one for one in halo]
    with File(path, "w") as f:
        for first, last in ((0, 3), (3, 6)):
            local = np.pad(whole[first:last], pairs, constant_values=-1)
            assert f.write_array(local, start=(first, 0, 0), shape=whole.shape, halo=halo, order=order, offset=16) == (
                4 * (last - first) * 56)
    assert np.array_equal(np.fromfile(path, "i4", offset=16).reshape(whole.shape, order=order), whole)
    with File(path) as f:
        for memory in ("C", "F"):  # copied where it lies in the other order
            local = np.full([2 + sum(pairs[0]), 3 + sum(pairs[1]), 5 + sum(pairs[2])], -7, "i4", order=memory)
            assert f.read_array(local, start=(1, 2, 3), shape=whole.shape, halo=halo, order=order, offset=16) == 4 * 30
            expected = np.pad(whole[1:3, 2:5, 3:8], pairs, constant_values=-7)
            assert np.array_equal(local, expected)


def test_arrays_of_any_kind(path):
    for a in (np.arange(5.0), np.array(7, "u2"), np.zeros((0, 3)), np.arange(24).reshape(4, 6)[::2, ::3],
              np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]), np.array(["2026-01-01"], "M8[D]")):
        with File(path, "w+") as f:
            assert f.write_array(a) == a.nbytes
            back = np.zeros_like(a, order="C")
            assert f.read_array(back) == a.nbytes
        assert np.array_equal(back, a)
    with File(path, "w+") as f:
        f.write_array(np.arange(12.0).reshape(3, 4))
        columns = np.zeros((3, 8))[:, ::2]
        f.read_array(columns)
        assert np.array_equal(columns, np.arange(12.0).reshape(3, 4))


def test_requests(path):
    with File(path, "w+") as f:
        data = [np.full(1000, i, "u1") for i in range(40)]
        requests = [f.iwrite_at(a, 1000 * i) for i, a in enumerate(data)]
        assert [request.wait() for request in requests] == [1000] * 40
        assert requests[0].done() and requests[0].wait() == 1000
        back = np.zeros(40000, "u1")
        request = f.iread_at(back, 0)
        while not request.done():
            pass
        assert np.array_equal(back, np.concatenate(data))
        grid = np.zeros((40, 1000), "u1")
        f.iread_array(grid).wait()
        assert np.array_equal(grid, np.stack(data))
        f.iwrite_array(grid[:, ::-1]).wait()  # copied, kept until it is written
        f.iwrite_at(np.frombuffer(b"dropped", "u1"), 40000)  # nobody waits: the close does

        async def both():
            one, other = np.zeros(7, "u1"), np.zeros(3, "u1")
            return await asyncio.gather(f.iread_at(one, 0), f.iread_at(other, 5))

        assert asyncio.run(both()) == [7, 3]
    content = np.fromfile(path, "u1")
    assert np.array_equal(content[:40000].reshape(40, 1000), grid[:, ::-1]) and content[40000:].tobytes() == b"dropped"


def test_a_failure_is_told_by_every_call_of_a_request(path):
    open(path, "wb").close()
    with File(path) as f:
        request = f.iwrite_at(b"x", 0)
        for _ in range(2):
            with pytest.raises(thalweg.WrongMode):
                request.wait()
        with pytest.raises(thalweg.WrongMode):
            request.done()


def test_views(path):
    grid = np.arange(48, dtype="i4").reshape(6, 8)
    with File(path, "w+") as f:
        f.set_view(view.subarray((6, 8), (2, 1), (3, 4), "i4"))
        f.write_view_all(np.ascontiguousarray(grid[2:5, 1:5]))
        assert f.seek_view(0, 1) == 48 and f.view_offset(4) == 4 * (2 * 8 + 2)
        f.set_view()
        f.truncate(grid.nbytes)
        back = np.zeros_like(grid)
        f.read_at_all(back, 0)
        expected = np.zeros_like(grid)
        expected[2:5, 1:5] = grid[2:5, 1:5]
        assert np.array_equal(back, expected)

        f.write_array(grid)
        columns = np.zeros((6, 2), "i4")
        f.set_view(view.strided(6, 2, 32, "i4"), 8)
        f.read_view(columns)
        assert np.array_equal(columns, grid[:, 2:4])
        some = np.zeros(5, "i4")
        f.set_view(view.indexed([0, 40, 100], [1, 2, 2], "i4"))
        assert f.iread_view(some).wait() == 20
        assert some.tolist() == [0, 10, 11, 25, 26]
        f.set_view(view.distributed((6, 8), (2, 2), 3, "i4", distribution=("block", "cyclic")))
        mine = np.zeros((3, 4), "i4")
        f.read_view(mine)
        assert np.array_equal(mine, grid[3:, 1::2])
        pair = view.struct([0, 8], [1, 2], ["i2", view.contiguous(2, "u1")])
        assert (pair.size, pair.extent) == (6, 12)
        assert view.resized(pair, 32).extent == 32
        f.set_view(np.dtype("f8"))


def test_bad_input_names_the_way_out(path):
    a = np.zeros((3, 4))
    with File(path, "w+") as f:
        for call, words in [
                (lambda: f.write_array(a, start=(2, 0), shape=(4, 4)), r"dims\[0\]"),
                (lambda: f.write_array(a, halo=2), r"dims\[0\]"),
                (lambda: f.write_array(a, halo=(1,)), "1 entries"),
                (lambda: f.write_array(a, order="K"), "'C' or 'F'"),
                (lambda: f.write_at(a[:, ::2], 0), "ascontiguousarray"),
                (lambda: f.read_at(b"constant", 0), "not writable"),
                (lambda: f.read_at_all(bytes(3), 0), "not writable"),
                (lambda: f.iread_array(a.T), "read_array copies it"),
                (lambda: f.write_at(a, -1), "-1"),
                (lambda: f.seek(-1), "-1"),
                (lambda: f.seek(0, 2**40), "0, 1 or 2"),
                (lambda: f.write_array(np.ma.masked_array(a, a == 0)), "mask"),
                (lambda: f.write_array(np.array(1.0), halo=1), "no dimension"),
                (lambda: f.truncate(-1), "-1"),
                (lambda: f.preallocate(-1), "-1"),
                (lambda: f.set_view(view.indexed([0, 0], [4, 4])), "twice"),
                (lambda: view.subarray((2,), (0, 0), (1,)), "different lengths"),
                (lambda: view.strided(2, 1, -8), "-8"),
                (lambda: view.distributed((8,), (2,), 0, distribution="odd"), "'block'"),
        ]:
            with pytest.raises(thalweg.InvalidArgument, match=words):
                call()
        for call in (lambda: f.write_at(a, 2**63), lambda: f.write_array(a, halo=2**70)):
            with pytest.raises(thalweg.OutOfRange):
                call()
        for call in (lambda: f.write_at(np.array([None]), 0), lambda: f.read_at(np.array([None]), 0)):
            with pytest.raises(TypeError, match="Python objects"):
                call()
        with pytest.raises(TypeError):
            f.write_array(np.array([None]))
        with pytest.raises(TypeError):
            f.read_array([1.0])
        assert f.size() == 0
    with pytest.raises(thalweg.InvalidArgument, match="closed"):
        f.write_all(b"")
    with pytest.raises(thalweg.NotFound):
        File(path + "/none/there")
    with pytest.raises(thalweg.UnknownHint):
        File(path, "w", hints={"nonsense": 1})


def test_an_exception_abandons(path):
    with pytest.raises(RuntimeError):
        with File(path, "w") as f:
            f.write_all(b"kept")
            raise RuntimeError
    assert f.closed and "closed" in repr(f)
    assert open(path, "rb").read() == b"kept"


def test_memory_of_a_file_that_is_given_up_stays_until_it_is_read(path):
    with open(path, "wb") as out:
        out.write(bytes(64 << 20))
    with pytest.raises(RuntimeError):
        with File(path) as f:
            for _ in range(6):
                f.iread_at(np.ones(64 << 20, "u1"), 0)  # nobody keeps request or memory
            raise RuntimeError
    others = [np.full(64 << 20, 7, "u1") for _ in range(6)]  # in the place of memory that was freed
    while not all(request._is_over() for request in thalweg.file._outlived):
        pass
    assert all((other == 7).all() for other in others)
