"""Medians, intervals, ratios, groups and curves, of made times."""

import itertools
import json
import math
import random

import pytest
from made_runs import MIB, made_cell, run_of

from thalweg.measure import statistics
from thalweg.measure.records import Cell, Run

NAMES = {"efficient": "0", "moderate": "1", "inefficient": "2"}


@pytest.mark.parametrize("n, k", [(1, 1), (5, 1), (6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (14, 3), (20, 6), (100, 40)])
def test_the_interval_goes_from_the_kth_shortest_to_the_kth_longest(n, k):
    values = list(range(n))
    random.Random(n).shuffle(values)
    assert statistics.interval(values) == ((n - 1) / 2, k - 1, n - k)


@pytest.mark.parametrize("n", range(6, 60))
def test_the_interval_holds_95_percent_and_no_narrower_one_does(n):
    _, low, _ = statistics.interval(range(n))
    k = int(low) + 1

    def confidence(k):
        return 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2**n

    assert confidence(k) >= 0.95 > confidence(k + 1)


def test_no_number_has_no_interval():
    assert all(map(math.isnan, statistics.interval([])))
    assert statistics.rows(Run()).empty and list(statistics.rows(Run()))[:3] == ["method", "phase", "cell"]


def shuffled(run, seed):
    lines, again = list(run.lines), Run()
    random.Random(seed).shuffle(lines)
    for line in lines:
        again.add(line)
    return again


def test_rows_do_not_depend_on_the_order_of_records():
    times = [(method, made_cell(ranks), 0.1 * i + ranks, phase, 0.3) for i, method in enumerate("abcdefg")
             for ranks in (2, 4, 8) for phase in ("write", "read", "odd")]
    run = run_of(times)
    first = statistics.rows(run)
    assert list(dict.fromkeys(first["phase"])) == ["write", "read", "odd"]
    for seed in range(3):
        again = shuffled(run, seed)
        assert statistics.rows(again).equals(first)
        for phase in ("write", "odd"):
            tables = [rows[rows["phase"] == phase] for rows in (first, statistics.rows(again))]
            assert statistics.groups(tables[0]).table.equals(statistics.groups(tables[1]).table)


def test_rows_have_medians_the_shortest_opening_and_hidden_shares():
    run, cell = Run(), made_cell(2)
    for i, hidden in enumerate((0.1, 0.5, 0.9), 1):
        run.add_record({
            "kind": "time", "method": "m", "cell": cell.to_json(), "phase": "overlap", "repetition": i, "seconds": float(i),
            "parts": {"open": i / 10}, "bytes": 8 * MIB, "hidden": hidden
        })
    run.add_record({
        "kind": "time", "method": "m", "cell": cell.to_json(), "phase": "overlap", "repetition": 1, "seconds": 9.0,
        "bytes": MIB, "predicted": True
    })
    measured, simulated = statistics.rows(run).itertuples(index=False)
    assert (measured.n, measured.median, measured.low, measured.high, measured.bytes) == (3, 2.0, 1.0, 3.0, 8 * MIB)
    assert (measured.least, measured.open, measured.predicted) == (1.0, 0.1, False)
    assert (measured.hidden, measured.hidden_low, measured.hidden_high) == (0.5, 0.1, 0.9)
    assert (simulated.n, simulated.median, simulated.predicted) == (1, 9.0, True)


# ---- Groups -----------------------------------------------------------------------------------------------------------


def grouping(ratios, spread=0.01):
    run = run_of([(f"m{i:02}", made_cell(ranks), ratio / ranks, "write", spread) for ranks in (2, 4, 8)
                  for i, ratio in enumerate(ratios)])
    return statistics.groups(statistics.rows(run))


def numbers(ratios, spread=0.01):
    group = grouping(ratios, spread).by_method
    return "".join(NAMES[group[f"m{i:02}"]] for i in range(len(ratios)))


@pytest.mark.parametrize("ratios, expected", [
    ((1, 1.05, 3, 3.1, 20, 22), "001122"), ((20, 1, 3.1, 22, 1.05, 3), "201201"), ((1, 3, 20), "012"),  # three clear ones
    ((1, 1.02, 1.04, 10, 10.3), "00022"), ((1, 1.02, 1.5, 1.52), "0011"),  # the second of two is far or near
    ((1, 1, 1, 1), "0000"), ((1, 1.02, 1.05, 1.07), "0000"), ((5,), "0"), ((1, 1.04), "00"),  # alike
    ((1, 1, 4, 4, 4), "00222"), ((2, 2, 2, 2, 2, 2.0001), "000000"),  # ties stay together
])
def test_groups(ratios, expected):
    assert numbers(ratios) == expected


def test_the_border_between_near_and_far_is_a_factor_of_two():
    assert numbers((1, 2.001)) == "02" and numbers((1, 1.999)) == "01"


def test_a_gap_below_a_tenth_and_a_step_below_a_quarter_make_no_groups():
    assert numbers((1, 1.09, 1.19, 1.29, 1.4)) == "00000"  # every gap is below 1.1
    assert numbers((1, 1.24)) == "00" and numbers((1, 1.26)) == "01"


def test_differences_within_the_intervals_make_no_groups():
    assert numbers((1, 1.4, 1.8), 0.02) == "012" and numbers((1, 1.4, 1.8), 1.0) == "000"
    rng = random.Random(3)
    for _ in range(8):
        assert numbers([rng.lognormvariate(0, 0.02) for _ in range(12)]) == "0" * 12


def test_ratios_are_geometric_means_to_the_best_of_each_cell():
    two, four = made_cell(2), made_cell(4)
    rows = statistics.rows(
        run_of([("a", two, 1), ("b", two, 4), ("a", four, 1), ("b", four, 1), ("c", four, 3), ("b", four, 9, "read")]))
    found = statistics.ratios(rows[rows["phase"] == "write"])
    assert [(row.method, round(row.ratio, 9), row.cells) for row in found.itertuples()] == [("a", 1, 2), ("b", 2, 2),
                                                                                            ("c", 3, 1)]


def test_nothing_and_times_of_zero_do_no_harm():
    nothing = statistics.groups(statistics.rows(Run()))
    assert nothing.count == 0 and nothing.by_method == {}
    group = statistics.groups(statistics.rows(run_of([("a", made_cell(2), 0.0), ("b", made_cell(2), 1.0)])))
    assert group.by_method == {"a": "efficient", "b": "inefficient"} and math.isfinite(group.table["ratio"].max())


def cost(values, cuts):
    parts = [values[begin:end] for begin, end in zip((0, *cuts), (*cuts, len(values)))]
    return math.fsum((value - sum(part) / len(part)) ** 2 for part in parts for value in part)


def test_cuts_are_the_best_of_all():
    rng = random.Random(11)
    for trial in range(120):
        values = sorted(float(rng.randrange(5)) if trial % 3 == 0 else rng.uniform(0, 4) for _ in range(rng.randint(1, 9)))
        for k in range(1, min(3, len(values)) + 1):
            cuts = statistics.best_cuts(values, k)
            assert len(cuts) == k - 1
            assert cost(values, cuts) == pytest.approx(
                min(cost(values, c) for c in itertools.combinations(range(1, len(values)), k - 1)), abs=1e-9)


# ---- Cells and curves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share, small", [(0.24, False), (0.26, True)])
def test_a_cell_is_small_where_opening_takes_a_quarter_of_a_write(share, small):
    cell = made_cell(2)
    times = [("a", cell, 1.0), ("b", cell, 2.0), ("c", cell, 3.0)]
    assert statistics.small_cells(statistics.rows(run_of(times, open_share=share))) == ({cell} if small else frozenset())


def test_without_openings_a_cell_is_small_below_a_mebibyte_a_rank():
    run = Run()
    large, small = Cell(2, (2, 1), (1024, 512)), Cell(2, (2, 1), (1024, 511))
    for cell in (large, small):
        run.add_record({
            "kind": "time", "method": "m", "cell": cell.to_json(), "phase": "write", "repetition": 1, "seconds": 1.0,
            "bytes": cell.bytes
        })
    assert statistics.small_cells(statistics.rows(run)) == {small}


@pytest.mark.parametrize("ranks, grid, shape, order, scattered", [
    (4, (4, 1), (16, 16), "c", False), (4, (4, 1), (16, 16), "f", True), (4, (1, 4), (16, 16), "f", False),
    (4, (1, 4, 1), (1, 16, 16), "c", False), (8, (2, 4, 1), (2, 16, 16), "c", False),  # one plane each, then cut
    (8, (2, 4, 1), (4, 16, 16), "c", True), (1, (1, 1), (16, 16), "c", False)])
def test_blocks_are_scattered_unless_only_the_slowest_dimension_is_cut(ranks, grid, shape, order, scattered):
    assert statistics.is_scattered(Cell(ranks, grid, shape, order)) == scattered


def test_rows_of_a_ragged_array_interleave():
    assert statistics.is_scattered(Cell(4, (4, 1), (64, 16), "c", "warm", True))
    assert not statistics.is_scattered(Cell(1, (1, 1), (64, 16), "c", "warm", True))


def test_curves_of_strong_and_weak_scaling_and_of_sizes():
    one, four, larger = made_cell(1, 1024), made_cell(4, 1024), made_cell(4, 2048)
    both = statistics.series([larger, one, four])
    assert [(curve.kind, curve.cells) for curve in both] == [("strong", (one, four)), ("weak", (one, larger))]
    assert [curve.kind for curve in statistics.series([larger, one, four], "strong")] == ["strong"]
    assert [curve.kind for curve in statistics.series([larger, one, four], "weak")] == ["weak"]
    sizes = statistics.series([larger, four])
    assert [(curve.kind, curve.cells) for curve in sizes] == [("size", (four, larger))]
    assert statistics.series([four]) == [] and both[0].label == "1024x1024 (4.0 MiB), order c, warm"


def test_cells_that_differ_in_their_grid_belong_to_several_curves():
    cells = [
        made_cell(1, 1024),
        made_cell(4, 1024, (4, 1)),
        made_cell(4, 1024, (2, 2)),
        made_cell(8, 1024, (8, 1)),
        made_cell(8, 1024, (4, 2))
    ]
    found = [[cell.grid for cell in curve.cells] for curve in statistics.series(cells, "strong")]
    assert found == [[(1, 1), (2, 2), (4, 2)], [(4, 1), (8, 1)]]


def test_ragged_arrays_and_caches_have_curves_of_their_own():
    cells = [
        Cell(ranks, (ranks, 1), (1024, 1024), "c", cache, ragged) for ranks in (1, 2) for cache in ("warm", "sync")
        for ragged in (False, True)
    ]
    found = statistics.series(cells)
    assert len(found) == 4 and all(len({(cell.cache, cell.ragged) for cell in curve.cells}) == 1 for curve in found)


def test_limits_are_medians():
    run, cell = Run(), made_cell(2)
    for i, seconds in enumerate((0.3, 0.1, 0.2), 1):
        run.add_record({
            "kind": "limit", "cell": cell.to_json(), "phase": "read", "repetition": i, "seconds": seconds, "bytes": cell.bytes
        })
    assert statistics.limits(run) == {(cell, "read"): (0.2, cell.bytes)}
    assert json.loads(run.lines[0])["kind"] == "limit"
