"""The groups and the five conclusions of the study: each verdict reached from data, and the border of each claim."""

import pytest
from made_runs import made_cell, run_of

from thalweg.measure import conclusions
from thalweg.measure.records import Cell, Run

FOUR = made_cell(4)
YES, NO, OPEN = "confirmed", "refuted", "undecided"
STUDY = [method for members in conclusions.STUDY_GROUPS.values() for method in members]


def claim(run, number, place, **how):
    found = conclusions.judge(run, **how)
    assert [one.number for one in found] == [0, 1, 2, 3, 4, 5]
    one = found[number].claims[place]
    assert one.text and one.criterion and (one.verdict == OPEN) == bool(one.missing)
    return one


def test_nothing_is_decided_by_nothing():
    for one in conclusions.judge(Run()):
        assert one.verdict == OPEN and all(claim.verdict == OPEN and claim.missing for claim in one.claims)


def test_one_rank_decides_nothing():
    run = run_of([(method, made_cell(1), 1.0)
                  for method in [*STUDY, "mpiio-chunk-2", "mpiio-chunk-3", "hdf5-chunked-collective"]])
    assert {one.verdict for one in conclusions.judge(run)} == {OPEN}


# Number and place of a claim, its slow and fast methods, the limits of the ratio.
RATIOS = [
    (1, 0, ("mpiio-global-0", "mpiio-global-1"), ("mpiio-global-3",), 2, 1.25),
    (1, 0, ("mpiio-global-1",), ("mpiio-global-2",), 2, 1.25),
    (1, 1, ("mpiio-global-2",), ("mpiio-global-3",), 1.25, 1),
    (1, 2, ("mpiio-chunk-2",), ("mpiio-chunk-3",), 1.25, 1.5),
    (2, 0, ("mpiio-global-3",), ("gather",), 1.25, 1),
    (2, 0, ("mpiio-global-3",), ("file-per-task-dirs",), 1.25, 1),
    (3, 0, ("hdf5-contiguous-collective",), ("mpiio-global-3",), 1.25, 1.5),
    (3, 1, ("hdf5-contiguous-independent",), ("mpiio-global-2",), 1.25, 1.5),
    (4, 0, ("mpiio-global-3",), ("mpiio-chunk-3",), 1.25, 1.5),
    (4, 1, ("hdf5-chunked-collective",), ("hdf5-contiguous-collective",), 2, 1.25),
    (5, 0, ("file-per-task",), ("mpiio-global-3",), 2, 3),
    (5, 1, ("mpiio-global-3",), ("gather",), 2, 3),
]


@pytest.mark.parametrize("number, place, slow, fast, confirmed, refuted", RATIOS)
def test_a_ratio_of_times_decides(number, place, slow, fast, confirmed, refuted):
    def verdict(ratio):
        run = run_of([(method, FOUR, ratio) for method in slow] + [(method, FOUR, 1.0) for method in fast])
        found = claim(run, number, place)
        assert found.value == pytest.approx(ratio) and f"{ratio:.2f} times" in " ".join(found.evidence)
        return found.verdict

    many = confirmed > refuted  # a claim that the ratio is large
    step = 1e-6 if many else -1e-6
    assert verdict(confirmed + step) == YES and verdict(confirmed - step) == OPEN
    assert verdict(refuted + step) == OPEN and verdict(refuted - step) == NO


def test_the_better_of_the_explicit_offsets_is_compared_with_the_better_view():
    run = run_of([("mpiio-global-0", FOUR, 9.0), ("mpiio-global-1", FOUR, 3.0), ("mpiio-global-2", FOUR, 1.0),
                  ("mpiio-global-3", FOUR, 2.0)])
    found = claim(run, 1, 0)
    assert found.value == pytest.approx(3) and found.verdict == YES
    assert "mpiio-global-0 alone: 9.00 times (1 cell)." in found.evidence


def test_means_are_geometric_and_reads_are_told():
    eight = made_cell(8)
    run = run_of([("mpiio-chunk-2", FOUR, 1.0), ("mpiio-chunk-3", FOUR, 1.0), ("mpiio-chunk-2", eight, 4.0),
                  ("mpiio-chunk-3", eight, 1.0), ("mpiio-chunk-2", FOUR, 3.0, "read"), ("mpiio-chunk-3", FOUR, 1.0, "read")])
    found = claim(run, 1, 2)
    assert found.value == pytest.approx(2)
    assert found.evidence == ("Write: 2.00 times (geometric mean of 2 cells, 1.00 to 4.00).", "Read: 3.00 times (1 cell).")


