"""The model: its terms, the fit of known constants, its errors, and decisions about cells that it has not seen."""

import dataclasses
import math

import numpy as np
import pytest
from model_support import BY_ID, CONSTANTS, METHODS, calibration_cells, cell, made_run, seconds_of

from thalweg.measure import MeasureError, evaluation, model, terms
from thalweg.measure.decision import decide, kind_of, twins_of
from thalweg.measure.parse import Cell


# ---- Terms -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("one, runs", [(cell(4, 10, 20, grid=(2, 2)), 20), (cell(4, 10, 20, grid=(4, 1)), 4),
                                       (cell(4, 10, 20, grid=(1, 4)), 40), (cell(4, 10, 20, grid=(1, 4), order="f"), 4),
                                       (cell(1, 10, 20), 1), (cell(8, 4, 6, 8, grid=(2, 2, 2)), 48)])
def test_runs_are_counted_by_the_first_dimension_that_is_cut(one, runs):
    assert terms.runs_of(one, one.grid) == runs


def test_each_row_of_a_ragged_array_is_a_run_unless_one_rank_has_all():
    ragged = Cell(4, (4, 1), (64, 16), "c", "warm", True)
    assert terms.runs_of(ragged, (4, 1)) == 64
    assert terms.runs_of(ragged, (1, 1)) == 1
    assert terms.chunk_runs_of(ragged, (2, 1)) == 64
    assert terms.chunk_runs_of(ragged, (4, 1)) == 4
    assert terms.load_of(ragged, "restart", 3, 2).runs == 64


def test_runs_of_two_cuts_have_the_parts_of_both():
    one = cell(2, 10, 12, grid=(1, 2))

    assert terms.runs_of(one, (1, 3), (1, 2)) == 10 * 4
    assert terms.runs_of(one, (1, 2), (1, 2)) == 10 * 2
    assert terms.load_of(one, "restart", 3, 2).ranks == 3
    assert terms.load_of(one, "read", 3, 2).ranks == 2


def test_a_block_that_is_read_whole_is_one_stretch():
    assert terms.chunk_runs_of(cell(4, 8, 8, grid=(4, 1)), (2, 1)) == 4
    assert terms.chunk_runs_of(cell(4, 8, 8, grid=(2, 2)), (1, 1)) == 4
    assert terms.chunk_runs_of(cell(2, 8, 8, grid=(2, 1)), (1, 2)) == 16


def test_ranks_that_share_cores_meet_slowly():
    loads = [terms.Load(ranks, ranks, 2, 4096, 1, 1) for ranks in (1, 2, 4)]
    one, two, four = (terms.terms_of(BY_ID["tw-collective"], "write", load)[terms.MEETING] for load in loads)

    assert one == 0
    assert four > 4 * two


def test_only_methods_that_make_the_array_have_its_pieces():
    load = terms.Load(2, 2, 2, 0, 1000, 50)

    assert terms.terms_of(BY_ID["mpiio-global-0"], "write", load)[terms.RUN] == 500
    assert terms.terms_of(BY_ID["file-per-task"], "write", load)[terms.RUN] == 1
    assert terms.terms_of(BY_ID["file-per-task"], "restart", load)[terms.RUN] == 25


def test_costs_that_a_profile_cannot_mean_get_their_defaults():
    for entry in ({}, {"buffered": []}, {"buffered": {"call_ns": "x", "write_byte_ns": -1}, "create_ns": 1e-300}, {"create_ns": True}):
        assert dataclasses.astuple(terms.primitives_of(entry)) == pytest.approx(dataclasses.astuple(terms.Primitives()))
    assert terms.primitives_of({"create_ns": 20000}).open == pytest.approx(2e-5)


# ---- The fit ---------------------------------------------------------------------------------------------------------

OTHERS = [cell(4, 700, 900), cell(2, 1000, 1000, grid=(1, 2), order="f"), cell(4, 1024, 512, grid=(4, 1))]


def test_predicts_cells_that_it_has_not_seen():
    fit = model.fit_of(made_run())

    for one in OTHERS:
        for name in CONSTANTS:
            factors = terms.terms_of(BY_ID[name], "write", terms.load_of(one, "write", 0, 2))
            found = math.exp(model.predicted(factors, fit.constants(name, "write")))
            assert found == pytest.approx(seconds_of(name, "write", one), rel=0.2), (name, one.text)


def test_one_wild_time_does_not_move_the_others():
    wild = cell(2, 1024, 1024)
    run = made_run(scale=lambda name, phase, one: 50.0 if one == wild and name == "gather" else 1.0)
    one = OTHERS[0]
    factors = terms.terms_of(BY_ID["gather"], "write", terms.load_of(one, "write", 0, 2))

    found = math.exp(model.predicted(factors, model.fit_of(run).constants("gather", "write")))

    assert found == pytest.approx(seconds_of("gather", "write", one), rel=0.25)


