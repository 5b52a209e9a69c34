"""The command ``thalweg methods``, and what `thalweg.measure.run` shares with it."""

import argparse as _argparse
import math as _math
import os as _os
import shutil as _shutil
import signal as _signal
import sys as _sys

from . import signals
from .campaign import How, check_names, measure
from .cli import add_command, help_texts, put_records, split_words, whole_number
from .errors import FINE, IO_ERROR, USAGE, MeasureError
from .launch import find_launcher
from .output import checked_file, put, replace_file
from .parse import CACHES, PHASES
from .plan import PlanOptions, doubling_ranks, make_plan, parse_extents, parse_ranks
from .records import load
from .surroundings import command_text, cores
from .text import joined

__all__ = ["add", "plan_options"]

_MOST_RANKS = 1 << 20
_SIZES = ("2048", "512x128x128")
_QUICK_SIZES = ("1024", "64x128x128")


def _ranks_of(text, grid):
    if not text:
        if not grid:
            return doubling_ranks(min(2 * cores(), _MOST_RANKS))
        return parse_ranks(str(_math.prod(grid)))
    asked = parse_ranks(text)
    return asked if grid or len(asked) > 1 or "," in text else doubling_ranks(asked[0])


def plan_options(ranks="", grid="", sizes=(), orders=(), caches=(), strong=False, weak=False, quick=False, ragged=False):
    """The options of a plan, from the texts that the command takes and their defaults.

    Returns
    -------
    PlanOptions

    Raises
    ------
    MeasureError
        A text is none of its kind.
    """
    parts = parse_extents(grid, "--grid") if grid else ()
    numbers = _ranks_of(ranks, parts)
    if parts and len(numbers) > 1:
        raise MeasureError("--grid needs a single number of ranks; omit it, or give one number with --ranks", USAGE)
    check_names(orders, ("c", "f"), "--order")
    check_names(caches, CACHES, "--cache")
    sizes = tuple(sizes) or (_QUICK_SIZES if quick else _SIZES)
    orders = tuple(dict.fromkeys(orders)) or (("c",) if quick else ("c", "f"))
    caches = tuple(dict.fromkeys(caches)) or ("warm",)
    return PlanOptions(numbers, parts, sizes, orders, caches, strong or not weak, weak or not strong, ragged)


# ---- Python -----------------------------------------------------------------------------------------------------------

