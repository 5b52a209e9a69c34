"""Records: what is taken, what is refused and with which message, and the frames of a run."""

import copy
import json
import pathlib
import random

import pytest
from measure_support import CELL, GOLDEN, TIME, cell_of, line
from thalweg.measure import MeasureError, Run, load, parse
from thalweg.measure.records import Cell, Mishap

SCHEMA = pathlib.Path(parse.__file__).with_name("records.schema.json")


def refusal(text):
    run = Run()
    with pytest.raises(MeasureError) as caught:
        run.add(text)
    assert caught.value.exit_code == 1
    assert run.lines == [] and not run.has_times
    return str(caught.value)


def changed(old, new, record=TIME):
    text = line(record)
    assert old in text
    return text.replace(old, new, 1)


def test_a_time_is_taken_as_it_is():
    run = Run()
    run.add(line(TIME))

    assert list(run.times.columns) == ["method", "phase", "cell", "ranks", "bytes", "order", "cache", "asked_cache",
                                       "repetition", "seconds", "open", "transfer", "close", "readers", "compute_seconds",
                                       "hidden", "predicted"]
    time = run.times.iloc[0]
    assert (time["method"], time["phase"], time["cache"], time["asked_cache"]) == ("gather", "write", "sync", "warm")
    assert (time["seconds"], time["open"], time["close"], time["bytes"], time["predicted"]) == (0.5, 0.1, 0, 512, False)
    cell = time["cell"]
    assert cell == Cell(4, (2, 2), (8, 16), "c", "warm") and hash(cell) == hash(cell_of(CELL))
    assert (cell.bytes, cell.bytes_per_rank, cell.text) == (512, 128, "4 ranks as 2x2, 8x16, c, warm")
    assert json.loads(cell.argument()) == cell.to_json() == CELL
    assert run.lines == [line(TIME)]


def test_ragged_cells_limits_and_new_members_of_methods():
    run = Run()
    ragged = {**CELL, "ragged": True}
    run.add_record({**TIME, "cell": ragged, "predicted": True})
    run.add_record({"kind": "limit", "cell": CELL, "phase": "write", "repetition": 2, "seconds": 0.25, "bytes": 512})
    run.add_record({"kind": "method", "id": "a", "number": 2, "title": "A", "built": True, "outcome": "chunks",
                    "collective": True, "nonblocking": False, "needs": "HDF5"})

    cell = run.times["cell"][0]
    assert cell.ragged and cell != cell_of(CELL) and cell.to_json() == ragged
    assert json.loads(cell.argument()) == ragged and "8x16 ragged" in cell.text
    assert bool(run.times["predicted"][0])
    assert run.limits.to_dict("records") == [{"cell": cell_of(CELL), "phase": "write", "repetition": 2, "seconds": 0.25, "bytes": 512}]
    assert run.methods == [{"id": "a", "number": 2, "title": "A", "built": True, "library": None, "reason": None,
                            "outcome": "chunks", "collective": True, "nonblocking": False, "needs": "HDF5"}]


def test_a_run_without_times_has_empty_frames_with_their_columns():
    run = Run()

    assert len(run.times) == len(run.limits) == 0
    assert run.times["seconds"].dtype == float and run.times["ranks"].dtype == "int64" and run.times["predicted"].dtype == bool
    assert list(run.limits.columns) == ["cell", "phase", "repetition", "seconds", "bytes"]
    assert (run.info, run.launches, run.complete) == ({}, [], False)


def test_unknown_kinds_and_members_are_skipped():
    run = Run()
    run.add('{"kind":"of tomorrow","x":[1]}')
    run.add(line({**TIME, "new": {}}))

    assert len(run.times) == 1 and len(run.lines) == 2


