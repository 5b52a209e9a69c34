"""The command ``thalweg advise``."""

import argparse as _argparse
import dataclasses as _dataclasses
import json as _json
import re as _re

from . import profile as _profile
from .advice import advise_on, calibration_for
from .cli import add_command, help_texts, positive_number, whole_number
from .errors import FINE, IO_ERROR, USAGE, MeasureError
from .output import checked_file, put, replace_file
from .plan import parse_extents
from .records import load
from .request import PATTERNS, Request
from .text import count_text, printable, seconds_text, short_size
from .validation import points_of, summary_of, validation_text

__all__ = ["add"]

_MOST_RANKS = 1 << 20
_MOST_BYTES = 1 << 60
_SHOWN = 3  # methods whose warnings are all printed
_POWERS = {letter: power for power, letter in enumerate("KMGTPE", 1)}
_TIMES = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
_SIZE = _re.compile(r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*([KMGTPE]?)(i?)(B?)\Z", _re.IGNORECASE | _re.ASCII)


def _size(least, whole=True):
    """A type for argparse: bytes, as 64MiB (powers of 1024, as M and Mi) or 64MB (powers of 1000); a fraction unless `whole`."""
    def number(text):
        found = _SIZE.match(text)
        if found:
            digits, letter, binary, ends = found.groups()
            base = 1000 if letter and ends and not binary else 1024
            factor = base ** _POWERS.get(letter.upper(), 0)
            value = int(digits) * factor if digits.isdigit() else float(digits) * factor
            if (bool(letter) or not binary) and least <= value <= _MOST_BYTES and not (whole and isinstance(value, float)):
                return value
        raise _argparse.ArgumentTypeError(f"'{text}' is not a {'whole ' if whole else ''}number of bytes up to 2^60, as 64MiB")
    return number


def _request_of(arguments):
    if not arguments.bytes:
        raise MeasureError("--bytes is missing; see 'thalweg advise --help'", USAGE)
    grid = parse_extents(arguments.grid, "--grid") if arguments.grid else ()
    if any(parts > _MOST_RANKS for parts in grid):
        raise MeasureError(f"--grid {arguments.grid}: there are at most {_MOST_RANKS} ranks", USAGE)
    named = {field.name: getattr(arguments, field.name) for field in _dataclasses.fields(Request) if field.name != "grid"}
    return Request(grid=grid, **named)


# ---- Text ------------------------------------------------------------------------------------------------------------

def _headline(advice):
    request = advice.request
    what = advice.cell.text if request.is_array else request.pattern
    if request.phase == "restart":
        return (f"restart of {short_size(request.bytes)} that {count_text(request.ranks, 'rank')} wrote, by "
                f"{count_text(request.movers, 'reader')} on {count_text(request.nodes_in_use, 'node')}: {what}")
    return f"{request.phase} of {short_size(request.bytes)} by {count_text(request.ranks, 'rank')} on {count_text(request.nodes, 'node')}: {what}"


def _choice_lines(advice):
    if not advice.refusal:
        yield f"{'':>3} {'method':<40} {'time':>9} {'9 of 10 cells':>19}  made of"
    for place, choice in enumerate(advice.choices, 1):
        if advice.refusal:
            yield f"    {choice.title}"
        else:
            interval = f"{seconds_text(choice.low)} - {seconds_text(choice.high)}"
            yield f"{place:>3} {choice.title:<40} {seconds_text(choice.seconds):>9} {interval:>19}  {choice.reason}"
    for _, title, why in advice.out:
        yield f"  - {title:<40} {why}"


def _warning_lines(advice):
    """All warnings of the first methods and of the one that leaves one file; of the others the grave ones."""
    told = {}
    for place, choice in enumerate(advice.choices):
        for text, is_grave in choice.warnings:
            if is_grave or (not advice.refusal and place < _SHOWN) or choice.method == advice.best_array:
                told.setdefault(text, []).append(choice.method)
    return ["", "mind:", *(f"  {', '.join(names)}: {text}" for text, names in told.items())] if told else []


def _conclusion_lines(advice):
    by_id = {choice.method: choice for choice in advice.choices}
    if advice.refusal:
        return ["", advice.conclusion]
    lines = [""]
    if advice.best:
        lines.append(f"use: {by_id[advice.best].title} ({advice.best})")
        if advice.ties:
            lines.append(f"as good in most cells left out: {', '.join(advice.ties)}")
    else:
        lines += [advice.conclusion,
                  f"  with the errors of the cells left out, {advice.ties[0]} is within 10 % of the best in {100 * advice.decision.chance:.0f} % "
                  "of them; choose by what else you need, or measure your case: thalweg methods"]
    if advice.request.is_array and advice.best_array and advice.best_array != advice.best:
        relative = by_id[advice.best_array].seconds / by_id[advice.named].seconds
        lines.append(f"as one file that is the array: {by_id[advice.best_array].title} ({advice.best_array}), {relative:.2f} times the time")
    elif advice.request.is_array and not advice.best_array and advice.array_decision.ties and advice.best:
        lines.append(f"as one file that is the array, cannot tell these apart: {', '.join(advice.array_decision.ties)}")
    return lines + [f"  {line}" for line in advice.duty]


def _text_of(advice, with_code):
    lines = [_headline(advice), *(f"  {note}" for note in advice.notes), "", *_choice_lines(advice), *_warning_lines(advice),
             *_conclusion_lines(advice)]
    text = "".join(f"{line}\n" for line in lines)
    code = advice.code if with_code else None
    if code is None:
        return text
    remarks = [code.remark] if code.remark else []
    if not advice.best:
        remarks.insert(0, f"for {advice.named}")
    return f"{text}\n---- {code.file}{f' ({chr(59).join(remarks)})' if remarks else ''} ----\n{code.text}"


# ---- Comparison with measured times ----------------------------------------------------------------------------------

def _compared_with(arguments, results):
    """The storage whose calibration predicts, that calibration, and notes."""
    measured_on, notes = _profile.identity_in(results), []
    source = printable(arguments.source)
    if arguments.dir or not measured_on:
        identity, run = calibration_for(arguments.dir)
        if not measured_on:
            notes.append(f"'{source}' does not name its storage: compared with the calibration of '{printable(identity)}'")
        elif measured_on != identity:
            notes.append(f"the times are of '{printable(measured_on)}', the predictions of '{printable(identity)}'")
    else:
        identity, run = measured_on, _profile.stored_runs().get(measured_on)
        if run is None:
            raise MeasureError(f"'{source}' has times of '{printable(measured_on)}', where methods were not measured: run 'thalweg tune' there, "
                               "or name a folder of another file system with --dir", IO_ERROR)
    if run is None:
        raise MeasureError(f"no time in '{source}' can be predicted: methods were not measured here, run 'thalweg tune DIR'", IO_ERROR)
    return identity, run, notes


def _validate(arguments):
    replace = checked_file("--html", arguments.html, arguments.force, [arguments.source])
    results = load(arguments.source)
    identity, run, notes = _compared_with(arguments, results)
    points = points_of(results, run)
    if not points:
        raise MeasureError(f"no time in '{printable(arguments.source)}' can be predicted: its times are of another cache, or of methods that "
                           "were not measured for the calibration", IO_ERROR)
    if arguments.html:
        from . import page

        replace_file(arguments.html, page.html(results, points), replace)
    summary = summary_of(points, results, run)
    if arguments.json:
        told = [{"method": point["method"], "phase": point["phase"], "cell": point["cell"].to_json(), "predicted_seconds": point["predicted"],
                 "measured_seconds": point["measured"], "used_for_tuning": point["used_for_fit"]} for point in points]
        put(_json.dumps({"command": "advise", "file": arguments.source, "storage": identity, "notes": notes, "validation": summary,
                         "points": told, "exit_code": 0}, indent=2) + "\n")
    elif not arguments.quiet:
        put("".join(f"{note}\n" for note in notes) + validation_text(points, summary))
    return FINE


# ---- The command -----------------------------------------------------------------------------------------------------

def _run(arguments):
    if arguments.source:
        return _validate(arguments)
    if arguments.html:
        raise MeasureError("--html plots measured times: add --from FILE", USAGE)
    request = _request_of(arguments)
    advice = advise_on(request, *calibration_for(arguments.dir), program=arguments.program)
    if arguments.json:
        put(_json.dumps({"command": "advise", "file": "", **advice.to_json(), "exit_code": 0}, indent=2) + "\n")
    elif arguments.quiet:
        put("".join(f"{name}\n" for name in ((advice.best,) if advice.best else advice.ties)))
    else:
        put(_text_of(advice, not arguments.no_code))
    return FINE



def _add_program(parser):
    ranks = whole_number(1, _MOST_RANKS)
    parser.add_argument("--ranks", type=ranks, default=1, metavar="N", help="Ranks of the program; default 1")
    parser.add_argument("--bytes", type=_size(1), default=0, metavar="SIZE", help="Bytes of all ranks per output")
    parser.add_argument("--pattern", choices=PATTERNS, default="block2d",
                        help="Distribution of the data; default block2d. ragged is modelled with equal shares")
    parser.add_argument("--grid", default="", metavar="PXxPY", help="Grid of ranks, as 64x64; default: as even as possible")
    parser.add_argument("--order", choices=("c", "f"), default="c", help="Fastest index: the last (c) or the first (f)")
    parser.add_argument("--phase", choices=("write", "read", "restart"), default="write", help="Phase to optimise; default write")
    parser.add_argument("--readers", type=ranks, default=0, metavar="N",
                        help="With --phase restart: ranks that read; default: half of --ranks")
    parser.add_argument("--every", type=positive_number("time, as 60s or 5min,", _TIMES), default=0.0, metavar="TIME",
                        help="Computation time between two outputs, as 60s or 5min")
    parser.add_argument("--compute-seconds-per-step", type=positive_number("number"), default=0.0, metavar="S",
                        help="Computation time of the program in each step, in seconds")
    parser.add_argument("--language", choices=("c", "fortran", "python"), default="c", help="Language of the printed code; default c")


def _add_machine(parser):
    ranks = whole_number(1, _MOST_RANKS)
    parser.add_argument("--nodes", type=ranks, default=1, metavar="N", help="Number of nodes; default 1")
    parser.add_argument("--cores-per-node", type=ranks, default=0, metavar="N",
                        help="Default: those of the measured machine; with several nodes at least one per rank")
    parser.add_argument("--memory-per-node", type=_size(0), default=0, metavar="SIZE", help="Default: not checked")
    parser.add_argument("--storage-bandwidth", type=_size(0, whole=False), default=0.0, metavar="SIZE",
                        help="Bytes per second of the whole storage: 50GiB, 1.5GiB, or 50GB for 50e9 bytes")
    parser.add_argument("--storage-create-rate", type=positive_number("number"), default=0.0, metavar="N",
                        help="File creations per second of the whole storage")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="", help="MPI of the program")


def add(subparsers):
    """Add the parser of the command."""
    parser = add_command(subparsers, "advise", _run, *help_texts("advise"))
    _add_program(parser)
    _add_machine(parser)
    parser.add_argument("--dir", default="", metavar="DIR",
                        help="Folder on the storage of the program; default: the measured storage, with --from that of FILE")
    parser.add_argument("--from", dest="source", default="", metavar="FILE",
                        help="Compare predictions with the times in this file of 'thalweg methods --json' instead")
    parser.add_argument("--html", default="", metavar="FILE",
                        help="With --from: write a page with the plot of predicted against measured times")
    parser.add_argument("-f", "--force", action="store_true", help="Replace any existing file of --html")
    parser.add_argument("--no-code", action="store_true", help="Do not print an example program")
    parser.add_argument("--program", default="", metavar="FILE",
                        help="The program that simulates several nodes; default: thalweg-probe beside this command")
