"""The storage of a run, as thalweg-probe tells it."""

from .errors import IO_ERROR, MeasureError
from .launch import find_program, how_it_ended, lines_of
from .parse import parse
from .surroundings import available_memory
from .text import short_size

__all__ = ["storage_facts", "check_room_and_memory"]

_PATIENCE_S = 60


def storage_facts(folder, program=""):
    """The member `storage` of a `run` record: path, kind, identity, free_bytes.

    Raises
    ------
    MeasureError
        The folder, or the program thalweg-probe (`program` as for `launch.find_program`), is missing.
    """
    lines = []
    path = find_program(program)
    ended = lines_of(path, ["--storage", folder], lines.append, _PATIENCE_S)
    if ended.exit_code or ended.signal or not lines:
        prefix, _, told = ended.error_text.strip().partition("thalweg-probe: ")
        raise MeasureError(told if told and not prefix else how_it_ended(None, ended, _PATIENCE_S), IO_ERROR)
    _, found = parse(lines[0])
    return {"path": found["path"], "kind": found["file_system"], "identity": found["identity"], "free_bytes": found["free_bytes"]}


def check_room_and_memory(storage, stored, held):
    """Raise MeasureError unless a storage, as of `storage_facts`, has `stored` free bytes, and the memory `held` bytes."""
    if storage["free_bytes"] < stored:
        raise MeasureError(f"'{storage['path']}' has {short_size(storage['free_bytes'])} of free space, {short_size(stored)} are "
                           "needed; choose a smaller --size or another --dir", IO_ERROR)
    if storage["kind"] == "tmpfs":
        held += stored
    memory = available_memory()
    if memory is not None and memory < held:
        raise MeasureError(f"{short_size(memory)} of memory are available, the ranks need {short_size(held)} together; choose "
                           "a smaller --size", IO_ERROR)
