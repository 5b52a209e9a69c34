"""thalweg.torch: checkpoints of PyTorch, on 1 to 4 processes."""

import inspect
import os
import pathlib
import socket
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.distributed.checkpoint as dcp  # noqa: E402
from torch.distributed.checkpoint.api import CheckpointException  # noqa: E402

import thalweg  # noqa: E402
import thalweg.torch  # noqa: E402
from thalweg.torch import StorageReader, latest  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
PROGRAM = pathlib.Path(__file__).with_name("torch_program.py")
LIMIT = 600  # s: on crowded machines the imports alone take minutes


class StorageWriter(thalweg.torch.StorageWriter):
    """Does not wait for the storage. The program does where a rank dies."""

    def __init__(self, path=None, **arguments):
        super().__init__(path, **{"sync": False, **arguments})


def start(ranks, *arguments, **environment):
    """Start the program on all ranks; returns their exit statuses and texts. All end when one takes too long."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    each = [subprocess.Popen(
        [sys.executable, str(PROGRAM), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "THALWEG_PROFILE": "none", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank),
             "WORLD_SIZE": str(ranks), "GLOO_SOCKET_IFNAME": "lo", **environment}) for rank in range(ranks)]
    try:
        texts = [one.communicate(timeout=LIMIT)[0] for one in each]
    finally:
        for one in each:
            one.kill()
    return [one.returncode for one in each], texts


def run(ranks, *arguments, **environment):
    statuses, texts = start(ranks, *arguments, **environment)
    assert statuses == [0] * ranks, "\n".join(texts)
    assert all(f"passed on rank {rank} of {ranks}" in text for rank, text in enumerate(texts))


def test_any_number_of_ranks_loads_what_another_number_saved(tmp_path):
    run(4, "everything", tmp_path)
    run(2, "everything", tmp_path, 4)
    run(1, "everything", tmp_path, 2)
    run(3, "everything", tmp_path, 1, RENDEZVOUS=f"file://{tmp_path}/rendezvous")


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_fail_together_and_threads_save_apart(ranks, tmp_path):
    run(ranks, "failures", tmp_path)


@pytest.mark.parametrize("moment", ["write", "finish"])
def test_a_checkpoint_of_a_dead_rank_is_torn(moment, tmp_path):
    statuses, texts = start(2, moment, tmp_path)
    assert 0 not in statuses, "\n".join(texts)
    assert latest(tmp_path) == tmp_path / "whole.tw"
    with pytest.raises(CheckpointException, match="repair|not whole"):
        dcp.load({"plain": torch.zeros(7, 13)}, storage_reader=StorageReader(tmp_path / "torn.tw"))
    with pytest.raises(thalweg.NotClosed):
        StorageReader(tmp_path / "torn.tw").read_metadata()
    dcp.save({"plain": torch.ones(3)}, storage_writer=StorageWriter(tmp_path / "torn.tw"))  # a torn one may be replaced
    assert latest(tmp_path) == tmp_path / "torn.tw"


def big(value):
    return {"u": torch.full((700, 500), float(value)), "v": torch.arange(1000)}


def save(path, value, **arguments):
    dcp.save(big(value), storage_writer=StorageWriter(path, **arguments))


def test_damaged_bytes_are_refused(tmp_path):
    path = tmp_path / "step.tw"
    save(path, 1)
    with thalweg.Multifile(path) as mf:
        (name,) = mf.names("data/")
        content = mf[name].read(4096)
    whole = bytearray(path.read_bytes())
    at = whole.index(content[:64]) + 1000
    whole[at] ^= 1
    path.write_bytes(whole)
    with pytest.raises(CheckpointException, match="Corrupt"):
        dcp.load(big(0), storage_reader=StorageReader(path))
    found = {"v": torch.zeros(1000, dtype=torch.int64)}
    dcp.load(found, storage_reader=StorageReader(path))  # reads only what it needs
    assert torch.equal(found["v"], torch.arange(1000))


def test_every_byte_of_the_metadata_is_checked(tmp_path):
    path = tmp_path / "step.tw"
    save(path, 1)
    whole = path.read_bytes()
    with thalweg.Multifile(path) as mf:
        content = mf[".metadata"].read()
    at = whole.index(content)
    for damaged in range(at, at + len(content), 97):
        path.write_bytes(whole[:damaged] + bytes([whole[damaged] ^ 64]) + whole[damaged + 1 :])
        assert latest(tmp_path) is None
        with pytest.raises(thalweg.Corrupt):
            StorageReader(path).read_metadata()
    path.write_bytes(whole)
    assert latest(tmp_path) == path


def test_the_latest_is_the_one_that_was_whole_last(tmp_path):
    assert latest(tmp_path / "none") is None and latest(tmp_path) is None
    save(tmp_path / "step9.tw", 9, sync=True)
    save(tmp_path / "step10.tw", 10)
    save(tmp_path / "step1.tw", 1)
    os.utime(tmp_path / "step1.tw", (0, 0))
    assert latest(tmp_path) == tmp_path / "step1.tw"
    os.truncate(tmp_path / "step1.tw", 20000)
    assert latest(str(tmp_path)) == tmp_path / "step10.tw"
    (tmp_path / "text").write_text("no checkpoint")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with thalweg.Multifile(tmp_path / "data.tw", "w") as mf:
        mf.attributes["torch.saved"] = str(2**62)
    writing = thalweg.Multifile(tmp_path / "writing.tw", "w")
    writing.attributes["torch.saved"] = str(2**62)
    assert latest(tmp_path) == tmp_path / "step10.tw"
    writing.abandon()


def test_a_checkpoint_without_a_part_is_not_whole(tmp_path):
    save(tmp_path / "whole.tw", 1)
    path = tmp_path / "several.tw"
    dcp.save({"u": torch.ones(3 << 20)}, storage_writer=StorageWriter(path, hints={"physical_files": 2}))
    parts = sorted(tmp_path.glob("several.tw*"))
    assert latest(tmp_path) == path and len(parts) == 2
    parts[0].unlink()
    assert latest(tmp_path) == tmp_path / "whole.tw"


@pytest.mark.parametrize("content", [b"text", b"x" * 100000])
def test_other_files_are_not_replaced(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(CheckpointException, match="which is not replaced"):
        save(path, 1)
    assert path.read_bytes() == content
    with thalweg.Multifile(tmp_path / "dump.tw", "w") as mf:
        mf.add("mine").write(b"kept")
    with pytest.raises(CheckpointException, match="not replaced"):
        save(tmp_path / "dump.tw", 1)
    with thalweg.Multifile(tmp_path / "dump.tw") as mf:
        assert mf["mine"].read() == b"kept"
    with thalweg.Multifile(tmp_path / "results.tw", "w") as mf:
        mf.add("data/results.npy").write(b"kept")
    with pytest.raises(CheckpointException, match="not replaced"):
        save(tmp_path / "results.tw", 1)
    torn = thalweg.Multifile(tmp_path / "torn.tw", "w")
    torn.add("sim/u").write(b"kept")
    torn.abandon()
    with pytest.raises(CheckpointException, match="not replaced"):
        save(tmp_path / "torn.tw", 1)
    with thalweg.Multifile(tmp_path / "torn.tw", recover=True) as mf:
        assert mf["sim/u"].read() == b"kept"
    live = thalweg.Multifile(tmp_path / "live.tw", "w")
    live.mine.write(b"kept")
    with pytest.raises(CheckpointException, match="being written"):
        save(tmp_path / "live.tw", 1)
    live.close()


def test_strange_files_hide_no_checkpoint(tmp_path):
    with thalweg.Multifile(tmp_path / "strange.tw", "w") as mf:
        mf.attributes["torch.saved"] = "soon"
    with thalweg.Multifile(tmp_path / "stranger.tw", "w") as mf:
        mf.attributes["torch.saved"] = "99999999999999999999"
        mf.add(".metadata").write(b"no pickle")
    path = tmp_path / "step.000100"  # no further file of another one
    save(path, 1)
    assert latest(tmp_path) == path


def test_a_checkpoint_that_was_replaced_while_it_was_saved_is_not_certified(tmp_path):
    path = tmp_path / "step.tw"

    class Replaced(StorageWriter):
        def finish(self, metadata, results):
            with thalweg.Multifile(path, "w", n_logical=0) as mf:
                mf.add("data/0").write(b"of another program")
            super().finish(metadata, results)

    with pytest.raises(CheckpointException, match="another program has replaced"):
        dcp.save(big(1), storage_writer=Replaced(path))
    assert latest(tmp_path) is None


DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.int64,
          torch.int16, torch.int8, torch.uint8, torch.uint16, torch.bool, torch.complex64, torch.complex128]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_come_back(tmp_path, dtype):
    base = (torch.arange(-60, 60).reshape(4, 5, 6) % 7).to(dtype)
    state = {"all": base, "transposed": base.transpose(0, 2), "strided": base[::2, 1:, ::3], "scalar": base[0, 0, 0].clone(),
             "empty": base[:0], "expanded": base[:1].expand(3, 5, 6)}
    if dtype.is_complex:
        state["conjugated"] = base.conj()
        state["negated"] = base.conj().imag
    dcp.save(state, storage_writer=StorageWriter(tmp_path / "t.tw"))
    into = {key: torch.zeros(value.shape, dtype=value.dtype) for key, value in state.items()}
    strided = {key: torch.zeros((*value.shape, 2), dtype=value.dtype)[..., 0] for key, value in state.items()}
    for found in (into, strided):
        dcp.load(found, storage_reader=StorageReader(tmp_path / "t.tw"))
        for key, value in state.items():
            assert torch.equal(found[key].to(torch.complex128), value.to(torch.complex128)), key


def test_another_dtype_is_converted(tmp_path):
    dcp.save({"a": torch.arange(10.0)}, storage_writer=StorageWriter(tmp_path / "t.tw"))
    found = {"a": torch.zeros(10, dtype=torch.bfloat16)}
    dcp.load(found, storage_reader=StorageReader(tmp_path / "t.tw"))
    assert torch.equal(found["a"], torch.arange(10).to(torch.bfloat16))


def test_memory_of_copies_is_used_again_when_its_save_has_ended(tmp_path):
    writer = StorageWriter()
    copies = [writer.stage({"a": torch.full((1000,), float(i))}) for i in range(3)]
    assert [copy["a"][5].item() for copy in copies] == [0, 1, 2]
    assert len(writer._stagers) == 3
    del copies[1]
    copies.append(writer.stage({"a": torch.full((1000,), 7.0)}))
    assert [copy["a"][5].item() for copy in copies] == [0, 2, 7] and len(writer._stagers) == 3
    writer.close()
    writer, tensor, places = StorageWriter(), torch.zeros(1000), set()
    for step in range(4):
        tensor.fill_(step)
        future = dcp.async_save({"a": tensor}, checkpoint_id=tmp_path / f"step{step}.tw", storage_writer=writer)
        tensor.fill_(-1)
        future.result(60)
        places.add(len(writer._stagers))
        found = {"a": torch.zeros(1000)}
        dcp.load(found, storage_reader=StorageReader(tmp_path / f"step{step}.tw"))
        assert (found["a"] == step).all()
    assert places == {1}
    writer.close()


def test_another_process_can_save(tmp_path):
    program = (
        "import sys, os, torch, torch.distributed as dist, torch.distributed.checkpoint as dcp, thalweg.torch\n"
        "from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType\n"
        "if __name__ == '__main__':\n"
        "    dist.init_process_group('gloo', init_method='file://' + sys.argv[1] + '/r', rank=0, world_size=1)\n"
        "    os.environ['MASTER_ADDR'] = '127.0.0.1'\n"
        "    writer = thalweg.torch.StorageWriter()\n"
        "    for step in range(2):\n"
        "        tensor = torch.full((1000,), float(step))\n"
        "        dcp.async_save({'a': tensor}, checkpoint_id=sys.argv[1] + f'/step{step}.tw', storage_writer=writer,\n"
        "                       async_checkpointer_type=AsyncCheckpointerType.PROCESS).result(120)\n")
    (tmp_path / "program.py").write_text(program)
    subprocess.run([sys.executable, str(tmp_path / "program.py"), str(tmp_path)], check=True, timeout=LIMIT)
    for step in range(2):
        found = {"a": torch.zeros(1000)}
        dcp.load(found, storage_reader=StorageReader(tmp_path / f"step{step}.tw"))
        assert (found["a"] == step).all()


def test_wrong_arguments():
    with pytest.raises(thalweg.InvalidArgument, match="timeout"):
        StorageWriter("a.tw", timeout=0)
    with pytest.raises(thalweg.InvalidArgument, match="null byte"):
        StorageWriter("a\0.tw")
    with pytest.raises(CheckpointException, match="has no path"):
        dcp.save(big(1), storage_writer=StorageWriter())
    with pytest.raises(CheckpointException, match="has no path"):
        dcp.load(big(1), storage_reader=StorageReader())
    assert StorageWriter.validate_checkpoint_id("a.tw") and not StorageReader.validate_checkpoint_id("s3://a")


def test_the_package_does_not_import_torch():
    subprocess.run([sys.executable, "-c", "import sys, thalweg; sys.exit('torch' in sys.modules)"], check=True)


@pytest.mark.parametrize("thing", [latest, *(getattr(kind, name) for kind in (thalweg.torch.StorageWriter, StorageReader)
                                             for name in vars(kind) if not name.startswith("_"))], ids=str)
def test_public_names_have_docstrings(thing):
    text = inspect.getdoc(thing)
    assert text
    if inspect.isfunction(thing):
        for argument in inspect.signature(thing).parameters:
            assert argument == "self" or argument in text
