"""Random programs have the effect on a vpfile that they have on one io.BytesIO per VP."""

import numpy as np
import pytest
import thalweg
from model import Model, contents

DTYPES = [np.uint8, np.int16, ">i4", np.float64, np.complex128, "M8[s]", "S5", "U3", np.dtype([("a", "i1"), ("b", "f8")]),
          np.bool_]


class Program:
    def __init__(self, seed, path):
        self.random = np.random.default_rng(seed)
        self.path = path
        n_dims = self.random.integers(1, 4)
        self.shape = tuple(int(n) for n in self.random.integers(1, 6, n_dims))
        self.model = Model(self.shape)

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def array(self, inner):
        """A random array for the shape and the VPs' data, with random strides."""
        dtype = np.dtype(self.pick(DTYPES))
        shape = self.shape + inner
        steps = self.random.integers(1, 4, len(shape)) if self.random.random() < 0.6 else np.ones(len(shape), int)
        big = tuple(int(n * step) for n, step in zip(shape, steps))
        order = self.random.permutation(len(shape)) if self.random.random() < 0.3 else np.arange(len(shape))
        n_bytes = int(np.prod(big)) * dtype.itemsize
        if dtype.kind == "U":  # not all bytes are valid text
            a = self.random.integers(0, 1000, tuple(big[i] for i in order)).astype(dtype)
        elif dtype.kind == "b":
            a = self.random.random(tuple(big[i] for i in order)) < 0.5
        else:
            a = np.frombuffer(self.random.bytes(n_bytes), dtype).reshape(tuple(big[i] for i in order))
        a = a.transpose(np.argsort(order))
        a = a[tuple(slice(None, None, int(step)) for step in steps)]
        if self.random.random() < 0.2:
            a = a[tuple(slice(None, None, -1) for _ in shape)]
        assert a.shape == shape
        return a

    def mask(self):
        if self.random.random() < 0.6:
            return None
        mask = self.random.random(self.shape) < 0.6
        if self.random.random() < 0.3:
            return mask[:1] if self.random.random() < 0.5 else np.asfortranarray(mask)
        return mask

    def write(self, f):
        inner = tuple(int(n) for n in self.random.integers(0, 5, self.random.integers(0, 4)))
        a, where = self.array(inner), self.mask()
        f.write(a, where)
        self.model.write(a, where)

    def write_ragged(self, f):
        lengths = self.random.integers(0, 9, self.shape)
        values = self.random.random(int(lengths.sum()) * 2)[::2]
        f.write_ragged(values, lengths)
        self.model.write_ragged(values, lengths)

    def read(self, f):
        dtype, n, where = self.pick(["u1", "i4", "V7"]), int(self.random.integers(0, 9)), self.mask()
        a, counts = f.read(dtype, n, where, return_counts=True, force=True)
        expected, expected_counts = self.model.read(dtype, n, where)
        np.testing.assert_array_equal(counts, expected_counts)
        assert a.tobytes() == expected.tobytes()

    def seek(self, f):
        pos = int(self.random.integers(0, 40)) if self.random.random() < 0.5 else self.random.integers(0, 40, self.shape)
        whence, where = int(self.random.integers(0, 3)), self.mask()
        f.seek(pos, whence, where)
        self.model.seek(pos, whence, where)

    def one(self, f):
        flat = int(self.random.integers(np.prod(self.shape)))
        index = np.unravel_index(flat, self.shape)
        data, at = self.random.bytes(int(self.random.integers(1, 50))), int(self.random.integers(0, 60))
        stream = f[index]
        stream.seek(at)
        stream.write(data)
        model = self.model.streams[tuple(int(i) for i in index)]
        back = model.tell()
        model.seek(at)
        model.write(data)
        model.seek(0)
        stream.seek(0)
        assert stream.read() == model.read()
        model.seek(back)

    def reopen(self, f):
        f.close()
        f = thalweg.vp.open(self.path, "r+")
        self.model.seek(0)
        return f

    def run(self, steps):
        f = thalweg.vp.open(self.path, "w+", shape=self.shape)
        for _ in range(steps):
            name = self.pick(["write"] * 4 + ["write_ragged", "read", "read", "seek", "one", "reopen", "flush"])
            if name == "flush":
                f.flush()
            else:
                f = getattr(self, name)(f) or f
            np.testing.assert_array_equal(f.tell(), self.model.tell())
        np.testing.assert_array_equal(f.sizes().ravel(), [len(data) for data in self.model.contents().values()])
        assert contents(f) == self.model.contents()
        f.close()
        with thalweg.vp.open(self.path) as f:
            values, lengths = f.read_ragged(np.uint8, force=True)
            assert values.tobytes() == b"".join(self.model.contents().values())
            assert lengths.sum() == values.size


@pytest.mark.parametrize("seed", range(150))
def test_a_vpfile_is_a_file_for_each_vp(seed, tmp_path):
    Program(seed, tmp_path / "random.vp").run(12)


@pytest.mark.parametrize("seed", range(150))
def test_a_strided_array_is_read_into(seed, tmp_path):
    program = Program(seed, tmp_path / "into.vp")
    inner = tuple(int(n) for n in program.random.integers(0, 5, program.random.integers(0, 4)))
    a, where = program.array(inner), program.mask()
    with thalweg.vp.open(program.path, "w+", shape=program.shape) as f:
        f.write(a)
        f.seek(0)
        # Equal strides, in memory whose other elements must not change.
        around = np.zeros(tuple(2 * n + 3 for n in a.shape), a.dtype)
        b = around[tuple(slice(1, 1 + 2 * n, 2) for n in a.shape)] if seed % 2 else np.zeros_like(a)
        assert f.readinto(b, where, force=True) is None
        mask = np.broadcast_to(True if where is None else where, program.shape)
        assert b[mask].tobytes() == a[mask].tobytes()
        assert not any(b[~mask].tobytes())
        if seed % 2:
            b[...] = np.zeros((), a.dtype)
            assert not any(around.tobytes())
        n_bytes = a.dtype.itemsize * int(np.prod(inner))
        np.testing.assert_array_equal(f.tell(), np.where(mask, n_bytes, 0))
