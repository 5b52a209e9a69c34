"""What the argument `progress` of long operations stands for."""

import contextlib
import os
import sys
import time


@contextlib.contextmanager
def shown(progress, operation, path):
    """Give the callable that an operation on `path` calls with (done, total); None for none.

    True shows a bar by rich, or, where rich is not installed, lines on stderr: the first, the last, and in between at most one in
    a second. Leaving the context without an exception shows that all is done, which the operation itself need not tell.
    """
    if progress is not True:
        yield None if progress is False else progress
        return
    title = f"{operation} {os.path.basename(os.fsdecode(path))!r}"
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress
    except ImportError:
        lines = _Lines(title)
        yield lines
        lines.end()
        return
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(escape(title), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
        bar.update(task, completed=bar.tasks[0].total)


class _Lines:
    def __init__(self, title):
        self._title = title
        self._last = None  # time, done and total of the last line

    def __call__(self, done, total):
        now = time.monotonic()
        if sys.stderr is not None and (self._last is None or now - self._last[0] >= 1 or done == total):
            print(f"thalweg: {self._title}: {done} of {total}", file=sys.stderr)
            self._last = now, done, total

    def end(self):
        if self._last is not None and self._last[1] != self._last[2]:
            self(self._last[2], self._last[2])
