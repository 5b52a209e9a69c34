"""What was measured of file systems: the profile that ``thalweg tune`` keeps, and the records of methods beside it."""

import json as _json
import os as _os

from .errors import DAMAGED, IO_ERROR, USAGE, MeasureError, failed_call
from .output import replace_file
from .records import Run, add_lines
from .text import printable

__all__ = ["calibration_path", "entry_of", "identity_in", "profile_path", "store", "stored_runs"]

_CALIBRATION = "methods.jsonl"
_KEPT = ("run", "launch", "method", "time", "end")  # kinds of records that a calibration needs


def profile_path():
    """The path of the profile; "" where profiles are turned off, or there is no home."""
    named = _os.environ.get("THALWEG_PROFILE")
    if named is not None:
        return "" if named in ("", "none") else named
    config, home = _os.environ.get("XDG_CONFIG_HOME", ""), _os.environ.get("HOME", "")
    if config:
        return _os.path.join(config, "thalweg", "storage.json")
    return _os.path.join(home, ".config", "thalweg", "storage.json") if home else ""


def calibration_path():
    """The path of the records of methods, in the folder of the profile; "": as for `profile_path`."""
    path = profile_path()
    return _os.path.join(_os.path.dirname(path), _CALIBRATION) if path else ""


def entry_of(identity):
    """The entry of the profile for a file system, a dict; {} without one. Raises MeasureError where the file is no profile."""
    path = profile_path()
    try:
        with open(path, encoding="utf-8") as file:
            profile = _json.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise failed_call("read", path, error) from error
    except (ValueError, RecursionError):
        profile = None
    entries = profile.get("file_systems") if isinstance(profile, dict) and profile.get("version") == 1 else None
    if not isinstance(entries, list):
        raise MeasureError(f"'{printable(path)}' is not a profile of this version; move it out of the way, or set THALWEG_PROFILE", IO_ERROR)
    return next((entry for entry in reversed(entries) if isinstance(entry, dict) and entry.get("id") == identity), {})


def identity_in(run):
    """The identity of the storage that a run measured, a str; "" where its records do not tell it."""
    storage = run.info.get("storage")
    identity = storage.get("identity") if isinstance(storage, dict) else None
    return identity if isinstance(identity, str) else ""


def stored_runs():
    """The calibrations, a dict of `Run` by the identity of the storage.

    Raises
    ------
    MeasureError
        The file cannot be read, or a record in it is wrong.
    """
    path, runs = calibration_path(), []

    def add(line):
        if not runs or line.startswith('{"kind":"run"'):
            runs.append(Run())
        runs[-1].add(line)

    if _os.path.exists(path):
        add_lines(path, add, "; remove the file, and measure again with 'thalweg tune DIR'")
    return {identity_in(run): run for run in runs if run.has_times}


def store(run):
    """Keep a calibration, a `Run`; it replaces an earlier one of its storage.

    Raises
    ------
    MeasureError
        Profiles are turned off, or the file cannot be written; an earlier file stays.
    """
    path = calibration_path()
    if not path:
        raise MeasureError('profiles are turned off: THALWEG_PROFILE is empty or "none", or there is no HOME', USAGE)
    try:
        runs = stored_runs()
    except MeasureError as error:
        if error.exit_code != DAMAGED:
            raise
        runs = {}
    runs.pop(identity_in(run), None)
    lines = [line for one in (*runs.values(), run) for line in one.lines if _json.loads(line).get("kind") in _KEPT]
    path = _os.path.realpath(path)
    try:
        _os.makedirs(_os.path.dirname(path), exist_ok=True)
    except OSError as error:
        raise failed_call("make folder", _os.path.dirname(path), error) from error
    replace_file(path, "".join(f"{line}\n" for line in lines), replace=True)
