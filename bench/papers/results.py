"""Values of figures.json: looks them up in the results of benchmarks, and computes ratios.

A specification is an object of figures.json. `run` names the run that has the results; further members select what is computed:

    in, of, to, phase        speed of the variant `of`, by that of `to`, within each repetition; `in`: name of the comparison
    in, of, best, phase      the same, to the fastest of the variants whose names match `best`
    in, of, to_in, phase     the same variant in two comparisons, by their median rates
    in, reduced, to, phase   percent of the time of `to` that `reduced` saves
    in, each, to, count ...  time of each of `count` files, by that of each of `to_count`
    in, rate, phase          10^9 bytes per second
    in, hidden | allowed | saved   of a variant with the phases io, compute, both, core, in percent: the part of the I/O time that is
                             hidden behind computing, the most that the cores allow, and the part of the run time that is saved
    fact, to_fact, member    ratio of two values that a benchmark reports by names; value, member: one of them
    of, to, phase, order     of records of `thalweg methods`: times of two methods, geometric mean over the cells
    spread, phase, order     of records: the slowest method by the fastest, of those whose ids match
    case                     seconds of a simulated access

`in`, `to_in`, `best`, `fact`, `to_fact`, `value` and `spread` are regular expressions that are found anywhere in a name, `rate` one
that matches the whole name; all other names are exact.
"""

import math
import re
import statistics


class Value:
    """Median, least and greatest; the latter two are None where the repetitions are not paired. `of`: what was simulated."""

    def __init__(self, median, low=None, high=None, of="", repetitions=None):
        self.median, self.low, self.high, self.of, self.repetitions = median, low, high, of, repetitions

    @classmethod
    def of(cls, values):
        return cls(statistics.median(values), min(values), max(values), repetitions=len(values)) if values else None


def paired(function, *columns):
    return Value.of([function(*row) for row in zip(*columns)])


class Results:
    """runs: what each run reported, by its name: the JSON of a benchmark, or the list of records of `thalweg methods`."""

    def __init__(self, runs):
        self.runs = runs

    def value(self, spec):
        """The Value of a specification, or None where a result is missing."""
        if spec is None:
            return None
        try:
            return self._value(spec)
        except (KeyError, StopIteration, ZeroDivisionError):
            return None

    def _value(self, spec):
        if "case" in spec:
            return Value(self._simulated(spec["case"]))
        report = self.runs[spec["run"]]
        if isinstance(report, list):
            return self._of_records(report, spec)
        if "fact" in spec or "value" in spec:
            return self._of_facts(report["facts"], spec)
        return self._of_comparison(report, spec)

    def simulated(self, spec):
        """Ratio of the times of two simulated accesses; a name may have alternatives, {a|b}, of which the first that was
        simulated counts."""
        if spec is None:
            return None
        for of, to in zip(alternatives(spec["of"]), alternatives(spec["to"]), strict=True):
            try:
                return Value(self._simulated(to) / self._simulated(of), of=common(of, to))
            except (KeyError, ZeroDivisionError):
                continue
        return None

    def missing(self, spec):
        """Whether a run was made that should have the result of a specification, and has it not."""
        return spec is not None and spec.get("run") in self.runs and self.value(spec) is None

    def _simulated(self, case):
        found = self.runs["simulated"][case]
        return sum(found[f"{part}_seconds"] for part in ("open", "transfer", "close"))

    def _of_comparison(self, report, spec):
        comparison = named(report, spec["in"])
        phase = spec.get("phase")
        if "rate" in spec:
            variant = next(one["variant"] for one in comparison["variants"] if re.fullmatch(spec["rate"], one["variant"]))
            return Value.of([comparison["amount"] / s / 1e9 for s in seconds(comparison, variant, phase)])
        for what, function in (("hidden", hidden), ("allowed", allowed), ("saved", saved)):
            if what in spec:
                return paired(function, *[seconds(comparison, spec[what], one) for one in ("io", "compute", "both", "core")])
        if "each" in spec:
            ratio = spec["to_count"] / spec["count"]
            return paired(lambda of, to: of / to * ratio, seconds(comparison, spec["each"], phase), seconds(comparison, spec["to"], phase))
        if "reduced" in spec:
            return paired(lambda of, to: 100 * (1 - of / to), seconds(comparison, spec["reduced"], phase),
                          seconds(comparison, spec["to"], phase))
        mine = seconds(comparison, spec["of"], phase)
        if "to_in" in spec:
            other = named(report, spec["to_in"])
            theirs = seconds(other, spec["of"], phase)
            return Value(comparison["amount"] / statistics.median(mine) * statistics.median(theirs) / other["amount"])
        peer = spec.get("to") or fastest(comparison, spec["best"], phase)
        return paired(lambda of, to: to / of, mine, seconds(comparison, peer, phase))

    def _of_facts(self, facts, spec):
        def find(name):
            return next(fact[spec["member"]] for key, fact in facts.items() if re.search(name, key))

        if "value" in spec:
            return Value(find(spec["value"]))
        return Value(find(spec["to_fact"]) / find(spec["fact"]))

    def _of_records(self, records, spec):
        times = {}
        for one in records:
            if one["kind"] == "time" and one["phase"] == spec["phase"] and one["cell"]["order"] == spec.get("order", one["cell"]["order"]):
                cell = str(one["cell"])
                times.setdefault(cell, {}).setdefault(one["method"], []).append(one["seconds"])
        logs = []
        for methods in times.values():
            medians = {method: statistics.median(values) for method, values in methods.items()}
            if "spread" in spec:
                some = [value for method, value in medians.items() if re.search(spec["spread"], method)]
                logs.append(math.log(max(some) / min(some)))
            else:
                logs.append(math.log(medians[spec["to"]] / medians[spec["of"]]))
        return Value(*(math.exp(x) for x in (statistics.mean(logs), min(logs), max(logs)))) if logs else None


def hidden(io, compute, both, _core):
    return 100 * (1 - (both - compute) / io)


def allowed(io, _compute, _both, core):
    return 100 * (1 - core / io)


def saved(io, compute, both, _core):
    return 100 * (1 - both / (io + compute))


def named(report, pattern):
    return next(one for one in report["comparisons"] if re.search(pattern, one["name"]))


def seconds(comparison, variant, phase):
    return next(one["seconds"] for one in comparison["variants"] if one["variant"] == variant and one["phase"] == phase)


def fastest(comparison, pattern, phase):
    candidates = [one for one in comparison["variants"] if re.search(pattern, one["variant"]) and one["phase"] == phase]
    return min(candidates, key=lambda one: statistics.median(one["seconds"]))["variant"]


def common(one, other):
    """What two names of simulated accesses have in common, between commas."""
    return ", ".join(part for part in one.split(", ") if part in other.split(", "))


def alternatives(name):
    match = re.search(r"\{([^}]*)\}", name)
    return [name[:match.start()] + one + name[match.end():] for one in match[1].split("|")] if match else [name]
