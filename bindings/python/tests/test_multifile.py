"""Multifiles: ordinary files, names, arrays, durability."""

import asyncio
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import thalweg
from thalweg import Multifile


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "dump.tw")


def test_logical_files_are_ordinary_files(path):
    with Multifile(path, "w") as mf:
        with mf.mine as out:
            assert out.write(b"line 1\nline 2\n") == 14
        with io.TextIOWrapper(mf.add("notes/text"), "utf-8") as out:
            print("grün", file=out)
        pickle.dump({"a": 1}, mf.add("pickled"))
        np.save(mf.add("array.npy"), np.arange(5))
        mf.add("table.json").write(json.dumps([1, 2]).encode())
        with zipfile.ZipFile(mf.add("all.zip"), "w") as archive:
            archive.writestr("inside", "zipped")
    with Multifile(path) as mf:
        assert mf[0].readlines() == [b"line 1\n", b"line 2\n"]
        assert io.TextIOWrapper(mf["notes/text"], "utf-8").read() == "grün\n"
        assert pickle.load(mf["pickled"]) == {"a": 1}
        assert np.array_equal(np.load(mf["array.npy"]), np.arange(5))
        assert json.load(mf["table.json"]) == [1, 2]
        assert zipfile.ZipFile(mf["all.zip"]).read("inside") == b"zipped"


def test_a_distributed_array_is_no_logical_file(path):
    with Multifile(path, "w") as mf:
        mf.save("u", np.zeros((2, 3)), start=(0, 0), shape=(2, 3))
    with Multifile(path) as mf:
        assert "u" in mf
        with pytest.raises(thalweg.NotFound, match="array in parts: load"):
            mf["u"]
        assert mf.load("u").shape == (2, 3)


def test_files_have_positions_of_their_own(path):
    with Multifile(path, "w", n_logical=2, ranks=[0, 1]) as mf:
        one, other = mf[0], mf[1]
        for i in range(100):
            one.write(b"%3d" % i)
            other.write(b"%4d" % i)
        one.seek(0)
        one.write(b"xxx")
    with Multifile(path) as mf:
        one, other = mf[0], mf[1]
        assert one.read(6) == b"xxx  1"
        assert other.read() == b"".join(b"%4d" % i for i in range(100))
        assert one.seek(-3, io.SEEK_END) == 297
        assert one.read() == b" 99" and one.read() == b""
        assert [entry.nbytes for entry in mf] == [300, 400]


def test_a_file_for_writing_is_handed_out_again(path):
    with Multifile(path, "w") as mf:
        for i in range(3):
            mf.mine.write(b"step %d\n" % i)
        assert mf.mine is mf[0]
        mf[0].close()
        mf.mine.write(b"end")
        with pytest.raises(IndexError, match="ranks begin at 0"):
            mf[-2]
    with Multifile(path) as mf:
        assert mf.mine.read() == b"step 0\nstep 1\nstep 2\nend"
    with Multifile(path, "w", n_logical=0) as mf:
        with pytest.raises(IndexError, match="serves no logical file"):
            mf.mine


def test_a_failure_that_nobody_heard_of_fails_the_close(path):
    mf = Multifile(path, "w")
    out = mf.add("far")
    out.seek(2**63 - 10)
    out.write(b"x" * 100)
    with pytest.raises(OverflowError):
        out.close()
    mf.add("near").write(b"stored")
    with pytest.raises(OverflowError):
        mf.close()
    with pytest.raises(thalweg.NotClosed):
        Multifile(path)


def test_listing(path):
    with Multifile(path, "w", n_logical=0) as mf:
        for name in ("run1/a", "run1/b", "run2/a"):
            mf.add(name, permissions=0o100640).write(name.encode())
        mf.add("u", part=4)
        mf.add(b"\xff")
    with Multifile(path) as mf:
        assert len(mf) == 5
        assert list(mf.names("run1/")) == ["run1/a", "run1/b"]
        assert [entry.name for entry in mf][:3] == ["run1/a", "run1/b", "run2/a"]
        entry = next(mf.entries("run2/"))
        assert (entry.rank, entry.nbytes, entry.permissions, entry.part) == (2, 6, 0o100640, None)
        assert next(mf.entries("u")).part == 4 and mf.find("u", 4) == 3
        assert mf[b"\xff"].read() == b"" and os.fsencode(mf[b"\xff"].name) == b"\xff"
        assert "run1/a" in mf and "run1" not in mf
        with pytest.raises(thalweg.NotFound, match="run3"):
            mf["run3"]
        with pytest.raises(FileNotFoundError):
            mf[5]