@pytest.mark.parametrize("old, new, message", [
    ('"seconds":0.5', '"seconds":-1', "time record: 'seconds' is -1, not a nonnegative number"),
    ('"seconds":0.5', '"seconds":"0.5"', "time record: 'seconds' is \"0.5\", not a nonnegative number"),
    ('"seconds":0.5', '"seconds":true', "time record: 'seconds' is true, not a nonnegative number"),
    ('"seconds":0.5', '"seconds":1e999', "time record: 'seconds' is Infinity, not a nonnegative number"),
    ('"seconds":0.5,', "", "time record: 'seconds' is missing"),
    ('"method":"gather"', '"method":""', "time record: 'method' is empty"),
    ('"method":"gather"', '"method":7', "time record: 'method' is 7, not text"),
    ('"ranks":4', '"ranks":0', "time record: 'ranks' is 0, not a whole number from 1 to 16777216"),
    ('"ranks":4', '"ranks":1e3', "time record: 'ranks' is 1000.0, not a whole number from 1 to 16777216"),
    ('"ranks":4', '"ranks":true', "time record: 'ranks' is true, not a whole number from 1 to 16777216"),
    ("[8,16]", "[8,16,3,4]", "time record: 'shape' is [8,16,3,4], not a list of 1 to 3 numbers"),
    ("[8,16]", "[8,-16]", "time record: 'shape' has -16, not a whole number from 1 to 288230376151711744"),
    ("[8,16]", "[200000000,9000000000]", "time record: 'shape' has more elements than fit in a file"),
    ("[8,16]", "[18446744073709551615,1]",
     "time record: 'shape' has 18446744073709551615, not a whole number from 1 to 288230376151711744"),
    ("[2,2]", "[4]", "time record: 'grid' has 1 entries, but 'shape' 2"),
    ('"order":"c"', '"order":"r"', "time record: 'order' is 'r', not 'c' or 'f'"),
    ('"cache":"warm"', '"cache":"\\u001b[2J"', "time record: 'cache' is '\\x1b[2J', not warm, sync or drop"),
    ('{"open":0.1}', "[]", "time record: 'parts' is [], not an object"),
    ('"bytes":512', '"bytes":9223372036854775808',
     "time record: 'bytes' is 9223372036854775808, not a whole number from 0 to 9223372036854775807"),
    (line(CELL), "null", "time record: 'cell' is null, not an object"),
])
def test_what_is_wrong_is_named(old, new, message):
    assert refusal(changed(old, new)) == message


@pytest.mark.parametrize("text", [
    "", "[", "7", "[]", "null", '{"kind":"time"', '{"kind":"time","x":NaN}', '{"kind":"\\ud800"}', "\udcff\udcfe",
    '{"kind":"time","x":' + "9" * 5000 + "}",
])
def test_what_is_no_record_is_refused(text):
    assert "is not a JSON object" in refusal(text)


def test_records_need_a_kind():
    assert refusal("{}") == "unnamed record: 'kind' is missing"
    assert refusal('{"kind":3}') == "unnamed record: 'kind' is 3, not text"


@pytest.mark.parametrize("depth", [17, 900, 100_000])
def test_values_that_are_nested_too_deeply_are_refused(depth):
    assert "nested too deeply" in refusal('{"kind":"run","x":' + "[" * depth + "]" * depth + "}")


def test_brackets_in_a_text_are_no_depth():
    run = Run()
    run.add(line({"kind": "skipped", "reason": "[{" * 100}))
    assert run.mishaps[0].message == "[{" * 100


def test_a_long_value_is_shortened_in_the_message():
    assert len(refusal(line({**TIME, "phase": list(range(100_000))}))) < 200


def test_every_damage_is_refused_or_taken_and_does_no_more():
    whole = line(TIME)
    draw = random.Random(1)
    for length in range(len(whole)):
        refusal(whole[:length])
    for at in range(len(whole)):
        for _ in range(10):
            try:
                Run().add(whole[:at] + chr(draw.randrange(256)) + whole[at + 1 :])
            except MeasureError as error:
                assert error.exit_code == 1


def test_a_method_is_there_once_and_built_where_a_launch_had_it():
    run = Run()
    run.add_record({"kind": "method", "id": "b", "number": 9, "title": "B", "built": False, "reason": "no", "library": None})
    run.add_record({"kind": "method", "id": "a", "number": 2, "title": "A", "built": True, "reason": None})
    run.add_record({"kind": "method", "id": "b", "number": 9, "title": "B", "built": True, "library": "L 1"})
    run.add_record({"kind": "method", "id": "b", "number": 9, "title": "B", "built": False, "reason": "no"})

    assert [method["id"] for method in run.methods] == ["a", "b"]
    assert run.methods[1]["built"] and run.methods[1]["library"] == "L 1"


