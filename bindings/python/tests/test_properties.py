"""Properties that hold for all arrays, and random programs beside their models: see conftest.py for how many."""

import io
import math
import pathlib
import shutil
import tempfile
import types

import numpy as np
import pytest

pytest.importorskip("hypothesis")

import thalweg
from hypothesis import assume, given, note
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from model import Model, contents
from thalweg import Multifile

DTYPES = st.one_of(npst.scalar_dtypes(), npst.array_dtypes(npst.scalar_dtypes(), max_size=3, allow_subarrays=True)).filter(
    lambda dtype: dtype.itemsize <= 200)
SHAPES = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)
VP_SHAPES = npst.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
BYTES = st.binary(max_size=60)


@st.composite
def arrays(draw, shape, dtypes=DTYPES):
    """An array of this shape with any strides. Its bytes are 0 or 1, which are valid in a bool."""
    dtype = np.dtype(draw(dtypes))
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    around = [shape[i] * abs(steps[i]) for i in order]
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    memory = random.integers(0, 2, math.prod(around) * dtype.itemsize, np.uint8)
    array = np.ndarray(around, dtype, memory.tobytes()).transpose(np.argsort(order))
    return array[tuple(slice(None, None, step) for step in steps)]


def same(found, expected):
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


# ---- Arrays of a multifile


@given(st.data())
def test_each_part_of_an_array_is_as_numpy_has_it(tmp_path, data):
    array = data.draw(SHAPES.flatmap(arrays))
    with Multifile(tmp_path / "a.tw", "w") as mf:
        mf.save("a", array)
    with Multifile(tmp_path / "a.tw") as mf:
        same(mf.load("a"), array)
        assert np.isfortran(mf.load("a")) == np.isfortran(array)
        for key in data.draw(st.lists(npst.basic_indices(array.shape, min_dims=0), min_size=1, max_size=4)):
            note(f"{key=}")
            same(mf.load("a", key), np.asarray(array[key], array.dtype))


@st.composite
def boxes(draw, shape):
    """Boxes that share no element, in any order; some places belong to none."""
    found = [tuple(slice(0, extent) for extent in shape)]
    for _ in range(draw(st.integers(0, 5)) if shape else 0):
        box = found.pop(draw(st.integers(0, len(found) - 1)))
        dimension = draw(st.integers(0, len(shape) - 1))
        part = box[dimension]
        at = draw(st.integers(part.start, part.stop))
        found += [(*box[:dimension], half, *box[dimension + 1 :]) for half in (slice(part.start, at), slice(at, part.stop))]
    return draw(st.permutations(found))[: draw(st.integers(1, len(found)))]


@given(st.data())
def test_parts_of_a_distributed_array_make_the_whole(tmp_path, data):
    array = data.draw(SHAPES.flatmap(arrays))
    parts = data.draw(boxes(array.shape))
    expected = np.zeros(array.shape, array.dtype)
    with Multifile(tmp_path / "a.tw", "w") as mf:
        alone = mf._group
        for rank, box in enumerate(parts):  # one task after the other
            mf._group = types.SimpleNamespace(rank=rank, size=len(parts))
            mf._saved.clear()
            mf.save("a", array[box], start=[part.start for part in box], shape=array.shape)
            expected[box] = array[box]
        mf._group = alone
    with Multifile(tmp_path / "a.tw") as mf:
        same(mf.load("a"), expected)
        key = data.draw(npst.basic_indices(array.shape, min_dims=0))
        same(mf.load("a", key), np.asarray(expected[key], expected.dtype))


# ---- A multifile is a dict of files


class Folder(RuleBasedStateMachine):
    """A machine with a folder of its own."""

    def __init__(self):
        super().__init__()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.file = None

    def teardown(self):
        if self.file is not None:
            self.file.close()
        shutil.rmtree(self.folder)