def test_of_one_name_the_last_is_found(path):
    with Multifile(path, "w") as mf:
        mf.add("log").write(b"old")
        mf.add("log").write(b"new")
    with Multifile(path) as mf:
        assert mf["log"].read() == b"new"
        assert [mf[entry.rank].read() for entry in mf.entries("log")] == [b"old", b"new"]
    with pytest.raises(thalweg.Exists):
        with Multifile(path, "w", hints={"duplicates": "error"}) as mf:
            mf.add("log")
            mf.add("log")


def test_append(path):
    with Multifile(path, "w") as mf:
        mf.mine.write(b"one")
    with Multifile(path, "a") as mf:
        mf.mine.write(b"two")
        mf.add("more").write(b"three")
    with Multifile(path) as mf:
        assert mf[0].read() == b"onetwo" and mf["more"].read() == b"three"
        assert mf.info()["sessions"] == 2
    with pytest.raises(thalweg.Exists):
        Multifile(path, "x")


def test_attributes_and_info(path):
    with Multifile(path, "w", hints="chunk_bytes=1MiB") as mf:
        mf.attributes["unit"] = "m/s"
        mf.attributes["raw"] = b"\0\1"
        assert mf.attributes["unit"] == b"m/s"
        mf.set_name(0, "first")
    with Multifile(path) as mf:
        assert mf.attributes["raw"] == b"\0\1" and "unit" in mf.attributes and "none" not in mf.attributes
        assert {"unit", "raw", "created"} <= set(mf.attributes)
        assert mf.info()["closed"] and mf.info()["n_logical"] == 1 and mf.info()["n_physical"] == 1
        assert "1 physical file" in mf.info()["strategy"]
        assert mf["first"].read() == b""
        assert "n_logical" in mf._repr_html_() and "mode 'r'" in repr(mf)
        assert 5 not in mf.attributes
        with pytest.raises(thalweg.WrongMode):
            mf.attributes["unit"] = "s"
        with pytest.raises(TypeError, match="str or bytes"):
            mf.attributes["step"] = 5
        with pytest.raises(thalweg.WrongMode):
            del mf.attributes["unit"]
    assert "closed" in repr(mf) and "closed" in mf._repr_html_()


@pytest.mark.parametrize("array", [
    np.arange(24.0).reshape(2, 3, 4),
    np.asfortranarray(np.arange(24, dtype="<i2").reshape(4, 6)),
    np.arange(20)[::-3],
    np.array(7.5),
    np.zeros((3, 0)),
    np.array(["a", "bcd"]),
    np.array([(1, 2.5)], dtype=[("id", "i4"), ("x", "f8")]),
    np.array([1 + 2j, 3], ">c8"),
    np.array(["2026-01-02", "NaT"], "M8[D]"),
    np.array([True, False]),
    np.zeros(2, [(f"field {i} of a table with a long name", "f4") for i in range(150)]),
    np.zeros(2, [("名", "i2")]),
    np.zeros(3, "V0"),
], ids=lambda array: f"{str(array.dtype)[:20]}{array.shape}")
def test_arrays_come_back(path, array):
    with Multifile(path, "w") as mf:
        mf.save("a", array)
    with Multifile(path) as mf:
        found = mf.load("a")
        assert found.dtype == array.dtype and found.shape == array.shape
        assert np.array_equal(found, array, equal_nan=array.dtype.kind in "fcM")
        again = np.load(mf["a"])
        assert np.array_equal(again, array, equal_nan=array.dtype.kind in "fcM")
        assert again.flags.f_contiguous == found.flags.f_contiguous