def test_failures_skips_and_the_end():
    run = Run()
    run.add_record({"kind": "failure", "method": "a", "cell": CELL, "phase": "read", "message": "m", "rank": 3})
    run.add_record({"kind": "skipped", "method": "b", "cell": None, "phase": None, "reason": "r"})
    assert not run.complete
    run.add_record({"kind": "end", "complete": True, "seconds": 3})

    assert run.mishaps == [Mishap(True, "a", "read", cell_of(CELL), "m"), Mishap(False, "b", "", None, "r")]
    assert run.complete and run.seconds == 3


def test_line_and_file_of_a_damaged_one_are_named(tmp_path):
    path = tmp_path / "damaged.jsonl"
    path.write_text(f"{line(TIME)}\n\n{line(TIME)[:40]}\n")
    with pytest.raises(MeasureError, match=r"damaged.jsonl', line 3: not a record: ") as caught:
        load(path)
    assert caught.value.exit_code == 1
    path.write_text(f"{line(TIME)}\n{changed('512', '-1')}\n")
    with pytest.raises(MeasureError, match=r"damaged.jsonl', line 2: time record: 'bytes' is -1"):
        load(path)
    path.write_bytes(b'{"kind":"run"}\n\xff\xfe\n')
    with pytest.raises(MeasureError, match=r"line 2: not a record: '\\xff\\xfe'"):
        load(path)


def test_files_that_are_none(tmp_path):
    (tmp_path / "empty").write_text("\n")
    for name, code in (("empty", 1), ("missing", 3), (".", 3)):
        with pytest.raises(MeasureError) as caught:
            load(tmp_path / name)
        assert caught.value.exit_code == code
        assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("name, times", [("scaling", 216), ("hostile", 42)])
def test_the_golden_runs(name, times, tmp_path):
    path = GOLDEN / f"{name}.jsonl"
    run = load(path)

    assert len(run.times) == times and run.complete and run.seconds == 312.5
    assert len(run.methods) == 22 and [method["number"]
               for method in run.methods] == sorted(method["number"] for method in run.methods)
    run.save(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()


def mutations(record):
    """The record with each member, at any depth, replaced or removed."""
    def places(value, place):
        for name in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            yield (*place, name)
            yield from places(value[name], (*place, name))

    for place in places(record, ()):
        for new in (None, 7, -1, 0, 2**63, 0.5, "", "x", "c", True, [], [1, 2], {}, {"x": 1}, ...):
            damaged = copy.deepcopy(record)
            outer = damaged
            for name in place[:-1]:
                outer = outer[name]
            if new is ...:
                del outer[place[-1]]
            else:
                outer[place[-1]] = new
            yield damaged


def is_taken(record):
    try:
        Run().add_record(record)
    except MeasureError as error:
        # Rules between members, which a schema does not have.
        return "but 'shape'" in str(error) or "more elements" in str(error)
    return True


def test_the_schema_and_the_checks_agree():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    texts = {text for name in ("scaling", "hostile") for text in (GOLDEN / f"{name}.jsonl").read_text().splitlines()}
    kinds = {}
    for text in sorted(texts):
        record = json.loads(text)
        assert validator.is_valid(record), text
        kinds.setdefault(record["kind"], record)
    kinds["limit"] = {
    "kind": "limit",
    "cell": {
        **CELL,
        "ragged": True},
        "phase": "read",
        "repetition": 1,
        "seconds": 0.1,
         "bytes": 512}
    kinds["time"] = {**TIME, "readers": 3, "compute_seconds": 1.0, "hidden": 0.5, "predicted": False}
    kinds["begin"] = {"kind": "begin", "method": "gather", "cell": CELL, "repetition": 0}
    kinds["skipped"] = {"kind": "skipped", "method": "b", "cell": CELL, "phase": "read", "reason": "r"}
    assert {"run", "launch", "method", "facts", "failure", "end"} <= kinds.keys()
    for record in kinds.values():
        for damaged in mutations(record):
            assert validator.is_valid(damaged) == is_taken(damaged), damaged
