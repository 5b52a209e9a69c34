"""Multifiles and vpfiles that lie with right checksums, for the tests of the thalweg command; and runs of it under limits.

Multifiles come from tests/golden/craft.py, vpfiles are golden files that were changed: both know nothing of the library.
"""

import os
import pathlib
import resource
import signal
import struct
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))
sys.dont_write_bytecode = True
import valid_cases  # noqa: E402
from craft import PAGE, Part  # noqa: E402
from cli_support import THALWEG  # noqa: E402

MEMORY = 512 << 20  # of address space, beyond what the command takes to do nothing
FILE = 64 << 20     # the longest file that it may write
CPU = 5             # seconds
DOCUMENTED = range(5)  # exit codes


def is_sanitized():
    """A sanitizer takes terabytes of address space for itself."""
    with open(THALWEG, "rb") as program:
        found = program.read()
    return b"__asan_init" in found or b"__tsan_init" in found


class Limits:
    """Within it, programs that are started may take so much address space, and write files that are so long."""

    def __init__(self):
        self.old = {}
        self.new = {resource.RLIMIT_FSIZE: FILE, resource.RLIMIT_CORE: 0}
        if not is_sanitized():
            self.new[resource.RLIMIT_AS] = MEMORY + (256 << 20)

    def __enter__(self):
        for what, soft in self.new.items():
            self.old[what] = resource.getrlimit(what)
            resource.setrlimit(what, (soft, self.old[what][1]))
        return self

    def __exit__(self, *_):
        for what, limits in self.old.items():
            resource.setrlimit(what, limits)


def run_limited(words, folder, patience=60):
    """Runs the command under Limits; (exit code, or the signal as a negative number; CPU seconds; stdout; stderr)."""
    out, err = folder / "stdout", folder / "stderr"
    before = os.getcwd()
    with Limits(), open(out, "wb") as to, open(err, "wb") as errors:
        os.chdir(folder)
        try:
            child = os.posix_spawn(THALWEG, [THALWEG, *words], os.environ,
                                   file_actions=[(os.POSIX_SPAWN_DUP2, to.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)])
        finally:
            os.chdir(before)
    deadline = time.monotonic() + patience
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            break
        time.sleep(0.001)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, out.read_bytes(), err.read_bytes().decode(errors="replace")


# ---- Multifiles --------------------------------------------------------------------------------------------------

MANY = 1 << 40


def store(parts, folder, name="hostile.tw"):
    for number, part in enumerate(parts):
        (folder / (name + (f".{number:06d}" if number else ""))).write_bytes(bytes(part.bytes))
    return name


def claim(part, n_local, n_logical=None, bounds=None):
    """Makes a physical file say that it has so many logical files, and the multifile."""
    n_logical = n_local if n_logical is None else n_logical
    part.poke(48, "<QQ", n_logical, n_local)
    part.reseal_header()
    if part.number == 0:
        values = bounds or [0, n_logical]
        part.poke(PAGE, f"<{len(values)}Q", *values)
        part.reseal(PAGE, PAGE)


def unclosed_claims():
    """Not closed; one logical file of 2^40 has bytes."""
    parts, _ = valid_cases.small(closed=False)
    claim(parts[0], MANY)
    return parts


def missing_claims():
    """Closed; all but one of 2^40 logical files are in a physical file that is missing."""
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


def far_gap():
    """A logical file of nearly 2^63 bytes, all but a few of them a gap."""
    part = Part(1)
    part.session([4096])
    part.superblock(part.slab(0, 0), [(0, 0, 5, b"begin", 0), (0, 2**62, 3, b"far", 0)])
    part.sizes[0] = 2**63 - 1
    part.close()
    return [part]
