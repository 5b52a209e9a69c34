"""The machine of a run, for its record."""

import os as _os
import shlex as _shlex
import time as _time

__all__ = ["available_memory", "cores", "machine_facts", "command_text", "utc_now"]

def cores():
    """Number of cores that this process may use."""
    return len(_os.sched_getaffinity(0))


def _value_in(path, name):
    """The value of the first line "NAME: VALUE" of a file of /proc; "" without one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(name):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return ""


def machine_facts():
    """The member `machine` of a `run` record."""
    system = _os.uname()
    return {"cpu": _value_in("/proc/cpuinfo", "model name") or "unknown", "cores": cores(),
            "memory_bytes": _os.sysconf("SC_PHYS_PAGES") * _os.sysconf("SC_PAGE_SIZE"),
            "kernel": f"{system.sysname} {system.release} {system.machine}"}


def command_text(words):
    """A command as shell words."""
    return " ".join(word if word.startswith("-") else _shlex.quote(word) for word in words)


def utc_now():
    """The time as "2026-11-21T18:16:27Z"."""
    return _time.strftime("%Y-%m-%dT%H:%M:%SZ", _time.gmtime())


def available_memory():
    """Bytes of memory that are available, an int; None: unknown."""
    words = _value_in("/proc/meminfo", "MemAvailable").split()
    return int(words[0]) * 1024 if words else None
