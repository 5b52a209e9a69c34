"""The file system "thalweg" of fsspec, and pandas, zarr and dask on it."""

import os
import pathlib
import pickle
import threading

import numpy as np
import pytest

import thalweg
from thalweg import Multifile

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")

from thalweg.fsspec import MultifileFileSystem  # noqa: E402

if "thalweg" not in fsspec.available_protocols():  # the package is not installed, but found by its path
    fsspec.register_implementation("thalweg", MultifileFileSystem)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "dump.tw")


@pytest.fixture
def filled(path):
    with Multifile(path, "w") as mf:
        mf.mine.write(b"of task 0")
        mf.add("logs/a.txt").write(b"old")
        mf.add("logs/a.txt").write("grün\n".encode())
        mf.add("logs/deep/b.txt").write(b"0123456789")
        mf.add("/etc//odd/").write(b"odd")
        mf.save("u", np.arange(6.0), start=(0,), shape=(6,))
    return path


def open_multifile(path, **options):
    return fsspec.filesystem("thalweg", fo=path, **options)


def test_a_chain_of_urls_reads(filled):
    for url in (f"file://{filled}", filled):
        with fsspec.open(f"thalweg://logs/a.txt::{url}", "rt", encoding="utf-8") as file:
            assert file.read() == "grün\n"
    file = fsspec.open(f"thalweg://logs/deep/b.txt::{filled}").open()  # outlives its file system
    assert file.read(3) == b"012" and file.size == 10
    file.seek(-2, 2)
    assert file.read() == b"89"
    file.close()


def test_it_is_listed_as_a_tree(filled):
    with open_multifile(filled) as fs:
        assert fs.ls("", detail=False) == ["etc", "logs", "rank", "u.part0"]
        assert fs.ls("/logs/", detail=False) == ["logs/a.txt", "logs/deep"]
        assert fs.ls("logs/a.txt") == [fs.info("logs/a.txt")]
        assert fs.find("logs") == ["logs/a.txt", "logs/deep/b.txt"]
        assert fs.glob("**/*.txt") == fs.find("logs")
        assert [folder for folder, _, _ in fs.walk("")] == ["", "etc", "logs", "logs/deep", "rank"]
        assert fs.info("thalweg://logs/deep/b.txt")["size"] == 10 and fs.info("logs")["type"] == "directory"
        assert fs.isdir("") and fs.isfile("etc/odd") and not fs.exists("log")
        assert fs.cat_file("etc/odd") == b"odd" and fs.cat_file("rank/0") == b"of task 0"
        assert np.array_equal(np.load(fs.open("u.part0")), np.arange(6.0))
        for call in (fs.ls, fs.info, fs.cat_file, fs.open):
            with pytest.raises(FileNotFoundError, match="none"):
                call("none")


def test_a_file_and_a_folder_of_one_name_are_both_found(path):
    with open_multifile(path, mode="w") as fs:
        fs.pipe({"a": b"file", "a/b": b"inside"})
    with open_multifile(path) as fs:
        assert fs.find("") == ["a", "a/b"] and fs.isfile("a") and fs.ls("a", detail=False) == ["a/b"]
        assert fs.cat(["a", "a/b"]) == {"a": b"file", "a/b": b"inside"}


def test_ranges_are_read_where_they_lie(filled, monkeypatch):
    name = "logs/deep/b.txt"
    with open_multifile(filled) as fs:
        for start, end in ((None, None), (2, 5), (-3, None), (2, -2), (8, 99), (99, None), (5, 2), (-99, 3)):
            assert fs.cat_file(name, start, end) == b"0123456789"[start:end]
        assert fs.cat_ranges([name] * 3, [0, 4, -1], [2, 6, None]) == [b"01", b"45", b"9"]
        found = fs.cat_ranges([name, "none"], 1, 2)
        assert found[0] == b"1" and isinstance(found[1], FileNotFoundError)
        assert fs.head(name, 2) == b"01" and fs.tail(name, 2) == b"89" and fs.read_block(name, 3, 4) == b"3456"
    with open_multifile(filled + "2", mode="w") as fs:
        fs.pipe_file("large", bytes(32 << 20))
    with open_multifile(filled + "2") as fs:
        before = bytes_read()
        assert fs.cat_file("large", 20 << 20, (20 << 20) + 10) == bytes(10)
        assert bytes_read() - before < 8 << 20


def bytes_read():
    return int(pathlib.Path("/proc/self/io").read_text(encoding="ascii").split()[1])


