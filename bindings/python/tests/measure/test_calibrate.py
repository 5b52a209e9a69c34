"""thalweg calibrate: what ranks tell becomes costs and kept records. A program pretends to measure; no time is asserted."""

import json
import os
import stat
import sys
from textwrap import indent

import pytest
from model_support import METHODS

from thalweg.measure import profile
from thalweg.measure.calibrate import calibrated_ranks, exchange_costs, message_costs
from thalweg.measure.cli import main
from thalweg.measure.surroundings import cores

# Times of a made-up machine: an access takes two rounds of 20 us, 1 ns per byte, and 200 ns per piece where there are many bytes, of
# two ranks that share the work.
FAKE = '''
import json, os, sys, time

words = sys.argv[1:]
ranks = int(os.environ.get("RANKS", "1"))


def say(**record):
    print(json.dumps(record, separators=(",", ":")), flush=True)


def option(name):
    return words[words.index(name) + 1]


if "--describe" in words:
    print(DESCRIPTION)
    sys.exit()
if "--storage" in words:
    say(kind="storage", path=os.path.abspath(words[1]), file_system="fake", identity="fake-1", free_bytes=1 << 40)
    sys.exit()
if "--network" in words:
    say(kind="network", ranks=ranks, nodes=1, barrier_seconds=1e-6, latency_seconds=1e-6, bytes_per_second=1e9)
    sys.exit()
with open(os.environ["SEEN"], "a") as file:
    print(ranks, option("--methods"), open(os.environ["THALWEG_PROFILE"]).read(), file=file)
say(kind="launch", mpi="Fake 1", ranks=ranks, nodes=1)
for record in METHODS:
    say(**record)
for word in [after for before, after in zip(words, words[1:]) if before == "--cell"]:
    cell = json.loads(word)
    shape, grid = cell["shape"], cell["grid"]
    for n, method in enumerate(option("--methods").split(",")):
        size, pieces = 4 * shape[0] * shape[1], shape[0] * grid[1]
        say(kind="begin", method=method, cell=cell, repetition=1)
        BODY
        seconds = 40e-6 + (size + 200 * pieces * (size > 100000)) * 1e-9 / min(ranks, WORKERS) * (1 + n / 2)
        say(kind="facts", method=method, cell=cell, memory_bytes=0, plan="aggregate, 2 workers")
        for repetition in range(1, int(option("--repeat")) + 1):
            for phase in option("--phases").split(","):
                say(kind="time", method=method, cell=cell, repetition=repetition, phase=phase, seconds=seconds,
                    parts=dict(open=0, transfer=seconds, close=0), bytes=size, cache="warm", readers=max(1, ranks // 2))
say(kind="end", complete=True, seconds=1)
'''
MEASURED = [method for method in METHODS if method["id"] in ("gather", "file-per-task", "mpiio-chunk-3", "pnetcdf", "tw-collective")]
CELLS = sum(2 + (ranks > 1) for ranks in calibrated_ranks(cores()))


