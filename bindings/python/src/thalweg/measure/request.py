"""What ``thalweg advise`` is asked, and the machine for which it answers."""

import dataclasses as _dataclasses
import math as _math

from .errors import USAGE, MeasureError
from .parse import Cell
from .plan import grid_for
from .terms import Primitives, number_in, primitives_of
from .text import count_text, joined

__all__ = ["Machine", "PATTERNS", "Request", "cell_of", "machine_of"]

PATTERNS = ("block2d", "block3d", "rows", "task-local", "ragged")
_ELEMENT_BYTES = 4
_NODE_BYTE_SECONDS = 0.1e-9  # 10 GB/s, where it was not measured


@_dataclasses.dataclass(frozen=True)
class Request:
    """A program and its machine. Each attribute is the option of ``thalweg advise`` with its name; 0 and () are unknown.

    Attributes
    ----------
    ranks, readers, nodes, cores_per_node : int
    bytes, memory_per_node : int
        In bytes.
    pattern : {"block2d", "block3d", "rows", "task-local", "ragged"}
    grid : tuple of int
    order : {"c", "f"}
    phase : {"write", "read", "restart"}
    every, compute_seconds_per_step : float, seconds
    language : {"c", "fortran", "python"}
    mpi : {"", "mpich", "openmpi"}
    storage_bandwidth : float, bytes per second
    storage_create_rate : float, files per second
    """

    ranks: int = 1
    bytes: int = 0
    pattern: str = "block2d"
    grid: tuple = ()
    order: str = "c"
    phase: str = "write"
    readers: int = 0
    nodes: int = 1
    cores_per_node: int = 0
    memory_per_node: int = 0
    storage_bandwidth: float = 0.0
    storage_create_rate: float = 0.0
    every: float = 0.0
    compute_seconds_per_step: float = 0.0
    language: str = "c"
    mpi: str = ""

    @property
    def readers_or_default(self):
        """Ranks that read in a restart: half of those that wrote where none were named."""
        return self.readers or max(1, self.ranks // 2)

    @property
    def movers(self):
        """Ranks that move the bytes."""
        return self.readers_or_default if self.phase == "restart" else self.ranks

    @property
    def nodes_in_use(self):
        """Nodes that have a rank which moves bytes."""
        return min(self.nodes, self.movers)

    @property
    def is_array(self):
        """The data of all ranks form one array."""
        return self.pattern in ("block2d", "block3d", "rows")


def _root(elements, dimensions):
    """The whole number whose power is nearest, at least 1."""
    side = max(1, round(elements ** (1 / dimensions)))
    return min((side - 1 or 1, side, side + 1), key=lambda n: abs(n**dimensions - elements))


def _grid_of(request, dimensions):
    if request.pattern == "rows":
        rows = (1, request.ranks) if request.order == "f" else (request.ranks, 1)
        if request.grid and request.grid != rows:
            raise MeasureError(f"--grid {joined(request.grid)} does not cut an array into rows; omit it, or use --pattern block2d", USAGE)
        return rows
    if not request.grid:
        return grid_for(request.ranks, dimensions)
    parts = _math.prod(request.grid)
    if parts != request.ranks or len(request.grid) != dimensions:
        told = count_text(parts, "part") if parts < 1 << 31 else "too many parts"
        raise MeasureError(f"--grid {joined(request.grid)} has {told} in {count_text(len(request.grid), 'dimension')}, the request "
                           f"{count_text(request.ranks, 'rank')} in {dimensions}", USAGE)
    return request.grid


def cell_of(request):
    """The array of a request, a Cell: as square as possible, of 4-byte elements; data without an array are a row of it for each task.

    Raises
    ------
    MeasureError
        The product of the grid is not the number of ranks, or there are fewer elements than ranks.
    """
    least = _ELEMENT_BYTES * request.ranks
    if request.bytes < least:
        raise MeasureError(f"--bytes {request.bytes}: too few for {count_text(request.ranks, 'rank')}, as an element has 4", USAGE)
    if request.readers and request.phase != "restart":
        raise MeasureError(f"--readers {request.readers} applies to a restart only: add --phase restart, or omit it", USAGE)
    if request.bytes < _ELEMENT_BYTES * request.movers:
        raise MeasureError(f"--readers {request.movers}: more than the {request.bytes // _ELEMENT_BYTES} elements in --bytes "
                           f"{request.bytes}", USAGE)
    if request.nodes > request.ranks:
        raise MeasureError(f"--nodes {request.nodes}: more than {count_text(request.ranks, 'rank')}", USAGE)
    if not request.is_array and request.grid:
        raise MeasureError(f"--grid is for arrays, and '{request.pattern}' data have none", USAGE)
    elements = request.bytes // _ELEMENT_BYTES
    dimensions = 3 if request.pattern == "block3d" else 2
    shape = (_root(elements, dimensions),) * dimensions if request.is_array else (elements,)
    return Cell(request.ranks, _grid_of(request, len(shape)), shape, request.order)


@_dataclasses.dataclass(frozen=True)
class Machine:
    """Measurements of a machine and its storage.

    Attributes
    ----------
    identity : str
        Of the file system; "": unknown.
    cores : int
    known : terms.Primitives
        Costs of the page cache.
    node_byte_seconds : float
        Of a byte between ranks of a node.
    net_latency_seconds, net_byte_seconds : float
        Between nodes.
    net_is_measured : bool
        False: those of a typical cluster.
    """

    identity: str = ""
    cores: int = 1
    known: Primitives = Primitives()
    message_seconds: float = Primitives.message
    node_byte_seconds: float = _NODE_BYTE_SECONDS
    net_latency_seconds: float = 1.5e-6
    net_byte_seconds: float = 0.08e-9
    net_is_measured: bool = False


def machine_of(identity, entry, cores):
    """The machine of an entry of the profile, a dict, {} without one. What the entry lacks, or cannot mean, gets its default."""
    known = primitives_of(entry)
    found = {"message_seconds": known.message}
    networks = entry.get("network")
    for network in networks if isinstance(networks, list) else ():
        latency = number_in(network, "latency_seconds", 0.0, 1e-9, 1e3)
        bandwidth = number_in(network, "bytes_per_second", 0.0, 1)
        if latency == 0 or bandwidth == 0:
            continue
        if number_in(network, "nodes", 1) > 1:
            found |= {"net_is_measured": True, "net_latency_seconds": latency, "net_byte_seconds": 1 / bandwidth}
        elif number_in(network, "ranks", 0) == 2:
            found |= {"message_seconds": latency, "node_byte_seconds": 1 / bandwidth}
    return Machine(identity, cores, known, **found)
