"""A program as users with a type checker write it: test_types.py checks it, and runs it."""

import asyncio
import io
import json
import os
import pathlib
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import thalweg
from thalweg import Multifile, vp

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    def assert_type(value, kind):
        return value


async def write_multifile(path: pathlib.Path) -> None:
    with Multifile(path, "w", hints={"chunk_bytes": "4MiB"}, n_logical=2, ranks=range(2)) as mf:
        mf.mine.write(b"mine")
        mf[1].write(b"other")
        pickle.dump({"a": 1}, mf.add("run/pickled"))
        with io.TextIOWrapper(mf.add("run/text.json"), "utf-8") as out:
            json.dump([1, 2], out)
        np.save(mf.add("run/array.npy"), np.arange(3))
        mf.attributes["unit"] = "m/s"
        mf.save("u", [[1.0, 2.0]], start=(0, 0), shape=(1, 2))
        request = mf.isync()
        await request
        assert_type(request.done(), bool)


def read_multifile(path: pathlib.Path) -> None:
    with Multifile(os.fsencode(path)) as mf:
        names: list[str] = list(mf.names("run/"))
        sizes = {entry.name: entry.nbytes for entry in mf if entry.part is None}
        assert_type(sizes, dict[str, int])
        column = mf.load("u", (slice(None), 1, ...))
        assert_type(column, NDArray[Any])
        assert_type(mf.attributes["unit"], bytes)
        assert json.load(mf["run/text.json"]) == [1, 2] and mf[mf.find("run/pickled")].read(1)
        assert len(names) == 3 and sizes["run/array.npy"] > 24 and column.tolist() == [2.0] and "u" in mf


def write_and_read_vpfile(path: pathlib.Path) -> None:
    with vp.open(path, "w", shape=(4, 3), box=(slice(0, 4), slice(0, 3))) as f:
        f.write(np.zeros((4, 3)), where=np.ones((4, 3), bool))
        n: int = f.write_ragged([1, 2], np.eye(4, 3, dtype=int) * [2, 0, 0])
        assert n == 16
    with vp.open(path) as f:
        a = f.read(np.float64, 1)
        assert_type(a, NDArray[np.float64])
        f.seek(0)
        b, counts = f.read("f8", return_counts=True)
        assert_type(counts, NDArray[np.int64])
        values, lengths = f.read_ragged(np.int64)
        assert_type(values, NDArray[np.int64])
        f.seek(np.zeros_like(lengths))
        assert f.readinto(b, return_counts=True).sum() == 12
        assert len(f[1, 2].read(24)) == 8 and f[np.unravel_index(3, f.shape)].readable() and f.shape[0] + 1 == 5
        try:
            f.read(np.int8, 9)
        except thalweg.EndOfStream as error:
            assert error.counts.sum() == 9 and error.array.any()  # one stream has 16 bytes more


def verify(path: pathlib.Path) -> None:
    health = vp.verify(path, progress=lambda done, total: None)
    assert_type(health, vp.Health)
    try:
        vp.repair(path.with_name("none"), 12, progress=False)
    except thalweg.NotFound as error:
        assert error.status == "TW_ERR_NOT_FOUND"
        assert error.health is not None and error.health.streams == 0
    vp.flatten(path, path.with_name("flat"), fill=1)
    assert vp.info(path).shape == (4, 3) and vp.regions(path)[0].vps.stop == health.streams


def main(folder: pathlib.Path) -> None:
    asyncio.run(write_multifile(folder / "a.tw"))
    read_multifile(folder / "a.tw")
    write_and_read_vpfile(folder / "a.vp")
    verify(folder / "a.vp")
