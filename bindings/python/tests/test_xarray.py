"""The arrays of a multifile in xarray, read when they are indexed."""

import pathlib
import pickle
import threading

import numpy as np
import pytest

import thalweg
from thalweg import Multifile

xarray = pytest.importorskip("xarray", reason="xarray is not installed")

from thalweg.xarray import MultifileBackend  # noqa: E402

ENGINE = "thalweg" if "thalweg" in xarray.backends.list_engines() else MultifileBackend  # found by its path, not installed
U = np.arange(20 * 9 * 12, dtype="f8").reshape(20, 9, 12)


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "dump.tw")
    with Multifile(path, "w") as mf:
        mf.save("u", U, dims=("z", "y", "x"))
        mf.save("x", np.linspace(0, 1.1, 12), dims=["x"])
        mf.save("v", np.asfortranarray(U[0]), start=(0, 0), shape=U[0].shape)
        mf.save("step9/w", np.int32(4), dims=())
        mf.save("log", U)
        mf.add("log").write(b"no array, and the last of its name")
        np.save(mf.add("packed.npy"), np.array(["2026-01-02", "NaT"], "M8[D]"))
        mf.attributes["unit"] = "m/s"
        mf.attributes["raw"] = b"\xff"
    return path


def test_a_multifile_is_a_dataset(path):
    with xarray.open_dataset(path, engine=ENGINE) as ds:
        assert set(ds.variables) == {"u", "x", "v", "step9/w", "packed.npy"} and set(ds.coords) == {"x"}
        assert ds.u.dims == ("z", "y", "x") and ds.v.dims == ("v_dim0", "v_dim1") and ds["step9/w"].dims == ()
        assert ds.attrs["unit"] == "m/s" and ds.attrs["raw"] == b"\xff" and not [key for key in ds.attrs if "dims" in key]
        np.testing.assert_array_equal(ds.u, U)
        np.testing.assert_array_equal(ds.v, U[0])
        assert ds["step9/w"].values == 4 and ds["step9/w"].dtype == np.int32
        assert np.isnat(ds["packed.npy"].values[1])
        np.testing.assert_array_equal(ds.u.sel(x=0.3, method="nearest"), U[:, :, 3])
    with xarray.open_dataset(path, engine=ENGINE, group="step9", drop_variables="none") as ds:
        assert list(ds.variables) == ["w"]
    with xarray.open_dataset(path, engine=ENGINE, drop_variables=["u", "v"]) as ds:
        assert "u" not in ds and "v" not in ds and "x" in ds.coords


def test_it_is_recognised_by_its_content(path, tmp_path):
    other = tmp_path / "other.tw"
    other.write_bytes(b"no multifile")
    backend = MultifileBackend()
    assert backend.guess_can_open(path) and backend.guess_can_open(pathlib.Path(path))
    assert not any(backend.guess_can_open(no) for no in (other, tmp_path, tmp_path / "none", None, [path]))
    if ENGINE == "thalweg":
        with xarray.open_dataset(path) as ds:
            assert "u" in ds


KEYS = [(3, slice(None), slice(None)), ([5, 0, -1, 5], slice(2, None, 3), slice(None, None, -1)), ([], 1, 2),
        (slice(None, None, -7), [8, 0], [0, 11, 3]), (np.int64(-1), slice(4, 2), [1])]


@pytest.mark.parametrize("gap", [0, 500, 1 << 18])
def test_indices_select_as_numpy_does(path, monkeypatch, gap):
    monkeypatch.setattr("thalweg._array_stream._GAP", gap)
    memory = xarray.DataArray(U, dims=("z", "y", "x"))
    for chunks in (None, {"z": 7}):
        with xarray.open_dataset(path, engine=ENGINE, chunks=chunks if with_dask() else None) as ds:
            for key in KEYS:
                np.testing.assert_array_equal(ds.u[key], memory[key])
            points = {name: xarray.DataArray(at, dims="k") for name, at in (("z", [3, 3, 19]), ("x", [0, 11, 5]))}
            np.testing.assert_array_equal(ds.u.isel(points), memory.isel(points))
            with pytest.raises(IndexError):
                ds.u.isel(z=[20]).load()


def with_dask():
    try:
        import dask.array  # noqa: F401
    except ImportError:
        return False
    return True