def test_a_multifile_is_written(path, tmp_path):
    (tmp_path / "local").mkdir()
    (tmp_path / "local/one").write_bytes(b"1")
    with open_multifile(path, mode="w", hints="chunk_bytes=1MiB") as fs:
        fs.mkdir("logs")
        fs.makedirs("logs/deep", exist_ok=True)
        fs.pipe({"a/b": b"piped", "a/c": b"first"})
        fs.pipe_file("a/c", b"second")
        with fs.open("text", "w", encoding="utf-8") as file:
            print("grün", file=file)
        with fs.open("packed", "wb", compression="gzip") as file:
            file.write(b"x" * 1000)
        with fs.open("half", "wb") as file:
            file.write(b"half")
            assert fs.info("half")["size"] == 4
        fs.put(str(tmp_path / "local"), "put", recursive=True)
        fs.touch("empty")
        assert fs.find("") == ["a/b", "a/c", "empty", "half", "packed", "put/one", "text"]
        assert fs.exists("a") and not fs.exists("b") and fs.ls("a", detail=False) == ["a/b", "a/c"]
        with pytest.raises(FileExistsError):
            fs.open("a/b", "xb")
        with pytest.raises(FileExistsError):
            fs.pipe_file("a/b", b"", mode="create")
    with pytest.raises(thalweg.InvalidArgument, match="closed"):
        fs.open("late", "wb")
    with Multifile(path) as mf:
        assert mf["text"].read() == "grün\n".encode() and mf["a/c"].read() == b"second" and mf["empty"].read() == b""
    with open_multifile(path) as fs:
        assert fs.cat_file("put/one") == b"1" and fs.open("packed", compression="gzip").read() == b"x" * 1000
        fs.get("a/", str(tmp_path / "got"), recursive=True)
    assert (tmp_path / "got/c").read_bytes() == b"second"


def test_it_is_appended_to(filled):
    with open_multifile(filled, mode="a") as fs:
        assert fs.cat_file("logs/a.txt") == "grün\n".encode()
        fs.pipe_file("logs/c.txt", b"new")
        assert fs.ls("logs", detail=False) == ["logs/a.txt", "logs/c.txt", "logs/deep"]
    with open_multifile(filled) as fs:
        assert fs.find("logs") == ["logs/a.txt", "logs/c.txt", "logs/deep/b.txt"] and fs.cat_file("rank/0") == b"of task 0"
    with open_multifile(filled + "2", mode="a") as fs:
        fs.pipe_file("a", b"made")
    with Multifile(filled + "2") as mf:
        assert len(mf) == 1 and mf["a"].read() == b"made"
    with pytest.raises(FileExistsError):
        open_multifile(filled, mode="x")


def test_without_a_mode_each_file_is_complete_when_it_is_closed(path):
    fs = open_multifile(path)
    with pytest.raises(FileNotFoundError):
        fs.cat_file("a")
    for i in range(3):
        fs.pipe_file(f"a{i}", b"%d" % i)
        assert fs.cat_file(f"a{i}") == b"%d" % i
    with fs.open("a0") as old, fs.open("b", "wb") as file:
        file.write(b"b")
        assert fs.cat_file("a1") == b"1" and old.read() == b"0"
    assert fs.cat_file("b") == b"b"
    with fsspec.open(f"thalweg://c::{path}", "wt") as file:
        file.write("c")
    fs.close()
    with Multifile(path) as mf:
        assert list(mf.names()) == ["a0", "a1", "a2", "b", "c"] and mf.info()["sessions"] == 5


def test_an_exception_abandons(path):
    with pytest.raises(ZeroDivisionError):
        with open_multifile(path, mode="w") as fs:
            fs.pipe_file("a", b"kept")
            1 / 0
    with pytest.raises(thalweg.NotClosed, match="repair"):
        open_multifile(path, mode="r")
    with open_multifile(path, recover=True) as fs:
        assert fs.cat_file("a") == b"kept"


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_file_system_that_is_forgotten_certifies_nothing(path):
    fs = open_multifile(path, mode="w")
    fs.pipe_file("a", b"kept")
    del fs
    with pytest.raises(thalweg.NotClosed):
        Multifile(path)


