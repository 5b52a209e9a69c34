"""thalweg.vp, call by call."""

import io
import subprocess
import sys
import threading

import numpy as np
import pytest
import thalweg


@pytest.fixture
def path(tmp_path):
    return tmp_path / "streams.vp"


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


# ---- Opening and closing


def test_a_file_has_the_shape_it_was_made_with(path):
    with thalweg.vp.open(path, "w", shape=(256, 128)) as f:
        assert f.shape == f.local_shape == (256, 128)
        assert f.local == (slice(0, 256), slice(0, 128))
        assert (f.name, f.open_mode, f.closed) == (str(path), "w", False)
        assert f.writable() and not f.readable() and f.seekable()
    assert f.closed and "closed" in repr(f)
    f.close()
    with thalweg.vp.open(str(path)) as f:
        assert f.shape == (256, 128)
        assert f.readable() and not f.writable()


def test_a_shape_may_be_a_number_and_a_path_bytes(path):
    with thalweg.vp.open(bytes(path), "wb+", shape=7, hints={"block_bytes": 64}) as f:
        assert f.shape == (7,) and f.open_mode == "w+"
    with thalweg.vp.open(path, "rb", hints="cache_bytes=1048576") as f:
        assert f.shape == (7,)


def test_a_box_of_a_task_alone_is_the_shape(path):
    with thalweg.vp.open(path, "w", shape=(4, 3), box=np.s_[:, 0:3]) as f:
        assert f.local_shape == (4, 3)
    with pytest.raises(thalweg.InvalidArgument):
        thalweg.vp.open(path, "w", shape=(4, 3), box=np.s_[:2, :])
    with pytest.raises(thalweg.InvalidArgument, match="step"):
        thalweg.vp.open(path, "w", shape=(4, 3), box=np.s_[::2, :])
    with pytest.raises(thalweg.InvalidArgument, match="slices"):
        thalweg.vp.open(path, "w", shape=(4, 3), box=np.s_[:])


def test_who_forgets_to_close_is_told_and_the_file_is_not_closed(path, capfd):
    f = thalweg.vp.open(path, "w", shape=3)
    f.write(numbers(3))
    stream = f[1]
    stream.seek(8)
    stream.write(b"alone")
    del stream
    with pytest.warns(ResourceWarning, match="unclosed"):
        del f
    assert f"`thalweg repair {path}` makes it readable" in capfd.readouterr().err
    with pytest.raises(thalweg.NotClosed):
        thalweg.vp.open(path)
    thalweg.vp.repair(path)
    with thalweg.vp.open(path) as f:
        assert [f[i].read() for i in range(3)] == [a.tobytes() + b"alone" * (i == 1) for i, a in enumerate(numbers(3))]


def test_what_an_exception_leaves_is_stored_and_not_closed(path):
    with pytest.raises(RuntimeError, match="half of it"):
        with thalweg.vp.open(path, "w", shape=3) as f:
            f.write(numbers(3))
            stream = f[2]
            stream.seek(8)
            stream.write(b"in a buffer")
            raise RuntimeError("half of it")
    assert f.closed
    f.abandon()  # no effect
    with pytest.raises(thalweg.NotClosed):
        thalweg.vp.open(path)
    thalweg.vp.repair(path)
    with thalweg.vp.open(path) as f:
        assert f[2].read() == numbers(3)[2].tobytes() + b"in a buffer"


def test_a_closed_file_and_its_streams_refuse(path):
    f = thalweg.vp.open(path, "w+", shape=3)
    stream = f[0]
    stream.write(b"kept")
    f.close()
    assert stream.closed
    for act in (f.flush, f.tell, f.sizes, lambda: f.read("u1"), lambda: f.write(numbers(3)), lambda: f.seek(0),
                lambda: f[0].read(), lambda: f.mode, f.__enter__):
        with pytest.raises(ValueError, match="closed"):
            act()
    with thalweg.vp.open(path) as f:
        assert f[0].read() == b"kept"


