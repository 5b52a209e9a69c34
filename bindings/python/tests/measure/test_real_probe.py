"""Runs of the real program with one and two ranks, where one is found."""

import json
import os

import pytest
import thalweg.measure
from measure_support import command, needs_page, needs_statistics, real_program

PROGRAM = real_program()
needs_program = pytest.mark.skipif(PROGRAM is None, reason="no program thalweg-probe: name one with THALWEG_PROBE")
pytestmark = [needs_statistics, needs_program]
FEW = ["gather", "file-per-task", "mpiio-global-3", "tw-multifile", "tw-collective"]


@needs_page
def test_a_run_in_python(tmp_path):
    run = thalweg.measure.run(tmp_path, ranks=2, size=40, order="c", repeat=2, methods=FEW, program=PROGRAM, quiet=True)

    assert run.complete and not [mishap for mishap in run.mishaps if mishap.failed]
    assert {launch["ranks"] for launch in run.launches} == {1, 2}
    rows = run.rows()
    for phase in ("write", "read", "serial"):
        assert set(rows[rows["phase"] == phase]["method"]) == set(FEW)
    assert (rows["n"] == 2).all() and (rows["median"] > 0).all() and (rows["low"] <= rows["high"]).all()
    assert set(run.times["bytes"]) == {cell.bytes for cell in run.times["cell"]}
    assert os.listdir(tmp_path) == []
    run.page(tmp_path / "page.html")
    run.save(tmp_path / "run.jsonl")
    assert thalweg.measure.load(tmp_path / "run.jsonl").lines == run.lines
    assert len(run.plot("write").data) >= len(FEW)


def test_the_command_with_two_caches(tmp_path):
    (tmp_path / "data").mkdir()
    small = ("--dir", "data", "--ranks", "2,", "--size", "40", "--order", "c", "--repeat", "1", "--phases", "write,read")
    out, _ = command(tmp_path, "methods", *small, "--cache", "warm,drop", "--methods", "gather,tw-collective", "--program",
                     PROGRAM,
                     "--json")

    records = [json.loads(line) for line in out.splitlines()]
    assert {(record["method"], record["cell"]["cache"]) for record in records if record["kind"] == "result"} == {
        (method, cache) for method in ("gather", "tw-collective") for cache in ("warm", "drop")}
    assert len([record for record in records if record["kind"] == "launch"]) == 2
    assert os.listdir(tmp_path / "data") == []


def test_a_grid_of_three_dimensions(tmp_path):
    run = thalweg.measure.run(tmp_path, grid=(1, 2, 1), size=(3, 4, 5), order="f",
                              repeat=1, methods="gather", program=PROGRAM, quiet=True)

    assert {cell.text for cell in run.times["cell"]} == {"2 ranks as 1x2x1, 3x4x5, f, warm"}
    assert run.info["scaling"] == "none"


def test_ragged_arrays_beside_others(tmp_path):
    run = thalweg.measure.run(tmp_path, ranks=[2], size=[(64, 9)], order="c", repeat=1, ragged=True, methods=["gather", "tw-vpfile"],
                              phases="write,read".split(","), program=PROGRAM, quiet=True)

    methods = {(ragged, method) for ragged, method in zip((cell.ragged for cell in run.times["cell"]), run.times["method"])}
    assert methods == {(False, "gather"), (False, "tw-vpfile"), (True, "gather")}
    assert ["tw-vpfile"] == [mishap.method for mishap in run.mishaps]


def test_the_schema_holds_for_what_the_program_prints(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    with open(os.path.join(os.path.dirname(thalweg.measure.__file__), "records.schema.json")) as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    run = thalweg.measure.run(tmp_path, ranks=[2], size=16, order="c", repeat=1, program=PROGRAM, quiet=True, patience=120)

    for line in run.lines:
        validator.validate(json.loads(line))
    kinds = {json.loads(line)["kind"] for line in run.lines}
    assert {"run", "launch", "method", "time", "facts", "result", "end"} <= kinds