def test_what_cannot_be_done_is_refused(filled):
    with open_multifile(filled, mode="r") as fs:
        with pytest.raises(thalweg.WrongMode, match="mode 'a'"):
            fs.pipe_file("new", b"")
        with pytest.raises(thalweg.WrongMode, match="removed"):
            fs.rm("logs", recursive=True)
        with pytest.raises(thalweg.WrongMode, match="removed"):
            fs.rm_file("logs/a.txt")
        with pytest.raises(FileNotFoundError):
            fs.rm("none")
        for mode in ("ab", "r+b"):
            with pytest.raises(thalweg.InvalidArgument, match="written once"):
                fs.open("logs/a.txt", mode)
        with pytest.raises(NotImplementedError, match="transactions"), fs.transaction:
            fs.open("new", "wb")
    with pytest.raises(thalweg.InvalidArgument, match="mode is 'q'"):
        open_multifile(filled, mode="q")
    with pytest.raises(TypeError, match="hint;"):
        open_multifile(filled, hint="chunk_bytes=1MiB")
    with pytest.raises(thalweg.InvalidArgument, match="path of a multifile"):
        fsspec.filesystem("thalweg")
    with pytest.raises(thalweg.InvalidArgument, match="simplecache"):
        fsspec.open("thalweg://a::memory://dump.tw")
    with pytest.raises(thalweg.NotFound):
        open_multifile(filled + ".none", mode="r")
    with open_multifile(filled + "2", mode="w") as fs:
        fs.pipe_file("large", bytes(100_000))
        with pytest.raises(thalweg.WrongMode, match="100000 bytes"):
            fs.cat_file("large")
        with pytest.raises(TypeError, match="another process"):
            pickle.dumps(fs)


def test_a_remote_multifile_is_read_through_a_cache(filled):
    remote = fsspec.filesystem("memory")
    remote.put_file(filled, "/dump.tw")
    with fsspec.open("thalweg://logs/deep/b.txt::simplecache::memory://dump.tw") as file:
        assert file.read() == b"0123456789"
    remote.rm("/dump.tw")


def test_small_files_are_kept_within_bounds(path, monkeypatch):
    monkeypatch.setattr("thalweg.fsspec._SMALL_ALL", 1 << 20)
    with open_multifile(path, mode="w") as fs:
        fs.pipe_file("metadata", b"{}")
        for i in range(40):
            fs.pipe_file(f"chunk/{i}", bytes(50_000))
        assert fs.cat_file("metadata") == b"{}" and fs._small_all <= 1 << 20
        fs.pipe_file("metadata", b"[]")
        assert fs.cat_file("metadata") == fs.open("metadata").read() == b"[]"
        with fs.open("metadata", "wb") as file:
            file.write(b"()")
        with pytest.raises(thalweg.WrongMode):
            fs.cat_file("metadata")


