"""Example programs: whole ones, in ``skeletons/``, which the tests compile and run. All of them write.

``skeletons/programs.json`` names, by the begin of a method's id and by language, the program and its difference from the method;
and for each program the calls that read.
"""

import dataclasses as _dataclasses
import json as _json
import pathlib as _pathlib

__all__ = ["Example", "example_of"]

_FOLDER = _pathlib.Path(__file__).with_name("skeletons")
_INCLUDED = ("block_of.h", "my_block.inc")


@_dataclasses.dataclass(frozen=True)
class Example:
    """A program: the name of its file, its text, and how it differs from the method; "": in nothing."""

    file: str
    text: str
    remark: str


def _text_of(name):
    """The text of a program, with that of the files that it includes from its folder in place."""
    text = (_FOLDER / name).read_text(encoding="utf-8")
    for part in _INCLUDED:
        line = f'#include "{part}"\n'
        if line in text:
            text = text.replace(line, _text_of(part), 1)
    return text


def example_of(method, language, phase="write"):
    """The program for a method.

    Parameters
    ----------
    method : str
        Its id.
    language : {"c", "fortran", "python"}
    phase : {"write", "read", "restart"}
        For a phase that reads, the remark names the calls.

    Returns
    -------
    Example
    """
    known = _json.loads((_FOLDER / "programs.json").read_text(encoding="utf-8"))
    name, remark = next(shown[language] for begin, shown in known["programs"].items() if method.startswith(begin))
    remarks = [remark] if remark else []
    if phase != "write":
        grid = ", with the grid of the readers" if phase == "restart" else ""
        remarks.append(f"it writes; to read: {known['reading'][name]}{grid}")
    return Example(name, _text_of(name), "; ".join(remarks))