def test_contiguous_blocks_say_nothing_about_views():
    slabs = made_cell(4, grid=(4, 1))
    found = claim(run_of([("mpiio-global-0", slabs, 9.0), ("mpiio-global-3", slabs, 1.0)]), 1, 0)
    assert found.verdict == OPEN and found.missing == "Missing: large cells with blocks that interleave."


def test_small_cells_say_nothing_about_bandwidth_but_something_about_small_files():
    run = run_of([("mpiio-global-3", FOUR, 2.0), ("gather", FOUR, 1.0), ("hdf5-contiguous-collective", FOUR, 2.0)],
                 open_share=0.5)
    assert claim(run, 3, 0).verdict == OPEN and claim(run, 5, 1).verdict == OPEN and claim(run, 2, 0).verdict == YES


def test_a_missing_method_is_named():
    assert claim(run_of([("mpiio-global-3", FOUR, 1.0)]), 3,
                 0).missing == "Missing: write times of hdf5-contiguous-collective."
    apart = run_of([("mpiio-global-3", FOUR, 1.0), ("hdf5-contiguous-collective", made_cell(8), 1.0)])
    assert claim(apart, 3, 0).missing == "Missing: both methods in large cells of several ranks."
    between = run_of([("mpiio-global-3", FOUR, 1.0), ("hdf5-contiguous-collective", FOUR, 1.4)])
    assert claim(between, 3, 0).missing == "The number lies between both limits."


@pytest.mark.parametrize("bytes_below, place", [(True, 0), (False, 1)])
def test_small_files_end_at_100_megabytes(bytes_below, place):
    cell = Cell(4, (2, 2), (5000, 4999 if bytes_below else 5000))  # 99,980,000 and 100,000,000 bytes
    run = run_of([("mpiio-global-3", cell, 1.0), ("gather", cell, 1.0)])
    assert [one.value == one.value for one in conclusions.judge(run)[2].claims] == [place == 0, place == 1]


@pytest.mark.parametrize("ratio, verdict", [(1.49, YES), (1.51, OPEN), (1.99, OPEN), (2.01, NO)])
def test_large_files_are_comparable(ratio, verdict):
    cell = made_cell(4, 8192)
    assert claim(run_of([("mpiio-global-3", cell, ratio), ("gather", cell, 1.0)]), 2, 1).verdict == verdict


def test_claims_about_many_ranks_use_the_most():
    run = run_of([("hdf5-chunked-collective", FOUR, 1.0), ("hdf5-contiguous-collective", FOUR, 1.0),
                  ("hdf5-chunked-collective", made_cell(8), 8.0), ("hdf5-contiguous-collective", made_cell(8), 1.0)])
    found = claim(run, 4, 1)
    assert found.value == pytest.approx(8) and "the most ranks (8)" in found.criterion


@pytest.mark.parametrize("growth, verdict", [(0.81, YES), (0.79, OPEN), (0.51, OPEN), (0.49, NO), (3.0, YES)])
def test_a_file_per_task_does_not_decay(growth, verdict):
    run = run_of([("file-per-task-dirs", made_cell(2), 1.0), ("file-per-task", made_cell(2), 2.0),
                  ("file-per-task", made_cell(8), 1 / growth)])
    found = claim(run, 5, 2)
    assert found.value == pytest.approx(growth) and found.verdict == verdict


def test_decay_needs_twice_as_many_ranks():
    run = run_of([("file-per-task", made_cell(4), 1.0), ("file-per-task", made_cell(6, grid=(3, 2)), 1.0)])
    assert claim(run, 5, 2).verdict == OPEN


@pytest.mark.parametrize("arrays, verdict", [(2.0, YES), (0.91, YES), (0.89, OPEN), (0.51, OPEN), (0.49, NO)])
def test_a_gather_needs_memory_for_the_array(arrays, verdict):
    run = run_of([], [("gather", made_cell(2), 1), ("gather", made_cell(8), int(arrays * FOUR.bytes))])
    assert claim(run, 5, 3).verdict == verdict


# ---- Groups -----------------------------------------------------------------------------------------------------------

LIKE_THE_STUDY = {"efficient": 1.0, "moderate": 5.0, "inefficient": 40.0}