KEYS = [Ellipsis, 3, -1, slice(2, 5), slice(None, None, -2), (slice(None), 1), (Ellipsis, 0), (1, 2, 3), (slice(4, 4),),
        (slice(1, 9, 3), slice(0, 2), slice(5, None, -1)), (2, Ellipsis), ()]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_part_of_an_array_is_as_numpy_has_it(path, key, order):
    array = np.arange(9 * 4 * 70, dtype=np.int32).reshape(9, 4, 70).copy(order)
    with Multifile(path, "w") as mf:
        mf.save("a", array)
    with Multifile(path) as mf:
        assert np.array_equal(mf.load("a", key), array[key])


def test_a_part_reads_what_it_needs(path, monkeypatch):
    array = np.arange(64 * 4096, dtype=np.float64).reshape(64, 4096)
    with Multifile(path, "w") as mf:
        mf.save("a", array)
    with Multifile(path) as mf:
        moved = []
        core = mf._core

        class Counting:
            def __getattr__(self, name):
                return getattr(core, name)

            def read_at(self, rank, at, buffer):
                moved.append(len(memoryview(buffer)))
                return core.read_at(rank, at, buffer)

        mf._core = Counting()
        assert np.array_equal(mf.load("a", slice(10, 12)), array[10:12])
        mf._core = core
    assert sum(moved) <= 2 * 4096 * 8 + 8192


def test_wrong_arrays(path):
    with Multifile(path, "w") as mf:
        mf.add("text").write(b"no array")
        with pytest.raises(thalweg.InvalidArgument, match="objects"):
            mf.save("o", np.array([None]))
        with pytest.raises(thalweg.InvalidArgument, match="does not lie in"):
            mf.save("p", np.zeros((2, 2)), start=(0, 1), shape=(2, 2))
        mf.save("a", np.zeros((2, 3)))
    with Multifile(path) as mf:
        with pytest.raises(thalweg.InvalidArgument, match="no array"):
            mf.load("text")
        with pytest.raises(thalweg.NotFound):
            mf.load("none")
        for key in (5, (0, 0, 0), (Ellipsis, Ellipsis), True, None, [0], np.array([0, 1]), "x", 1.0):
            with pytest.raises(IndexError, match="a"):
                mf.load("a", key)
        assert mf.load("a", (0, 0)).shape == () and isinstance(mf.load("a", (0, 0)), np.ndarray)
        with pytest.raises(thalweg.InvalidArgument, match="mask"):
            Multifile(path + "2", "w").save("m", np.ma.masked_array([1], [True]))


def npy(shape, data, extra=b""):
    """An .npy file with this shape in its header, and these bytes."""
    words = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\1\0" + len(words).to_bytes(2, "little") + words + data + extra


def place(**changes):
    words = json.dumps({"start": [0], "shape": [2], "parts": 1, "session": 1, **changes}).encode()
    return words + len(words).to_bytes(8, "little") + b"TWpart1\n"


@pytest.mark.parametrize("stored", [
    npy((2**62, 4), b""), npy((-2, 4), bytes(64)), npy((3,), bytes(16)), npy((2,), bytes(16))[:20],
    npy((2,), bytes(16), place(start=[-1])), npy((2,), bytes(16), place(start=[1])), npy((2,), bytes(16), place(parts=0)),
    npy((2,), bytes(16), place(shape="x")), npy((2,), bytes(16), b"{" + (1).to_bytes(8, "little") + b"TWpart1\n"),
], ids=range(9))
def test_arrays_that_are_damaged_are_refused(path, stored):
    with Multifile(path, "w") as mf:
        mf.add("a").write(stored)
    with Multifile(path) as mf:
        with pytest.raises((thalweg.Corrupt, thalweg.InvalidArgument)):
            mf.load("a")


def test_parts_of_different_saves_are_not_mixed(path):
    with Multifile(path, "w") as mf:
        mf.save("a", np.arange(2), start=(0,), shape=(4,))
        with pytest.raises(thalweg.InvalidArgument, match="has saved its part"):
            mf.save("a", np.arange(2), start=(2,), shape=(4,))
        mf.save("b", np.arange(3))
    with Multifile(path, "a") as mf:
        mf.save("a", np.arange(4), start=(0,), shape=(4,))
        mf.save("b", np.arange(5), start=(0,), shape=(5,))
        out = mf.add("c", part=0)
        np.save(out, np.arange(2))
        out.write(place(parts=2))
    with Multifile(path) as mf:
        assert np.array_equal(mf.load("a"), np.arange(4))  # the last one
        assert np.array_equal(mf.load("b"), np.arange(5))
        assert "a" in mf and list(mf.names("a")) == ["a", "a"]
        with pytest.raises(thalweg.Corrupt, match="part 1 of 2 is missing"):
            mf.load("c")