def test_what_disturbs_a_whole_cell_does_not_change_the_order_of_its_methods():
    quiet, shaken = (model.fit_of(made_run(common=common)).errors("write") for common in (0.0, 0.5))

    assert shaken["times"] > 0.2
    assert shaken["ratios"] < shaken["times"] / 2
    assert quiet["times"] < 0.1


def test_few_cells_leave_none_out_and_are_refused():
    fit = model.fit_of(made_run(calibration_cells((512, 1024), (2,))))

    assert "needed" in fit.refusal("write")
    assert fit.constants("gather", "write") is not None
    assert model.fit_of(made_run(calibration_cells((512,), (1, 2)))).constants("pnetcdf", "write") is None


def test_noise_is_refused():
    refusal = model.fit_of(made_run(noise=0.8)).refusal("write")

    assert "more than 30 %" in refusal
    assert model.fit_of(made_run(noise=0.02)).refusal("write") == ""


def test_times_of_another_cache_are_not_used():
    fit = model.fit_of(made_run([cell(2, 300, 300, cache="drop")]))

    assert fit.cells == set()
    assert "0 cells" in fit.refusal("write")


def test_predicted_times_are_not_measured_ones():
    run = made_run()
    guessed = made_run([cell(2, 777, 777)], scale=lambda *_: 100.0)
    for line in guessed.lines:
        if '"kind":"time"' in line:
            run.add(line.replace('"kind":"time"', '"kind":"time","predicted":true'))

    assert cell(2, 777, 777) not in model.fit_of(run).cells


def test_records_that_do_not_tell_what_methods_make_are_refused():
    methods = [{name: value for name, value in one.items() if name not in ("outcome", "collective")} for one in METHODS]

    with pytest.raises(MeasureError, match="measure again"):
        model.fit_of(made_run(methods=methods))


# ---- Decisions -------------------------------------------------------------------------------------------------------

def test_the_best_of_exact_times_is_named_in_every_clear_cell():
    found = evaluation.evaluate(made_run()).summary()

    assert found["wrong"] == 0
    assert found["clear"] > 20
    assert found["decided"] >= 0.6 * found["clear"]


def test_cells_of_another_run_are_decided_by_the_first():
    found = evaluation.evaluate(made_run(OTHERS, phases=("write", "read")), made_run())

    assert found.summary()["wrong"] == 0
    assert len(found.judged) == found.summary()["cells"] == 6
    assert {one.outcome for one in found.judged} <= {"right", "silent"}


@pytest.mark.parametrize("noise, common", [(0.05, 0.0), (0.1, 0.3), (0.2, 0.5)])
def test_it_is_right_or_silent_in_noise(noise, common):
    found = evaluation.evaluate(made_run(noise=noise, common=common, phases=("write", "read")))
    summary = found.summary()

    assert summary["right"] + summary["silent"] >= 0.9 * summary["cells"], found.judged


def test_methods_that_are_equal_but_for_noise_are_told_as_ties():
    even = {name: CONSTANTS["tw-collective"] for name in ("tw-collective", "mpiio-global-3", "mpiio-chunk-3", "tw-multifile")}
    found = evaluation.evaluate(made_run(noise=0.15, constants=even, phases=("write",), seed=4))

    silent = [one for one in found.judged if one.outcome == "silent"]
    assert len(silent) > len(found.judged) / 2
    assert all(len(one.decision.ties) > 1 for one in silent)
    assert all(one.decision.best is None for one in silent)


def test_refused_cells_are_silent():
    found = evaluation.evaluate(made_run(noise=0.9, phases=("write",)))

    assert {one.outcome for one in found.judged} == {"silent"}
    assert all(math.isnan(one.loss) for one in found.judged)


def test_twins_are_methods_of_a_kind_that_only_chance_tells_apart():
    rng = np.random.default_rng(1)
    own = rng.standard_normal((12, 1))
    logs = own + np.array([[0.0, 0.03, 0.5, 0.02]]) + 0.2 * rng.standard_normal((12, 4))
    kinds = [kind_of(BY_ID[name]) for name in ("file-per-task", "file-per-task-dirs", "mpiio-global-0", "tw-multifile")]

    assert list(twins_of(logs, kinds)) == [0, 0, 2, 3]
    assert list(twins_of(logs + np.array([0, 0.4, 0, 0]), kinds)) == [0, 1, 2, 3]


def test_a_twin_is_named_with_the_other_as_its_equal():
    scenarios = np.log([[1.0, 1.3, 3.0], [1.3, 1.0, 3.0], [1.0, 1.0, 3.0]])
    alone = decide(("a", "b", "c"), scenarios, scenarios[2], np.array([0, 1, 2]), 0.9)
    twins = decide(("a", "b", "c"), scenarios, scenarios[2], np.array([0, 0, 2]), 0.9)

    assert (alone.best, set(alone.ties)) == (None, {"a", "b"})
    assert (twins.best, twins.ties, twins.twins, twins.chance) == ("a", ("b",), ("b",), 1.0)
