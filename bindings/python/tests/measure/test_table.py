"""The tables for a terminal."""

import re

import pytest
from measure_support import CELL, GOLDEN, TIME, cell_of, needs_page, needs_statistics
from thalweg.measure import Run, load

pytestmark = needs_statistics


def table(run, **options):
    from thalweg.measure.table import methods_table

    return methods_table(run, **options)


def words(text):
    """The words of each line, without headings of columns and names of groups."""
    lines = [line for line in text.splitlines() if not re.search(r"(ranks|small)$", line)]
    return [re.sub(r"\b(in)?efficient\b|\bmoderate\b", "", line).split() for line in lines]


def test_the_table_of_the_golden_run_has_the_numbers_it_always_had():
    assert words(table(load(GOLDEN / "scaling.jsonl"))) == words((GOLDEN / "scaling.txt").read_text())


def test_names_that_would_command_a_terminal_are_shown_and_folded():
    text = table(load(GOLDEN / "hostile.jsonl"))

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", text)
    assert r"onerror=alert(2)>&" in text and r"\u202e" in text
    assert "*1325 ±1%" in text and "\nfailed\n" in text
    numbers = re.findall(r"\*?\d+ ±\d+%", text)
    assert numbers == re.findall(r"\*?\d+ ±\d+%", (GOLDEN / "hostile.txt").read_text())


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_lines_fit_and_cells_continue_below(columns):
    run = Run()
    cells = [{**CELL, "shape": [side, side]} for side in (64, 128, 256, 512, 1024)] + [{**CELL, "cache": "drop"}]
    for cell in cells:
        for number, method in enumerate(("file-per-task", "hdf5-contiguous-independent"), 1):
            run.add_record({**TIME, "cell": cell, "method": method, "seconds": 0.001 * number, "bytes": 1 << 20})
    text = table(run, columns=columns)

    assert max(map(len, text.splitlines())) <= columns
    assert text.count("*1000") == len(cells) and text.count(" 500") == len(cells)
    assert ("(continued)" in text) == (columns < 160)
    assert "The run is incomplete" in text


def test_one_time_has_no_interval_and_grids_are_told_where_they_matter():
    run = Run()
    run.add_record({**TIME, "bytes": 1 << 20})
    run.add_record({**TIME, "bytes": 1 << 20, "cell": {**CELL, "grid": [4, 1]}})
    text = table(run)

    assert "±" not in text.partition("* fastest")[0]
    assert "as 2x2" in text and "as 4x1" in text


def test_the_limit_of_the_storage_is_a_line_of_its_own():
    run = Run()
    run.add_record({**TIME, "bytes": 1 << 20})
    for seconds in (0.25, 0.125, 0.5):
        run.add_record({"kind": "limit", "cell": CELL, "phase": "write", "repetition": 1, "seconds": seconds, "bytes": 1 << 20})
    text = table(run)

    assert re.search(r"^ +the storage itself +4\.0$", text, re.M), text


def test_caches_that_were_not_met_are_told():
    run = Run()
    for method, cache in (("a", "drop"), ("b", "sync"), ("c", "sync")):
        run.add_record({**TIME, "method": method, "cell": {**CELL, "cache": "drop"}, "cache": cache})
    run.add_record({**TIME, "phase": "read", "cell": {**CELL, "cache": "drop"}, "cache": "warm"})
    text = table(run)

    assert "actual cache of the times" in text
    assert "  write, cache sync: b, c\n" in text and "  read, cache warm: all methods\n" in text
    assert "write, cache drop" not in text


def test_skipped_methods_with_one_reason_share_a_line():
    run = Run()
    for method in ("a", "b"):
        run.add_record({"kind": "skipped", "method": method, "cell": CELL, "phase": "read", "reason": "no"})
    run.add_record({"kind": "skipped", "method": "c", "cell": CELL, "phase": None, "reason": "never"})
    run.add_record({"kind": "failure", "method": None, "cell": None, "phase": None, "message": "lost"})
    run.add_record({"kind": "method", "id": "x", "number": 3, "title": "X", "built": False, "reason": "not built: no X"})
    run.add_record({"kind": "end", "complete": True, "seconds": 1})
    text = table(run)

    assert text.startswith("nothing was measured\n") and "incomplete" not in text
    assert "  read, 2 methods: no\n" in text and f"  c, {cell_of(CELL).text}: never\n" in text
    assert "\nfailed\n  the run: lost\n" in text and "\nnot built\n  3 x: no X\n" in text


def test_simulated_times_do_not_mix_with_measured_ones():
    run = Run()
    run.add_record({**TIME, "bytes": 1 << 20})
    run.add_record({**TIME, "bytes": 1 << 20, "seconds": 0.25, "predicted": True})
    assert "2.0" in table(run) and "4.0" not in table(run) and "simulated" not in table(run)
    run.add_record({**TIME, "bytes": 1 << 20, "seconds": 0.25, "predicted": True, "cell": {**CELL, "ranks": 8, "grid": [4, 2]}})
    assert "2.0" in table(run) and "4.0" in table(run) and "simulated" in table(run)


def test_colours_are_for_terminals_only():
    run = load(GOLDEN / "scaling.jsonl")
    assert "\x1b[" in table(run, on_terminal=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", table(run, on_terminal=True)).split() == table(run).split()


@needs_page
@pytest.mark.parametrize("name", ["scaling", "hostile"])
def test_pages_of_the_golden_runs(name, tmp_path):
    run = load(GOLDEN / f"{name}.jsonl")
    run.page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()

    assert "<!-- made by thalweg " in page[:256]
    assert "tw-nonblocking" in page and "<script>alert(1)" not in page
    run.page(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page
