"""Time of network and storage of many nodes, by the simulation of the engine: ``thalweg-probe --predict``.

Fewer tasks, pieces and bytes are simulated, and their times are scaled.
"""

import contextlib as _contextlib
import dataclasses as _dataclasses
import json as _json
import math as _math
import subprocess as _subprocess

from . import signals
from .errors import IO_ERROR, MeasureError
from .launch import find_program
from .parse import parse
from .text import printable

__all__ = ["Scale", "Seconds"]

SERVERS = 16  # of the storage; assumed
SERVER_NS = 20_000.0  # of one server, for an operation; assumed
_MOST_TASKS = 1024  # so that an answer takes seconds
_MOST_BYTES = 32 << 20  # of all tasks
_MOST_OF_TASK = 16 << 20
_MOST_PIECES = 1 << 20  # of all tasks
_STRIPE = 1 << 20
_LEAST_STRIPE = 4096
_LEAST_SHRUNK = 1 / 256  # then a stripe is a page
_PATIENCE_S = 600


@_dataclasses.dataclass(frozen=True)
class Seconds:
    """Parts of an access, in seconds."""

    open: float = 0.0
    transfer: float = 0.0
    close: float = 0.0


class Scale:
    """Times of accesses of a request on all of its nodes.

    Parameters
    ----------
    request : Request
    machine : Machine
    program : str
        As for `launch.find_program`.

    Attributes
    ----------
    storage_bandwidth : float
        Bytes per second of all nodes together; without an option one node's page cache, times the nodes.
    create_rate : float
        Files per second; without an option that of one node.
    tasks : int
        Simulated tasks.
    """

    def __init__(self, request, machine, program=""):
        self._request, self._program = request, program
        nodes, movers = request.nodes_in_use, request.movers
        self.storage_bandwidth = request.storage_bandwidth or nodes / machine.known.byte
        self.create_rate = request.storage_create_rate or 1 / machine.known.open
        # All nodes are simulated where there are that many tasks: fewer nodes would share their links.
        of_node = -(-movers // nodes) if movers <= _MOST_TASKS else max(1, _MOST_TASKS // nodes)
        self.tasks = min(movers, _MOST_TASKS, of_node * nodes)
        create_ns = 1e9 / self.create_rate
        self._costs = {"tasks_per_node": of_node, "node_latency_ns": machine.message_seconds * 1e9,
                       "node_byte_ns": machine.node_byte_seconds * 1e9, "latency_ns": machine.net_latency_seconds * 1e9,
                       "byte_ns": machine.net_byte_seconds * 1e9, "servers": SERVERS, "stripe_bytes": _STRIPE, "server_ns": SERVER_NS,
                       "server_byte_ns": SERVERS * 1e9 / self.storage_bandwidth, "create_ns": create_ns,
                       "open_ns": create_ns / 5}  # a ratio as of the simulation's defaults

    def seconds(self, accesses):
        """Times of accesses.

        Parameters
        ----------
        accesses : collection of (way, runs, in_turn)
            A way of the program, stretches of the file for each rank, and ranks whose stretches alternate.

        Returns
        -------
        dict
            `Seconds` by access.

        Raises
        ------
        MeasureError
            The program is missing or fails.
        """
        found = {}
        for access in dict.fromkeys(accesses):
            shrunk, simulated, pieces = self._plan(*access)
            found[access] = self._scaled(self._predict(shrunk, simulated), simulated, pieces)
        return found

    def _plan(self, way, runs, in_turn):
        """How an access is simulated: the factor of all bytes, as many pieces as fit and half of them, and the number of all pieces."""
        bytes_of_rank = self._request.bytes / self._request.movers
        piece = max(1.0, bytes_of_rank / max(1.0, runs))
        # A power of two, so that pieces at the edges of stripes, as in real programs, also occur in the simulation.
        room = 1 << (min(_MOST_OF_TASK, _MOST_BYTES // self.tasks).bit_length() - 1)
        shrunk = min(1.0, max(_LEAST_SHRUNK, room / 2 / piece))
        piece_bytes = max(1, int(min(piece * shrunk, room / 2)))
        pieces = max(1.0, bytes_of_rank * shrunk / piece_bytes)
        fitting = int(max(1, min(room // piece_bytes, _MOST_PIECES // self.tasks, _math.ceil(pieces))))
        access = {"way": way, "direction": "write" if self._request.phase == "write" else "read", "tasks": self.tasks,
                  "tasks_per_process": 1, "pieces": fitting, "piece_bytes": piece_bytes, "in_turn": min(in_turn, self.tasks)}
        half = [{**access, "pieces": fitting // 2}] if 1 < fitting < pieces else []
        return shrunk, [access, *half], pieces

    def _scaled(self, found, simulated, pieces):
        full, many = found[0], simulated[0]["pieces"]
        transfer = full.transfer
        if len(found) > 1:
            each = max(0.0, transfer - found[1].transfer) / (many - simulated[1]["pieces"])
            transfer += each * (pieces - many)
        elif many < pieces:
            transfer *= pieces / many
        factor = self._request.movers / self.tasks
        return Seconds(full.open * factor, transfer * factor, full.close * factor)

    def _predict(self, shrunk, accesses):
        """A simulated byte stands for 1 / `shrunk` bytes: stripes are shorter and bytes slower by that factor."""
        machine = {**self._costs, "stripe_bytes": max(_LEAST_STRIPE, int(_STRIPE * shrunk))}
        for name in ("server_byte_ns", "node_byte_ns", "byte_ns"):
            machine[name] /= shrunk
        program = find_program(self._program)
        try:
            done = _subprocess.run([program, "--predict"], input=_json.dumps({"machine": machine, "accesses": accesses}), timeout=_PATIENCE_S,
                                   capture_output=True, text=True, errors="backslashreplace", check=False)
        except (OSError, _subprocess.TimeoutExpired) as error:
            raise MeasureError(f"'{program}' could not simulate the machine: {error}", IO_ERROR) from error
        signals.stop_if_caught()
        return _answers(program, done, len(accesses))


def _answers(program, done, count):
    records = []
    for line in done.stdout.splitlines():
        with _contextlib.suppress(MeasureError):  # a library prints, too
            records.append(parse(line))
    for kind, members in records:
        if kind == "failure":
            raise MeasureError(f"'{program}' could not simulate the machine: {printable(members['message'])}", IO_ERROR)
    found = [Seconds(*members.values()) for kind, members in records if kind == "prediction"]
    if done.returncode != 0 or len(found) != count:
        why = next((line for line in done.stderr.splitlines() if line.strip()), f"{len(found)} answers to {count} questions")
        raise MeasureError(f"'{program}' could not simulate the machine: {printable(why)}; is it thalweg-probe of this version?", IO_ERROR)
    return found