def test_appending_goes_to_the_end_of_each_stream(path):
    with thalweg.vp.open(path, "w", shape=2) as f:
        f.write_ragged(np.frombuffer(b"aabbb", np.uint8), [2, 3])
    with thalweg.vp.open(path, "a") as f:
        assert f.tell().tolist() == [0, 0]
        f.write(np.array([b"+", b"-"]))
        f[1].write(b"!")
    with thalweg.vp.open(path) as f:
        assert (f[0].read(), f[1].read()) == (b"aa+", b"bbb-!")


def test_a_file_that_is_open_at_the_end_of_the_program_is_stored_and_told(path):
    program = "import sys, thalweg; f = thalweg.vp.open(sys.argv[1], 'w', shape=3); f.write([1, 2, 3]); f[0].write(b'x')"
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    assert done.stdout == ""
    assert "was not closed" in done.stderr and f"`thalweg repair {path}`" in done.stderr
    assert done.stderr.count("\n") == 1
    thalweg.vp.repair(path)
    with thalweg.vp.open(path) as f:
        assert (f.sizes() == 8).all()


# ---- Arrays


def test_what_all_write_is_the_plain_array(path):
    a = numbers(6, 5, 3)
    with thalweg.vp.open(path, "w", shape=(6, 5)) as f:
        assert f.write(a) == a.nbytes
        assert (f.mode, f.file_mode, f.transitions) == ("NB", "NB", [])
    np.testing.assert_array_equal(np.fromfile(path).reshape(a.shape), a)
    with thalweg.vp.open(path) as f:
        np.testing.assert_array_equal(f.read(float, 3), a)


def test_any_array_is_a_file_of_streams(path):
    numbers(4, 6).tofile(path)
    with thalweg.vp.open(path, shape=(2, 3)) as f:
        np.testing.assert_array_equal(f.read(float, 2), numbers(4, 6).reshape(2, 2, 3, 2)[0])


def test_one_item_of_each_needs_no_dimension(path):
    with thalweg.vp.open(path, "w+", shape=(3, 2)) as f:
        f.write(numbers(3, 2))
        f.seek(0)
        np.testing.assert_array_equal(f.read(float), numbers(3, 2))
        f.seek(0)
        assert f.read("f8", 1).shape == (3, 2, 1)
        assert f.read("f8", 0).shape == (3, 2, 0)


def test_a_mask_says_who_takes_part(path):
    mask = np.array([[True, False], [False, True]])
    with thalweg.vp.open(path, "w+", shape=(2, 2)) as f:
        assert f.write(numbers(2, 2), where=mask) == 16
        assert (f.mode, f.cause, f.file_mode) == ("IB", "some take no part", "IB")
        assert f.transitions == [(0, "NB", "IB", "some take no part")]
        assert f.tell().tolist() == [[8, 0], [0, 8]]
        f.seek(0)
        a = f.read(float, where=mask, fill=-1)
        assert a.tolist() == [[0, -1], [-1, 3]]
        f.seek(0)
        assert f.write(numbers(2, 2), where=[True, False]) == 16  # broadcasts, as NumPy's
        assert f.tell().tolist() == [[8, 0], [8, 0]]
        assert f.write(numbers(2, 2), where=np.zeros((2, 2), bool)) == 0


@pytest.mark.parametrize("strided", [
    lambda a: a[::2, ::-1], lambda a: a[:, 1:4, ..., 0], lambda a: a[..., ::2], lambda a: a.transpose(1, 0, 2, 3),
    lambda a: a[:, :, 1], lambda a: np.broadcast_to(a[:, :1], a.shape)])
def test_strided_arrays_are_not_copied(strided, path, monkeypatch):
    a = strided(numbers(6, 5, 3, 4))
    monkeypatch.setattr(np, "ascontiguousarray", None)
    with thalweg.vp.open(path, "w+", shape=a.shape[:2]) as f:
        if a.ndim == 4 and not a[0, 0].flags.c_contiguous:
            monkeypatch.undo()  # one VP's data has two strides
        f.write(a)
        f.seek(0)
        np.testing.assert_array_equal(f.read(float, a[0, 0].size).reshape(a.shape), a)