class MultifileMachine(Folder):
    NAMES = st.one_of(st.sampled_from(["a", "run/a", "run/b"]), st.text(
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
    PLACES = st.integers(0, 5)  # of the files that there are, modulo their number

    @initialize(n=st.integers(0, 3), hints=st.sampled_from([None, "chunk_bytes=4096", "checksum=none", "compression=zstd"]))
    def create(self, n, hints):
        self.path = self.folder / "a.tw"
        self.file = Multifile(self.path, "w", n_logical=n, ranks=range(n), hints=hints)
        self.names = [""] * n
        self.models = [io.BytesIO() for _ in range(n)]
        self.attributes = {}
        self.open_all()

    # Each logical file has one file object for writing. Those that are added have ranks from the close on.
    def open_all(self):
        self.files = [self.file[rank] for rank in range(len(self.models))]
        self.n_ranks = len(self.models)
        for model in self.models:
            model.seek(0, 2)

    def pick(self, place):
        rank = place % len(self.models)
        if self.files[rank].closed:
            assume(rank < self.n_ranks)
            self.files[rank] = self.file[rank]
            self.models[rank].seek(0, 2)
        return self.files[rank], self.models[rank]

    @rule(name=NAMES, data=BYTES)
    def add(self, name, data):
        out, model = self.file.add(name), io.BytesIO()
        assert out.write(data) == model.write(data)
        self.files.append(out)
        self.models.append(model)
        self.names.append(name)

    @precondition(lambda self: self.models)
    @rule(place=PLACES, data=st.one_of(BYTES, st.integers(0, 30000).map(bytes)))
    def write(self, place, data):
        out, model = self.pick(place)
        assert out.write(data) == model.write(data)

    @precondition(lambda self: self.models)
    @rule(place=PLACES, offset=st.integers(-50, 20000), whence=st.sampled_from([0, 1, 2]))
    def seek(self, place, offset, whence):
        out, model = self.pick(place)
        base = [0, model.tell(), len(model.getvalue())][whence]
        if base + offset < 0:
            with pytest.raises(thalweg.InvalidArgument):
                out.seek(offset, whence)
        else:
            assert out.seek(offset, whence) == model.seek(base + offset)

    @precondition(lambda self: self.models)
    @rule(place=PLACES)
    def close_one(self, place):
        self.pick(place)[0].close()

    @rule(what=st.sampled_from(["flush", "sync", "iflush", "isync"]))
    def store(self, what):
        request = getattr(self.file, what)()
        if request is not None:
            request.wait()
            assert request.done()

    @rule(key=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=5), value=BYTES)
    def set_attribute(self, key, value):
        self.file.attributes[key] = value
        self.attributes[key] = value

    @rule(reads=st.lists(st.tuples(PLACES, st.integers(0, 25000), st.integers(-1, 25000)), max_size=4))
    def close_read_and_append(self, reads):
        self.file.close()
        with Multifile(self.path) as mf:
            assert [entry.name for entry in mf] == self.names
            assert [entry.nbytes for entry in mf] == [len(model.getvalue()) for model in self.models]
            assert all(mf.find(name) == rank for name, rank in {name: rank for rank, name in enumerate(self.names)}.items()
                       if name)
            assert [mf[rank].read() for rank in range(len(mf))] == [model.getvalue() for model in self.models]
            for place, at, n in reads if self.models else []:
                stream, model = mf[place % len(mf)], self.models[place % len(mf)]
                assert stream.seek(at) == model.seek(at) and stream.read(n) == model.read(n)
            assert {key: mf.attributes[key] for key in self.attributes} == self.attributes
        self.file = Multifile(self.path, "a")
        self.open_all()

    @invariant()
    def positions_agree(self):
        if self.file is not None:
            assert all(out.closed or out.tell() == model.tell() for out, model in zip(self.files, self.models))


test_a_multifile_is_a_dict_of_files = MultifileMachine.TestCase


# ---- A vpfile is a file for each VP


class VpFileMachine(Folder):
    @initialize(shape=VP_SHAPES)
    def create(self, shape):
        self.file = thalweg.vp.open(self.folder / "a.vp", "w+", shape=shape)
        self.model = Model(shape)

    def mask(self, data):
        if data.draw(st.booleans()):
            return None
        mask = data.draw(npst.arrays(bool, self.model.shape))
        return data.draw(st.sampled_from([mask, mask[:1], np.asfortranarray(mask)]))

    @rule(data=st.data(), inner=npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    def write(self, data, inner):
        a, where = data.draw(arrays(self.model.shape + inner)), self.mask(data)
        self.file.write(a, where)
        self.model.write(a, where)

    @rule(data=st.data())
    def write_ragged(self, data):
        lengths = data.draw(npst.arrays(np.int32, self.model.shape, elements=st.integers(0, 8)))
        values = data.draw(arrays((int(lengths.sum()),)))
        self.file.write_ragged(values, lengths)
        self.model.write_ragged(values, lengths)

    @rule(data=st.data(), dtype=st.sampled_from(["u1", "i4", "V7"]), n=st.integers(0, 8))
    def read(self, data, dtype, n):
        where = self.mask(data)
        a, counts = self.file.read(dtype, n, where, return_counts=True, force=True)
        expected, expected_counts = self.model.read(dtype, n, where)
        same(counts, expected_counts)
        same(a, expected)

    @rule(data=st.data(), whence=st.sampled_from([0, 1, 2]))
    def seek(self, data, whence):
        places, where = st.integers(0, 40), self.mask(data)
        pos = data.draw(st.one_of(places, npst.arrays(np.int16, self.model.shape, elements=places)))
        self.file.seek(pos, whence, where)
        self.model.seek(pos, whence, where)

    @rule(data=st.data(), at=st.integers(0, 60), written=BYTES)
    def one(self, data, at, written):
        index = data.draw(st.sampled_from(list(self.model.streams)))
        stream, model = self.file[index], io.BytesIO(self.model.streams[index].getvalue())
        for one in (stream, model):
            one.seek(at)
            one.write(written)
            one.seek(0)
        self.model.streams[index].seek(0, 1)
        assert stream.read() == model.read()
        back = self.model.streams[index].tell()
        self.model.streams[index] = model
        model.seek(back)

    @rule()
    def flush(self):
        self.file.flush()

    @rule()
    def reopen(self):
        self.file.close()
        with thalweg.vp.open(self.file.name) as f:
            values, lengths = f.read_ragged(np.uint8, force=True)
            assert values.tobytes() == b"".join(self.model.contents().values()) and lengths.sum() == values.size
        self.file = thalweg.vp.open(self.file.name, "r+")
        self.model.seek(0)

    @invariant()
    def files_agree(self):
        if self.file is not None:
            same(self.file.tell(), self.model.tell())
            assert contents(self.file) == self.model.contents()
            assert self.file.sizes().ravel().tolist() == [len(data) for data in self.model.contents().values()]


test_a_vpfile_is_a_file_for_each_vp = VpFileMachine.TestCase


@given(st.data())
def test_a_strided_array_is_read_into(tmp_path, data):
    shape = data.draw(VP_SHAPES)
    a = data.draw(arrays(shape + data.draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))))
    where = data.draw(st.none() | npst.arrays(bool, shape))
    with thalweg.vp.open(tmp_path / "a.vp", "w+", shape=shape) as f:
        f.write(a)
        f.seek(0)
        around = np.zeros([2 * n + 3 for n in a.shape], a.dtype)  # other elements of it must not change
        b = around[tuple(slice(1, 1 + 2 * n, 2) for n in a.shape)]
        assert f.readinto(b, where, force=True) is None
        mask = np.broadcast_to(True if where is None else where, shape)
        assert b[mask].tobytes() == a[mask].tobytes()
        assert not any(b[~mask].tobytes())
        b[...] = np.zeros((), a.dtype)
        assert not any(around.tobytes())
        same(f.tell(), np.where(mask, a.dtype.itemsize * math.prod(a.shape[len(shape) :]), 0))
