#!/usr/bin/env python3
"""thalweg advise: its answers for described programs, from synthetic profiles. No time is measured."""

import json
import os

from cli_support import DAMAGED, FINE, IO_ERROR, UNSAFE, USAGE, CliTest, main

CONSTANTS = {
    "file-per-task": {"fixed": 1e-4, "per_rank": 5e-5, "shared_byte": 2e-10},
    "gather": {"fixed": 1e-4, "meeting": 1e-5, "byte": 1e-9},
    "mpiio-global-0": {"fixed": 1e-3, "byte": 2e-10, "run": 5e-6},
    "mpiio-global-3": {"fixed": 1e-3, "meeting": 1e-4, "byte": 6e-10},
    "mpiio-chunk-3": {"fixed": 1e-3, "byte": 4e-10},
    "hdf5-chunked-collective": {"fixed": 5e-3, "byte": 6e-10},
    "tw-multifile": {"fixed": 4e-4, "shared_byte": 2.2e-10},
    "tw-collective": {"fixed": 2e-4, "meeting": 5e-5, "byte": 3e-10},
    "tw-nonblocking": {"fixed": 3e-4, "meeting": 5e-5, "byte": 3.1e-10},
}


class Advise(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {k: v for k, v in os.environ.items() if k != "THALWEG_PROFILE"}
        self.environment["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.profile = self.folder / "config/thalweg/storage.json"

    def keep(self, *entries):
        self.profile.parent.mkdir(parents=True, exist_ok=True)
        self.profile.write_text(json.dumps({"version": 1, "file_systems": list(entries)}))

    def keep_methods(self, **members):
        methods = {"mpi": "MPICH 4.0.2", "cache": "warm", "cores": 2, "cells": []}
        methods |= {name: {phase: constants for phase in ("write", "read", "restart")} for name, constants in CONSTANTS.items()}
        self.keep({"id": "made-up", "buffered": {"call_ns": 600}, "create_ns": 20000, "methods": methods} | members)

    def advise(self, *words, expect=FINE):
        return self.thalweg("advise", *words, expect=expect, env=self.environment)

    def advise_json(self, *words, expect=FINE):
        return self.json("advise", *words, expect=expect, env=self.environment)

    def seconds(self, result):
        return {choice["method"]: choice["seconds"] for choice in result["choices"]}

    def test_without_a_profile_it_guesses_and_says_so(self):
        result = self.advise_json("--ranks", "4", "--bytes", "64MiB")

        self.assertFalse(result["measured"])
        self.assertIn("run 'thalweg tune DIR'", result["notes"][0])
        self.assertEqual(result["best"], result["choices"][0]["method"])
        self.assertIn("not measured here", self.advise("--ranks", "4", "--bytes", "64MiB")[0].decode())

    def test_methods_are_ranked_by_the_constants_of_the_profile(self):
        self.keep_methods()
        result = self.advise_json("--ranks", "2", "--bytes", "256MiB", "--grid", "1x2")

        self.assertTrue(result["measured"])
        self.assertEqual(result["storage"], "made-up")
        times = list(self.seconds(result).values())
        self.assertEqual(times, sorted(times))
        self.assertEqual(result["best"], "file-per-task")
        self.assertEqual(result["best_array"], "tw-collective")
        for choice in result["choices"]:
            self.assertAlmostEqual(sum(part["seconds"] for part in choice["parts"]), choice["seconds"])
        self.assertIn("was not measured here", {out["method"]: out["why"] for out in result["out"]}["pnetcdf"])

    def test_twice_the_bytes_take_longer_and_phases_are_told_apart(self):
        self.keep_methods()
        small = self.seconds(self.advise_json("--ranks", "2", "--bytes", "64MiB"))
        large = self.seconds(self.advise_json("--ranks", "2", "--bytes", "128MiB"))

        for method, seconds in small.items():
            self.assertGreater(large[method], seconds)
        self.assertEqual(self.advise_json("--ranks", "2", "--bytes", "1MiB", "--phase", "restart")["phase"], "restart")

    def test_data_of_tasks_leave_out_what_makes_a_global_array(self):
        self.keep_methods()
        for pattern in ("task-local", "ragged"):
            result = self.advise_json("--ranks", "4", "--bytes", "64MiB", "--pattern", pattern)
            out = {one["method"]: one["why"] for one in result["out"]}
            self.assertIn("do not form a global array", out["mpiio-global-3"])
            self.assertIn("hdf5-chunked-collective", out)
            self.assertEqual(set(self.seconds(result)), {"file-per-task", "mpiio-chunk-3", "tw-multifile"})
            self.assertIsNone(result["best_array"])

    def test_rows_leave_out_chunks(self):
        self.keep_methods()
        result = self.advise_json("--ranks", "4", "--bytes", "64MiB", "--pattern", "rows")

        self.assertEqual(result["cell"]["grid"], [4, 1])
        self.assertIn("form the global array", {one["method"]: one["why"] for one in result["out"]}["mpiio-chunk-3"])

    def warnings(self, method, *words):
        choices = self.advise_json(*words)["choices"]
        return " ".join(next(choice["warnings"] for choice in choices if choice["method"] == method))

    def test_warnings_name_what_goes_wrong(self):
        self.keep_methods()
        many = ("--ranks", "2048", "--bytes", "64GiB")
        self.assertIn("128.0 GiB of memory", self.warnings("gather", *many))
        self.assertIn("2048 files", self.warnings("file-per-task", *many))
        self.assertIn("not a global array", self.warnings("file-per-task", *many))
        self.assertIn("explicit offsets collapse", self.warnings("mpiio-global-0", *many))
        self.assertIn("chunk cache", self.warnings("hdf5-chunked-collective", *many))
        self.assertIn("4 GiB", self.warnings("hdf5-chunked-collective", "--ranks", "2", "--bytes", "64GiB"))
        self.assertIn("MPI_Exscan", self.warnings("mpiio-chunk-3", *many, "--pattern", "ragged"))

    def test_outputs_are_a_share_of_the_run_time_that_can_be_hidden(self):
        self.keep_methods()
        duty = self.advise_json("--ranks", "2", "--bytes", "1GiB", "--every", "1min", "--compute-seconds-per-step", "0.5")["duty"]

        self.assertRegex(duty[0], r"for 60 s of computing \(120 steps\): \d+\.\d % of the run time")
        self.assertIn("all of it can be hidden if cores are idle", duty[1])
        self.assertIn("the overlap that 'thalweg methods' measures", duty[1])
        late = self.advise_json("--ranks", "2", "--bytes", "64GiB", "--every", "1s")["duty"]
        self.assertIn("cannot be hidden", late[1])

    def test_many_nodes_are_simulated_and_what_was_assumed_is_said(self):
        self.keep_methods()
        words = ("--ranks", "4096", "--nodes", "128", "--bytes", "2TiB", "--pattern", "block2d")
        assumed = self.advise_json(*words)
        told = self.advise_json(*words, "--storage-bandwidth", "50GB", "--storage-create-rate", "10000")

        notes = " ".join(assumed["notes"])
        for part in ("one machine was measured", "no --storage-bandwidth", "no --storage-create-rate"):
            self.assertIn(part, notes)
        self.assertNotIn("no --storage", " ".join(told["notes"]))
        for choice in told["choices"]:
            self.assertGreaterEqual(choice["seconds"], 2**41 / 50e9 * 0.999, choice)
        # Bandwidths use powers of ten, as storage vendors do.
        self.assertLess(self.seconds(told)["tw-collective"], 2**41 / 50e9 * 1.5)
        self.assertGreater(self.seconds(told)["gather"], self.seconds(told)["tw-collective"])

    RESTART = ("--ranks", "4096", "--nodes", "128", "--bytes", "2TiB", "--phase", "restart", "--storage-bandwidth", "50GB",
               "--storage-create-rate", "10000")

    def test_the_readers_of_a_restart_move_the_bytes(self):
        self.keep_methods()
        few = self.advise_json(*self.RESTART, "--readers", "1")
        many = self.advise_json(*self.RESTART, "--readers", "2048")

        for method in ("file-per-task", "tw-collective", "mpiio-chunk-3"):
            self.assertGreater(self.seconds(few)[method], 4 * self.seconds(many)[method], method)
        self.assertIn("1 node of 1 rank ", " ".join(few["notes"]))
        self.assertIn("128 nodes of 16 ranks", " ".join(many["notes"]))
        self.assertIn("by 16 readers on 16 nodes", self.advise(*self.RESTART, "--readers", "16")[0].decode())

    def test_pieces_of_a_restart_are_those_of_its_readers(self):
        self.keep_methods()
        profile = json.loads(self.profile.read_text())
        profile["file_systems"][0]["methods"]["mpiio-chunk-0"] = {"restart": CONSTANTS["mpiio-chunk-3"]}
        self.keep(*profile["file_systems"])
        seconds = self.seconds(self.advise_json(*self.RESTART, "--readers", "1"))

        self.assertLess(seconds["mpiio-chunk-0"], 4 * seconds["file-per-task"])

    def test_what_is_impossible_is_not_among_the_choices(self):
        self.keep_methods()
        for words in (("--ranks", "2", "--nodes", "2", "--bytes", "8KB", "--memory-per-node", "1KB"),
                      ("--ranks", "2048", "--bytes", "64GiB", "--memory-per-node", "191GiB")):
            result = self.advise_json(*words)
            self.assertNotIn("gather", self.seconds(result))
            self.assertIn("memory", {out["method"]: out["why"] for out in result["out"]}["gather"])
        enough = self.advise_json("--ranks", "2048", "--bytes", "64GiB", "--memory-per-node", "193GiB")
        self.assertIn("gather", self.seconds(enough))

    def test_a_program_that_does_not_fit_into_its_nodes_is_told_so(self):
        self.keep_methods()
        words = ("--ranks", "2", "--nodes", "2", "--bytes", "8KB", "--memory-per-node", "1KB")

        self.assertIn("the program's data", " ".join(self.advise_json(*words)["notes"]))

    def test_warnings_of_memory_offsets_and_chunks_are_printed_wherever_the_method_is(self):
        self.keep_methods()
        printed = self.advise("--ranks", "2048", "--bytes", "64GiB", "--no-code")[0].decode()

        mind = printed[printed.index("mind:"):]
        for part in ("gather: the gathering rank needs 128.0 GiB", "mpiio-global-0: explicit offsets collapse",
                     "hdf5-chunked-collective: ", "2048 files"):
            self.assertIn(part, mind)

    def test_how_wrong_the_model_was_is_said_with_the_advice(self):
        self.keep_methods()
        self.assertIn("the error of the model is unknown", " ".join(self.advise_json("--ranks", "2", "--bytes", "64MiB")["notes"]))
        profile = json.loads(self.profile.read_text())
        profile["file_systems"][0]["methods"] |= {"median_error": 0.07, "left_out_error": 0.17, "cells": ["a", "b"],
                                                           "largest_bytes": 2**20}
        self.keep(*profile["file_systems"])

        result = self.advise_json("--ranks", "2", "--bytes", "256MiB", "--grid", "1x2")

        self.assertEqual(result["model"], {"cells": 2, "median_error": 0.07, "left_out_error": 0.17, "largest_bytes": 2**20})
        self.assertEqual(result["ties"], ["tw-multifile"])
        out = self.advise("--ranks", "2", "--bytes", "256MiB", "--grid", "1x2", "--no-code")[0].decode()
        self.assertIn("median error of the model: 7 % on the 2 cells it was fitted to, on cells left out of the fit 17 %", out)
        self.assertIn("within 17 % of it, equal within the model's error: tw-multifile", out)
        profile["file_systems"][0]["methods"].pop("left_out_error")  # as in a profile of a version without this field
        profile["file_systems"][0]["methods"]["median_error"] = 0.01
        profile["file_systems"][0]["methods"]["tw-multifile"]["write"]["shared_byte"] = 2.1e-10
        self.keep(*profile["file_systems"])
        self.assertEqual(self.advise_json("--ranks", "2", "--bytes", "256MiB", "--grid", "1x2")["ties"], ["tw-multifile"])

    def test_more_ranks_on_as_many_nodes_have_as_much_network(self):
        self.keep_methods()
        for nodes in ("32", "1000"):
            words = ("--nodes", nodes, "--bytes", "8TiB", "--storage-bandwidth", "1TB", "--ranks")
            few, many = (self.seconds(self.advise_json(*words, ranks)) for ranks in ("1024", "8192"))
            for method in ("mpiio-chunk-3", "mpiio-global-3", "tw-collective"):
                with self.subTest(method=method, nodes=nodes):
                    self.assertLess(max(few[method], many[method]) / min(few[method], many[method]), 1.3)

    def test_without_a_profile_no_method_is_said_to_be_as_quick(self):
        words = ("--ranks", "2", "--bytes", "256MiB")
        self.assertEqual(self.advise_json(*words)["ties"], [])
        self.assertNotIn("equal within the model's error", self.advise(*words, "--no-code")[0].decode())

    SLOW = ("--ranks", "8", "--bytes", "10GiB", "--storage-bandwidth", "500MB")

    def test_where_the_storage_decides_the_rest_ranks_methods(self):
        self.keep_methods()
        result = self.advise_json(*self.SLOW)
        least = 10 * 2**30 / 5e8

        for choice in result["choices"]:
            self.assertGreater(choice["seconds"], least)
        self.assertEqual(result["best"], "file-per-task")
        self.assertEqual(result["choices"][-1]["method"], "gather")  # opens fastest, and moves bytes slowest
        self.assertEqual(result["choices"][0]["parts"][0]["what"], "the storage, 0.466 GiB/s")
        self.assertIn("the storage limits all methods, which hardly differ", result["notes"])
        self.assertNotIn("storage decides", " ".join(self.advise_json(*self.SLOW[:-1], "500GB")["notes"]))

    def test_equal_times_are_ranked_by_the_time_of_the_node(self):
        self.keep_methods()
        profile = json.loads(self.profile.read_text())
        methods = profile["file_systems"][0]["methods"]
        methods["mpiio-chunk-2"] = {"write": {"fixed": 1e-3, "byte": 1e-10}}  # after another one of equal time
        methods["mpiio-chunk-1"] = {"write": {"fixed": 1e-3, "byte": 3e-10}}
        self.keep(*profile["file_systems"])
        order = list(self.seconds(self.advise_json(*self.SLOW)))

        self.assertLess(order.index("mpiio-chunk-2"), order.index("mpiio-chunk-1"))
        self.assertLess(order.index("mpiio-chunk-1"), order.index("mpiio-chunk-3"))

    def test_a_bandwidth_may_be_a_fraction(self):
        self.keep_methods()
        words = ("--ranks", "2", "--bytes", "1TiB", "--storage-bandwidth")
        for text, same in (("1.5GB", "1500MB"), ("0.5GiB", "536870912"), ("2e9", "2gb"), ("0.5EB", "500PB")):
            whole = self.seconds(self.advise_json(*words, same))
            for method, seconds in self.seconds(self.advise_json(*words, text)).items():
                self.assertAlmostEqual(seconds / whole[method], 1, places=5)
        for text in ("fast", "-1GB", "1.5XB", "nan"):
            self.advise(*words, text, expect=USAGE)

    def test_every_size_has_the_units_of_hints(self):
        self.keep_methods()
        for text, same in (("2GB", "2000000000"), ("2GiB", "2147483648"), ("2G", "2147483648"), ("2gi", "2147483648")):
            told = self.advise("--ranks", "4", "--bytes", text, "--storage-bandwidth", text, "--memory-per-node", text)
            self.assertEqual(told, self.advise("--ranks", "4", "--bytes", same, "--storage-bandwidth", same, "--memory-per-node", same), text)

    def test_readers_without_a_restart_are_refused(self):
        self.keep_methods()
        for phase in ((), ("--phase", "write"), ("--phase", "read")):
            error = self.advise("--ranks", "4", "--bytes", "1MiB", "--readers", "2", *phase, expect=USAGE)[1]
            self.assertIn("--readers 2", error)
            self.assertIn("--phase restart", error)

    def test_sizes_beyond_those_that_were_measured_are_told(self):
        self.keep_methods()
        profile = json.loads(self.profile.read_text())
        profile["file_systems"][0]["methods"] |= {"median_error": 0.17, "cells": ["a", "b"], "largest_bytes": 48 * 2**20}
        self.keep(*profile["file_systems"])
        words = ("--ranks", "64", "--bytes")

        self.assertIn("at most 48.0 MiB were measured", " ".join(self.advise_json(*words, "10TiB")["notes"]))
        self.assertIn("page cache", " ".join(self.advise_json(*words, "10TiB")["notes"]))
        self.assertNotIn("were measured", " ".join(self.advise_json(*words, "32MiB")["notes"]))
        self.keep_methods()
        self.assertIn("page cache", " ".join(self.advise_json(*words, "10TiB")["notes"]))

    def test_results_are_compared_with_the_profile_of_their_storage(self):
        self.keep_methods()
        self.keep_results([("file-per-task", 1024, 1e-3)])
        self.assertIn("does not name its storage", " ".join(self.advise_json("--from", "results.jsonl")["notes"]))
        text = (self.folder / "results.jsonl").read_text()
        for identity, expect in (("made-up", FINE), ("tmpfs-0", IO_ERROR)):
            run = {"kind": "run", "version": 1, "storage": {"path": "/x", "kind": "tmpfs", "identity": identity}}
            (self.folder / "results.jsonl").write_text(json.dumps(run) + "\n" + text)
            result = self.advise_json("--from", "results.jsonl", expect=expect)
            if expect == FINE:
                self.assertEqual((result["storage"], result["notes"]), ("made-up", []))
            else:
                self.assertIn("'tmpfs-0'", result["error"]["message"])

    def test_reading_makes_no_files(self):
        self.keep_methods()
        words = ("--ranks", "64", "--bytes", "64MiB", "--storage-create-rate", "10")
        for phase in ("write", "read", "restart"):
            seconds = self.seconds(self.advise_json(*words, "--phase", phase))["file-per-task"]
            self.assertEqual(seconds >= 6.4, phase == "write", (phase, seconds))

    def test_a_vpfile_is_not_said_to_be_unable_of_streams(self):
        self.keep_methods()
        result = self.advise_json("--ranks", "4", "--bytes", "64MiB", "--pattern", "ragged")

        why = {one["method"]: one["why"] for one in result["out"]}["tw-vpfile"]
        self.assertIn("measured with blocks of an array only", why)

    def test_reasons_name_what_the_time_goes_into(self):
        self.keep_methods()
        result = self.advise_json("--ranks", "4096", "--nodes", "128", "--bytes", "2TiB", "--storage-bandwidth", "500GB",
                                  "--storage-create-rate", "1000")
        reasons = {choice["method"]: choice["reason"] for choice in result["choices"]}

        self.assertIn("one rank gathers and transfers all bytes", reasons["gather"])
        self.assertIn("making 4096 files", reasons["file-per-task"])
        self.assertRegex(reasons["mpiio-global-0"], r"\d+ calls of each rank, [0-9.]+ KiB each")
        self.assertIn("16 storage servers", " ".join(result["notes"]))

    def test_what_a_profile_cannot_mean_is_not_believed(self):
        self.keep_methods(create_ns=1e-300)
        words = ("--ranks", "4", "--nodes", "2", "--bytes", "1GiB")
        self.assertNotIn("inf", " ".join(self.advise_json(*words)["notes"]))
        profile = json.loads(self.profile.read_text())
        profile["file_systems"][0]["methods"]["gather"] = {"write": {"fixed": 0, "byte": 0}}
        self.keep(*profile["file_systems"])

        self.assertNotIn("gather", self.seconds(self.advise_json("--ranks", "4", "--bytes", "1GiB")))

    def test_numbers_beyond_all_machines_are_refused(self):
        self.keep_methods()
        for words in (("--bytes", "8EiB"), ("--bytes", "1MiB", "--grid", "4294967304x8"), ("--bytes", "1MiB", "--grid", "0x64"),
                      ("--bytes", "1MiB", "--grid", "65536x65536x65536x65536x65536"), ("--bytes", "1MiB", "--storage-bandwidth", "16EiB"),
                      ("--bytes", "1MiB", "--memory-per-node", "8EiB"), ("--bytes", "1KiB", "--phase", "restart", "--readers", "300")):
            with self.subTest(words):
                self.advise("--ranks", "64", *words, expect=USAGE)

    def test_numbers_and_their_nouns_agree(self):
        self.keep_methods()
        two = self.advise_json("--ranks", "2", "--nodes", "2", "--bytes", "1MiB")
        self.assertIn("2 nodes of 1 rank ", " ".join(two["notes"]))
        self.assertNotIn("1 calls", " ".join(choice["reason"] for choice in two["choices"]))
        self.assertIn("7 parts in 1 dimension,", self.advise("--ranks", "4", "--bytes", "1MiB", "--grid", "7", expect=USAGE)[1])

    def test_more_nodes_than_one_need_not_be_full(self):
        self.keep_methods()
        for words in (("--ranks", "3", "--nodes", "2", "--bytes", "12"), ("--ranks", "1", "--nodes", "1", "--bytes", "4"),
                      ("--ranks", "1000003", "--nodes", "1000", "--bytes", "1TiB", "--pattern", "task-local")):
            self.advise_json(*words)

    def test_a_program_is_printed_in_each_language(self):
        self.keep_methods()
        words = ("--ranks", "2", "--bytes", "64MiB", "--language")
        for language, ending, mark in (("c", ".c", "int main"), ("fortran", ".f90", "end program"), ("python", ".py", "import")):
            code = self.advise_json(*words, language)["code"]
            self.assertTrue(code["file"].endswith(ending))
            self.assertIn(mark, code["text"])
        self.assertIn("---- file_per_task.c", self.advise(*words, "c")[0].decode())
        self.assertNotIn("----", self.advise(*words, "c", "--no-code")[0].decode())

    def test_a_program_that_is_not_the_method_says_so(self):
        self.keep_methods()
        words = ("--ranks", "2", "--bytes", "64MiB")
        self.assertEqual(self.advise_json(*words)["code"]["remark"], "")
        self.assertIn("it writes; to read: ", self.advise_json(*words, "--phase", "read")["code"]["remark"])
        python = self.advise_json(*words, "--pattern", "ragged", "--language", "python")["code"]
        self.assertEqual(python["file"], "vpfile.py")
        self.assertIn("(a vpfile has a stream for each rank", self.advise(*words, "--language", "python")[0].decode())

    def test_quiet_names_the_method_alone(self):
        self.keep_methods()
        self.assertEqual(self.advise("--ranks", "2", "--bytes", "64MiB", "--quiet"), (b"file-per-task\n", ""))

    def test_another_mpi_than_was_measured_is_remarked_on(self):
        self.keep_methods()
        words = ("--ranks", "2", "--bytes", "64MiB", "--mpi")
        self.assertIn("openmpi was not measured", " ".join(self.advise_json(*words, "openmpi")["notes"]))
        self.assertNotIn("was not measured", " ".join(self.advise_json(*words, "mpich")["notes"]))

    def test_wrong_usage(self):
        self.keep_methods()
        self.assertIn("--bytes", self.advise("--ranks", "2", expect=USAGE)[1])
        self.assertIn("2 ranks", self.advise("--ranks", "2", "--bytes", "4", expect=USAGE)[1])
        for words in (("--grid", "3x2"), ("--grid", "2x2x1"), ("--grid", "x"), ("--pattern", "rows", "--grid", "2x2"),
                      ("--pattern", "ragged", "--grid", "4"), ("--nodes", "5"), ("--nodes", "0"), ("--every", "-1s"),
                      ("--pattern", "columns"), ("--language", "cobol"), ("--storage-create-rate", "0")):
            with self.subTest(words):
                self.advise("--ranks", "4", "--bytes", "1MiB", *words, expect=USAGE)

    def test_several_file_systems_need_a_folder(self):
        self.keep_methods()
        entry = json.loads(self.profile.read_text())["file_systems"][0]
        self.keep(entry, entry | {"id": "other"})

        self.assertIn("--dir", self.advise("--ranks", "2", "--bytes", "1MiB", expect=USAGE)[1])
        self.assertIn("missing", self.advise("--ranks", "2", "--bytes", "1MiB", "--dir", "missing", expect=IO_ERROR)[1])

    def record(self, method, side, seconds, repetition=1):
        cell = {"ranks": 2, "grid": [2, 1], "shape": [side, side], "order": "c", "cache": "warm"}
        parts = {"open": 0, "transfer": seconds, "close": 0}
        return json.dumps({"kind": "time", "method": method, "cell": cell, "repetition": repetition, "phase": "write",
                           "seconds": seconds, "parts": parts, "bytes": 4 * side * side, "cache": "warm"})

    def keep_results(self, times):
        lines = [self.record(method, side, seconds) for method, side, seconds in times]
        (self.folder / "results.jsonl").write_text("\n".join(lines) + "\n")

    def test_predictions_are_compared_with_what_was_measured(self):
        self.keep_methods()
        predicted = self.seconds(self.advise_json("--ranks", "2", "--bytes", "4MiB", "--grid", "2x1"))
        self.keep_results([("file-per-task", 1024, predicted["file-per-task"]), ("gather", 1024, 2 * predicted["gather"])])

        result = self.advise_json("--from", "results.jsonl")

        points = {point["method"]: point for point in result["points"]}
        self.assertAlmostEqual(points["file-per-task"]["predicted_seconds"], predicted["file-per-task"], places=9)
        self.assertAlmostEqual(result["validation"]["median_error"], 0.25, places=6)
        self.assertEqual((result["validation"]["choices"], result["validation"]["good_choices"]), (1, 1))
        self.assertIn("median error 25 %", self.advise("--from", "results.jsonl")[0].decode())
        self.advise("--from", "results.jsonl", "--html", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn('id="plot-validation"', page)

    def test_the_plot_is_of_what_was_measured_and_replaces_no_other_file(self):
        self.keep_methods()
        self.keep_results([("file-per-task", 1024, 1), ("gather", 1024, 1)])
        self.assertIn("--from", self.advise("--ranks", "2", "--bytes", "4MiB", "--html", "page.html", expect=USAGE)[1])
        self.write("mine.html", b"mine")
        for name in ("results.jsonl", "mine.html"):
            before = (self.folder / name).read_bytes()
            self.thalweg("advise", "--from", "results.jsonl", "--html", name, expect=UNSAFE, env=self.environment)
            self.assertEqual((self.folder / name).read_bytes(), before)
        self.advise("--from", "results.jsonl", "--html", "mine.html", "--force")
        self.assertIn("plot-validation", (self.folder / "mine.html").read_text())

    def test_results_that_cannot_be_predicted(self):
        self.keep_results([("file-per-task", 1024, 1)])
        self.assertIn("thalweg tune", self.advise("--from", "results.jsonl", expect=IO_ERROR)[1])
        self.assertIn("missing", self.advise("--from", "missing.jsonl", expect=IO_ERROR)[1])
        self.write("broken.jsonl", b"{\n")
        self.thalweg("advise", "--from", "broken.jsonl", expect=DAMAGED, env=self.environment)

    def test_a_profile_with_nonsense_is_as_none(self):
        for methods in (5, [], {"gather": 5}, {"gather": {"write": {"byte": "x"}}}, {"cores": "many"}, {"cells": {"a": 1}}):
            with self.subTest(methods):
                self.keep({"id": "made-up", "methods": methods, "network": [5, {"ranks": "x"}], "buffered": []})
                self.assertFalse(self.advise_json("--ranks", "2", "--bytes", "1MiB")["measured"])


if __name__ == "__main__":
    main()