def test_memory_that_is_not_packed_is_collected(path):
    with thalweg.vp.open(path, "w", shape=(4, 4)) as f:
        f.write(numbers(4, 8)[:, ::2])
        assert (f.mode, f.cause) == ("CB", "memory is not packed")


def test_a_record_array_is_its_bytes(path):
    kind = np.dtype([("id", ">i2"), ("x", "f4", 3)])
    a = np.zeros((5, 2), kind)
    a["id"] = np.arange(10).reshape(5, 2)
    with thalweg.vp.open(path, "w+", shape=5) as f:
        f.write(a)
        f.seek(0)
        np.testing.assert_array_equal(f.read(kind, 2), a)
        f.seek(0)
        assert f.read(np.dtype(("u1", 7)), 4, force=True).shape == (5, 4, 7)


def test_the_dtype_is_stored_and_checked(path):
    a = numbers(4, 3, 2).astype("f4")
    with thalweg.vp.open(path, "w", shape=4) as f:
        assert f.dtype is None
        f.write(a)
        f.write(a[::-1])
        assert f.dtype == np.float32
    with thalweg.vp.open(path) as f:
        assert f.dtype == np.float32 and "float32" in f._repr_html_()
        np.testing.assert_array_equal(f.read(), a)  # in the shape that was written
        np.testing.assert_array_equal(f.read(n=6), a[::-1].reshape(4, 6))
        f.seek(20)
        b, counts = f.read(fill=-1, return_counts=True)
        assert b.shape == (4, 3, 2) and (counts == 6).all()
        f.seek(40)
        b, counts = f.read(fill=-1, return_counts=True)
        assert (counts == 2).all() and (b.reshape(4, 6)[:, 2:] == -1).all()
        f.seek(0)
        for read in (lambda: f.read("i4", 6), lambda: f.readinto(np.zeros((4, 6))), lambda: f.read_ragged("u1")):
            with pytest.raises(thalweg.InvalidArgument, match="float32.*force=True"):
                read()
        assert (f.tell() == 0).all()
        assert f.read("i4", 6, force=True).tobytes() == a.tobytes()
        assert f.read_ragged()[0].dtype == np.float32
    with thalweg.vp.open(path, "a") as f:
        assert f.dtype == np.float32
        f.write(a)
        f.write(numbers(4))  # another dtype: the file has none from here on
        assert f.dtype is None
    with thalweg.vp.open(path) as f:
        assert f.dtype is None and f.read("i4").shape == (4,)
        with pytest.raises(thalweg.InvalidArgument, match="pass dtype="):
            f.read()
    with thalweg.vp.open(path, "w", shape=4) as f:
        f.write_ragged(np.arange(3), [1, 0, 2, 0])
    with thalweg.vp.open(path) as f:
        assert f.read_ragged()[0].tolist() == [0, 1, 2]
        with pytest.raises(thalweg.WrongMode):
            f.write(np.zeros(4, "f4"))  # which changes nothing
    with thalweg.vp.open(path) as f:
        assert f.read_ragged()[0].tolist() == [0, 1, 2]
    with open(f"{path}.dtype", "rb") as kept:
        stored = kept.read()
    for mode in ("w", "a"):  # another program writes the file, of which NAME.dtype knows nothing
        with thalweg.vp.open(path, mode, shape=4) as f:
            f.write(np.arange(4.0))
        with open(f"{path}.dtype", "wb") as other:
            other.write(stored)
        with thalweg.vp.open(path) as f:
            assert f.dtype is None and f.read("f8").tolist() == [0, 1, 2, 3]
    with open(f"{path}.dtype", "w") as other:  # another program's file
        other.write("text")
    with thalweg.vp.open(path) as f:
        assert f.dtype is None