def test_only_what_is_needed_is_read(tmp_path):
    path, array = tmp_path / "large.tw", np.arange(64 * 256 * 512, dtype="f8").reshape(64, 256, 512)  # 64 MiB
    with Multifile(path, "w") as mf:
        mf.save("u", array, start=(0, 0, 0), shape=array.shape, dims=("z", "y", "x"))
    before, buffer = bytes_read(), 256 << 10  # bytes: the library reads at least one
    with xarray.open_dataset(path, engine=ENGINE) as ds:
        assert bytes_read() - before < 4 << 20
        for key, runs in ((0, 1), ((slice(None), 3), 64), ([2, 60], 2), (slice(None, None, 21), 4)):
            before = bytes_read()
            found = ds.u[key].values
            moved = bytes_read() - before
            np.testing.assert_array_equal(found, array[key])
            assert moved < found.nbytes + (runs + 2) * buffer + (1 << 20), f"{key}: {moved} bytes"


def bytes_read():
    return int(pathlib.Path("/proc/self/io").read_text(encoding="ascii").split()[1])


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_reads_chunks(path, scheduler):
    pytest.importorskip("dask.array", reason="dask is not installed")
    with xarray.open_dataset(path, engine=ENGINE, chunks={"z": 3}) as ds:
        assert ds.u.chunks[0] == (3, 3, 3, 3, 3, 3, 2)
        np.testing.assert_allclose(ds.u.sum("z").compute(scheduler=scheduler, num_workers=2), U.sum(axis=0))


def test_a_dataset_is_pickled(path):
    with xarray.open_dataset(path, engine=ENGINE) as ds:
        with pickle.loads(pickle.dumps(ds)) as other:
            np.testing.assert_array_equal(other.u[4], U[4])
        np.testing.assert_array_equal(ds.u[5], U[5])


def test_files_that_xarray_closes_are_opened_again(path):
    second = path + "2"
    with Multifile(second, "w") as mf:
        mf.save("u", U + 1)
    failures = []

    def read(ds, expected):
        try:
            for i in range(100):
                np.testing.assert_array_equal(ds.u[i % 20], expected[i % 20])
        except BaseException as failure:
            failures.append(failure)

    with xarray.set_options(file_cache_maxsize=1):
        with xarray.open_dataset(path, engine=ENGINE) as one, xarray.open_dataset(second, engine=ENGINE) as other:
            threads = [threading.Thread(target=read, args=args) for args in ((one, U), (other, U + 1)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert not failures


def open_files(path):
    return [link for link in pathlib.Path("/proc/self/fd").iterdir() if link.is_symlink() and str(link.resolve()) == path]


def test_close_closes_the_multifile(path):
    ds = xarray.open_dataset(path, engine=ENGINE)
    assert open_files(path)
    ds.close()
    assert not open_files(path)
    with pytest.raises(thalweg.NotFound):
        xarray.open_dataset(path, engine=ENGINE, group="none")
    assert not open_files(path)


def test_what_cannot_be_read_is_named(path, tmp_path):
    with pytest.raises(thalweg.NotFound, match="step8/"):
        xarray.open_dataset(path, engine=ENGINE, group="step8")
    with pytest.raises(FileNotFoundError):
        xarray.open_dataset(tmp_path / "none.tw", engine=ENGINE)
    with Multifile(path, "a") as mf:
        np.save(mf.add("objects"), np.array([None]), allow_pickle=True)
        mf.save("y", np.zeros(3), dims="y")
    with pytest.raises(thalweg.InvalidArgument, match="drop_variables='objects'"):
        xarray.open_dataset(path, engine=ENGINE)
    with pytest.raises(ValueError, match="'y'"):  # 9 elements, and 3
        xarray.open_dataset(path, engine=ENGINE, drop_variables="objects")
    with xarray.open_dataset(path, engine=ENGINE, drop_variables=["objects", "y"]) as ds:
        assert ds.sizes["y"] == 9
    with pytest.raises(ZeroDivisionError):
        with Multifile(path, "w") as mf:
            mf.save("u", U)
            mf.flush()
            1 / 0
    with pytest.raises(thalweg.NotClosed):
        xarray.open_dataset(path, engine=ENGINE)
    with xarray.open_dataset(path, engine=ENGINE, recover=True) as ds:
        np.testing.assert_array_equal(ds.u[7], U[7])
