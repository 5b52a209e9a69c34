"""A progress bar on a terminal, and messages that do not break it."""

import os as _os
import sys as _sys
import time as _time

from .text import printable

__all__ = ["Progress", "say", "work_text"]

_shown = None  # the rich progress that is on the terminal
_work = ""  # what the last Progress noted


def say(text):
    """Print a message to standard error: "thalweg: TEXT", above the bar where one is shown."""
    line = f"thalweg: {printable(text, False)}"
    if _shown is not None:
        _shown.console.print(line, markup=False, highlight=False, soft_wrap=True)
    elif _sys.stderr is not None:
        print(line, file=_sys.stderr, flush=True)


def work_text():
    """How far the work was that was noted last, as "methods: 12 per cent done"; "" where none was."""
    return _work


def _is_terminal():
    return _sys.stderr is not None and _sys.stderr.isatty() and _os.environ.get("TERM", "dumb") != "dumb"


class Progress:
    """A bar with share, remaining time and current step, redrawn at most ten times a second; a context manager.

    Parameters
    ----------
    label : str
        Name of the work.
    quiet : bool
        Show no bar. There is none either where standard error is no terminal.
    """

    def __init__(self, label, quiet=False):
        global _work
        self._label, self._bar, self._drawn = label, None, 0.0
        _work = f"{label}: 0 per cent done"
        if not quiet and _is_terminal():
            self._bar = self._make_bar()

    def _make_bar(self):
        from rich import progress as rich_progress
        from rich.console import Console
        from rich.table import Column

        column = rich_progress.TextColumn("{task.description}", markup=False,
                                          table_column=Column(no_wrap=True, overflow="ellipsis"))
        return rich_progress.Progress(rich_progress.TextColumn(self._label, markup=False), rich_progress.BarColumn(30),
                                      rich_progress.TaskProgressColumn(), rich_progress.TimeRemainingColumn(), column,
                                      console=Console(stderr=True), transient=True, auto_refresh=False)

    def __enter__(self):
        global _shown
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=1.0)
            _shown = self._bar
        return self

    def __exit__(self, *_):
        global _shown
        if self._bar is not None:
            _shown = None
            self._bar.stop()

    def update(self, share, doing=""):
        """Note the done share, 0 to 1, and the current step."""
        global _work
        _work = f"{self._label}: {100 * share:.0f} per cent done"
        now = _time.monotonic()
        if self._bar is not None and now - self._drawn >= 0.1:
            self._drawn = now
            self._bar.update(self._task, completed=share, description=printable(doing), refresh=True)