def test_a_box_needs_no_shape_where_the_file_has_it(path):
    with thalweg.vp.open(path, "w", shape=(2, 3)) as f:
        f.write(numbers(2, 3))
    with pytest.raises(thalweg.InvalidArgument, match="shape"):
        thalweg.vp.open(path, "w", box=(slice(0, 2), slice(0, 3)))
    with thalweg.vp.open(path, box=(slice(0, 2), slice(0, 3))) as f:
        assert f.read().tolist() == numbers(2, 3).tolist()


def test_a_list_is_an_array(path):
    with thalweg.vp.open(path, "w+", shape=2) as f:
        f.write([[1, 2], [3, 4]])
        f.seek(0)
        assert f.read(int, 2).tolist() == [[1, 2], [3, 4]]


def test_an_end_is_told_with_what_was_there(path):
    with thalweg.vp.open(path, "w+", shape=3) as f:
        f.write_ragged(np.arange(6, dtype=np.int32), [1, 2, 3])
        f.seek(0)
        with pytest.raises(EOFError, match="2 streams") as raised:
            f.read(np.int32, 3)
        assert isinstance(raised.value, thalweg.EndOfStream)
        assert raised.value.counts.tolist() == [1, 2, 3]
        assert raised.value.array.tolist() == [[0, 0, 0], [1, 2, 0], [3, 4, 5]]
        assert f.eof.tolist() == [True, True, False]
        f.seek(0)
        assert not f.eof.any()
        a, counts = f.read(np.int32, 3, fill=-1, return_counts=True)
        assert a.tolist() == [[0, -1, -1], [1, 2, -1], [3, 4, 5]] and counts.tolist() == [1, 2, 3]
        f.seek(0)
        a, counts = f.read("S8", return_counts=True, force=True)  # an incomplete item does not count
        assert a[0] == b"" and counts.tolist() == [0, 1, 1]
        f.seek(0)
        b = np.full((3, 3), 7, np.int32)
        with pytest.raises(EOFError) as raised:
            f.readinto(b)
        assert raised.value.array is b and raised.value.counts.tolist() == [1, 2, 3]
        f.seek(0)
        assert f.readinto(b, return_counts=True).tolist() == [1, 2, 3]


def test_values_may_be_ragged(path):
    lengths = np.array([[3, 0], [1, 2]])
    with thalweg.vp.open(path, "w+", shape=(2, 2)) as f:
        assert f.write_ragged(numbers(6), lengths) == 48
        assert (f.mode, f.cause) == ("IB", "numbers of bytes differ")
        assert f.sizes().tolist() == [[24, 0], [8, 16]]
        f.seek(8, where=lengths > 1)
        values, left = f.read_ragged(float)
        assert values.tolist() == [1, 2, 5] and left.tolist() == [[2, 0], [0, 1]]
        f.seek(0)
        values, left = f.read_ragged(float, [[1, 0], [1, 0]])
        assert values.tolist() == [0, 3] and left.tolist() == [[1, 0], [1, 0]]
        with pytest.raises(EOFError):
            f.read_ragged(float, [[3, 0], [0, 0]])
        f.seek(4)
        values, left = f.read_ragged(float)  # four bytes are left over at the end
        assert left.tolist() == [[2, 0], [0, 1]]
        assert (f.sizes() - f.tell()).tolist() == [[4, -4], [4, 4]]
        f.seek(0)
        values, left = f.read_ragged(np.uint8, force=True)
        assert values.dtype == np.uint8 and left.tolist() == [[24, 0], [8, 16]]


