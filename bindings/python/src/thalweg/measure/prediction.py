"""Times of methods for a request: the model's terms on one node, and network and storage of several nodes by simulation."""

import dataclasses as _dataclasses
import math as _math

import numpy as _np

from . import terms as _terms
from .model import predicted
from .plan import grid_for
from .scale import SERVERS, Scale
from .text import count_text, short_size

__all__ = ["Predictor", "Time", "bandwidth_text", "ranked"]

_WORTH_NAMING = 0.05  # share of the time
_LONGEST_REASON = 120  # characters, before another part
_ALIKE = 0.01  # relative difference of equal times


def bandwidth_text(bytes_per_second):
    """A bandwidth as "12.3 GiB/s"."""
    gibibytes = bytes_per_second / 2**30
    return f"{gibibytes / 1024:.3g} TiB/s" if gibibytes >= 1024 else f"{gibibytes:.3g} GiB/s"


@_dataclasses.dataclass(frozen=True)
class Time:
    """A predicted time; its parts in seconds.

    Attributes
    ----------
    seconds : float
    own : float
        Of the node alone, without storage and network.
    added, moving : float
        Of the node: what is added to moving bytes, and moving them.
    bound : float
        Network and storage, which move bytes at once with the node: the slower counts.
    further : float
        Opening on several nodes.
    parts : tuple of (str, float)
    storage_limits : bool
    """

    seconds: float
    own: float
    added: float
    moving: float
    bound: float
    further: float
    parts: tuple
    storage_limits: bool

    @property
    def reason(self):
        """The parts in words, the largest first."""
        text = ""
        for what, seconds in self.parts:
            if seconds >= _WORTH_NAMING * self.seconds and len(text) <= _LONGEST_REASON:
                text += f"{', ' if text else ''}{what} {100 * seconds / self.seconds:.0f} %"
        return text


def ranked(times):
    """The ids of methods, the fastest first; those within 1 % by the time of the node alone.

    Where the storage limits all, methods differ by the time to open a file only, which does not matter then.
    """
    ids, out = sorted(times, key=lambda name: times[name].seconds), []
    while ids:
        most = times[ids[0]].seconds * (1 + _ALIKE)
        alike = [name for name in ids if times[name].seconds <= most]
        out += sorted(alike, key=lambda name: times[name].own)
        ids = ids[len(alike):]
    return out


def _is_level_1(method):
    return method["id"].startswith("mpiio-") and method["id"].endswith("1")


def way_of(method):
    """The way in which the simulation carries out a method."""
    if method["id"] == "gather":
        return "gather"
    if method["outcome"] == "separate":
        return "file-per-task"
    if method["id"] in ("tw-multifile", "sionlib"):
        return "multifile"
    return "collective" if method["collective"] and not _is_level_1(method) else "independent"


def _in_turn(grid, order):
    """Ranks with interleaved pieces: those side by side in the fastest dimension that is cut, if it is not the slowest."""
    fast_to_slow = list(grid) if order == "f" else list(reversed(grid))
    for parts in fast_to_slow[:-1]:
        if parts > 1:
            return parts
    return 1


