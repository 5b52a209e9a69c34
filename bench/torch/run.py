#!/usr/bin/env python3
"""Compare checkpoints of thalweg.torch with those of PyTorch: DCP's FileSystemWriter, and torch.save of every rank.

Usage: run.py [--quick] [--dir DIR] [--ranks N,...] [--mib MIB] [--turns N] [--device DEVICE] [--json FILE]

  --dir    folder on the file system to measure (default: the current one)
  --ranks  numbers of processes (default 1,2,4)
  --mib    MiB of tensors of each rank (default 256; --quick: 16)
  --turns  turns of all variants, in a new random order each (default 5; --quick: 1)
  --device  where the tensors are and the training computes: cpu (default) or cuda, which all processes share
  --json   writes all times

Each rank has its rows of the tensors of a transformer with Adam. Every save is synced to the storage; every load is into tensors
that exist, once from the page cache and once after the kernel was asked to drop the files from it, and all bytes are compared
outside of the times. A time is that of the slowest rank. A ratio is the peer's time over ours in one turn: above 1 ours is
faster. The table has the median of the turns, with the least and the greatest.
An async_save is made three times in a row with one writer, beside a loop of matrix products. Its stall is what the calling thread
loses before it can change the tensors: in the call, and with background_staging in the wait after the next step, too. The
slowdown is what the steps take longer until the save has ended. Rows with "processor" compare processor time, of a stall that of
the calling thread: other programs on the machine hardly change it.
Exit status: 0, 1 a program failed or found wrong bytes, 2 wrong usage.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

# Measurement, peer, and the least ratio that is wanted.
TARGETS = [("save", "FileSystemWriter", 1.0), ("save", "torch.save", 1.0), ("load", "FileSystemWriter", 1.0),
           ("load", "torch.save", 1.0), ("load, cold", "FileSystemWriter", 1.0), ("load, cold", "torch.save", 1.0),
           ("stall, first", "FileSystemWriter", 2.0), ("stall, later", "FileSystemWriter", 2.0),
           ("slowdown", "FileSystemWriter", 1.0)]
TARGETS += [(f"{what}, processor", peer, wanted) for what, peer, wanted in TARGETS if what not in ("load, cold", "slowdown")]
STEP = 448  # extent of the matrices of a training step


def tensors_of_rank(rank, size, mib, device):
    """Names and shards of a model with Adam, by rows; equal seeds give equal values."""
    import torch
    hidden = 1024 if mib >= 64 else 256
    shapes = [("attention.qkv", 3 * hidden, hidden), ("attention.out", hidden, hidden), ("mlp.up", 4 * hidden, hidden),
              ("mlp.down", hidden, 4 * hidden), ("norm1", hidden), ("norm2", hidden), ("bias", 4 * hidden)]
    left, found = mib << 20, {}
    generator = torch.Generator().manual_seed(rank)
    for layer in itertools.count():
        for name, *shape in shapes:
            for kind in ("weight", "exp_avg", "exp_avg_sq"):
                local = torch.randn(max(shape[0] // size, 1), *shape[1:], generator=generator)
                found[f"layers.{layer}.{name}.{kind}"] = local.to(device)
                left -= local.nbytes
                if left <= 0:
                    return found


def distributed(shards, mesh):
    from torch.distributed.tensor import DTensor, Shard
    return {name: DTensor.from_local(shard, mesh, [Shard(0)], run_check=False) for name, shard in shards.items()}


class Rank:
    """One process of the measurement."""

    def __init__(self, folder, mib, turns, seed, device):
        import torch
        import torch.distributed as dist
        import torch.distributed.checkpoint as dcp
        import thalweg.torch
        from torch.distributed.device_mesh import init_device_mesh
        self.torch, self.dist, self.dcp, self.thalweg = torch, dist, dcp, thalweg.torch
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.folder, self.turns, self.random = pathlib.Path(folder), turns, random.Random(seed)
        torch.set_num_threads(1)
        dist.init_process_group("gloo")
        self.device = device
        mesh = init_device_mesh(device, (self.size,))
        self.shards = tensors_of_rank(self.rank, self.size, mib, device)
        self.state = distributed(self.shards, mesh)
        self.room = {name: torch.zeros_like(shard) for name, shard in self.shards.items()}
        self.into = distributed(self.room, mesh)
        self.group = dist.new_group(backend="gloo")
        self.times = []

    def note(self, turn, what, variant, seconds):
        slowest = self.torch.tensor([seconds])
        self.dist.all_reduce(slowest, self.dist.ReduceOp.MAX)
        self.times.append((turn, what, variant, slowest.item()))

    def finish(self):
        if self.device != "cpu":
            self.torch.cuda.synchronize()

    def timed(self, turn, what, variant, act):
        self.dist.barrier()
        begin, begin_processor = time.perf_counter(), time.process_time()
        act()
        self.finish()
        seconds, processor = time.perf_counter() - begin, time.process_time() - begin_processor
        self.note(turn, what, variant, seconds)
        self.note(turn, f"{what}, processor", variant, processor)

    def verify(self, what):
        for name, shard in self.shards.items():
            if not self.torch.equal(self.room[name], shard):
                raise SystemExit(f"rank {self.rank}: wrong bytes of {name} after {what}")
            self.room[name].zero_()

    def save(self, variant, path):
        if variant == "torch.save":
            path.mkdir(exist_ok=True)
            with open(path / str(self.rank), "wb") as out:
                self.torch.save(self.shards, out)
                out.flush()
                os.fsync(out.fileno())
            return
        self.dcp.save(self.state, storage_writer=self.writer(variant, path))

    def writer(self, variant, path=None, **options):
        if variant == "FileSystemWriter":
            return self.dcp.FileSystemWriter(path or self.folder)  # syncs
        return self.thalweg.StorageWriter(path, **options)

    def load(self, variant, path):
        if variant == "torch.save":
            found = self.torch.load(path / str(self.rank))
            for name, tensor in found.items():
                self.room[name].copy_(tensor)
            return
        reader = self.dcp.FileSystemReader if variant == "FileSystemWriter" else self.thalweg.StorageReader
        self.dcp.load(self.into, storage_reader=reader(path))

    def files(self, path):
        return [one for one in (path.iterdir() if path.is_dir() else path.parent.glob(path.name + "*")) if one.is_file()]

    def drop(self, path):
        self.dist.barrier()
        if self.rank == 0:
            for one in self.files(path):
                with open(one, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def remove(self, path):
        self.dist.barrier()
        if self.rank == 0:
            shutil.rmtree(path) if path.is_dir() else [one.unlink() for one in self.files(path)]
        self.dist.barrier()

    def synchronous(self, turn, variant):
        path = self.folder / "checkpoint"
        self.timed(turn, "save", variant, lambda: self.save(variant, path))
        self.timed(turn, "load", variant, lambda: self.load(variant, path))
        self.verify(f"a load of {variant}")
        self.drop(path)
        self.timed(turn, "load, cold", variant, lambda: self.load(variant, path))
        self.verify(f"a cold load of {variant}")
        self.remove(path)

    def step(self):
        a = self.torch.ones(STEP, STEP, device=self.device)
        begin = time.perf_counter()
        for _ in range(4):
            a = a @ a * (1 / STEP)
        self.finish()
        return time.perf_counter() - begin

    def asynchronous(self, turn, variant):
        background = variant == "thalweg, background_staging"
        writer = self.writer(variant, **({"background_staging": True} if background else {}))
        for number in range(3):
            path = self.folder / f"async{number}"
            self.dist.barrier()
            usual = statistics.median(self.step() for _ in range(20))
            self.finish()
            self.dist.barrier()
            begin, begin_processor = time.perf_counter(), time.thread_time()
            future = self.dcp.async_save(self.state, checkpoint_id=path, storage_writer=writer, process_group=self.group)
            stall, processor = time.perf_counter() - begin, time.thread_time() - begin_processor
            steps = []
            if background:
                steps.append(self.step())
                begin = time.perf_counter()
                future.staging_completion.result()
                stall += time.perf_counter() - begin
                future = future.upload_completion
            while not future.done():
                steps.append(self.step())
            future.result()
            what = "stall, first" if number == 0 else "stall, later"
            self.note(turn, what, variant, stall)
            self.note(turn, f"{what}, processor", variant, processor)
            self.note(turn, "slowdown", variant, sum(steps) - usual * len(steps))
            self.dist.barrier()
            self.load(variant, path)
            self.verify(f"async_save of {variant}")
        for number in range(3):
            self.remove(self.folder / f"async{number}")
        writer.close()

    def measure(self):
        variants = ["thalweg", "FileSystemWriter", "torch.save"]
        for turn in range(-1, self.turns):  # turn -1 warms up
            for variant in self.random.sample(variants, 3):
                self.synchronous(turn, variant)
            for variant in self.random.sample(["thalweg", "thalweg, background_staging", "FileSystemWriter"], 3):
                self.asynchronous(turn, variant)
            if self.rank == 0:
                print(f"turn {turn} on {self.size} ranks", file=sys.stderr, flush=True)
        self.dist.destroy_process_group()
        return [one for one in self.times if one[0] >= 0]


def start(n, folder, mib, turns, seed, device):
    """The times of n processes."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    arguments = [sys.executable, __file__, "--rank", str(folder), str(mib), str(turns), str(seed), device]
    ranks = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env={
        **os.environ, "RANK": str(rank), "WORLD_SIZE": str(n), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
        "THALWEG_PROFILE": "none"}) for rank in range(n)]
    texts = [one.communicate()[0] for one in ranks]
    if any(one.returncode for one in ranks):
        raise SystemExit(1)
    return json.loads(texts[0].splitlines()[-1])