def test_positions_are_set_together_or_apart(path):
    with thalweg.vp.open(path, "w+", shape=(2, 2)) as f:
        f.write(numbers(2, 2, 4))
        f.seek(8)
        f.seek(8, 1)
        assert (f.tell() == 16).all()
        f.seek(np.array([[0, 8], [16, 24]], np.uint16))
        np.testing.assert_array_equal(f.read(float), np.diagonal(numbers(4, 4)).reshape(2, 2))
        assert f.cause == "positions differ"
        f.seek(-8, 2, where=np.eye(2, dtype=bool))
        assert f.tell().tolist() == [[24, 16], [24, 24]]
        f.seek([[1, 2], [3, 4]])
        assert f.tell().tolist() == [[1, 2], [3, 4]]


def test_a_flushed_file_can_be_synced_and_goes_on(path):
    with thalweg.vp.open(path, "w", shape=3) as f:
        f.write(numbers(3))
        f.flush()
        f.sync()
        f.write(numbers(3))
    assert path.stat().st_size == 48


# ---- One VP


def test_a_stream_is_a_binary_file(path):
    with thalweg.vp.open(path, "w+", shape=(4, 3)) as f:
        with f[1, 2] as stream:
            assert isinstance(stream, io.BufferedRandom) and stream.mode == "rb+"
            assert stream.name == f"{path}[1, 2]"
            stream.write(b"one\ntwo\nthree\n")
            assert stream.tell() == 14
            stream.seek(4)
            assert stream.readline() == b"two\n"
            assert stream.seek(-6, 2) == 8 and stream.read(3) == b"thr"
        with io.TextIOWrapper(f[1, 2]) as text:
            assert text.read().split() == ["one", "two", "three"]
        np.save(f[0, 0], numbers(3))
        np.testing.assert_array_equal(np.load(f[0, 0]), numbers(3))
        assert (f.tell() == 0).all()
    with thalweg.vp.open(path) as f:
        assert isinstance(f[1, 2], io.BufferedReader)
        assert list(f[1, 2]) == [b"one\n", b"two\n", b"three\n"]
        assert f[1, 1].read() == b""
        with pytest.raises(io.UnsupportedOperation):
            f[1, 2].write(b"")


def test_a_stream_is_a_text_file(path):
    with thalweg.vp.open(path, "w+", shape=(2, 2)) as f:
        with io.TextIOWrapper(f[0, 1], encoding="utf-8", newline="") as text:
            for n in range(1000):
                print(f"{n:5d} {n / 7:.6f} größer", file=text)
        with io.TextIOWrapper(f[0, 1], encoding="utf-8") as text:
            lines = text.readlines()
            assert len(lines) == 1000 and lines[999].split() == ["999", f"{999 / 7:.6f}", "größer"]
            text.seek(0)
            assert text.readline() == lines[0]
            place = text.tell()
            text.seek(place)
            assert text.readline() == lines[1]
        text = io.TextIOWrapper(f[1, 1], encoding="latin-1")
        text.write("ä" * 3)
        text.flush()
        assert f.sizes().tolist() == [[0, len("".join(lines).encode())], [0, 3]]
        text.close()
    with thalweg.vp.open(path, "a") as f, io.TextIOWrapper(f[1, 1], encoding="latin-1") as text:
        text.write("ö\n")
    with thalweg.vp.open(path) as f, io.TextIOWrapper(f[1, 1], encoding="latin-1") as text:
        assert list(text) == ["äääö\n"]
        with f[1, 1] as stream:  # like getc and ungetc in C
            assert stream.peek()[:1] == stream.read(1) == b"\xe4"
            assert stream.seek(-1, io.SEEK_CUR) == 0


def test_a_stream_that_is_only_written_is_a_writer(path):
    with thalweg.vp.open(path, "w", shape=2) as f:
        stream = f[1]
        assert isinstance(stream, io.BufferedWriter)
        stream.seek(3)
        stream.write(b"x")
        with pytest.raises(io.UnsupportedOperation):
            stream.read()
    with thalweg.vp.open(path) as f:
        assert f[1].read() == b"\0\0\0x"


