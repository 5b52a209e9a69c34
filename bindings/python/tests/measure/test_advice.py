"""Advice: answers for described programs, from made-up calibrations. No time is measured."""

import json

import pandas as pd
import pytest
from measure_support import make_fake
from model_support import BY_ID, CONSTANTS, METHODS, calibration_cells, cell, made_run, make_simulator, seconds_of

import thalweg.measure
from thalweg.measure import MeasureError, profile
from thalweg.measure.advice import advise
from thalweg.measure.cli import main
from thalweg.measure.storage import storage_facts


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of its own for the profile, and no program that measures."""
    monkeypatch.delenv("THALWEG_PROFILE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("THALWEG_PROBE", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def exact():
    return made_run()


@pytest.fixture
def command(capsys):
    """Runs the command in this process; returns its standard output and error."""
    def run(*words, expect=0):
        code = main(["advise", *words])
        out, message = capsys.readouterr()
        assert code == expect, f"{words}: {code}, {message}"
        return out, message
    return run


@pytest.fixture
def json_of(command):
    def run(*words, expect=0):
        return json.loads(command(*words, "--json", expect=expect)[0])
    return run


def seconds(advice):
    return dict(zip(advice.times["method"], advice.times["seconds"]))


# ---- Right, tied, refused ---------------------------------------------------------------------------------------------

def test_the_fastest_is_named_with_its_time(exact):
    told = advise(2, 2**28, grid=(1, 2), calibration=exact)

    assert told.best == "file-per-task"
    arrays = {name: seconds_of(name, "write", told.cell) for name in CONSTANTS if BY_ID[name]["outcome"] == "array"}
    assert arrays[told.best_array] <= 1.1 * min(arrays.values())
    assert list(told.times["seconds"]) == sorted(told.times["seconds"])
    assert (told.times["low"] <= told.times["seconds"]).all() and (told.times["seconds"] <= told.times["high"]).all()
    assert seconds(told)["file-per-task"] == pytest.approx(seconds_of("file-per-task", "write", told.cell), rel=0.2)
    for choice in told.choices:
        assert sum(part for _, part in choice.parts) == pytest.approx(choice.seconds)
    assert dict((name, why) for name, _, why in told.out)["pnetcdf"] == "was not measured here: is PnetCDF installed?"
    assert told.code.file == "file_per_task.c"


def test_noise_that_hides_the_best_makes_it_silent():
    even = {name: CONSTANTS["tw-collective"] for name in ("tw-collective", "mpiio-global-3", "mpiio-chunk-3", "tw-multifile")}
    told = advise(2, 2**22, calibration=made_run(noise=0.15, constants=even, seed=4))

    assert told.best is None
    assert len(told.ties) > 1
    assert told.conclusion.startswith("cannot tell these apart: ")
    assert told.refusal == ""
    assert told.named == told.ties[0]
    assert set(seconds(told)) == set(even)


def test_a_calibration_that_errs_too_much_is_refused():
    told = advise(2, 2**22, calibration=made_run(noise=0.8))

    assert (told.best, told.ties, told.best_array, told.code) == (None, (), None, None)
    assert "more than 30 %" in told.refusal and "run 'thalweg tune DIR'" in told.refusal
    assert told.times["seconds"].isna().all() and len(told.times) > 5
    assert told.model["left_out_error"] > 0.3


def test_without_a_calibration_only_what_is_certain_is_told(home):
    told = advise(2048, 2**36)

    assert (told.best, told.ties, len(told.choices), told.model) == (None, (), 0, None)
    assert "run 'thalweg tune DIR'" in told.refusal


def test_without_a_calibration_the_methods_of_the_program_are_warned_of(home, monkeypatch):
    program = home / "probe"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'methods': METHODS})}\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv("THALWEG_PROBE", str(program))
    told = advise(2048, 2**36, pattern="rows", memory_per_node=191 * 2**30)

    assert told.best is None and told.refusal
    assert told.times["seconds"].isna().all()
    assert "2048 files" in " ".join(told.warnings["file-per-task"])
    why = {name: text for name, _, text in told.out}
    assert "memory" in why["gather"] and "form the global array" in why["mpiio-chunk-3"]


def test_a_phase_that_was_not_measured_is_refused():
    told = advise(2, 2**22, phase="restart", calibration=made_run(phases=("write", "read")))

    assert told.refusal.startswith("restart was measured in 0 cells")


def test_twins_are_told_as_equals():
    constants = {**CONSTANTS, "file-per-task-dirs": {**CONSTANTS["file-per-task"], "fixed": 1.02e-4}}
    told = advise(2, 2**24, calibration=made_run(constants=constants, noise=0.05))

    assert told.best in ("file-per-task", "file-per-task-dirs")
    assert set(told.decision.twins) == {"file-per-task", "file-per-task-dirs"} - {told.best}


def test_far_beyond_the_cells_it_is_less_sure():
    run = made_run(noise=0.1)
    near, far = advise(2, 2**22, calibration=run), advise(2, 2**34, calibration=run)

    def width(told):
        return (told.times["high"] / told.times["low"]).median()

    assert width(far) > 2 * width(near)
    assert "errors are assumed to be" in " ".join(far.notes)


# ---- What a request means ---------------------------------------------------------------------------------------------

def test_phases_and_bytes_change_the_times(exact):
    small, large = (seconds(advise(2, size, calibration=exact)) for size in (2**26, 2**27))

    assert all(large[name] > small[name] for name in small)
    assert advise(2, 2**20, phase="restart", calibration=exact).request.phase == "restart"


@pytest.mark.parametrize("pattern", ["task-local", "ragged"])
def test_data_of_tasks_leave_out_what_makes_a_global_array(exact, pattern):
    told = advise(4, 2**26, pattern=pattern, calibration=exact)
    why = {name: text for name, _, text in told.out}

    assert "do not form a global array" in why["mpiio-global-3"]
    assert "measured with blocks of an array only" in why["tw-vpfile"]
    assert "hdf5-chunked-collective" in why
    assert set(seconds(told)) == {"file-per-task", "mpiio-chunk-3", "tw-multifile"}
    assert (told.best_array, told.array_decision.ties) == (None, ())


def test_warnings_name_what_goes_wrong(exact):
    many = advise(2048, 2**36, calibration=exact).warnings

    assert "128.0 GiB of memory" in " ".join(many["gather"])
    assert "2048 files" in " ".join(many["file-per-task"]) and "not a global array" in " ".join(many["file-per-task"])
    assert "explicit offsets collapse" in " ".join(many["mpiio-global-0"])
    assert "chunk cache" in " ".join(many["hdf5-chunked-collective"])
    assert "4 GiB" in " ".join(advise(2, 2**36, calibration=exact).warnings["hdf5-chunked-collective"])
    assert "MPI_Exscan" in " ".join(advise(4, 2**26, pattern="ragged", calibration=exact).warnings["mpiio-chunk-3"])


def test_memory_of_a_node_rules_a_gather_out(exact):
    for words, is_possible in (({"memory_per_node": 191 * 2**30}, False), ({"memory_per_node": 193 * 2**30}, True)):
        assert ("gather" in seconds(advise(2048, 2**36, calibration=exact, **words))) == is_possible


def test_outputs_are_a_share_of_the_run_time_that_can_be_hidden(exact):
    duty = advise(2, 2**30, every=60.0, compute_seconds_per_step=0.5, calibration=exact).duty

    assert "for 60 s of computing (120 steps): " in duty[0]
    assert "all of it can be hidden if cores are idle" in duty[1]
    assert "cannot be hidden" in advise(2, 2**36, every=1.0, calibration=exact).duty[1]


SLOW = {"ranks": 8, "bytes": 10 * 2**30, "storage_bandwidth": 5e8}


def test_where_the_storage_decides_the_rest_ranks_methods(exact):
    told = advise(**SLOW, calibration=exact)

    assert (told.times["seconds"] > SLOW["bytes"] / 5e8).all()
    assert told.best == "file-per-task"
    assert told.choices[-1].method == "gather"  # opens fastest, and moves bytes slowest
    assert told.choices[0].parts[0][0] == "the storage, 0.466 GiB/s"
    assert "the storage limits all methods, which hardly differ" in told.notes
    assert "hardly differ" not in " ".join(advise(8, 10 * 2**30, storage_bandwidth=5e11, calibration=exact).notes)


def test_reading_makes_no_files(exact):
    for phase in ("write", "read", "restart"):
        found = seconds(advise(64, 2**26, storage_create_rate=10.0, phase=phase, calibration=exact))["file-per-task"]
        assert (found >= 6.4) == (phase == "write")


@pytest.mark.parametrize("words", [{"bytes": 4}, {"grid": (3, 2)}, {"grid": (2, 2, 1)}, {"pattern": "rows", "grid": (2, 2)},
                                   {"pattern": "ragged", "grid": (4,)}, {"nodes": 5}, {"readers": 2},
                                   {"bytes": 1024, "phase": "restart", "readers": 300}, {"colour": "red"}])
def test_requests_that_make_no_sense_are_refused(exact, words):
    with pytest.raises(MeasureError) as failed:
        advise(**{"ranks": 4, "bytes": 2**20, "calibration": exact, **words})
    assert failed.value.exit_code == 2


# ---- Several nodes ----------------------------------------------------------------------------------------------------

NODES = {"ranks": 4096, "nodes": 128, "bytes": 2**41, "storage_bandwidth": 5e10, "storage_create_rate": 1e4}


@pytest.fixture
def simulator(home, monkeypatch):
    monkeypatch.setenv("THALWEG_PROBE", str(make_simulator(home)))
    monkeypatch.setenv("SIMULATED", str(home / "simulated"))
    return home / "simulated"


def test_many_nodes_are_simulated_and_what_was_assumed_is_said(exact, simulator):
    assumed = " ".join(advise(4096, 2**41, nodes=128, calibration=exact).notes)
    told = advise(**NODES, calibration=exact)

    for part in ("one machine was measured", "no --storage-bandwidth", "no --storage-create-rate", "16 storage servers"):
        assert part in assumed
    assert "no --storage" not in " ".join(told.notes)
    assert (told.times["seconds"] >= 2**41 / 5e10 * 0.999).all()
    assert seconds(told)["gather"] > seconds(told)["tw-collective"]
    assert "one rank gathers and transfers all bytes" in told.reasons["gather"]
    assert "128 nodes of 32 ranks" in " ".join(told.notes)
    asked = [json.loads(line) for line in simulator.read_text().splitlines()]
    for one in asked:
        assert one["machine"]["tasks_per_node"] == 8 and one["machine"]["servers"] == 16
        for access in one["accesses"]:
            assert access["tasks"] == 1024 and access["tasks"] * access["pieces"] * access["piece_bytes"] <= 32 * 2**20
    assert {access["way"] for one in asked for access in one["accesses"]} == {"collective", "independent", "multifile", "file-per-task",
                                                                             "gather"}


def test_files_of_many_nodes_take_their_time(exact, simulator):
    told = advise(**{**NODES, "storage_create_rate": 10.0}, calibration=exact)

    assert "making 4096 files" in told.reasons["file-per-task"]
    assert told.best != "file-per-task"


def test_the_readers_of_a_restart_move_the_bytes(exact, simulator):
    few, many = (seconds(advise(**NODES, phase="restart", readers=readers, calibration=exact)) for readers in (1, 2048))

    for name in ("file-per-task", "tw-collective", "mpiio-chunk-3"):
        assert few[name] > 4 * many[name]


@pytest.mark.parametrize("words", [(3, 12, 2), (1, 4, 1), (1000003, 2**40, 1000)])
def test_nodes_need_not_be_full(exact, simulator, words):
    ranks, size, nodes = words
    assert advise(ranks, size, nodes=nodes, pattern="task-local", calibration=exact).choices


@pytest.mark.parametrize("how, told", [("fails", "tasks is 0"), ("dies", "out of luck"), ("stops", "1 answers to ")])
def test_a_simulation_that_fails_is_named(exact, simulator, monkeypatch, how, told):
    monkeypatch.setenv("SIMULATOR", how)
    with pytest.raises(MeasureError, match=told):
        advise(**NODES, calibration=exact)


def test_without_the_program_that_simulates_it_says_so(exact):
    with pytest.raises(MeasureError, match="is not an executable"):
        advise(**NODES, calibration=exact)
    assert advise(2, 2**20, calibration=exact).best


# ---- Notebooks --------------------------------------------------------------------------------------------------------

def test_a_notebook_shows_the_decision_and_the_times(exact):
    told = thalweg.measure.advise(2, 2**24, calibration=exact)

    assert isinstance(told.times, pd.DataFrame)
    assert "use file-per-task" in told._repr_html_() and "<table" in told._repr_html_()
    assert "<table" not in advise(2, 2**24, calibration=made_run(noise=0.9))._repr_html_()
    assert repr(told).startswith("<thalweg.measure.Advice: use file-per-task")
    json.dumps(told.to_json())


# ---- The command ------------------------------------------------------------------------------------------------------

WORDS = ("--ranks", "2", "--bytes", "64MiB")


def test_the_calibration_of_the_storage_is_used(home, exact, command, json_of, monkeypatch):
    profile.store(exact)
    told = json_of(*WORDS)

    assert (told["best"], told["storage"], told["measured"], told["refusal"]) == ("file-per-task", "made-up", True, None)
    assert told["choices"][0]["low"] <= told["choices"][0]["seconds"] <= told["choices"][0]["high"]
    assert told["code"]["file"] == "file_per_task.c"
    monkeypatch.setenv("THALWEG_PROBE", str(make_fake(home)[0]))
    other = made_run(noise=0.9, identity=storage_facts(".")["identity"])
    profile.store(other)
    assert "--dir" in json_of(*WORDS, expect=2)["error"]["message"]
    assert "more than 30 %" in json_of(*WORDS, "--dir", ".")["refusal"]
    assert "missing" in command(*WORDS, "--dir", "missing", expect=3)[1]


def test_what_is_printed(home, exact, command):
    profile.store(exact)
    text = command(*WORDS)[0]

    for part in ("write of 64.0 MiB by 2 ranks on 1 node", "median error of the model: ", "mind:", "use: Title of file-per-task (file-per-task)",
                 "as one file that is the array: Title of mpiio-global-0", "---- file_per_task.c ----\n"):
        assert part in text
    assert "----" not in command(*WORDS, "--no-code")[0]
    assert command(*WORDS, "--quiet")[0] == "file-per-task\n"
    assert "(it writes; to read: " in command(*WORDS, "--phase", "read")[0]
    assert "---- vpfile.py (a vpfile has a stream" in command(*WORDS, "--language", "python")[0]


def test_silence_is_printed(home, command, json_of):
    even = {name: CONSTANTS["tw-collective"] for name in ("tw-collective", "mpiio-global-3", "mpiio-chunk-3", "tw-multifile")}
    profile.store(made_run(noise=0.15, constants=even, seed=4))
    text = command("--ranks", "2", "--bytes", "4MiB")[0]
    told = json_of("--ranks", "2", "--bytes", "4MiB")

    assert f"cannot tell these apart: {', '.join(told['ties'])}" in text and "use:" not in text
    assert told["best"] is None and told["code"]
    assert command("--ranks", "2", "--bytes", "4MiB", "-q")[0].split() == told["ties"]
    profile.store(made_run(noise=0.9))
    assert "run 'thalweg tune DIR'" in command(*WORDS)[0]
    assert command(*WORDS, "-q")[0] == ""


def test_without_any_profile_it_says_what_to_run(home, command, json_of):
    told = json_of(*WORDS)

    assert (told["best"], told["ties"], told["choices"], told["code"], told["model"], told["measured"]) == (None, [], [], None, None, False)
    assert "run 'thalweg tune DIR', and give --dir DIR" in told["refusal"]
    assert "no method is recommended" in command(*WORDS)[0]


def test_every_size_has_the_units_of_hints(home, exact, json_of):
    profile.store(exact)
    for text, same in (("2GB", "2000000000"), ("2gib", "2147483648"), ("2G", "2147483648"), ("2Gi", "2147483648")):
        told, plain = (json_of("--ranks", "4", "--bytes", size, "--storage-bandwidth", size, "--memory-per-node", size)
                       for size in (text, same))
        assert told == plain
    for text, same in (("1.5GB", "1500MB"), ("2e9", "2gb"), ("0.5EB", "500PB")):
        told, plain = (json_of("--ranks", "2", "--bytes", "1TiB", "--storage-bandwidth", size) for size in (text, same))
        assert told["choices"][0]["seconds"] == pytest.approx(plain["choices"][0]["seconds"])


@pytest.mark.parametrize("words", [(), ("--bytes", "8EiB"), ("--bytes", "1.5MiB"), ("--bytes", "1MiB", "--grid", "4294967304x8"),
                                   ("--bytes", "1MiB", "--grid", "0x64"), ("--bytes", "1MiB", "--grid", "x"), ("--bytes", "1MiB", "--nodes", "0"),
                                   ("--bytes", "1MiB", "--storage-bandwidth", "16EiB"), ("--bytes", "1MiB", "--storage-bandwidth", "nan"),
                                   ("--bytes", "1MiB", "--memory-per-node", "8EiB"), ("--bytes", "1MiB", "--every", "-1s"),
                                   ("--bytes", "1MiB", "--pattern", "columns"), ("--bytes", "1MiB", "--language", "cobol"),
                                   ("--bytes", "1MiB", "--storage-create-rate", "0"), ("--bytes", "1MiB", "--html", "x.html")])
def test_wrong_usage(home, words, command):
    assert command("--ranks", "64", *words, expect=2)[1].startswith("thalweg: ")


def test_damaged_calibrations_and_profiles_are_named(home, exact, command, json_of):
    profile.store(exact)
    path = home / "config" / "thalweg" / "methods.jsonl"
    path.write_text(path.read_text() + '{"kind":"time","method":5}\n')
    failed = command(*WORDS, expect=1)[1]
    assert "methods.jsonl', line " in failed and "'thalweg tune DIR'" in failed
    path.write_bytes(b"\xff\x00\n")
    command(*WORDS, expect=1)
    path.unlink()
    assert json_of(*WORDS)["refusal"]
    profile.store(exact)
    for text in ("nonsense", "[]", '{"version": 2, "file_systems": []}'):
        (path.parent / "storage.json").write_text(text)
        assert "is not a profile" in command(*WORDS, expect=3)[1]


@pytest.mark.parametrize("entry", [{"network": [5, {"ranks": "x"}], "buffered": []}, {"create_ns": 1e-300}, {"methods": 5}])
def test_an_entry_with_nonsense_is_as_none(home, exact, entry, json_of):
    profile.store(exact)
    (home / "config" / "thalweg" / "storage.json").write_text(json.dumps({"version": 1, "file_systems": [{"id": "made-up"} | entry, "odd"]}))

    assert json_of(*WORDS)["best"] == "file-per-task"


def test_profiles_that_are_turned_off_have_no_calibration(home, exact, monkeypatch, json_of):
    profile.store(exact)
    monkeypatch.setenv("THALWEG_PROFILE", "none")

    assert json_of(*WORDS)["measured"] is False
    with pytest.raises(MeasureError, match="turned off"):
        profile.store(exact)


def test_a_calibration_replaces_that_of_its_storage_only(home, exact):
    profile.store(exact)
    profile.store(made_run(calibration_cells((512,), (2,)), identity="other"))
    profile.store(made_run(calibration_cells((256,), (2,))))
    found = profile.stored_runs()

    assert set(found) == {"made-up", "other"}
    assert cell(2, 256, 256) in set(found["made-up"].times["cell"]) and cell(2, 512, 512) not in set(found["made-up"].times["cell"])


# ---- Comparison with measured times -----------------------------------------------------------------------------------

def test_predictions_are_compared_with_what_was_measured(home, exact, command, json_of):
    profile.store(exact)
    made_run([cell(4, 700, 900), cell(2, 1000, 1000)]).save("results.jsonl")
    told = json_of("--from", "results.jsonl")

    assert told["notes"] == [] and told["storage"] == "made-up"
    assert told["validation"]["median_error"] < 0.2 and not told["validation"]["only_tuning_cells"]
    assert told["validation"]["choices"] == told["validation"]["good_choices"] == told["validation"]["cells"] == 6
    assert told["validation"]["wrong"] == 0
    assert {"method", "phase", "cell", "predicted_seconds", "measured_seconds", "used_for_tuning"} == set(told["points"][0])
    assert "decisions in 6 cells: " in command("--from", "results.jsonl")[0]
    assert command("--from", "results.jsonl", "-q")[0] == ""


def test_results_of_another_storage_or_of_none(home, exact, command, json_of):
    made_run([cell(2, 1000, 1000)], identity="tmpfs-0").save("results.jsonl")
    assert "run 'thalweg tune' there" in command("--from", "results.jsonl", expect=3)[1]
    profile.store(exact)
    assert "'tmpfs-0'" in command("--from", "results.jsonl", expect=3)[1]
    nameless = made_run([cell(2, 1000, 1000)], identity=5)
    nameless.save("nameless.jsonl")
    assert "does not name its storage" in json_of("--from", "nameless.jsonl")["notes"][0]
    made_run([cell(2, 1000, 1000, cache="drop")]).save("drop.jsonl")
    assert "another cache" in command("--from", "drop.jsonl", expect=3)[1]
    assert "missing" in command("--from", "missing.jsonl", expect=3)[1]
    (home / "broken.jsonl").write_text("{\n")
    command("--from", "broken.jsonl", expect=1)


def test_the_page_replaces_no_other_file(home, exact, command):
    profile.store(exact)
    made_run([cell(2, 1000, 1000)]).save("results.jsonl")
    (home / "mine.html").write_text("mine")
    for name in ("results.jsonl", "mine.html"):
        before = (home / name).read_text()
        command("--from", "results.jsonl", "--html", name, expect=4)
        assert (home / name).read_text() == before