class Predictor:
    """The times of methods for a request.

    Parameters
    ----------
    request : Request
    machine : Machine
    cell : Cell
    fit : Fit
    methods : list of dict
        `method` records that have constants.
    program : str
        The program that simulates; "": searched.

    Attributes
    ----------
    node : terms.Load
        Work of one node.
    scale : Scale
    times : dict
        A `Time` by id.
    stretch : float
        How far the request is beyond the cells that were measured, in their steps, at least 1: errors grow by it.
    """

    def __init__(self, request, machine, cell, fit, methods, program=""):
        self._request, self._machine, self._cell, self._fit = request, machine, cell, fit
        self._all = _terms.load_of(cell, request.phase, request.readers_or_default, machine.cores)
        self._movers = grid_for(request.movers, len(cell.shape)) if request.phase == "restart" else cell.grid
        self.node = self._load_of_node()
        self.scale = Scale(request, machine, program)
        self.stretch = fit.stretch(self.node)
        far = {}
        if request.nodes > 1:
            accesses = {method["id"]: self._access(method) for method in methods}
            seconds = self.scale.seconds(accesses.values())
            far = {name: seconds[access] for name, access in accesses.items()}
        self.times = {method["id"]: self._time(method, far.get(method["id"])) for method in methods}

    def possible(self, ids):
        """Times that are possible, seconds (S, M): a row for each cell left out, with its errors."""
        factors = _np.exp(self._fit.scenarios(self._request.phase, ids, self.stretch))
        added, moving, bound, further = (_np.array([getattr(self.times[name], part) for name in ids])
                                         for part in ("added", "moving", "bound", "further"))
        return added * factors + _np.maximum(moving * factors, bound) + further

    def _load_of_node(self):
        load, nodes = self._all, self._request.nodes_in_use
        ranks = _math.ceil(load.ranks / nodes)
        own = self._request.cores_per_node or self._machine.cores
        if not self._request.cores_per_node and self._request.nodes > 1:
            own = max(own, ranks)
        return _terms.Load(ranks, _math.ceil(load.written / nodes), own, load.bytes / nodes, max(load.runs / nodes, ranks),
                           max(load.cuts / nodes, ranks))

    def _runs_of_rank(self, method):
        """Stretches of the file for each rank."""
        runs = 1
        if method["outcome"] == "array":
            runs = self._all.runs
        elif self._request.phase == "restart":
            runs = _terms.chunk_runs_of(self._cell, self._movers)
        return max(1.0, runs / self._all.ranks)

    def _access(self, method):
        return way_of(method), int(self._runs_of_rank(method)), _in_turn(self._movers, self._request.order)

    def _time(self, method, far):
        factors = _terms.terms_of(method, self._request.phase, self.node)
        costs = factors * self._fit.constants(method["id"], self._request.phase)
        own = float(_np.exp(predicted(factors, self._fit.constants(method["id"], self._request.phase))))
        moving = float(sum(costs[term] for term in _terms.MOVING))
        added = own - moving if own > moving else 0.0
        cause, bound = self._bound(method, far)
        parts = [(_terms.meaning(method, term), float(cost)) for term, cost in enumerate(costs)
                 if cost > 0 and (term not in _terms.MOVING or moving >= bound)]
        if moving < bound:
            parts.append((cause, bound))
        opening = self._opening(method, far)
        parts += [part for part in opening if part[1] > 0]
        further = sum(seconds for _, seconds in opening)
        limits = moving < bound and cause.startswith("the storage")
        return Time(added + max(moving, bound) + further, own, added, moving, bound, further,
                    tuple(sorted(parts, key=lambda part: -part[1])), limits)

    def _bound(self, method, far):
        """What network and storage need to move the bytes: the cause, and seconds."""
        storage = f"the storage, {bandwidth_text(self.scale.storage_bandwidth)}"
        least = self._request.bytes / self.scale.storage_bandwidth
        if far is None:
            return storage, least if self._request.storage_bandwidth else 0.0
        return (self._cause(method), far.transfer) if far.transfer > least else (storage, least)

    def _cause(self, method):
        """The dominant cost other than the bandwidth of the storage."""
        each, runs = self._request.bytes / self._request.movers, self._runs_of_rank(method)
        if way_of(method) == "gather":
            return "one rank gathers and transfers all bytes"
        if way_of(method) == "collective":
            return f"exchange with the aggregators of {SERVERS} servers"
        if way_of(method) == "independent":
            return f"{count_text(_math.ceil(runs), 'call')} of each rank, {short_size(each / runs)} each"
        return f"{short_size(each)} of each rank, transferred in parallel"

    def _opening(self, method, far):
        """What is added by files, and by meetings of all nodes: pairs of a cause and seconds."""
        request, found = self._request, []
        own_files = method["outcome"] == "separate"
        if far is None:
            if request.phase == "write" and request.storage_create_rate and own_files:
                found.append((f"making {count_text(request.ranks, 'file')}", request.ranks / request.storage_create_rate))
            return found
        seconds = far.open + far.close
        if own_files:  # the file of each writer is opened once in total; the simulation counts those of the readers
            files = max(request.ranks, request.movers)
            verb = "making" if request.phase == "write" else "opening"
            found.append((f"{verb} {count_text(files, 'file')}", seconds * files / request.movers))
        else:
            found.append(("all ranks opening and closing", seconds))
        if _is_level_1(method) and method["outcome"] == "array":
            steps = 2 * _math.log2(max(2, request.movers))
            found.append(("a barrier of all ranks for each row", self._runs_of_rank(method) * steps * self._machine.net_latency_seconds))
        return found
