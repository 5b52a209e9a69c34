"""Decisions that are right or silent: from times that are possible, one method, or the methods that cannot be told apart."""

import dataclasses as _dataclasses

import numpy as _np

__all__ = ["AS_GOOD", "Decision", "REFUSED", "as_good", "decide", "kind_of", "likeliest", "twins_of"]

AS_GOOD = 0.10  # a method is as good as the best one where it takes at most so much longer
_WITHIN = _np.log1p(AS_GOOD)
_CERTAIN = 0.95  # share of the possible times in which the tied methods include one that is as good as the best
_LEAST_PAIRS = 3  # fewer cells do not show that two methods are equal


@_dataclasses.dataclass(frozen=True)
class Decision:
    """Which method is the best, or which cannot be told apart.

    Attributes
    ----------
    best : str or None
        The method to use; None where the model is silent.
    ties : tuple of str
        With `best`: the other methods that are as good in most of the possible times. Without: the methods among which the best
        one is, the likeliest first; () where the model refuses to rank.
    twins : tuple of str
        Those of `ties` that are the best one's equals in all that was measured.
    chance : float
        Share of the possible times in which the likeliest method, or one of its twins, is within 10 % of the best one.
    """

    best: "str | None"
    ties: tuple
    twins: tuple
    chance: float


REFUSED = Decision(None, (), (), float("nan"))


def kind_of(method):
    """The kind of a method, a tuple of its family, what it makes, and whether it is collective."""
    return method["id"].split("-")[0], method["outcome"], method["collective"]


def twins_of(logs, kinds):
    """Group methods of one kind whose times differ by at most 10 % in the median cell: only chance tells them apart.

    Parameters
    ----------
    logs : array (n, M)
        Logarithms of the times in n cells; NaN: not measured.
    kinds : sequence of length M

    Returns
    -------
    array (M,) of int
        Equal numbers for twins.
    """
    groups = _np.arange(logs.shape[1])
    for later in range(logs.shape[1]):
        for first in range(later):
            ratios = logs[:, later] - logs[:, first]
            ratios = ratios[_np.isfinite(ratios)]
            if kinds[first] == kinds[later] and ratios.size >= _LEAST_PAIRS and abs(_np.median(ratios)) <= _WITHIN:
                groups[later] = groups[first]
                break
    return groups


def as_good(logs, groups=None):
    """Which methods, or twins of which, are within 10 % of the fastest one, in each row of logarithms; NaN: not measured."""
    known = _np.where(_np.isfinite(logs), logs, _np.inf)
    good = known <= known.min(axis=-1, keepdims=True) + _WITHIN
    if groups is None:
        return good
    same = groups[:, None] == groups[None, :]
    return (good[..., None] & same).any(axis=-2)


def likeliest(scenarios, logs, groups):
    """The method that is most often as good as the best one, the chances of all, and what is good in each scenario."""
    good = as_good(scenarios, groups)
    chances = good.mean(axis=0)
    slower = _np.where(_np.isfinite(logs), logs - _np.nanmin(logs), _np.inf)
    return int(_np.argmax(chances - 1e-3 * _np.minimum(slower, 10))), chances, good


def _tied(good, chances):
    """The methods of which nearly all rows have a good one: each adds most rows to those before."""
    chosen, covered = [], _np.zeros(len(good), bool)
    while covered.mean() < _CERTAIN and len(chosen) < good.shape[1]:
        gains = (good & ~covered[:, None]).mean(axis=0) + 1e-3 * chances
        gains[chosen] = -1
        chosen.append(int(_np.argmax(gains)))
        covered |= good[:, chosen[-1]]
    return chosen


def decide(ids, scenarios, logs, groups, needed):
    """Decide between methods.

    Parameters
    ----------
    ids : sequence of str, length M
    scenarios : array (S, M)
        Logarithms of times that are possible.
    logs : array (M,)
        Logarithms of the predicted times; they order methods of equal chance.
    groups : array (M,) of int
        Twins, as of `twins_of`.
    needed : float
        Chance from which on a method is named.

    Returns
    -------
    Decision
    """
    best, chances, good = likeliest(scenarios, logs, groups)
    chance, order = float(chances[best]), _np.argsort(logs, kind="stable")
    if chance >= needed:
        ties = [j for j in order if j != best and (chances[j] >= 0.5 or groups[j] == groups[best])]
        twins = [j for j in ties if groups[j] == groups[best]]
        return Decision(ids[best], tuple(ids[j] for j in ties), tuple(ids[j] for j in twins), chance)
    chosen = _tied(good, chances)
    named = chosen + [j for j in order if j not in chosen and groups[j] in groups[chosen]]
    return Decision(None, tuple(ids[j] for j in named), (), chance)
