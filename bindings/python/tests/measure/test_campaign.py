"""Runs with a program that only pretends to measure: what a failing method, a failing launch and a signal cost."""

import os
import signal

import pytest
import thalweg.measure
from measure_support import fake, needs_page, needs_statistics  # noqa: F401
from thalweg.measure import MeasureError

pytestmark = needs_statistics


def run(**options):
    small = {"ranks": [2], "size": 8, "order": "c", "repeat": 3, "quiet": True, "patience": 60}
    return thalweg.measure.run("data", **small | options)


def methods_of(found):
    return set(found.times["method"])


def test_a_run_has_all_records_and_leaves_nothing(fake):  # noqa: F811
    found = run(ranks=2, save="run.jsonl")

    assert found.complete and found.info["version"] == "1.2.3" and found.info["scaling"] == "strong and weak"
    assert [launch["ranks"] for launch in found.launches] == [1, 2]
    assert methods_of(found) == {"good", "bad", "better"} and not found.mishaps
    assert len(found.times) == 3 * 3 * 4
    rows = found.rows()
    assert set(rows["n"]) == {3} and len(rows) == 12
    assert rows.set_index("method").loc["good"]["median"].iloc[0] == pytest.approx(0.004)
    assert os.listdir(fake) == []
    again = thalweg.measure.load("run.jsonl")
    assert again.lines == found.lines and sum('"kind":"result"' in line for line in found.lines) == 12
    assert repr(found) == "<thalweg.measure.Run: 4 methods, 36 times>"
    assert "<table" in found._repr_html_() and "2 ranks as 2x1, 8x8, c, warm" in found._repr_html_()


def test_caches_in_one_run(fake):  # noqa: F811
    found = run(cache=["warm", "drop"], methods="good")

    assert {cell.cache for cell in found.times["cell"]} == {"warm", "drop"}
    assert found.info["cache"] == "warm,drop" and len(found.launches) == 2


@pytest.mark.parametrize("wrong, message", [
    ("dies", "signal 9 (Killed)"), ("exits", "a rank was killed by signal 7"), ("tells", "no space left"),
    ("hangs", "no output for 8 s"), ("cut off", "is not a JSON object"), ("lies", "time record: 'phase' is missing"),
])
def test_a_method_that_fails_is_left_out_and_costs_the_others_nothing(wrong, message, fake, monkeypatch, capfd):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", wrong)
    found = run(patience=8 if wrong == "hangs" else 60)

    assert found.complete and methods_of(found) == {"good", "better"}
    assert len(found.times) == 6
    assert [(mishap.failed, mishap.method) for mishap in found.mishaps] == [(True, "bad")]
    assert message in found.mishaps[0].message and found.mishaps[0].message.startswith("with 2 ranks: ")
    assert "thalweg: bad with 2 ranks failed and is skipped: " in capfd.readouterr().err
    assert os.listdir(fake) == []


def test_a_launch_that_fails_costs_only_itself(fake, monkeypatch, capfd):  # noqa: F811
    monkeypatch.setenv("FAKE_BAD_RANKS", "2")
    found = run(ranks=[1, 2])

    assert found.complete and {cell.ranks for cell in found.times["cell"]} == {1}
    assert [(mishap.method, "no such host" in mishap.message) for mishap in found.mishaps] == [("", True)]
    assert "2 ranks of '" in capfd.readouterr().err


def test_no_launch_at_all_is_an_error(fake, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "never starts")
    with pytest.raises(MeasureError, match="2 ranks of '.*' could not be started: .*no such host") as caught:
        run()
    assert caught.value.exit_code == 3 and os.listdir(fake) == []


def test_a_program_without_an_end_is_a_failure(fake, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "no end")
    found = run(methods=["good"])

    assert not found.times.shape[0]
    assert "without the record 'end'" in found.mishaps[0].message


def test_nonsense_is_no_program(fake, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "nonsense")
    with pytest.raises(MeasureError, match="gives no valid description of itself"):
        run()


@pytest.mark.parametrize("options, part", [
    ({"methods": ["beter"]}, "did you mean 'better'"), ({"methods": "absent"}, "none of these methods is built"),
    ({"phases": "writ"}, "did you mean 'write'"), ({"ranks": "two"}, "'two' is not a number"),
    ({"ranks": 0}, "'0' is not a number"), ({"ranks": []}, "'' is not a number"),
    ({"size": [(2, 2, 2, 2)]}, "two dimensions"), ({"cache": "hot"}, "--cache 'hot'"), ({"repeat": 0}, "repeat is 0"),
    ({"patience": -1}, "patience is -1"), ({"grid": (2, 2), "ranks": [3]}, "4 parts, for 3 ranks"),
    ({"save": "no/such/run.jsonl"}, "cannot create"), ({"save": "data"}, "refused"),
])
def test_wrong_arguments_are_refused_before_anything_is_measured(options, part, fake):  # noqa: F811
    with pytest.raises(MeasureError) as caught:
        run(**options)
    assert part in str(caught.value)
    assert os.listdir(fake) == []


def test_a_missing_folder(fake):  # noqa: F811
    with pytest.raises(MeasureError, match="'missing'"):
        thalweg.measure.run("missing", ranks=[1], size=8)


def test_ctrl_c_keeps_the_results_so_far(fake, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "waits")
    pid = os.getpid()
    monkeypatch.setattr("thalweg.measure.launch._listen", interrupted_after(2, pid))
    with pytest.raises(KeyboardInterrupt):
        run(save="run.jsonl")

    found = thalweg.measure.load("run.jsonl")
    assert not found.complete and len(found.times) == 3
    assert os.listdir(fake) == []


def interrupted_after(repetition, pid):
    """A way to listen that sends SIGINT to a process when a repetition begins."""
    from thalweg.measure import launch

    plain = launch._listen

    def listen(child, see, patience):
        def seen(line):
            see(line)
            if '"begin"' in line and f'"repetition": {repetition}' in line:
                os.kill(pid, signal.SIGINT)
        return plain(child, seen, patience)
    return listen


@needs_page
def test_pages_replace_pages_but_nothing_else(fake):  # noqa: F811
    found = run(methods=["good"])
    found.page("page.html")
    found.page("page.html")
    found.save("run.jsonl")
    found.save("run.jsonl")
    with open("mine.html", "w") as file:
        file.write("mine")
    for write in (found.page, found.save):
        with pytest.raises(MeasureError, match="was not made by this command") as caught:
            write("mine.html")
        assert caught.value.exit_code == 4
    found.page("mine.html", force=True)
    assert sorted(os.listdir(".")) == ["data", "fake", "mine.html", "page.html", "run.jsonl"]
