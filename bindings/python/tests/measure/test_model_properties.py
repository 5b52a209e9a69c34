"""Properties of the model's terms and decisions."""

import numpy as np
import pytest
from model_support import cell

from thalweg.measure import terms
from thalweg.measure.decision import as_good, decide

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies


@hypothesis.given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 9), st.integers(1, 9))
def test_runs_are_those_of_blocks_that_are_walked(rows, columns, height, width):
    one = cell(rows * columns, height, width, grid=(rows, columns))
    owner = [[(max(p for p in range(rows) if height * p // rows <= r), max(p for p in range(columns) if width * p // columns <= c))
              for c in range(width)] for r in range(height)]
    flat = [place for row in owner for place in row]
    walked = 1 + sum(a != b for a, b in zip(flat, flat[1:]))

    assert terms.runs_of(one, one.grid) >= walked  # runs that end at an edge of the array continue in the file, if of one rank
    if columns > 1 and width > 1:
        assert terms.runs_of(one, one.grid) == height * min(columns, width)


LOGS = st.integers(1, 8).flatmap(lambda m: st.lists(st.lists(st.floats(-5, 5), min_size=m, max_size=m), min_size=1, max_size=12))


@hypothesis.given(LOGS, st.floats(0.05, 1.0))
def test_a_decision_keeps_what_it_claims(rows, needed):
    scenarios = np.array(rows)
    ids = tuple(f"m{j}" for j in range(scenarios.shape[1]))
    found = decide(ids, scenarios, scenarios[0], np.arange(len(ids)), needed)
    good = as_good(scenarios)

    if found.best:
        assert good[:, ids.index(found.best)].mean() == found.chance >= needed
        assert found.best not in found.ties
    else:
        assert found.chance < needed
        assert good[:, [ids.index(name) for name in found.ties]].any(axis=1).mean() >= 0.95
    assert len(set(found.ties)) == len(found.ties)


@hypothesis.given(LOGS, st.floats(-3, 3))
def test_a_factor_for_all_times_changes_nothing(rows, shift):
    scenarios = np.round(np.array(rows), 2) + 0.003  # no ratio is at the edge of 10 %
    ids = tuple(map(str, range(scenarios.shape[1])))
    groups = np.arange(len(ids))

    assert decide(ids, scenarios, scenarios[0], groups, 0.7) == decide(ids, scenarios + shift, scenarios[0] + shift, groups, 0.7)
