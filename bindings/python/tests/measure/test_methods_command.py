"""The command `thalweg methods` in a process of its own: output, exit codes, files, signals, with a program that pretends."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from measure_support import (GOLDEN, TIMEOUT, command, command_environment, fake, needs_page, needs_statistics,  # noqa: F401
                             start_command)

pytestmark = needs_statistics
SMALL = ("--dir", "data", "--ranks", "2,", "--size", "8", "--order", "c", "--repeat", "2")


def methods(tmp_path, *words, **options):
    return command(tmp_path, "methods", *words, **options)


def test_records_table_and_files(fake, tmp_path):  # noqa: F811
    out, message = methods(tmp_path, *SMALL, "--json", "--save", "run.jsonl")

    records = [json.loads(line) for line in out.splitlines()]
    assert message == "" and (tmp_path / "run.jsonl").read_text() == out
    assert [record["kind"] for record in records[:2]] == ["run", "launch"] and records[-1]["complete"]
    assert records[0]["command"] == f"thalweg methods {' '.join(SMALL)} --json --save run.jsonl"
    assert out.startswith('{"kind":"run","version":')
    table, _ = methods(tmp_path, "--from", "run.jsonl")
    assert "write, MiB/s" in table and "better" in table and max(map(len, table.splitlines())) <= 120
    again, _ = methods(tmp_path, "--from", "run.jsonl", "--json")
    assert again == out


@needs_page
def test_a_page_can_be_made_again_of_the_records(fake, tmp_path):  # noqa: F811
    methods(tmp_path, *SMALL, "--save", "run.jsonl", "--html", "a.html")
    methods(tmp_path, "--from", "run.jsonl", "--html", "b.html", "--save", "run2.jsonl")

    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    assert (tmp_path / "run.jsonl").read_text() == (tmp_path / "run2.jsonl").read_text()


@pytest.mark.parametrize("words, code, part", [
    (["--order", "z"], 2, "--order 'z' is unknown; known: c, f"), (["--phases", "writ"], 2, "did you mean 'write'"),
    (["--repeat", "0"], 2, "--repeat: '0' is not a whole number from 1 to 1000; see 'thalweg methods --help'"),
    (["--no-such"], 2, "--no-such"), (["--json=1"], 2, "--json"), (["--html", "-"], 2, "--json prints the records"),
    (["--html", "a", "--save", "a"], 2, "choose two names"),
    (["--save", "no/such/file"], 3, "the folder 'no/such' does not exist"), (["--save", "data"], 4, "is not a regular file"),
    (["--html", "mine"], 4, "was not made by this command"), (["--from", "missing"], 3, "cannot read 'missing'"),
    (["--from", "mine"], 1, "'mine', line 1: not a record: 'mine'"),
    (["--from", "run", "--save", "run"], 4, "'run' is a file that is read"),
    (["--program", "none"], 3, "'none' is not an executable"), (["--dir", "missing"], 3, "'missing'"),
    (["--size", "9999999"], 3, "--size"), (["--meth", "x"], 2, "--meth"),
])
def test_what_is_refused(words, code, part, fake, tmp_path):  # noqa: F811
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run").write_text('{"kind":"run","version":1}\n')
    out, message = methods(tmp_path, "--json", "--ranks", "2,", *words, expect=code)

    assert part in message and message.startswith("thalweg: ") and message.count("\n") == 1
    failure = json.loads(out)
    assert (failure["command"], failure["exit_code"]) == ("methods", code) and part in failure["error"]["message"]
    assert (tmp_path / "mine").read_text() == "mine"


def test_help_and_unknown_commands(tmp_path):
    out, _ = methods(tmp_path, "--help")
    assert "Usage: thalweg methods" in out and "Exit codes:" in out and "thalweg methods --quick" in out
    _, message = command(tmp_path, "method", expect=2)
    assert "did you mean 'methods'?" in message
    command(tmp_path, expect=2)


def test_a_failed_method_is_told_by_the_exit_code(fake, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "exits")
    out, message = methods(tmp_path, *SMALL, expect=3)

    assert "bad with 2 ranks failed and is skipped" in message and "\nfailed\n  bad: with 2 ranks: " in out


def test_a_file_that_cannot_be_written_loses_no_records(fake, tmp_path):  # noqa: F811
    name = "n" * 250  # no room for the temporary name
    out, message = methods(tmp_path, *SMALL, "--json", "--save", name, expect=3)

    assert json.loads(out.splitlines()[-1])["complete"] and f"cannot write '{name}'" in message
    assert name not in os.listdir(tmp_path)


def test_output_that_takes_no_more(fake, tmp_path):  # noqa: F811
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "thalweg.measure", "methods", "--from", str(GOLDEN / "scaling.jsonl")],
                              stdout=full,
                              stderr=subprocess.PIPE, text=True, env=command_environment(tmp_path), timeout=TIMEOUT)
    assert (done.returncode, done.stderr) == (3, "thalweg: cannot write to standard output: No space left on device\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as gone:
        done = subprocess.run([sys.executable, "-m", "thalweg.measure", "methods", "--from", str(GOLDEN / "scaling.jsonl")],
                              stdout=gone,
                              stderr=subprocess.PIPE, text=True, env=command_environment(tmp_path), timeout=TIMEOUT)
    assert (done.returncode, done.stderr) == (0, "")


def wait_for(condition, process):
    limit = time.monotonic() + TIMEOUT
    while not condition():
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_prints_what_was_finished_and_cleans_up(number, fake, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "waits")
    process = start_command(tmp_path, "methods", *SMALL, "--repeat", "5", "--save", "run.jsonl", "--methods", "good")
    wait_for(lambda: ranks_that_wait(fake), process)
    ranks = ranks_that_wait(fake)
    process.send_signal(number)
    out, message = process.communicate(timeout=TIMEOUT)

    assert process.returncode == -number, message
    assert "The run is incomplete" in out and "write, MiB/s" in out
    assert f"thalweg: stopped by {number.name}; methods: " in message and "per cent done" in message
    last = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[-1])
    assert (last["kind"], last["complete"]) == ("end", False)
    assert os.listdir(fake) == []
    assert not [pid for pid in ranks if os.path.exists(f"/proc/{pid}")]


def ranks_that_wait(folder):
    """Processes that sleep in the third repetition of the program that pretends, which has this folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/wchan") as file:
                sleeps = "nanosleep" in file.read()
            here = os.readlink(f"/proc/{pid}/cwd") == str(folder.parent)
        except OSError:
            continue
        if here and sleeps and b"--cell" in words and any(word.endswith(b"thalweg-probe") for word in words[1:3]):
            found.append(pid)
    return found


def test_records_are_lines_also_after_a_signal(fake, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "waits")
    process = start_command(tmp_path, "methods", *SMALL, "--repeat", "5", "--json", "--methods", "good")
    wait_for(lambda: ranks_that_wait(fake), process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=TIMEOUT)

    assert process.returncode == -signal.SIGINT
    records = [json.loads(line) for line in out.splitlines()]
    assert records[-1]["kind"] == "end" and not records[-1]["complete"]
    assert [record["n"] for record in records if record["kind"] == "result"] == [1]


def test_a_killed_command_leaves_no_ranks(fake, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("FAKE_PROBE", "waits")
    process = start_command(tmp_path, "methods", *SMALL, "--repeat", "5", "--methods", "good")
    wait_for(lambda: ranks_that_wait(fake), process)
    process.kill()
    process.communicate()

    limit = time.monotonic() + TIMEOUT
    while ranks_that_wait(fake):
        assert time.monotonic() < limit
        time.sleep(0.01)