def group_run(change=None, leave_out=()):
    seconds = {
        method: LIKE_THE_STUDY[name] * (1 + 0.02 * i)
        for name, members in conclusions.STUDY_GROUPS.items()
        for i, method in enumerate(members)
    }
    seconds.update(change or {})
    return run_of([(method, FOUR, value)
                   for method, value in seconds.items() if method not in leave_out] + [("tw-collective", FOUR, 0.01)])


def verdicts(run):
    return [one.verdict for one in conclusions.judge(run)[0].claims]


def test_the_groups_of_the_study():
    assert verdicts(group_run()) == [YES, YES, YES]
    assert conclusions.judge(group_run())[0].verdict == YES


def test_a_member_in_another_group_refutes_both():
    run = group_run({"mpiio-global-0": 1.0})
    assert verdicts(run) == [NO, YES, NO] and conclusions.judge(run)[0].verdict == NO
    efficient, _, inefficient = conclusions.judge(run)[0].claims
    assert "Also efficient here: mpiio-global-0." in efficient.evidence
    assert any(text.startswith("mpiio-global-0: 1.00 times") and "efficient here" in text for text in inefficient.evidence)


def test_one_speed_refutes_three_groups():
    assert verdicts(group_run({method: 1.0 for method in STUDY})) == [NO, NO, NO]


def test_groups_need_a_member_of_each():
    run = group_run(leave_out=("mpiio-global-0", "mpiio-global-1"))
    assert verdicts(run) == [OPEN, OPEN, OPEN]
    assert conclusions.judge(run)[0].claims[0].missing.startswith(
        "Missing: write times of the fastest of mpiio-global-0, mpiio-global-1, in")
    without_hdf5 = group_run(leave_out=("hdf5-contiguous-collective", "hdf5-contiguous-independent"))
    assert verdicts(without_hdf5) == [YES, YES, YES]
    assert "Not measured: hdf5-contiguous-collective." in conclusions.judge(without_hdf5)[0].claims[0].evidence


# ---- Conclusions of several claims, and simulated times -----------------------------------------------------------------


def test_a_conclusion_needs_all_claims_and_falls_with_one():
    both = [("mpiio-global-3", FOUR, 1.0), ("mpiio-global-2", FOUR, 1.0), ("hdf5-contiguous-collective", FOUR, 1.0)]
    assert conclusions.judge(run_of(both))[3].verdict == OPEN
    assert conclusions.judge(run_of(both + [("hdf5-contiguous-independent", FOUR, 1.0)]))[3].verdict == YES
    assert conclusions.judge(run_of(both + [("hdf5-contiguous-independent", FOUR, 5.0)]))[3].verdict == NO


@pytest.mark.parametrize("ratio, verdict, spread, noisy", [(1.2, YES, 0.1, 0.6), (1.6, NO, 0.1, 0.6)])
def test_noise_that_reaches_the_other_limit_decides_nothing(ratio, verdict, spread, noisy):
    def found(spread):
        return claim(
            run_of([("hdf5-contiguous-collective", FOUR, ratio, "write", spread),
                    ("mpiio-global-3", FOUR, 1.0, "write", spread)]), 3, 0)

    assert found(spread).verdict == verdict
    silent = found(noisy)
    assert silent.verdict == OPEN and silent.missing.startswith("The times scatter too much: ")
    many = [("hdf5-contiguous-collective", "mpiio-global-3")[i % 2] for i in range(24)]
    cells = [Cell(4, (2, 2), (4096, 4096 + i)) for i in range(12) for _ in range(2)]
    mean = claim(
        run_of([(method, cell, ratio if method.startswith("hdf5") else 1.0, "write", noisy)
                for method, cell in zip(many, cells)]), 3, 0)
    assert mean.verdict == verdict  # a mean over cells is less noisy


def test_groups_that_noise_hides_are_not_refuted():
    times = [(method, FOUR, LIKE_THE_STUDY[name], "write", 1.5) for name, members in conclusions.STUDY_GROUPS.items()
             for method in members]
    assert verdicts(run_of(times)) == [OPEN, OPEN, OPEN]
    assert "scatter" in conclusions.judge(run_of(times))[0].claims[0].missing


def test_simulated_times_are_judged_alone():
    run = run_of([("hdf5-contiguous-collective", FOUR, 5.0), ("mpiio-global-3", FOUR, 1.0)], predicted=True)
    assert claim(run, 3, 0).verdict == OPEN and claim(run, 3, 0, predicted=True).verdict == NO