def test_threads_share_a_file_system(path):
    failures = []

    def write(i):
        try:
            for j in range(20):
                fs.pipe_file(f"{i}/{j}", b"%d" % (i * j))
        except BaseException as failure:
            failures.append(failure)

    def read(i):
        try:
            assert [fs.cat_file(f"{i}/{j}") for j in range(20)] == [b"%d" % (i * j) for j in range(20)]
        except BaseException as failure:
            failures.append(failure)

    for mode, act in (("w", write), (None, read)):
        with open_multifile(path, mode=mode) as fs:
            threads = [threading.Thread(target=act, args=(i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert not failures


def test_a_pickled_one_reads(filled):
    with open_multifile(filled) as fs, pickle.loads(pickle.dumps(fs)) as other:
        assert other == fs and other.cat("logs/deep/b.txt") == fs.cat("logs/deep/b.txt")
        before = fs.ukey("logs/deep/b.txt")
        assert before == other.ukey("logs/deep/b.txt")
    with open_multifile(filled, mode="a") as fs:
        fs.pipe_file("logs/deep/b.txt", b"9876543210")
    with open_multifile(filled) as fs:
        assert fs.ukey("logs/deep/b.txt") != before


def test_pandas_reads_and_writes(path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame({"step": range(100), "energy": np.arange(100) / 8})
    for name, kind in (("csv", "csv"), ("csv.gz", "csv"), ("json", "json")):
        url = f"thalweg://tables/t.{name}::file://{path}"
        getattr(table, f"to_{kind}")(url, **({"index": False} if kind == "csv" else {}))
        pandas.testing.assert_frame_equal(getattr(pandas, f"read_{kind}")(url), table)


def test_pandas_reads_and_writes_parquet(path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pandas.DataFrame({"step": range(100), "energy": np.arange(100) / 8})
    url = f"thalweg://tables/t.parquet::file://{path}"
    table.to_parquet(url)
    pandas.testing.assert_frame_equal(pandas.read_parquet(url, columns=["energy"]), table[["energy"]])


@pytest.fixture
def stored_by_zarr(path):
    zarr = pytest.importorskip("zarr", "3", reason="zarr 3 is not installed")
    array = np.arange(90 * 70, dtype="f8").reshape(90, 70)
    with open_multifile(path, mode="w") as fs:
        group = zarr.open_group(zarr.storage.FsspecStore.from_mapper(fs.get_mapper("fields")), mode="w")
        group.create_array("u", shape=array.shape, chunks=(32, 32), dtype="f8")[:] = array
        group.create_array("few/v", shape=array.shape, chunks=(32, 32), dtype="f8")[0, 0] = 1  # the other chunks are none
        group["few/v"][0, 1] = 2  # reads the chunk again
        group.attrs["unit"] = "m"
    return path, array


@pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning")
def test_zarr_writes_and_reads(stored_by_zarr):
    import zarr
    path, array = stored_by_zarr
    with open_multifile(path) as fs:
        group = zarr.open_group(zarr.storage.FsspecStore.from_mapper(fs.get_mapper("fields"), read_only=True), mode="r")
        assert np.array_equal(group["u"][:], array) and np.array_equal(group["u"][40:, 3], array[40:, 3])
        assert group["few/v"][:].sum() == 3 and group.attrs["unit"] == "m"
        assert sorted(group) == ["few", "u"] and len(fs.find("fields/few/v")) == 2
        with pytest.raises((ValueError, OSError)):
            group["u"][0] = 1
    group = zarr.open_group(f"thalweg://fields::file://{path}", mode="r")
    assert np.array_equal(group["u"][5], array[5])
    group = zarr.open_group(f"thalweg://fields::file://{path}", mode="a")  # each chunk for itself
    group["u"][:2, :2] = 0
    array = array.copy()
    array[:2, :2] = 0
    group = zarr.open_group(f"thalweg://fields::file://{path}", mode="r")
    assert np.array_equal(group["u"][:], array)


def schedulers():
    return [pytest.param({"scheduler": "threads", "num_workers": 4}, id="threads"),
            pytest.param({"scheduler": "processes", "num_workers": 2}, id="processes")]


@pytest.mark.parametrize("how", schedulers())
def test_dask_reads_arrays_and_lines(stored_by_zarr, how):
    array_of = pytest.importorskip("dask.array", reason="dask is not installed")
    import dask.bag
    path, array = stored_by_zarr
    lines = [f"line {i}\n" for i in range(3)]
    for name in ("a", "b"):
        with fsspec.open(f"thalweg://logs/{name}.txt::{path}", "wt") as file:
            file.writelines(lines)
    assert dask.bag.read_text(f"thalweg://logs/*.txt::{path}").compute(**how) == 2 * lines
    sums = array_of.from_zarr(f"thalweg://fields/u::file://{path}").sum(axis=0).compute(**how)
    assert np.allclose(sums, array.sum(axis=0))


@pytest.mark.parametrize("how", schedulers())
def test_dask_reads_tables(path, how):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed, which the tables of dask need")
    frame = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    table = pandas.DataFrame({"step": range(1000), "energy": np.arange(1000) / 8})
    with open_multifile(path, mode="w") as fs:
        for i in range(3):
            with fs.open(f"t{i}.csv", "w") as file:
                table.to_csv(file, index=False)
    read = frame.read_csv(f"thalweg://t*.csv::file://{path}", blocksize=4000)
    assert read.npartitions > 3
    assert read.energy.sum().compute(**how) == 3 * table.energy.sum()


def test_dask_reads_arrays_of_save(path):
    array_of = pytest.importorskip("dask.array", reason="dask is not installed")
    array = np.arange(60.0).reshape(6, 10)
    with Multifile(path, "w") as mf:
        mf.save("u", array)
    with Multifile(path) as mf:
        lazy = array_of.from_array(mf.array("u"), chunks=(2, 5))
        assert np.array_equal(lazy.T.compute(scheduler="threads"), array.T)


def test_nothing_stays_open(filled):
    n = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with fsspec.open(f"thalweg://logs/a.txt::{filled}") as file:
            file.read()
        open_multifile(filled).cat_file("logs/a.txt")
    del file
    assert len(os.listdir("/proc/self/fd")) == n