def table(times):
    """Prints a row for each target; returns (met, all)."""
    met = total = 0
    print("| what | ranks | peer | ours, ms | peer, ms | ratio, median (least to greatest) | wanted |\n|---|---|---|---|---|---|---|")
    for n, rows in times.items():
        ours_of = ["thalweg", "thalweg, background_staging"]
        for (what, peer, wanted), ours in itertools.product(TARGETS, ours_of):
            if ours != "thalweg" and what.endswith("processor"):  # another thread copies
                continue
            both = {name: {} for name in (ours, peer)}
            for turn, one, variant, seconds in rows:
                if one == what and variant in both:
                    both[variant].setdefault(turn, []).append(seconds)
            if not both[ours]:
                continue
            mine, others = ({turn: statistics.median(found) for turn, found in both[name].items()} for name in (ours, peer))
            ratios = sorted(others[turn] / mine[turn] if mine[turn] > 0 else float("inf") for turn in mine)
            ratio = statistics.median(ratios)
            is_met = ratio >= wanted
            met, total = met + is_met, total + 1
            mark = "**" if is_met else ""
            name = what if ours == "thalweg" else f"{what}, background_staging"
            print(f"| {name} | {n} | {peer} | {statistics.median(mine.values()) * 1e3:.1f} "
                  f"| {statistics.median(others.values()) * 1e3:.1f} | {mark}{ratio:.2f}{mark} ({ratios[0]:.2f} to {ratios[-1]:.2f}) "
                  f"| {wanted} |")
    print(f"\n{met} of {total} targets met")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--dir", default=".")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--mib", type=int)
    parser.add_argument("--turns", type=int)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--json")
    options = parser.parse_args()
    mib, turns = options.mib or (16 if options.quick else 256), options.turns or (1 if options.quick else 5)
    times = {}
    for n in map(int, options.ranks.split(",")):
        with tempfile.TemporaryDirectory(prefix="thalweg-torch-", dir=options.dir) as folder:
            times[n] = start(n, folder, mib, turns, random.randrange(1 << 30), options.device)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"mib": mib, "turns": turns, "times": times}))
    table(times)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--rank"]:
        print(json.dumps(Rank(sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6]).measure()))
    else:
        main()
