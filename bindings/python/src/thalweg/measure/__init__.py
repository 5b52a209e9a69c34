"""Measure the ways of writing a distributed array, and draw and compare the results.

>>> import thalweg.measure
>>> run = thalweg.measure.run(dir="/scratch", ranks=4, size=2048)      # starts MPI ranks; no MPI in this process
>>> run.rows()                                                          # medians, a pandas DataFrame
>>> run.page("methods.html")                                            # one page that loads nothing
>>> thalweg.measure.load("methods.jsonl").plot("read")                  # records of an earlier run

The commands ``thalweg methods`` and ``thalweg advise`` are this package, too. It needs NumPy, SciPy, pandas, Jinja2, plotly and
rich.
"""

from .errors import MeasureError
from .records import Run, load

__all__ = ["run", "load", "advise", "Run", "Advice", "MeasureError"]

_LAZY = {"advise": "advice", "Advice": "advice", "Request": "request"}  # public name: module that has it


def __getattr__(name):
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_LAZY})


def run(dir=".", ranks=None, *, grid=None, size=None, order=None, strong=False, weak=False, ragged=False, repeat=None,
        cache="warm", methods=None, phases=None, quick=False, program=None, mpiexec=None, patience=600,
        quiet=False, save=None):
    """Measure the methods. Blocks until all launches have ended, seconds to minutes.

    Each argument is the option of ``thalweg methods`` with its name.

    Parameters
    ----------
    dir : str or os.PathLike
        An existing folder on the storage to measure.
    ranks : int or sequence of int, optional
        Largest number of ranks, where 1, 2, 4, ... up to it are measured, or all numbers; default: twice the cores.
    grid : sequence of int, optional
        Parts of the array in each dimension; measures one number of ranks.
    size : int, sequence of int, or list of these, optional
        Side of the array, or its shape as a tuple of two or three extents; elements have 4 bytes. A list has several arrays.
    order, cache, methods, phases : str or sequence of str, optional
        Orders "c", "f"; cache states "warm", "sync", "drop"; ids of methods; phases. Default: both orders, "warm",
        all methods and phases.
    strong, weak : bool
        Strong or weak scaling only.
    ragged : bool
        Measure arrays of rows of unequal lengths, too, for each shape with two sides: in order "c", and without `grid`.
    repeat : int, optional
        Repetitions after a warm-up; default 7, with `quick` 3.
    quick : bool
        Small arrays in order "c".
    program, mpiexec : str, optional
        The program thalweg-probe, and the launcher of the ranks with its options.
    patience : float, seconds
        Silence after which a method has failed.
    quiet : bool
        Show no progress on a terminal.
    save : str or os.PathLike, optional
        File for the records, written also where the run is stopped.

    Returns
    -------
    Run
        Methods that failed are among its mishaps.

    Raises
    ------
    MeasureError
        An argument is invalid, the program is missing, the folder has no room, or no launch can be started.
    KeyboardInterrupt
        Ctrl-C; the ranks have ended and their files are removed.
    """
    arguments = dict(locals())
    from .methods import run_from_python

    return run_from_python(**arguments)