def test_a_column_takes_little_memory(path):
    import tracemalloc
    array = np.arange(2048 * 2048, dtype="f8").reshape(2048, 2048)  # 32 MiB
    with Multifile(path, "w") as mf:
        mf.save("a", array)
    with Multifile(path) as mf:
        tracemalloc.start()
        column = mf.load("a", (slice(None), 7))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(column, array[:, 7]) and peak < 10 << 20


def test_a_distributed_array_of_one_task(path):
    array = np.arange(12).reshape(3, 4)
    with Multifile(path, "w") as mf:
        mf.save("a", array[1:, 1:3], start=(1, 1), shape=(3, 4))
    with Multifile(path) as mf:
        expected = np.zeros_like(array)
        expected[1:, 1:3] = array[1:, 1:3]
        assert np.array_equal(mf.load("a"), expected)
        assert np.array_equal(mf.load("a", (2, slice(0, 2))), expected[2, :2])
        assert np.array_equal(np.load(mf[mf.find("a", 0)]), array[1:, 1:3])


def test_an_exception_abandons(path):
    with pytest.raises(ZeroDivisionError):
        with Multifile(path, "w") as mf:
            mf.mine.write(b"kept")
            mf.flush()
            1 / 0
    assert mf.closed
    with pytest.raises(thalweg.NotClosed, match="repair"):
        Multifile(path)
    with Multifile(path, recover=True) as mf:
        assert mf[0].read() == b"kept" and mf.info()["recovered"]


def test_flush_survives_the_death_of_the_process(path):
    program = ("import os, signal, sys, thalweg\n"
               "mf = thalweg.Multifile(sys.argv[1], 'w')\n"
               "out = mf.add('log'); out.write(b'before'); mf.flush(); out.write(b'after')\n"
               "os.kill(os.getpid(), signal.SIGKILL)")
    subprocess.run([sys.executable, "-c", program, path], check=False)
    with Multifile(path, recover=True) as mf:
        assert mf["log"].read() == b"before"


def test_what_is_left_open_is_named_and_flushed(path):
    program = "import sys, thalweg\nmf = thalweg.Multifile(sys.argv[1], 'w')\nmf.mine.write(b'abc')"
    ended = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True, text=True)
    assert "was not closed; `thalweg repair" in ended.stderr
    with Multifile(path, recover=True) as mf:
        assert mf[0].read() == b"abc"


def test_requests(path):
    with Multifile(path, "w") as mf:
        out = mf.mine
        out.write(b"x" * 100000)
        flushed = mf.iflush()
        out.write(b"y")
        synced = mf.isync()
        flushed.wait()

        async def wait():
            await synced

        asyncio.run(wait())
        assert flushed.done() and synced.done()
        mf.sync()
    with Multifile(path) as mf:
        assert mf[0].read() == b"x" * 100000 + b"y"


def test_a_request_that_failed_says_so_whenever_it_is_asked():
    class Failed:  # the library tells a failure once
        asked = 0

        def done(self):
            self.asked += 1
            if self.asked == 1:
                raise thalweg.NoSpace("full")
            return True

        wait = done

    request = thalweg.multifile.Request(Failed())
    assert request._is_over()  # the multifile looks before the program does
    for ask in (request.wait, request.done, request.wait):
        with pytest.raises(thalweg.NoSpace):
            ask()


def test_all_files_are_closed_where_one_fails(path):
    mf = Multifile(path, "w")
    files = [mf.add(name) for name in "abc"]
    for out in files:
        out.write(b"stored")
    files[1].seek(2**63 - 10)
    files[1].write(b"x" * 100)
    with pytest.raises(OverflowError):
        mf.close()
    with Multifile(path, recover=True) as mf:
        assert mf["a"].read() == mf["c"].read() == b"stored"


