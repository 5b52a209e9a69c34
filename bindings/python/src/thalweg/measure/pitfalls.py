"""What is certain about a method without any measurement: why it does not fit, and what goes wrong with it."""

from .terms import load_of
from .text import short_size

__all__ = ["impossible", "ruled_out", "warnings_of"]

_MANY_FILES = 1000
_SMALL_RUN = 64 << 10  # bytes
_MANY_RUNS = 256
_LARGEST_CHUNK = (1 << 32) - 1  # the size of a chunk has 32 bits in HDF5
_CHUNK_CACHE = 1 << 20  # HDF5's default
_ARRAYS_OF_GATHER = 2  # received pieces, and the assembled array


def ruled_out(method, pattern):
    """Why a method does not fit data of a pattern; "": it fits."""
    if pattern in ("task-local", "ragged"):
        if method["id"] == "tw-vpfile":
            return "was measured with blocks of an array only, although it supports streams of any length"
        if method["outcome"] == "array" or method["needs"] in ("HDF5", "PnetCDF"):
            return f"{pattern} data do not form a global array"
    if pattern == "rows" and method["outcome"] == "chunks":
        return "with rows the chunks of the ranks form the global array: the file equals that of the global methods"
    if pattern == "rows" and method["id"].startswith("hdf5-chunked"):
        return "rows are contiguous: chunks have no benefit and add an index"
    return ""


def impossible(method, request, cell):
    """Why a method is impossible with the memory of the nodes; "": it is possible."""
    needed = _ARRAYS_OF_GATHER * cell.bytes + cell.bytes // request.nodes_in_use
    if method["id"] != "gather" or not request.memory_per_node or needed <= request.memory_per_node:
        return ""
    return f"the gathering rank needs {short_size(needed)} of memory and its node has {short_size(request.memory_per_node)}"


def warnings_of(method, request, cell):
    """Pitfalls of a method, a list of (text, grave): a grave one makes the method fail, or very slow."""
    name, found = method["id"], []
    if name == "gather":
        found.append((f"the gathering rank needs {short_size(_ARRAYS_OF_GATHER * cell.bytes)} of memory beside its own data", True))
    if method["outcome"] == "separate":
        found += _of_files(name, request)
    if name.startswith("hdf5-chunked"):
        found += _of_chunks(request, cell)
    if name in ("mpiio-global-0", "mpiio-global-1"):
        found += _of_offsets(method, request, cell)
    if method["outcome"] == "chunks" and request.is_array:
        found.append(("the file is not the array in its order: the blocks are consecutive", False))
    if method["outcome"] == "chunks" and request.pattern == "ragged":
        found.append(("the offset of a rank is the sum of the bytes before it: an MPI_Exscan for each output", False))
    return found


def _of_files(name, request):
    if request.ranks >= _MANY_FILES:
        where = " in one folder" if name == "file-per-task" else ""
        yield f"{request.ranks} files for each output{where}; creating, listing and deleting them is slow", False
    if request.is_array:
        yield "the result is not a global array: merge the files, or read them with the grid of the writers", False


def _of_chunks(request, cell):
    each = cell.bytes / request.ranks
    if each > _LARGEST_CHUNK:
        yield f"a block of {short_size(each)} exceeds the limit of a chunk (4 GiB): use several chunks", True
    if each > _CHUNK_CACHE:
        yield "reading a part of a chunk reads all of it, and chunks above 1 MiB do not fit in the chunk cache", True
    if any(extent % parts for extent, parts in zip(cell.shape, cell.grid)):
        yield "the shape is no multiple of the chunks: chunks at the edges are stored in full", True


def _of_offsets(method, request, cell):
    load = load_of(cell, request.phase, request.readers_or_default, 1)
    runs = max(1.0, load.runs / load.ranks)
    each = load.bytes / load.ranks / runs
    if runs >= _MANY_RUNS and each <= _SMALL_RUN:
        barrier = ", each with a barrier" if method["collective"] else ""
        yield f"explicit offsets collapse here: each rank makes {runs:.0f} calls of {short_size(each)}{barrier}; use a view", True
