"""From options to curves and launches."""

import pytest
from thalweg.measure import MeasureError
from thalweg.measure.methods import plan_options
from thalweg.measure.plan import PlanOptions, doubling_ranks, grid_for, make_plan, parse_extents, parse_ranks
from thalweg.measure.records import Cell


def test_numbers_of_ranks():
    assert [doubling_ranks(n) for n in (1, 2, 5, 8)] == [(1,), (1, 2), (1, 2, 4, 5), (1, 2, 4, 8)]
    assert parse_ranks("4,1,2,2") == (1, 2, 4)
    assert parse_ranks("4,") == (4,)
    assert parse_extents("2x3", "--grid") == (2, 3)


@pytest.mark.parametrize("ranks, dimensions, grid", [
    (1, 2, (1, 1)), (6, 2, (3, 2)), (7, 2, (7, 1)), (8, 3, (2, 2, 2)), (12, 3, (3, 2, 2)), (16, 2, (4, 4)), (5, 1, (5,)),
    (1 << 20, 2, (1 << 10, 1 << 10)),
])
def test_grids_are_as_even_as_possible(ranks, dimensions, grid):
    assert grid_for(ranks, dimensions) == grid


def test_strong_and_weak_scaling_share_cells():
    plan = make_plan(PlanOptions((1, 2, 4), shapes=("64",)))

    assert plan.scaling == "strong and weak"
    assert [launch.ranks for launch in plan.launches] == [1, 2, 4]
    assert plan.launches[1].cells == (Cell(2, (2, 1), (64, 64)), Cell(2, (2, 1), (64, 32)))
    assert plan.launches[2].cells == (Cell(4, (2, 2), (64, 64)),)
    assert plan.most_bytes == 4 * 64 * 64


def test_one_number_of_ranks_does_not_scale():
    plan = make_plan(PlanOptions((3,), grid=(1, 3), shapes=("5x2",), orders=("f",)))

    assert plan.scaling == "none"
    assert plan.launches[0].cells == (Cell(3, (1, 3), (5, 2), "f"),)


def test_each_cache_has_launches_of_its_own():
    plan = make_plan(PlanOptions((1, 2), shapes=("64",), caches=("drop", "warm"), weak=False))

    assert [(launch.ranks, launch.cache) for launch in plan.launches] == [(1, "drop"), (1, "warm"), (2, "drop"), (2, "warm")]
    assert all(cell.cache == launch.cache for launch in plan.launches for cell in launch.cells)


def test_ragged_arrays_are_cut_along_their_rows():
    plan = make_plan(PlanOptions((1, 4), shapes=("64x16", "8x8x8"), orders=("f",), ragged=True, weak=False))

    ragged = [cell for launch in plan.launches for cell in launch.cells if cell.ragged]
    assert ragged == [Cell(1, (1, 1), (64, 16), "c", "warm", True), Cell(4, (4, 1), (64, 16), "c", "warm", True)]
    with pytest.raises(MeasureError, match="--ragged needs"):
        make_plan(PlanOptions((1,), shapes=("8x8x8",), ragged=True))


def test_from_4_mib_to_1_gib_per_rank():
    plan = make_plan(PlanOptions((1, 4), shapes=("2048", "32768"), strong=False))

    assert [cell.bytes_per_rank for cell in plan.launches[1].cells] == [4 << 20, 1 << 30]


@pytest.mark.parametrize("options, part", [
    ({"grid": "2x2", "ranks": "3"}, "4 parts, for 3 ranks"), ({"ranks": "0"}, "'0' is not a number from 1 to 1048576"),
    ({"ranks": "two"}, "'two' is not a number"), ({"ranks": "1,,2"}, "'' is not a number"),
    ({"sizes": ("3x",)}, "'' is not a number"), ({"sizes": ("-3",)}, "'-3' is not a number"),
    ({"sizes": ("9" * 30,)}, "is not a number"), ({"sizes": ("²",)}, "is not a number"),
    ({"sizes": ("2x2x2x2",)}, "two dimensions"), ({"sizes": ("1099511627776x1099511627776",)}, "too large"),
    ({"grid": "2x2", "ranks": "1,2"}, "--grid needs a single number"),
    ({"grid": "2x3x1", "sizes": ("64",)}, "--size 256x256x256"),
    ({"ranks": "16,64", "sizes": ("1073741824",), "weak": True}, "too large an array"),
    ({"orders": ("z",)}, "--order 'z' is unknown"), ({"caches": ("drip",)}, "did you mean 'drop'"),
    ({"grid": "1048576x2"}, "is not a number from 1 to 1048576"),
])
def test_wrong_words_are_refused(options, part):
    with pytest.raises(MeasureError) as caught:
        make_plan(plan_options(**options))
    assert part in str(caught.value) and caught.value.exit_code == 2


def test_defaults(monkeypatch):
    monkeypatch.setattr("thalweg.measure.methods.cores", lambda: 6)
    options = plan_options()
    assert options.ranks == (1, 2, 4, 8, 12)
    assert (options.orders, options.caches, options.strong, options.weak) == (("c", "f"), ("warm",), True, True)
    assert min(cell.bytes_per_rank for launch in make_plan(
        plan_options(weak=True)).launches for cell in launch.cells) == 4 << 20
    assert plan_options(grid="2x3").ranks == (6,)
    assert plan_options(quick=True).orders == ("c",)
    assert plan_options(strong=True).weak is False and plan_options(weak=True).strong is False