def test_wrong_calls(path, tmp_path):
    with pytest.raises(thalweg.InvalidArgument, match="n_logical needs ranks"):
        Multifile(path, "w", n_logical=3)
    with pytest.raises(thalweg.UnknownHint):
        Multifile(path, "w", hints={"chunk_byte": 1})
    with pytest.raises(thalweg.InvalidArgument):
        Multifile(path, "q")
    with pytest.raises(thalweg.NotFound):
        Multifile(path)
    with pytest.raises(TypeError):
        Multifile(path, "w", comm=1)
    assert not os.listdir(tmp_path)
    mf = Multifile(path, "w")
    with pytest.raises(thalweg.InvalidArgument, match="part"):
        mf.add("a", part=-1)
    with pytest.raises(thalweg.InvalidArgument, match="null byte"):
        mf.add("a\0b")
    with pytest.raises(thalweg.WrongMode):
        mf.find("a")
    with pytest.raises(io.UnsupportedOperation):
        mf.mine.read()
    out = mf.mine
    mf.close()
    mf.close()
    assert out.closed
    with pytest.raises(thalweg.InvalidArgument, match="closed"):
        mf.flush()
    with Multifile(path) as mf:
        with pytest.raises(thalweg.WrongMode):
            mf.add("a")


def test_an_array_is_read_when_it_is_indexed(path):
    array = np.arange(24.0).reshape(2, 3, 4)
    with Multifile(path, "w") as mf:
        mf.save("a", array, dims=("z", "y", "x"))
        mf.save("parts", np.asfortranarray(array), start=(0, 0, 0), shape=array.shape)
        mf.save("0d", np.array(7), dims=())
        mf.add("text").write(b"no array")
        for wrong in ("xy", ("x", "y"), ("x", "x", "y"), ("x", "y", "a,b"), ("x", "y", ""), ("x", "y", 1)):
            with pytest.raises(thalweg.InvalidArgument, match="dims"):
                mf.save("b", array, dims=wrong)
        with pytest.raises(thalweg.InvalidArgument):  # no attribute has so long a key
            mf.save("b" * 300, array, dims=("z", "y", "x"))
        mf.save("b" * 300, array)
    with Multifile(path) as mf:
        assert list(mf.arrays()) == ["a", "parts", "0d", "b" * 300] and list(mf.arrays("pa")) == ["parts"]
        a = mf.array("a")
        assert (a.name, a.dtype, a.shape, a.ndim, a.size, a.nbytes, len(a)) == ("a", "f8", (2, 3, 4), 3, 24, 192, 2)
        assert a.dims == ("z", "y", "x") and mf.array("parts").dims is None and mf.array("0d").dims == ()
        assert mf.array("b" * 300).dims is None and "'a'" in repr(a)
        for one in (a, mf.array("parts")):
            assert np.array_equal(one, array) and np.array_equal(one[1, ::-2], array[1, ::-2])
        assert np.asarray(a, "i4").dtype == "i4" and np.asarray(mf.array("0d")) == 7
        with pytest.raises(ValueError, match="copy"):
            a.__array__(copy=False)
        with pytest.raises(TypeError, match="no length"):
            len(mf.array("0d"))
        with pytest.raises(thalweg.NotFound):
            mf.array("none")
    with pytest.raises(thalweg.InvalidArgument, match="closed"):
        a[0]


def test_steps_are_read_one_by_one_where_they_are_large(path, monkeypatch):
    array = np.arange(64 * 4096, dtype=np.float64).reshape(64, 4096)
    with Multifile(path, "w") as mf:
        mf.save("a", array)
    with Multifile(path) as mf:
        core, moved = mf._core, []

        class Counting:
            def __getattr__(self, name):
                return getattr(core, name)

            def read_at(self, rank, at, buffer):
                moved.append(len(memoryview(buffer)))
                return core.read_at(rank, at, buffer)

        mf._core = Counting()
        assert np.array_equal(mf.load("a", slice(None, None, -16)), array[::-16])
        mf._core = core
    assert sum(moved) <= 4 * 4096 * 8 + 8192
