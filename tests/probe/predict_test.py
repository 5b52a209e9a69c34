#!/usr/bin/env python3
"""Without MPI the program predicts accesses on larger machines and names the storage of a folder; and with MPI it measures
the storage's own limit."""

import json
import os
import pathlib
import re
import subprocess

from probe_support import PROGRAM, TIMEOUT, ProbeTest, cell, main

SOURCE = pathlib.Path(os.environ.get("TW_SOURCE", pathlib.Path(__file__).parents[2]))
ACCESS = {"way": "collective", "direction": "write", "tasks": 64, "pieces": 4, "piece_bytes": 65536}


def asked(question, *words):
    text = question if isinstance(question, str) else json.dumps(question)
    return subprocess.run([PROGRAM, *words], input=text, capture_output=True, text=True, timeout=TIMEOUT)


class Predict(ProbeTest):
    def records(self, question):
        done = asked(question, "--predict")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def seconds(self, machine=None, **access):
        found, = self.records({"machine": machine or {}, "accesses": [ACCESS | access]})
        self.assertEqual(found["kind"], "prediction")
        return found["open_seconds"] + found["transfer_seconds"] + found["close_seconds"]

    def test_answers_in_the_order_of_the_accesses(self):
        accesses = [ACCESS | {"way": way, "direction": direction}
                    for way in ("collective", "independent", "multifile", "file-per-task", "gather")
                    for direction in ("write", "read")]

        found = self.records({"accesses": accesses})

        self.assertEqual([{name: record[name] for name in ACCESS} for record in found], accesses)

    def test_a_slower_machine_and_more_bytes_take_longer(self):
        self.assertGreater(self.seconds({"server_byte_ns": 50}), self.seconds())
        self.assertGreater(self.seconds(piece_bytes=1 << 20), self.seconds())
        self.assertGreater(self.seconds({"create_ns": 1e7}, way="file-per-task"), self.seconds(way="file-per-task"))

    def test_members_and_defaults_of_a_machine_are_those_of_the_document(self):
        text = (SOURCE / "docs/design/simulation.md").read_text(encoding="utf-8")
        defaults = {name: json.loads(value) for name, value in re.findall(r"^\| `(\w+)` \| .* \| ([\d.]+) \|$", text, re.M)}
        accesses = [{**ACCESS, "tasks": 130, "piece_bytes": 20_000, "way": way, "direction": direction}
                    for way in ("collective", "independent", "multifile", "file-per-task", "gather") for direction in ("write", "read")]

        def times(machine):
            return [{name: record[name] for name in record if name.endswith("_seconds")}
                    for record in self.records({"machine": machine, "accesses": accesses})]

        usual = times({})
        self.assertEqual(len(defaults), 15)
        self.assertEqual(times(defaults), usual)
        for name, value in defaults.items():
            with self.subTest(name):
                self.assertNotEqual(times({name: value // 2 if isinstance(value, int) and not name.endswith("_ns") else value * 1.01 or 100}), usual)
        self.assertNotEqual(times({"lock_bytes": 4096}), usual)

    def test_hints_are_those_of_a_multifile(self):
        machine = {"create_ns": 1e9}
        one, eight = (self.seconds(machine, way="multifile", hints=f"physical_files={n}") for n in (1, 8))
        self.assertGreater(eight, one + 6)  # 7 more files, a second each
        failure, = self.records({"accesses": [ACCESS | {"hints": "physical_files=2"}]})
        self.assertIn("for a multifile only", failure["message"])

    def test_a_number_out_of_range_fails_alone(self):
        first, second = self.records({"accesses": [ACCESS | {"tasks": 0}, ACCESS]})

        self.assertEqual((first["kind"], second["kind"]), ("failure", "prediction"))
        self.assertIn("tasks is 0", first["message"])

    def test_questions_without_sense_are_refused(self):
        for question, word in (("", "accesses"), ("[]", "accesses"), ({"accesses": 5}, "accesses"),
                               ({"accesses": [ACCESS | {"way": "upwards"}]}, "upwards"), ({"accesses": [7]}, "access 0"),
                               ({"accesses": [ACCESS | {"tasks": "many"}]}, "tasks"), ({"accesses": [ACCESS | {"taks": 1}]}, "taks"),
                               ({"machine": {"latency_ns": None}, "accesses": []}, "latency_ns"), ({"machine": 3, "accesses": []}, "machine")):
            with self.subTest(question):
                done = asked(question, "--predict")

                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(word, done.stderr)

    def test_the_storage_of_a_folder(self):
        record = json.loads(asked("", "--storage", self.folder).stdout)

        self.assertEqual((record["kind"], record["path"]), ("storage", str(self.folder)))
        self.assertTrue(record["identity"].startswith(record["file_system"]))
        self.assertGreater(record["free_bytes"], 0)
        done = asked("", "--storage", self.folder / "none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none", done.stderr)

    def test_the_limit_of_the_storage(self):
        for cache in ("warm", "sync", "drop"):
            with self.subTest(cache):
                launch = self.measure(2, "--methods", "file-per-task", "--phases", "write,read", "--repeat", "2", "--limit",
                                      "--cache", cache, "--cell", cell((1000, 1001)), "--cell", cell((1, 1), (2, 1)))

                times = {(limit["cell"]["shape"][0], limit["phase"], limit["repetition"]) for limit in launch.limit}
                self.assertEqual(times, {(n, phase, i) for n in (1000, 1) for phase in ("write", "read") for i in (1, 2)})
                self.assertEqual({limit["bytes"] for limit in launch.limit}, {4, 4 * 1000 * 1001})


if __name__ == "__main__":
    main()
