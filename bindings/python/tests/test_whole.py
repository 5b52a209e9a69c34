"""Whole vpfiles: inspect, verify, repair, convert."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
import thalweg
from thalweg import vp

SHAPE = (4, 3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "streams.vp"


def beside(path, ending):
    return path.with_name(path.name + ending)


def ragged(path):
    """A file with all kinds of segments: 8 bytes of each VP, 16 through a stride, then 0 to 11 bytes more."""
    with vp.open(path, "w", shape=SHAPE) as f:
        f.write(np.arange(12.0).reshape(SHAPE))
        f.write(np.arange(48.0).reshape(*SHAPE, 4)[..., ::2])
        f.write_ragged(np.arange(66, dtype=np.uint8), np.arange(12).reshape(SHAPE))


def unclosed(path):
    program = ("import os, sys, numpy, thalweg; f = thalweg.vp.open(sys.argv[1], 'w', shape=3); f.write([1, 2, 3]); "
               "f.write_ragged([7, 8, 9], [0, 1, 2]); f.flush(); os._exit(0)")
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


# ---- What is it?


def test_info_tells_what_is_stored(path):
    ragged(path)
    info = vp.info(path)
    assert (info.shape, info.mode, info.closed, info.sessions) == (SHAPE, "IB", True, 1)
    assert (info.nb_record, info.nb_bytes) == (8, 8) and info.cb_bytes == 16 and info.ib_bytes == 66
    assert info.block_bytes > 0 and info.superblock_bytes > 0 and info.version >= (1, 0)
    assert vp.info(os.fsencode(path)) == vp.info(str(path)) == info
    with vp.open(path) as f:
        assert (f.sizes() == 24 + np.arange(12).reshape(SHAPE)).all()


def test_info_of_a_plain_array_with_a_meta(path):
    with vp.open(path, "w", shape=7) as f:
        f.write(np.arange(7.0))
    info = vp.info(path)
    assert (info.shape, info.mode, info.nb_record, info.nb_bytes, info.block_bytes) == ((7,), "NB", 8, 8, 0)


def test_regions_cover_the_file(path):
    ragged(path)
    regions = vp.regions(path)
    assert [r.offset for r in regions] == [0, *np.cumsum([r.bytes for r in regions])[:-1]]
    assert sum(r.bytes for r in regions) == path.stat().st_size
    kinds = [r.kind for r in regions]
    assert [kind for kind in kinds if kind != "hole"][:3] == ["nb", "cb", "header"]
    owners = {n for r in regions if r.kind == "blocks" for n in r.vps}
    assert owners == set(range(1, 12))  # the first VP wrote no bytes there
    assert all((r.superblock is None) == (r.kind in ("nb", "cb", "hole")) for r in regions)
    assert all(r.vps == range(12) for r in regions if r.kind in ("nb", "cb"))
    assert not any(r.vps for r in regions if r.kind in ("hole", "header", "table", "unused"))


def test_what_is_a_vpfile(path):
    np.arange(6.0).tofile(path)
    assert not vp.is_vpfile(path)
    vp.import_array(path, 3, 8)
    assert vp.is_vpfile(path)
    with pytest.raises(FileNotFoundError):
        vp.is_vpfile(path.with_name("nothing"))


# ---- Verify and repair


def test_a_sound_file_is_said_to_be_sound(path):
    ragged(path)
    before = path.read_bytes()
    for health in (vp.verify(path), vp.repair(path)):
        assert (health.streams, health.damaged, health.closed, health.repaired, health.findings) == (12, 0, True, False, ())
        assert health.bytes == 12 * 24 + 66
    assert path.read_bytes() == before


def test_what_was_not_closed_is_repaired(path):
    unclosed(path)
    assert not vp.info(path).closed
    with pytest.raises(thalweg.NotClosed) as raised:
        vp.verify(path)
    assert not raised.value.health.closed and raised.value.health.streams == 3
    with pytest.raises(thalweg.NotClosed, match="repair"):
        vp.open(path)
    health = vp.repair(path, force=True)
    assert health.repaired and not health.closed and health.damaged == 0
    assert vp.verify(path).closed and vp.info(path).closed
    with vp.open(path) as f:
        assert f.read("i8").tolist() == [1, 2, 3]
        values, lengths = f.read_ragged("i8")
        assert values.tolist() == [7, 8, 9] and lengths.tolist() == [0, 1, 2]


def test_lost_side_files_are_made_anew(path):
    ragged(path)
    with vp.open(path) as f:
        expected = f.read_ragged()
    for ending in (".first", ".dir"):
        if beside(path, ending).exists():
            beside(path, ending).unlink()
    assert vp.repair(path).repaired
    beside(path, ".meta").unlink()
    with pytest.raises(thalweg.Error, match="shape"):
        vp.repair(path)
    vp.repair(path, SHAPE)
    with vp.open(path) as f:
        assert f.shape == SHAPE
        values, lengths = f.read_ragged()
    assert lengths.sum() >= 66 and expected[0].size >= values.size


def test_damage_is_found_and_told(path):
    ragged(path)
    superblock = next(r for r in vp.regions(path) if r.kind == "header")
    with path.open("r+b") as data:
        data.seek(superblock.offset)
        data.write(b"damage")
    with pytest.raises(thalweg.Corrupt) as raised:
        vp.verify(path)
    health = raised.value.health
    assert health.damaged > 0 and health.findings and all(isinstance(line, str) for line in health.findings)
    beside(path, ".meta").write_bytes(bytes(2048))
    for call in (vp.info, vp.regions, vp.verify):
        with pytest.raises(thalweg.Corrupt):
            call(path)


def test_a_file_that_is_being_written_is_left_alone(path):
    with vp.open(path, "w", shape=3) as f:
        f.write_ragged([1, 2], [1, 1, 0])
        f.flush()
        with pytest.raises(thalweg.Unsafe):
            vp.repair(path)
        f.write_ragged([3], [0, 0, 1])
    assert vp.verify(path).bytes == 24


# ---- Arrays


def test_a_file_is_flattened(path):
    ragged(path)
    seen = []
    flat = path.with_name("flat")
    assert vp.flatten(path, flat, fill=0xEE, progress=lambda done, total: seen.append((done, total))) is None
    assert seen and all(0 <= done <= total for done, total in seen)
    info = vp.info(flat)
    assert (info.shape, info.mode, info.nb_record, info.nb_bytes) == (SHAPE, "NB", 35, 35)
    with vp.open(path) as f:
        for n, record in enumerate(np.fromfile(flat, "u1").reshape(12, 35)):
            stream = f[divmod(n, 3)].read()
            assert bytes(record) == stream + b"\xee" * (35 - len(stream))
    vp.flatten(path, path.with_name("cut"), 8)
    np.testing.assert_array_equal(np.fromfile(path.with_name("cut")), np.arange(12.0))
    with pytest.raises(FileExistsError):
        vp.flatten(path, flat)


def test_an_array_is_imported(path):
    np.arange(24.0).tofile(path)
    vp.import_array(path, SHAPE, 8)
    with vp.open(path) as f:
        np.testing.assert_array_equal(f.read(float, 2), np.arange(24.0).reshape(2, *SHAPE).transpose(1, 2, 0))
    with pytest.raises(thalweg.Exists):
        vp.import_array(path, SHAPE, 8)
    beside(path, ".meta").unlink()
    for shape, record in [((5, 5), 8), (SHAPE, 7), (SHAPE, 0), (SHAPE, 2**70), ((2**70,), 8), ((), 8)]:
        with pytest.raises(thalweg.InvalidArgument):
            vp.import_array(path, shape, record)


# ---- Who listens, and what is wrong


def test_who_is_told_of_progress_may_stop_or_raise(path):
    ragged(path)
    for call in (vp.verify, lambda path, progress: vp.flatten(path, path.with_name("flat"), progress=progress)):
        with pytest.raises(thalweg.Stopped):
            call(path, progress=lambda done, total: True)
        with pytest.raises(ZeroDivisionError):
            call(path, progress=lambda done, total: done // 0)
        with pytest.raises(TypeError):
            call(path, progress=lambda: None)
    assert not path.with_name("flat").exists()
    assert vp.verify(path, progress=lambda done, total: False).damaged == 0


def test_progress_true_shows_a_bar_by_rich(path, capsys):
    pytest.importorskip("rich")
    ragged(path)
    bracketed = path.with_name("[bold].vp")  # a style of rich
    ragged(bracketed)
    for name, call in [("verify", vp.verify), ("repair", vp.repair),
                       ("flatten", lambda path, progress: vp.flatten(path, path.with_name("flat"), progress=progress))]:
        call(bracketed, progress=True)
        shown = capsys.readouterr()
        assert f"{name} '[bold].vp'" in shown.err and "100%" in shown.err and shown.out == ""
    beside(path, ".meta").unlink()
    with pytest.raises(thalweg.Error):
        vp.repair(path, progress=True)


def test_progress_true_without_rich_writes_lines(path, capsys, monkeypatch):
    for name in ("rich.console", "rich.markup", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)  # importing it is an ImportError
    ragged(path)
    for call in (vp.verify, vp.repair):
        assert call(path, progress=True).damaged == 0
    vp.flatten(path, path.with_name("flat"), progress=True)
    lines = capsys.readouterr().err.splitlines()
    for name in ("verify", "repair", "flatten"):
        assert f"thalweg: {name} {path.name!r}: 12 of 12" in lines
    monkeypatch.setattr(sys, "stderr", None)  # as of pythonw, or a daemon
    assert vp.verify(path, progress=True).damaged == 0
    assert vp.verify(path, progress=False).damaged == 0
    with pytest.raises(TypeError):
        vp.verify(path, progress=1)


def test_results_are_tables_in_notebooks(path):
    ragged(path)
    table = vp.info(path)._repr_html_()
    assert "<th>shape</th><td>(4, 3)</td>" in table and "Info of a vpfile" in table
    health = vp.verify(path)
    assert "<th>damaged</th><td>0</td>" in health._repr_html_()
    told = dataclasses.replace(health, findings=("stream <1>", "stream 2"))
    assert "<td>stream &lt;1&gt;<br>stream 2</td>" in told._repr_html_()


def test_wrong_arguments_and_names_are_told(path):
    nothing = path.with_name("nothing")
    for call in (vp.info, vp.verify, vp.repair, vp.regions, lambda path: vp.flatten(path, "flat"),
                 lambda path: vp.import_array(path, 3, 8)):
        with pytest.raises(FileNotFoundError) as raised:
            call(nothing)
        assert raised.value.errno
        with pytest.raises(TypeError):
            call(1.5)
        with pytest.raises(thalweg.InvalidArgument, match="null"):
            call("a\0b")
    ragged(path)
    for wrong in ({"record_bytes": 0}, {"record_bytes": -1}, {"record_bytes": 2**70}, {"fill": 256}, {"fill": -1}):
        with pytest.raises(thalweg.InvalidArgument):
            vp.flatten(path, nothing, **wrong)
    for wrong in ({"record_bytes": 1.5}, {"fill": b"x"}):
        with pytest.raises(TypeError):
            vp.flatten(path, nothing, **wrong)
    assert not nothing.exists()


# ---- Files of other formats

FOREIGN = [("HDF5", b"\x89HDF\r\n\x1a\n" + bytes(600)), ("NetCDF", b"CDF\x02" + bytes(4) + b"\0\0\0\x0a" + bytes(600)),
           ("SIONlib", b"sion\0\0\0\0\xef\3\0\0\6\0\0\0\5\0\0\0" + bytes(600)), ("a multifile", b"\x89THALW\r\n" + bytes(600))]


@pytest.mark.parametrize("name, content", FOREIGN)
def test_a_file_of_another_format_is_not_written(path, name, content):
    path.write_bytes(content)
    for mode in ("w", "r+", "a"):
        with pytest.raises(thalweg.Unsafe, match=f"looks like {name}, not a vpfile"):
            vp.open(path, mode, shape=4)
    with pytest.raises(thalweg.Unsafe, match=f"looks like {name}"):
        vp.import_array(path, 1, 1)
    with pytest.raises(thalweg.Corrupt, match=f"looks like {name}, not a vpfile"):
        vp.repair(path, shape=1)
    assert path.read_bytes() == content and [entry.name for entry in path.parent.iterdir()] == [path.name]
    for read in (lambda: vp.open(path, shape=4), lambda: vp.info(path), lambda: vp.verify(path)):
        with pytest.raises(thalweg.Corrupt, match=f"looks like {name}, not a vpfile"):
            read()
    assert not vp.is_vpfile(path)


def test_a_hint_lets_a_file_of_another_format_be_overwritten(path):
    path.write_bytes(FOREIGN[0][1])
    with vp.open(path, "w", shape=4, hints={"overwrite_foreign": "on"}) as f:
        f.write(np.arange(4.0))
    with vp.open(path) as f:
        assert (f.read(np.float64) == np.arange(4.0)).all()


def test_what_has_the_name_of_a_side_file_is_not_removed(path):
    for ending in (".meta", ".first", ".dir"):
        other = beside(path, ending)
        other.write_bytes(b"notes of somebody else")
        with pytest.raises(thalweg.Unsafe, match="is no side file of a vpfile"):
            vp.open(path, "w", shape=4)
        assert other.read_bytes() == b"notes of somebody else" and not path.exists()
        other.unlink()
