"""Started on every rank by test_torch.py: torch_program.py CASE FOLDER [RANKS OF THE SAVE BEFORE]."""

import datetime
import functools
import os
import pathlib
import signal
import sys
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.state_dict import (StateDictOptions, get_model_state_dict, get_state_dict, set_model_state_dict,
                                                     set_state_dict)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

import thalweg
import thalweg.torch
from thalweg.torch import StorageReader, latest

warnings.simplefilter("ignore")
torch.set_num_threads(1)
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
folder = pathlib.Path(sys.argv[2])
StorageWriter = functools.partial(thalweg.torch.StorageWriter, sync=False)
LIMIT = datetime.timedelta(seconds=60)


def filled(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def plain(seed):
    """A state dict that is equal on all ranks, with tensors of each rank, and tensors of all ranks by rows and columns."""
    mesh = init_device_mesh("cpu", (size,))
    whole = filled(seed, 13, 7)
    return {
        "rows": distribute_tensor(whole, mesh, [Shard(0)]),
        "columns": distribute_tensor(whole, mesh, [Shard(1)]),
        "everywhere": distribute_tensor(whole, mesh, [Replicate()]),
        "plain": whole.to(torch.bfloat16).t(),
        "scalar": whole[0, 0].clone(),
        "nothing": torch.zeros(0, 4),
        "eighths": whole.to(torch.float8_e5m2),
        "other": {"step": seed, "words": ["a", "b"]},
    }


def same(found, expected):
    for key, value in expected.items():
        one = found[key]
        if isinstance(value, DTensor):
            one, value = one.full_tensor(), value.full_tensor()
        if isinstance(value, torch.Tensor):
            assert one.dtype == value.dtype and torch.equal(one.float(), value.float()), key
        else:
            assert one == value, (key, one, value)


def load_plain(path, seed):
    found = plain(seed + 1000)
    dcp.load(found, storage_reader=StorageReader(path))
    same(found, plain(seed))


def fsdp2():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(9, 21), torch.nn.ReLU(), torch.nn.Linear(21, 5))
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=init_device_mesh("cpu", (size,)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    return model, optimizer


def step(model, optimizer, seed):
    model(filled(seed, 4, 9)).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def whole(state):
    return {key: value.full_tensor() if isinstance(value, DTensor) else value for key, value in state.items()}


def save_fsdp2(path):
    model, optimizer = fsdp2()
    step(model, optimizer, 1)
    parameters, moments = get_state_dict(model, optimizer)
    dcp.save({"model": parameters, "optimizer": moments}, storage_writer=StorageWriter(path))
    reference = {key: value.clone() for key, value in whole(parameters).items()}
    moment = {key: whole(value) for key, value in moments["state"].items()}
    if rank == 0:
        torch.save((reference, moment), f"{path}.reference")
    dist.barrier()


def load_fsdp2(path):
    model, optimizer = fsdp2()
    step(model, optimizer, 2)
    parameters, moments = get_state_dict(model, optimizer)
    dcp.load({"model": parameters, "optimizer": moments}, storage_reader=StorageReader(path))
    set_state_dict(model, optimizer, model_state_dict=parameters, optim_state_dict=moments)
    reference, moment = torch.load(f"{path}.reference")
    same(whole(get_model_state_dict(model)), reference)
    for key, value in moment.items():
        same(whole(get_state_dict(model, optimizer)[1]["state"][key]), value)
    step(model, optimizer, 3)


def fsdp1(seed):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(9, 21), torch.nn.Linear(21, 5))
    return FullyShardedDataParallel(model, device_mesh=init_device_mesh("cpu", (size,)), device_id=torch.device("cpu"))


def save_and_load_fsdp1(path):
    model, other = fsdp1(1), fsdp1(2)
    dcp.save(get_model_state_dict(model), storage_writer=StorageWriter(path))
    state = get_model_state_dict(other)
    dcp.load(state, storage_reader=StorageReader(path))
    set_model_state_dict(other, state)
    full = StateDictOptions(full_state_dict=True)
    same(get_model_state_dict(other, options=full), get_model_state_dict(model, options=full))


def training_goes_on_while_it_saves():
    """The training thread changes the tensors and uses collectives of its own while other threads save."""
    writer = StorageWriter()
    groups = [dist.new_group(backend="gloo") for _ in range(2)]
    states = [plain(seed) for seed in (50, 60)]
    futures = []
    for state, group, name in zip(states, groups, ("first.tw", "second.tw")):  # the second one begins before the first ends
        futures.append(dcp.async_save(state, checkpoint_id=folder / name, storage_writer=writer, process_group=group))
        for value in (state["rows"].to_local(), state["plain"], state["scalar"]):
            value.fill_(-1)
        for _ in range(5):
            total = torch.ones(3)
            dist.all_reduce(total)
            assert (total == size).all()
    for future in futures:
        future.result(60)
    load_plain(folder / "first.tw", 50)
    load_plain(folder / "second.tw", 60)
    writer.close()

    writer = StorageWriter(background_staging=True)
    state = plain(70)
    response = dcp.async_save(state, checkpoint_id=folder / "third.tw", storage_writer=writer, process_group=groups[0])
    response.staging_completion.result(60)
    state["plain"].fill_(-1)
    response.upload_completion.result(60)
    load_plain(folder / "third.tw", 70)
    writer.close()


