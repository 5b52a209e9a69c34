"""Multifiles and vpfiles with false claims under valid checksums, for the tests of the thalweg command; runs it with
limits.

Multifiles come from tests/golden/craft.py, vpfiles are changed golden files; neither uses the library.
"""

import functools
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))
sys.dont_write_bytecode = True
import valid_cases  # noqa: E402
from craft import PAGE, Part, crc32c  # noqa: E402
from cli_support import CRAFT, CRAFT_VPFILE, THALWEG, stream  # noqa: E402, F401

MEMORY = 768 << 20  # of address space
FILE = 64 << 20     # longest file that the command may write
CPU = 60            # seconds; then the command is killed
DOCUMENTED = range(5)  # exit codes


@functools.cache
def is_sanitized():
    """A sanitizer reserves terabytes of address space."""
    with open(THALWEG, "rb") as program:
        found = program.read()
    return b"__asan_init" in found or b"__tsan_init" in found


def run_limited(words, folder):
    """Runs the command with limits of memory, CPU time and file size; returns (exit code, or the signal as a negative
    number; stdout; stderr)."""
    limits = f"ulimit -c 0; ulimit -t {CPU}; ulimit -f {FILE // 512}" + ("" if is_sanitized() else f"; ulimit -v {MEMORY >> 10}")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        done = subprocess.run(["sh", "-c", f'{limits}; exec "$0" "$@"', THALWEG, *words], cwd=folder, stdout=out, stderr=errors,
                              timeout=10 * CPU)
        out.seek(0)
        errors.seek(0)
        return done.returncode, out.read(), errors.read().decode(errors="replace")


# ---- Multifiles --------------------------------------------------------------------------------------------------

MANY = 1 << 40


def store(parts, folder, name="hostile.tw"):
    for number, part in enumerate(parts):
        (folder / (name + (f".{number:06d}" if number else ""))).write_bytes(bytes(part.bytes))
    return name


def claim(part, n_local, n_logical=None, bounds=None):
    """Sets the number of logical files in a physical file and in the multifile."""
    n_logical = n_local if n_logical is None else n_logical
    part.poke(48, "<QQ", n_logical, n_local)
    part.reseal_header()
    if part.number == 0:
        values = bounds or [0, n_logical]
        part.poke(PAGE, f"<{len(values)}Q", *values)
        part.reseal(PAGE, PAGE)


def unclosed_claims():
    """Unclosed; one of 2^40 logical files has bytes."""
    parts, _ = valid_cases.small(closed=False)
    claim(parts[0], MANY)
    return parts


def missing_claims():
    """Closed; the physical file of all but one of 2^40 logical files is missing."""
    part = Part(2, 0, 1, n_physical=2, bounds=[0, 1, 2])
    part.session([4096])
    part.chunk(part.slab(0, 0), 0, 0, b"here")
    part.close()
    claim(part, 1, MANY, [0, 1, MANY])
    return [part]


def listed_claims():
    """Closed; the index lists three of 2^40 logical files."""
    parts, _ = valid_cases.listed_entries()
    part = parts[0]
    claim(part, MANY)
    index = part.newest_index[0]
    part.poke(index + 16, "<Q", MANY)
    part.reseal(index, PAGE)
    return parts


FAR_END = 1000


def far_gap(gap=2**62):
    """A logical file with few bytes, a gap, and zeros at its end."""
    part = Part(1)
    part.session([4096])
    part.pack(part.slab(0, 0), [(0, 0, 5, b"begin", 0), (0, gap, 3, b"far", 0)])
    part.sizes[0] = gap + FAR_END
    part.close()
    return [part]


# ---- Vpfiles -----------------------------------------------------------------------------------------------------

META_SLOT = 1024


def meta_slots(meta):
    """Offsets of the used slots of NAME.meta."""
    return [at for at in range(0, len(meta), META_SLOT) if meta[at:at + 8] == b"TWVPMETA"]


def seal_meta(meta, slot):
    struct.pack_into("<I", meta, slot + META_SLOT - 4, crc32c(bytes(meta[slot:slot + META_SLOT - 4])))