def test_reading_a_stream_moves_no_position_and_keeps_accesses_fast(path):
    with thalweg.vp.open(path, "w", shape=(8, 8)) as f:
        f.write(numbers(8, 8))
        f.write(numbers(8, 8))
    with thalweg.vp.open(path) as f:
        f.read(float)
        for index in np.ndindex(8, 8):
            assert f[index].read() == 2 * numbers(8, 8)[index].tobytes()
        assert (f.tell() == 8).all() and not f.eof.any()
        np.testing.assert_array_equal(f.read(float), numbers(8, 8))
        assert (f.mode, f.cause) == ("NB", "all take part with the same number of bytes, packed in memory")


def test_reading_a_stream_keeps_the_end_that_was_met(path):
    with thalweg.vp.open(path, "w+", shape=2) as f:
        f.write(numbers(2))
        f.read("u1", return_counts=True, force=True)
        assert f.eof.all()
        assert len(f[0].read()) == 8
        assert f.eof.all() and (f.tell() == 8).all()


def test_indices_are_those_of_an_array(path):
    with thalweg.vp.open(path, "w+", shape=(4, 3)) as f:
        f.write(numbers(4, 3))
        for index in [(1, 2), (-3, -1), (np.int8(1), np.uint64(2)), np.unravel_index(5, f.shape),
                      tuple(np.array([1, 2]))]:
            assert f[index].read() == np.float64(5).tobytes()
        for wrong in [(4, 0), (0, -4), (0,), (0, 0, 0), 0, (0, slice(None)), (0.5, 0), "ab", (np.arange(2), 0), None, ...]:
            with pytest.raises(IndexError) as raised:
                f[wrong]
            assert isinstance(raised.value, thalweg.BadIndex) and isinstance(raised.value, OSError)
        with pytest.raises(TypeError):
            iter(f)


def test_what_a_stream_has_in_its_buffer_is_seen_by_all(path):
    with thalweg.vp.open(path, "w+", shape=2) as f:
        streams = [f[0], f[1]]
        for stream in streams:
            stream.write(b"buffered")
        assert f.sizes().tolist() == [8, 8]
        assert f.read("S8").tolist() == [b"buffered"] * 2
        f.seek(0)
        f.write(np.array([b"ABC", b"DEF"]))
        assert streams[0].read() == b"" and streams[0].seek(0) == 0 and streams[0].read() == b"ABCfered"


def test_threads_have_streams_of_their_own(path):
    with thalweg.vp.open(path, "w+", shape=8) as f:
        def work(i):
            for n in range(200):
                with f[i] as stream:
                    stream.seek(n * 4)
                    stream.write(i.to_bytes(2, "little") + n.to_bytes(2, "little"))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        a = f.read("u2", 400).reshape(8, 200, 2)
        assert (a[..., 0] == np.arange(8)[:, None]).all() and (a[..., 1] == np.arange(200)).all()


# ---- Errors