def connections_are_kept():
    for number, planner in enumerate([None, None, DefaultSavePlanner(enable_plan_caching=True)] +
                                     [DefaultSavePlanner(enable_plan_caching=True) for _ in range(2)]):
        dcp.save(plain(number), storage_writer=StorageWriter(folder / f"kept{number}.tw"), planner=planner)
        load_plain(folder / f"kept{number}.tw", number)
        if number == 0:
            before = list(thalweg.torch._idle)
            assert (len(before) > 0) == (size > 1)
    assert thalweg.torch._idle == before


class Failing(DefaultSavePlanner):
    """Fails in one call on one rank."""

    def __init__(self, call, who):
        super().__init__()
        if rank == who:
            setattr(self, call, self._fail)

    def _fail(self, *args):
        raise ZeroDivisionError("on one rank")


def refused(path, *words, **arguments):
    """All ranks raise, and say the words; nothing can be loaded."""
    before = latest(folder)
    dist.barrier()
    try:
        dcp.save(plain(5), **{"storage_writer": StorageWriter(path), **arguments})
    except (CheckpointException, thalweg.InvalidArgument) as error:
        assert all(word in str(error) for word in words), str(error)
    else:
        raise AssertionError("saved")
    dist.barrier()
    assert latest(folder) == before
    dist.barrier()


def failures_are_those_of_all():
    last, path = size - 1, folder / "failed.tw"
    for who in {0, last}:
        for call in ("set_up_planner", "create_local_plan", "resolve_data"):
            refused(path, "on one rank", planner=Failing(call, who))
        if size > 1:
            refused(path, "on one rank", planner=Failing("finish_plan", who),
                    storage_writer=StorageWriter(path, timeout=3))
    refused(path, "on one rank", planner=Failing("create_global_plan", 0))
    refused(path, "no_hint", storage_writer=StorageWriter(path, hints="no_hint=5" if rank == last else None))
    refused(path, "written by all ranks together", use_collectives=False)
    if size > 1:
        mine = folder / f"of{rank}.tw"
        refused(path, "rank 1 saves to another path", storage_writer=StorageWriter(mine))
        assert not mine.exists()
    sparse = {"s": torch.eye(3).to_sparse()}
    try:
        dcp.save(sparse, storage_writer=StorageWriter(path))
        raise AssertionError("saved")
    except CheckpointException as error:
        assert "sparse" in str(error)
    dcp.save(plain(6), storage_writer=StorageWriter(path))  # over a torn one
    load_plain(path, 6)
    refused(path, "which is not replaced")
    load_plain(path, 6)
    try:
        dcp.load(plain(6), storage_reader=StorageReader(folder / "none.tw"))
        raise AssertionError("loaded")
    except CheckpointException as error:
        assert "No such file" in str(error)


def each_rank_by_itself():
    dcp.save({"a": filled(rank, 5)}, storage_writer=StorageWriter(folder / f"alone{size}.{rank}.tw"), no_dist=True)
    found = {"a": torch.zeros(5)}
    dcp.load(found, storage_reader=StorageReader(folder / f"alone{size}.{rank}.tw"), no_dist=True)
    assert torch.equal(found["a"], filled(rank, 5))
    dist.barrier()


def everything():
    before = sys.argv[3] if len(sys.argv) > 3 else None
    if before is not None:
        load_plain(folder / f"plain{before}.tw", int(before))
        load_fsdp2(folder / f"fsdp{before}.tw")
    dcp.save(plain(size), storage_writer=StorageWriter(folder / f"plain{size}.tw"))
    load_plain(folder / f"plain{size}.tw", size)
    save_fsdp2(folder / f"fsdp{size}.tw")
    save_and_load_fsdp1(folder / f"fsdp1.{size}.tw")
    assert latest(folder) == folder / f"fsdp1.{size}.tw"
    dist.barrier()


def failures():
    connections_are_kept()
    training_goes_on_while_it_saves()
    each_rank_by_itself()
    failures_are_those_of_all()


class Dying(thalweg.torch.StorageWriter):
    """The last rank dies before it closes its data; or the coordinator before it appends the metadata."""

    moment = None

    def write_data(self, plan, planner):
        if self.moment == "write" and rank == size - 1:
            planner.resolve_data = lambda item: os.kill(os.getpid(), signal.SIGKILL)
        return super().write_data(plan, planner)

    def finish(self, metadata, results):
        if self.moment == "finish":
            os.kill(os.getpid(), signal.SIGKILL)
        super().finish(metadata, results)


def death(moment):
    dcp.save(plain(1), storage_writer=StorageWriter(folder / "whole.tw"))
    dist.barrier()
    writer = Dying(folder / "torn.tw", timeout=30)
    writer.moment = moment
    dcp.save(plain(2), storage_writer=writer)


dist.init_process_group("gloo", init_method=os.environ.get("RENDEZVOUS", "env://"), rank=rank, world_size=size, timeout=LIMIT)
{"everything": everything, "failures": failures, "write": lambda: death("write"), "finish": lambda: death("finish")}[sys.argv[1]]()
dist.destroy_process_group()
print(f"passed on rank {rank} of {size}")