@pytest.fixture
def calibrate(tmp_path, monkeypatch, capsys):
    """Runs the command with a program that pretends; `body` is code in its loop over methods. Returns the printed object."""
    monkeypatch.delenv("THALWEG_PROFILE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    mpiexec = tmp_path / "mpiexec"
    mpiexec.write_text('#!/bin/sh\nRANKS=$2; export RANKS; shift 2; exec "$@"\n')

    def run(*words, body="", expect=0, description=None):
        program = tmp_path / "program"
        told = description or {"mpi": "Fake 1", "kind": "mpich", "version": "1.2.3", "mpiexec": str(mpiexec), "methods": MEASURED}
        text = FAKE.replace("DESCRIPTION", repr(json.dumps(told))).replace("METHODS", repr(MEASURED)).replace("WORKERS", str(cores()))
        program.write_text(f"#!{sys.executable} -IS\n" + text.replace("        BODY\n", indent(body, " " * 8)))
        for path in (program, mpiexec):
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        code = main(["calibrate", "data", "--program", str(program), "--json", *words])
        out, message = capsys.readouterr()
        assert code == expect, message
        assert os.listdir(tmp_path / "data") == []
        return json.loads(out)
    return run


def stored():
    (found,) = profile.stored_runs().values()
    return found


ENTRY = json.dumps({"id": "made-up", "buffered": {"call_ns": 600, "copy_piece_ns": 3}})


def test_what_ranks_tell_becomes_costs_and_records(calibrate, tmp_path):
    told = calibrate("--quick", "--entry", ENTRY)

    assert told["remarks"] == []
    assert told["costs"]["message_ns"] == 3000
    assert told["costs"]["round_ns"] == 20000
    assert told["costs"]["exchange_piece_ns"] + 3 == pytest.approx(200, abs=0.01)
    assert told["costs"]["exchange_byte_ns"] > 0
    assert [record["ranks"] for record in told["network"]] == sorted({2, max(2, cores())})
    assert (told["cells"], told["methods"]) == (CELLS, 4)
    assert told["fit_error"] is not None and told["left_out_error"] is not None
    assert told["stored"] == str(tmp_path / "config" / "thalweg" / "methods.jsonl")
    run = stored()
    assert set(run.times["method"]) == {"gather", "file-per-task", "mpiio-chunk-3", "tw-collective"}
    assert run.complete and run.info["version"] == "1.2.3"
    assert set(run.times["phase"]) == {"write", "read", "restart"}


def test_ranks_use_the_profile_that_was_measured_so_far(calibrate, tmp_path, monkeypatch):
    monkeypatch.setenv("THALWEG_PROFILE", str(tmp_path / "named" / "storage.json"))
    calibrate("--quick", "--entry", ENTRY)
    seen = [(line.split()[1], json.loads(line.split(" ", 2)[2])["file_systems"][0]["buffered"])
            for line in (tmp_path / "seen").read_text().splitlines()]

    assert seen[0][0] == "tw-collective"
    assert (seen[0][1]["call_ns"], seen[0][1]["round_ns"], seen[0][1]["message_ns"]) == (19000, 0, 0)
    for methods, costs in seen[1:]:
        assert (costs["call_ns"], costs["message_ns"], costs["round_ns"]) == (600, 3000, 20000)
    assert (tmp_path / "named" / "methods.jsonl").exists()


def test_without_the_program_it_says_so(calibrate, monkeypatch):
    told = calibrate("--program", "none")

    assert len(told["remarks"]) == 1 and told["remarks"][0].startswith("no measurements with ranks: '")
    assert (told["costs"], told["network"], told["fit_error"], told["stored"]) == ({}, [], None, None)
    assert profile.stored_runs() == {}


FAILS = "if method == 'gather':\n    sys.exit('-----\\nit broke\\n-----')\n"


def test_a_method_that_fails_is_left_out(calibrate):
    told = calibrate("--quick", body=FAILS)

    assert "gather with 2 ranks failed: mpiexec ended with 1 and printed: it broke" in told["remarks"]
    assert "gather" not in set(stored().times["method"]) and "file-per-task" in set(stored().times["method"])


def test_a_method_that_fails_now_stays_as_it_was(calibrate):
    calibrate("--quick")
    before = stored().times
    told = calibrate("--quick", body=FAILS)

    assert told["remarks"][-1] == "kept from the previous calibration: gather, which failed now"
    now = stored().times
    assert len(now[now["method"] == "gather"]) == len(before[before["method"] == "gather"])


def test_a_calibration_that_was_cut_off_does_not_replace_a_larger_one(calibrate):
    calibrate("--quick")
    before = stored().lines
    told = calibrate("--quick", body="if ranks == 1:\n    print('{broken', flush=True)\n")

    assert told["remarks"][-1].startswith(f"kept from the previous calibration: methods, of {CELLS} cells; only ")
    assert (told["stored"], told["fit_error"]) == (None, None)
    assert stored().lines == before


def test_a_broken_record_costs_only_its_method_or_launch(calibrate):
    told = calibrate("--quick", body="if ranks == 1:\n    print('{broken', flush=True)\n")

    assert told["remarks"] and all("1 rank" in remark for remark in told["remarks"])
    assert {cell.ranks for cell in stored().times["cell"]} == set(calibrated_ranks(cores())) - {1}


def test_lines_that_are_no_records_are_skipped(calibrate):
    assert calibrate("--quick", body="print('a library has something to say', flush=True)\nprint(42, flush=True)\n")["remarks"] == []


def test_time_that_is_used_up_ends_the_calibration(calibrate):
    told = calibrate("--seconds", "2", body="time.sleep(3)\n")

    assert any("the time limit of the calibration, 2 s, was reached" in remark for remark in told["remarks"])


def test_a_dry_run_keeps_nothing(calibrate):
    told = calibrate("--quick", "--dry-run")

    assert told["stored"] is None and told["cells"] == CELLS
    assert profile.stored_runs() == {}


def test_a_damaged_calibration_is_replaced_with_a_remark(calibrate, tmp_path):
    (tmp_path / "config" / "thalweg").mkdir(parents=True)
    (tmp_path / "config" / "thalweg" / "methods.jsonl").write_text("{broken\n")
    told = calibrate("--quick")

    assert len(told["remarks"]) == 1 and "methods.jsonl', line 1" in told["remarks"][0]
    assert told["stored"] and set(stored().times["method"])


@pytest.mark.parametrize("words", [("--entry", "x"), ("--entry", "[]"), ("--seconds", "0"), ("--seconds", "soon")])
def test_wrong_usage(calibrate, words):
    assert calibrate(*words, expect=2)["error"]["message"]


def test_ranks_are_few_and_told_once():
    assert [calibrated_ranks(n) for n in (1, 2, 4, 64)] == [(2, 1), (2, 1, 4), (2, 1, 8), (2, 1, 16)]


def test_costs_are_the_inverse_of_the_model():
    assert message_costs([{"ranks": 4, "latency_seconds": 1, "barrier_seconds": 1}, {"ranks": 2}, 5]) == {}
    found = message_costs([{"ranks": 2, "latency_seconds": 2e-6, "barrier_seconds": 5e-5}])
    assert found == {"message_ns": 6000.0, "round_ns": 100000.0}
    times = [1e-3 + (size * 1.0 + pieces * 150) * 1e-9 / 2 for size, pieces in ((0, 0), (4 << 20, 2 * 1024), (4 << 20, 2 * 16384))]
    found = exchange_costs(times, {"copy_piece_ns": 10, "copy_byte_ns": 0.1, "staged_write_byte_ns": 0.2}, 8)
    assert found["exchange_piece_ns"] == pytest.approx(140, abs=0.01)
    assert found["exchange_byte_ns"] == pytest.approx(0.7, abs=0.001)
    assert exchange_costs([1, 0.5, 0.2], {}, 1) == {"exchange_byte_ns": 0.01, "exchange_piece_ns": 0}