def _words(value):
    """The words of None, of one, or of several."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(map(str, value))


def _extents_text(value):
    return value if isinstance(value, str) else joined(value) if hasattr(value, "__iter__") else str(value)


def run_from_python(save, **given):
    """The run of `thalweg.measure.run`: the arguments become those of the command."""
    ranks, size = given["ranks"], given["size"]
    if hasattr(ranks, "__iter__") and not isinstance(ranks, str):
        ranks = f"{','.join(map(str, ranks))},"
    given.update(ranks="" if ranks is None else str(ranks), grid=_extents_text(given["grid"] or ""),
                 size=tuple(map(_extents_text, size if isinstance(size, list) else () if size is None else [size])),
                 **{name: _words(given[name]) for name in ("order", "cache", "methods", "phases")},
                 **{name: _os.fspath(given[name] or "") for name in ("dir", "program", "mpiexec")})
    for name in ("repeat", "patience"):
        if given[name] is not None and not 1 <= given[name] <= 1 << 20:
            raise MeasureError(f"{name} is {given[name]}, not a number from 1 to {1 << 20}", USAGE)
    replace = checked_file("save", _os.fspath(save or ""), False)
    run, stopped = _measured(_argparse.Namespace(**given), "thalweg.measure.run")
    if save:
        replace_file(save, run.text(), replace)
    if isinstance(stopped, signals.Interrupted):
        _signal.raise_signal(stopped.number)
    elif stopped:
        raise stopped
    return run


# ---- The command ------------------------------------------------------------------------------------------------------

def _measured(arguments, command):
    """The run that was asked for, and why it ended early."""
    check_names(split_words(arguments.phases), PHASES, "--phases")
    options = plan_options(arguments.ranks, arguments.grid, arguments.size or (), split_words(arguments.order),
                           split_words(arguments.cache), arguments.strong, arguments.weak, arguments.quick, arguments.ragged)
    plan = make_plan(options)
    launcher = find_launcher(arguments.program, arguments.mpiexec)
    how = How(arguments.dir, split_words(arguments.methods), split_words(arguments.phases),
              arguments.repeat or (3 if arguments.quick else 7), arguments.patience)
    return measure(launcher, plan, how, command, arguments.quiet)


def _columns():
    return min(max(_shutil.get_terminal_size((100, 24)).columns, 80), 160) if _sys.stdout.isatty() else 100


def _write_files(arguments, run, save, html):
    """Write the files that were asked for; returns the last failure, which must not lose the other output."""
    failure = None
    for path, replace, text in ((arguments.save, save, run.text),
                                (arguments.html, html, run.html)):
        try:
            if path:
                replace_file(path, text(), replace)
        except MeasureError as error:
            failure = error
        except Exception as error:  # such as one of a library that draws
            failure = MeasureError(f"cannot make '{path}': {type(error).__name__}: {error}", IO_ERROR)
    return failure


def _run(arguments):
    kept = [arguments.source] if arguments.source else []
    html = checked_file("--html", arguments.html, arguments.force, kept)
    save = checked_file("--save", arguments.save, arguments.force, kept)
    if arguments.save and arguments.save == arguments.html:
        raise MeasureError(f"--save and --html are both '{arguments.save}'; choose two names", USAGE)
    stopped = None
    if arguments.source:
        run = load(arguments.source)
    else:
        arguments.quiet |= arguments.json
        run, stopped = _measured(arguments, command_text(["thalweg", *_sys.argv[1:]]))
    failure = _write_files(arguments, run, save, html)
    if arguments.json:
        put_records(run.lines)
    else:
        from .table import methods_table

        put(methods_table(run, _columns(), _sys.stdout.isatty()))
    if failure:
        raise failure
    if stopped:
        raise stopped
    return IO_ERROR if any(mishap.failed for mishap in run.mishaps) else FINE


def _add_what(parser):
    words = {"nargs": "+", "action": "extend"}
    parser.add_argument("--dir", default=".", metavar="DIR", help="Folder on the storage to measure; default: the current one")
    parser.add_argument("--ranks", default="", metavar="N",
                        help="Largest number of ranks: 1, 2, 4, ... up to it are measured; or a list "
                        '"1,2,3", of one "4,"; default: twice the cores')
    parser.add_argument("--grid", default="", metavar="PXxPY",
                        help='Division of the array, "2x3"; measures one number of ranks')
    parser.add_argument("--size", **words, metavar="S",
                        help='Side of the array, or its shape "256x256x256"; several may be given; default '
                        "2048 and 512x128x128")
    parser.add_argument("--order", **words, metavar="ORDER", help="c (row-major), f (column-major); default: both")
    parser.add_argument("--ragged", action="store_true",
                        help="Rows of unequal lengths, too, for each shape with two sides: in row-major order, and without --grid")
    parser.add_argument("--strong", action="store_true", help="Strong scaling only: one array for all numbers of ranks")
    parser.add_argument("--weak", action="store_true", help="Weak scaling only: equal bytes per rank, a block of half the side")
    parser.add_argument("--repeat", type=whole_number(1, 1000), default=0, metavar="N",
                        help="Repetitions after a warm-up; default 7")
    parser.add_argument("--cache", **words, metavar="CACHE",
                        help="Cache states to measure, with commas: warm, sync, drop; default warm")
    parser.add_argument("--methods", **words, metavar="ID", help="Only these methods, by id")
    parser.add_argument("--phases", **words, metavar="PHASE",
                        help="Only these phases: write, read, restart, serial, merge, overlap")
    parser.add_argument("--quick", action="store_true", help="Small arrays, row-major, 3 repetitions: some minutes less")


def _add_where_to(parser):
    parser.add_argument("--html", default="", metavar="FILE", help="Write the page with plots, groups and advice to this file")
    parser.add_argument("--save", default="", metavar="FILE", help="Write the records, lines of JSON, to this file")
    parser.add_argument("--from", dest="source", default="", metavar="FILE",
                        help="Print table and page of the records in this file, without measuring")
    parser.add_argument("-f", "--force", action="store_true", help="Replace FILE even if this command did not make it")
    parser.add_argument("--program", default="", metavar="FILE",
                        help="The measuring program; default: thalweg-probe beside this command")
    parser.add_argument("--mpiexec", default="", metavar="WORDS",
                        help="Launcher of the ranks, with its options; default: that of the program's MPI")
    parser.add_argument("--patience", type=whole_number(1, 1 << 20), default=600, metavar="S",
                        help="Seconds of silence after which a method has failed; default 600")


def add(subparsers):
    """Add the parser of the command."""
    parser = add_command(subparsers, "methods", _run, *help_texts("methods"))
    _add_what(parser)
    _add_where_to(parser)
