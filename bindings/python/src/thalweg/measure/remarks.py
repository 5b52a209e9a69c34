"""Remarks of an advice: assumptions, extrapolation, the error of the model, and the output's share of the run time."""

from .prediction import bandwidth_text
from .scale import SERVER_NS, SERVERS
from .text import count_text, printable, short_size

__all__ = ["duty_of", "notes_of"]


def notes_of(request, machine, fit, predictor, mpi=""):
    """Assumptions of an advice, a list of str.

    Parameters
    ----------
    request : Request
    machine : Machine
    fit : Fit or None
        None: nothing was measured.
    predictor : Predictor or None
        None: methods are not ranked.
    mpi : str
        The MPI that was measured.
    """
    notes = []
    if fit is not None:
        notes.append(_of_errors(request, fit))
    if predictor is not None:
        notes += _of_size(request, fit, predictor)
        notes += _of_nodes(request, machine, predictor) if request.nodes > 1 else _of_crowd(predictor.node)
    each = request.bytes / request.nodes_in_use
    if request.memory_per_node and each > request.memory_per_node:
        notes.append(f"the program's data, {short_size(each)} per node, exceed --memory-per-node {short_size(request.memory_per_node)}")
    named = "open mpi" if request.mpi == "openmpi" else request.mpi
    if named and named not in mpi.lower():
        notes.append(f"{request.mpi} was not measured here{', but ' + repr(printable(mpi)) if mpi else ''}: its times may differ")
    return notes


def _percent(value):
    return f"{100 * value:.0f} %" if value == value else "unknown"


def _of_errors(request, fit):
    errors = fit.errors(request.phase)
    more = "; the error of the simulation of more nodes is unknown" if request.nodes > 1 else ""
    return (f"median error of the model: {_percent(errors['fitted'])} on the {count_text(len(fit.cells), 'cell')} it was fitted to; on cells "
            f"left out of the fit {_percent(errors['times'])} of a time, {_percent(errors['ratios'])} between methods{more}")


def _of_size(request, fit, predictor):
    most, node = fit.largest_bytes(), predictor.node
    if node.bytes > most:
        what = "a node" if request.nodes > 1 else "this"
        cache = "" if request.storage_bandwidth else " at the speed of the page cache; give the storage's speed with --storage-bandwidth"
        yield f"at most {short_size(most)} were measured, but {what} has {short_size(node.bytes)}: times are extrapolated{cache}"
    if predictor.stretch > 1:
        yield f"beyond the cells that were measured: errors are assumed to be {predictor.stretch:.1f} times as large"


def _of_crowd(node):
    if node.ranks > node.cores:
        yield f"{node.ranks} ranks share {count_text(node.cores, 'core')}"


def _of_nodes(request, machine, predictor):
    node, scale, nodes = predictor.node, predictor.scale, count_text(request.nodes_in_use, "node")
    yield (f"one machine was measured ({count_text(machine.cores, 'core')}): its work is scaled to {nodes} of {count_text(node.ranks, 'rank')} "
           f"and {count_text(node.cores, 'core')}; network and storage are simulated with {count_text(scale.tasks, 'task')} and a part of "
           "their pieces, then scaled")
    yield f"assumed: {SERVERS} storage servers that take {SERVER_NS / 1e3:.0f} us per operation"
    if not request.storage_bandwidth:
        yield (f"no --storage-bandwidth: {bandwidth_text(scale.storage_bandwidth)} is assumed, one node's "
               f"{bandwidth_text(scale.storage_bandwidth / request.nodes_in_use)} times {nodes}; real storage may be slower")
    if not request.storage_create_rate:
        yield f"no --storage-create-rate: {scale.create_rate:.0f} files per second are assumed, the rate of one node"
    if not machine.net_is_measured:
        yield (f"messages between nodes were not measured: {machine.net_latency_seconds * 1e6:.3g} us and "
               f"{bandwidth_text(1 / machine.net_byte_seconds)} are assumed")


def duty_of(request, seconds, named):
    """The share of a method in the program's time, and how much of it can be hidden; nothing where that time is unknown.

    Parameters
    ----------
    request : Request
    seconds : dict
        Predicted times by method.
    named : str
        The method that is used.
    """
    between, step = request.every or request.compute_seconds_per_step, request.compute_seconds_per_step
    if between <= 0:
        return
    when = f"{between:.3g} s of computing"
    if request.every and step:
        when += f" ({max(1, round(between / step))} steps)"
    own = seconds[named]
    yield f"{own:.3g} s of input and output for {when}: {100 * own / (between + own):.1f} % of the run time"
    if request.phase == "write" and "tw-nonblocking" in seconds:
        needs = seconds["tw-nonblocking"]
        left = max(0.0, needs - between)
        hidden = f"{left:.3g} s cannot be hidden, the rest" if left else "all of it"
        yield (f"tw-nonblocking takes {needs:.3g} s during the next computation: {hidden} can be hidden if cores are idle; see the overlap "
               f"that 'thalweg methods' measures. It needs a copy of the data, {short_size(request.bytes / request.nodes)} on each node")
