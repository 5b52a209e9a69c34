"""Signals during a measurement: noted, so that ranks and files are cleaned up before the program ends."""

import contextlib as _contextlib
import signal as _signal
import threading as _threading

__all__ = ["Interrupted", "noted", "caught", "ignore", "stop_if_caught", "STOPPING"]

STOPPING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)

_caught = 0
_is_noting = False


class Interrupted(Exception):
    """A signal, the attribute `number`, asked for the end."""

    def __init__(self, number):
        super().__init__(_signal.Signals(number).name)
        self.number = number


def _note(number, _):
    global _caught
    _caught = number
    _signal.signal(number, _signal.SIG_DFL)  # a second one ends the program at once


@_contextlib.contextmanager
def noted():
    """Note SIGINT, SIGTERM and SIGHUP instead of ending; the former handlers return at the end.

    Only the first thread of a program can do so; in others, and within another `noted`, nothing changes. A signal that is
    ignored stays ignored.
    """
    global _caught, _is_noting
    if _is_noting or _threading.current_thread() is not _threading.main_thread():
        yield
        return
    _caught, _is_noting = 0, True
    former = {number: _signal.getsignal(number) for number in STOPPING}
    try:
        for number, handler in former.items():
            if handler is not _signal.SIG_IGN:
                _signal.signal(number, _note)
        yield
    finally:
        for number, handler in former.items():
            _signal.signal(number, _signal.SIG_DFL if handler is None else handler)
        _is_noting = False


def caught():
    """The number of the signal that was noted; 0: none."""
    return _caught if _is_noting else 0


def stop_if_caught():
    """Raise Interrupted where a signal was noted."""
    if caught():
        raise Interrupted(_caught)


def ignore():
    """Ignore further signals, during a cleanup, until `noted` ends."""
    if _is_noting and _threading.current_thread() is _threading.main_thread():
        for number in STOPPING:
            _signal.signal(number, _signal.SIG_IGN)