def test_errors_are_os_errors_with_errno(path, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        thalweg.vp.open(path)
    assert isinstance(raised.value, thalweg.NotFound) and raised.value.errno == 2
    assert raised.value.status == "TW_ERR_NOT_FOUND" and str(path) in str(raised.value)
    for arguments in [("w",), ("w", (0, 3)), ("w", (-1,)), ("q", 3), ("", 3), ("w", (2**40, 2)), ("w", ())]:
        with pytest.raises(ValueError) as raised:
            thalweg.vp.open(path, *arguments)
        assert isinstance(raised.value, thalweg.InvalidArgument) and raised.value.errno in (22, 75)
    with pytest.raises(thalweg.UnknownHint, match="nonsense"):
        thalweg.vp.open(path, "w", 3, hints={"nonsense": 1})
    with pytest.raises(TypeError):
        thalweg.vp.open(path, "w", "abc")
    with pytest.raises(TypeError, match="mpi4py"):
        thalweg.vp.open(path, "w", 3, comm="world")
    assert not any(tmp_path.iterdir())


def test_another_shape_is_refused(path):
    thalweg.vp.open(path, "w", shape=(4, 3)).close()
    with pytest.raises(thalweg.InvalidArgument, match=r"\(4, 3\)"):
        thalweg.vp.open(path, shape=(3, 4))


def test_a_file_that_was_not_closed_is_refused(path):
    program = ("import os, sys, thalweg; f = thalweg.vp.open(sys.argv[1], 'w', shape=3); f.write([1, 2, 3]); f.flush(); "
               "os._exit(0)")
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    with pytest.raises(thalweg.NotClosed, match="repair"):
        thalweg.vp.open(path)


def test_damage_is_told(path):
    with thalweg.vp.open(path, "w", shape=3) as f:
        f.write_ragged(numbers(6), [1, 2, 3])
    meta = path.with_name("streams.vp.meta")
    meta.write_bytes(bytes(meta.stat().st_size))
    with pytest.raises(thalweg.Corrupt):
        thalweg.vp.open(path)


def test_files_refuse_what_they_are_not_open_for(path):
    with thalweg.vp.open(path, "w", shape=3) as f:
        with pytest.raises(io.UnsupportedOperation) as raised:
            f.read("u1")
        assert isinstance(raised.value, thalweg.WrongMode)
    with thalweg.vp.open(path) as f:
        with pytest.raises(thalweg.WrongMode):
            f.write(numbers(3))


def test_wrong_arguments_move_nothing(path):
    with thalweg.vp.open(path, "w+", shape=(2, 3)) as f:
        for act in [lambda: f.write(numbers(3, 2)), lambda: f.write(1.0), lambda: f.write(numbers(2)),
                    lambda: f.write(numbers(2, 3), where=np.ones((2, 3))), lambda: f.write(numbers(2, 3), where=np.ones(2) > 0),
                    lambda: f.write(np.empty((2, 3), "V0")), lambda: f.read("V0"),
                    lambda: f.write_ragged(numbers(5), np.ones((2, 3), int)),
                    lambda: f.write_ragged(numbers(6), np.ones(6, int)),
                    lambda: f.write_ragged(numbers(6), np.ones((2, 3))),
                    lambda: f.write_ragged(numbers(2, 3), np.ones((2, 3), int)),
                    lambda: f.write_ragged(numbers(2), [[-1, 0, 0], [1, 1, 1]]),
                    lambda: f.read(float, -1), lambda: f.readinto(numbers(3)),
                    lambda: f.readinto(np.broadcast_to(0.0, (2, 3))), lambda: f.seek(-1), lambda: f.seek(numbers(2, 3)),
                    lambda: f.seek([1, 2, 3]), lambda: f.seek(0, 7), lambda: f.seek(2**70), lambda: f[0, 0].raw.seek(2**70),
                    lambda: f.read(float, 2**62)]:
            with pytest.raises(thalweg.InvalidArgument):
                act()
        for act in [lambda: thalweg.vp.open("a\0b"), lambda: thalweg.vp.open(path, shape=2**70),
                    lambda: thalweg.vp.open(path, "r\0"), lambda: thalweg.vp.open(path, hints="\udc80")]:
            with pytest.raises(thalweg.InvalidArgument):
                act()
        for act in [lambda: f.write(np.full((2, 3), None)), lambda: f.read(object), lambda: f.read("nonsense"),
                    lambda: f.readinto([[0] * 3] * 2), lambda: f.read(float, 1.5), lambda: f.seek(1.5)]:
            with pytest.raises(TypeError):
                act()
        assert (f.tell() == 0).all() and (f.sizes() == 0).all()


def test_a_failing_disk_is_told_with_its_errno():
    with pytest.raises(OSError) as raised:
        thalweg.vp.open("/proc/nowhere/streams.vp", "w", shape=3)
    assert raised.value.errno


def test_every_class_can_be_raised_and_caught():
    for name in thalweg.errors.__all__:
        error = getattr(thalweg.errors, name)("in words")
        assert isinstance(error, OSError) and str(error) == "in words" and error.errno
