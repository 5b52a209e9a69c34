"""The commands of this package: ``python3 -m thalweg.measure COMMAND``, which ``thalweg COMMAND`` starts.

A command is a module with a function ``add(subparsers)``, which adds a parser and sets its default `run`, a function of the
parsed arguments that returns the exit code.
"""

import argparse as _argparse
import importlib as _importlib
import json as _json
import math as _math
import os as _os
import pathlib as _pathlib
import re as _re
import signal as _signal
import sys as _sys

from . import signals
from .errors import FINE, IO_ERROR, USAGE, MeasureError
from .output import put
from .progress import say, work_text
from .text import nearest

__all__ = ["add_command", "help_texts", "main", "positive_number", "put_records", "split_words", "whole_number"]

COMMANDS = {"methods": "methods", "advise": "advise_command", "calibrate": "calibrate"}  # name: module
_EXIT_CODES = """
Exit codes:
  0  success
  1  the file is damaged or unclosed
  2  usage: an argument is invalid
  3  input/output error
  4  refused for safety: would overwrite a file
"""

_NUMBER = _re.compile(r"(\d*\.?\d+(?:e[+-]?\d+)?)\s*([a-z]*)\Z", _re.IGNORECASE | _re.ASCII)
_has_printed = False  # records are on standard output, which then takes no further object


class _Help(_argparse.RawDescriptionHelpFormatter):
    def add_usage(self, usage, actions, groups, prefix=None):
        super().add_usage(usage, actions, groups, "Usage: ")


class _Parser(_argparse.ArgumentParser):
    def error(self, message):
        raise MeasureError(f"{message}; see '{self.prog} --help'", USAGE)


def add_command(subparsers, name, run, brief, details, example, json_help):
    """Add the parser of a command, with the options that all have.

    Parameters
    ----------
    subparsers : object
        What the function `add` of the command's module got.
    name, brief, details, example, json_help : str
        Texts of --help.
    run : callable
        Gets the parsed arguments, returns the exit code.

    Returns
    -------
    argparse.ArgumentParser
    """
    epilog = f"{details}\nKeys of --json:\n{json_help}{_EXIT_CODES}\nExamples:\n{example}"
    parser = subparsers.add_parser(name, prog=f"thalweg {name}", description=brief, epilog=epilog, allow_abbrev=False,
                                   formatter_class=_Help)
    parser._optionals.title = "Options"
    parser.add_argument("--json", action="store_true", help="Print the result as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="No progress bar, no text beyond the result and errors")
    parser.set_defaults(run=run)
    return parser


def help_texts(name):
    """The texts of --help of a command, from the file ``help/NAME.txt``: brief, details, example and keys of --json."""
    brief, *others = (_pathlib.Path(__file__).parent / "help" / f"{name}.txt").read_text(encoding="utf-8").split("---\n")
    return brief.strip(), *others


def whole_number(least, most):
    """A type for argparse: a whole number in a range."""
    def number(text):
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise _argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
        return int(text)
    return number


def positive_number(what, units=None):
    """A type for argparse: a number above 0, with one of the units, a dict of factors, where there are some."""
    def number(text):
        found = _NUMBER.match(text)
        value = float(found[1]) * (units or {"": 1}).get(found[2].lower(), _math.nan) if found else _math.nan
        if not 0 < value < _math.inf:
            raise _argparse.ArgumentTypeError(f"'{text}' is not a {what} above 0")
        return value
    return number


def split_words(words):
    """The words of an option that may be given several times, with commas: a tuple of str."""
    return tuple(part for word in words or () for part in word.split(","))


def put_records(lines):
    """Print records, all that a command prints with --json."""
    global _has_printed
    _has_printed = True
    put("".join(f"{line}\n" for line in lines))


def _report(message, code, words, status=None):
    """Tell a failure on standard error and, with --json, as an object on standard output."""
    say(message)
    if "--json" in words and not _has_printed:
        command = words[0] if words[0] in COMMANDS else None
        failure = {"command": command, "exit_code": code, "error": {"status": status, "message": message}}
        put(_json.dumps(failure) + "\n")


def _parsed(words):
    parser = _Parser(prog="thalweg", allow_abbrev=False, epilog=f"Commands: {', '.join(COMMANDS)}")
    subparsers = parser.add_subparsers(parser_class=_Parser, metavar="COMMAND")
    name = words[0] if words else ""
    if name not in COMMANDS and not name.startswith("-"):
        near = nearest(name, list(COMMANDS))
        hint = f"did you mean '{near}'? " if near else ""
        raise MeasureError(f"unknown command '{name}'; {hint}there are {', '.join(COMMANDS)}", USAGE)
    if name in COMMANDS:
        _importlib.import_module(f".{COMMANDS[name]}", __package__).add(subparsers)
    return parser.parse_args(words)


def _run(words):
    try:
        arguments = _parsed(words)
        return arguments.run(arguments)
    except BrokenPipeError:
        raise
    except MeasureError as error:
        message, code = str(error), error.exit_code
    except MemoryError:
        message, code = "out of memory", IO_ERROR
    except OSError as error:
        message, code = str(error), IO_ERROR
    except ModuleNotFoundError as error:
        install = f"{_sys.executable} -m pip install 'thalweg[measure]'"
        message, code = f"the Python package '{error.name}' is missing; install it with: {install}", IO_ERROR
    _report(message, code, words)
    return code


def main(words=None):
    """Run a command.

    Parameters
    ----------
    words : list of str, optional
        Name and arguments of the command; default: those of this process.

    Returns
    -------
    int
        The exit code. After a signal the process ends by that signal.
    """
    words = _sys.argv[1:] if words is None else words
    number = 0
    try:
        _sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        with signals.noted():
            try:
                return _run(words)
            except signals.Interrupted as interrupted:
                number, done = interrupted.number, work_text()
                message = f"stopped by {_signal.Signals(number).name}{'; ' if done else ''}{done}"
                _report(message, 128 + number, words, "TW_ERR_STOPPED")
    except BrokenPipeError:  # the reader has gone
        _os.dup2(_os.open(_os.devnull, _os.O_WRONLY), 1)
        return FINE if number == 0 else _die(number)
    except MeasureError as error:  # standard output takes no more
        say(str(error))
        return error.exit_code if number == 0 else _die(number)
    return _die(number)


def _die(number):
    _signal.signal(number, _signal.SIG_DFL)
    _os.kill(_os.getpid(), number)
    return 128 + number
