"""bench/papers makes its page and pictures of results, names what is missing, and computes ratios within repetitions."""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
from unittest import mock

ROOT = pathlib.Path(os.environ.get("TW_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT / "bench/papers"))
import page
import run
from results import Results

MACHINE = {"processor": "P", "cores": 2, "memory_bytes": 2**34, "system": "S", "thalweg": "0", "commit": "c", "compiler": "12", "load_1min": 0.5}


def comparison(name, amount, **variants):
    """variants: 'variant/phase' and its seconds."""
    rows = [{"variant": key.split("/")[0], "phase": key.split("/")[1], "seconds": list(values)}
            for key, values in variants.items()]
    return {"name": name, "amount": amount, "variants": rows}


def report(*comparisons, facts=None):
    return {"machine": MACHINE, "comparisons": list(comparisons), "facts": facts or {}}


def results_of(runs):
    return {"runs": runs, "busy_cores": dict.fromkeys(runs, 0.1), "forms": dict.fromkeys(runs, "quick")}


class Values(unittest.TestCase):
    def test_a_ratio_is_formed_within_a_repetition(self):
        one = comparison("c", 1e9, **{"a/write": (1, 2, 4), "b/write": (2, 8, 4)})
        value = Results({"r": report(one)}).value({"run": "r", "in": "^c$", "of": "a", "to": "b", "phase": "write"})
        self.assertEqual((value.median, value.low, value.high), (2, 1, 4))

    def test_two_comparisons_are_compared_by_their_rates(self):
        results = Results({"r": report(comparison("one", 1e9, **{"a/write": (1,)}), comparison("two", 4e9, **{"a/write": (2,)}))})
        value = results.value({"run": "r", "in": "two", "to_in": "one", "of": "a", "phase": "write"})
        self.assertEqual((value.median, value.low), (2, None))

    def test_overlap_has_the_hidden_part_the_allowed_part_and_the_time_saved(self):
        one = comparison("o", 1, **{"a/io": (10,), "a/compute": (20,), "a/both": (22,), "a/core": (1,)})
        results = Results({"r": report(one)})
        self.assertEqual([results.value({"run": "r", "in": "o", what: "a"}).median for what in ("hidden", "allowed", "saved")], [80, 90, 100 * (1 - 22 / 30)])

    def test_records_of_methods_give_a_geometric_mean_over_cells(self):
        times = [("a", "c", 1), ("b", "c", 2), ("a", "f", 1), ("b", "f", 8)]
        records = [{"kind": "time", "method": m, "phase": "write", "cell": {"order": order}, "seconds": s} for m, order, s in times]
        results = Results({"m": records})
        spec = {"run": "m", "of": "a", "to": "b", "phase": "write"}
        self.assertAlmostEqual(results.value(spec).median, 4)
        self.assertAlmostEqual(results.value({**spec, "order": "f"}).median, 8)
        self.assertAlmostEqual(results.value({"run": "m", "spread": ".", "phase": "write", "order": "c"}).median, 2)

    def test_a_simulated_ratio_takes_the_first_alternative_that_there_is(self):
        seconds = {"64 files, a": (1, 0, 1), "64 files, b": (8, 0, 0)}
        parts = ("open_seconds", "transfer_seconds", "close_seconds")
        results = Results({"simulated": {name: dict(zip(parts, of, strict=True)) for name, of in seconds.items()}})
        value = results.simulated({"of": "{256|64} files, a", "to": "{256|64} files, b"})
        self.assertEqual((value.median, value.of), (4, "64 files"))

    def test_results_are_kept_without_folders_and_with_six_digits(self):
        record = {"kind": "time", "method": "m", "phase": "write", "seconds": 1.23456789, "cell": {"order": "c"}, "bytes": 8}
        self.assertEqual(run.kept(record), {"kind": "time", "method": "m", "phase": "write", "seconds": 1.23457, "cell": {"order": "c"}})
        one = {**comparison("c", 1, **{"a/write": (1, 2)}), "notes": {"where": "/scratch"}}
        self.assertEqual(run.kept({**report(one), "settings": {}}), report(comparison("c", 1, **{"a/write": (1, 2)})))

    def test_what_is_missing_has_no_value(self):
        results = Results({"r": report()})
        for spec in ({"run": "r", "in": "x", "of": "a", "to": "b", "phase": "p"}, {"run": "absent", "in": "x", "rate": "a"}, {"case": "x"}):
            self.assertIsNone(results.value(spec))


class Page(unittest.TestCase):
    def made(self, runs, status=0):
        """The page and its pictures. status: 1 where a run lacks figures."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder) / "results.json", pathlib.Path(folder) / "papers.md"
            source.write_text(json.dumps(results_of(runs)))
            target.write_text("before\n<!-- papers -->\nreplaced text\n<!-- end papers -->\nbehind\n")
            words = ["run.py", "--from", str(source), "--page", str(target)]
            with mock.patch.object(sys, "argv", words), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(run.main(), status)
            return target.read_text(), {one.stem: one.read_text() for one in (target.with_suffix("")).iterdir()}

    def test_without_results_every_figure_has_a_row_and_every_paper_a_picture(self):
        text, pictures = self.made({})
        self.assertTrue(text.startswith("before\n<!-- papers -->\n") and text.endswith("\n<!-- end papers -->\nbehind\n"))
        self.assertNotIn("replaced text", text)
        for paper in run.PAPERS:
            xml.etree.ElementTree.fromstring(pictures[paper["id"]])
            for figure in paper["figures"]:
                self.assertIn(f"| {figure['what']} ({figure['place']}) |", text)

    def test_a_value_below_the_papers_has_its_reason_and_is_drawn(self):
        name = "2 threads, segments of 16 MiB, sync at end"
        slow = comparison(name, 1e9, **{"file per thread/write": (2,), "ordered/write": (2,), "write_all/write": (2,)})
        text, pictures = self.made({"omp": report(slow)}, status=1)
        self.assertRegex(text, r"a file per thread to `ordered`, 2 threads .*\| 1 \(one repetition\) \|  \| 0\.424 \| the disk takes")
        self.assertIn("<circle", pictures["openmp"])

    def test_a_value_below_zero_counts_as_a_ratio_of_zero_with_its_reason(self):
        late = comparison("x: overlap, strided", 1, **{f"ours, thread/{phase}": (s,) for phase, s in (("io", 1), ("compute", 1), ("both", 3), ("core", 1))})
        text, _ = self.made({"overlap": report(late)}, status=1)
        self.assertRegex(text, r"write hidden behind computing, strided.*\| -100 %.* \| 0 \| all cores compute")
        self.assertRegex(text, r"\| Nonblocking collective I/O \| \d+ \| 2 \| 0 of 2 \|")

    def test_a_figure_without_a_number_has_a_reason_where_ours_is_slower(self):
        figure = {"what": "w", "place": "p", "as": "a", "paper": None, "why": "because", "here": {"run": "r", "in": "c", "of": "a", "to": "b", "phase": "x"}}
        for seconds, reason in ((2, "because"), (0.5, "")):
            results = Results({"r": report(comparison("c", 1, **{"a/x": (seconds,), "b/x": (1,)}))})
            self.assertEqual(page.cells(figure, results)[-1], reason)

    def test_a_simulated_figure_has_its_size_and_its_own_reason(self):
        times = {"m, 8 ranks, a": 2, "m, 8 ranks, b": 1}
        results = Results({"simulated": {name: {"open_seconds": s, "transfer_seconds": 0, "close_seconds": 0} for name, s in times.items()}})
        figure = {"what": "w", "place": "p", "as": "a", "paper": 1.0, "here": None, "unmeasured": "one node", "why_simulated": "links",
                  "simulated": {"of": "m, 8 ranks, a", "to": "m, 8 ranks, b"}}
        self.assertEqual(page.cells(figure, results)[2:], ["not measured: one node", "0.5 (m, 8 ranks)", "0.5", "simulated: links"])

    def test_repetitions_on_both_sides_of_the_papers_figure_are_inconclusive(self):
        spec = {"run": "r", "in": "c", "of": "a", "to": "b", "phase": "x"}
        figure = {"what": "w", "place": "p", "as": "a", "paper": 1.0, "why": "because", "here": spec}
        for low, reason in ((1.5, "inconclusive: the repetitions are on both sides of the paper's figure"), (0.9, "because")):
            results = Results({"r": report(comparison("c", 1, **{"a/x": (2, 2, 1), "b/x": (1, 1, low)}))})
            self.assertEqual(page.cells(figure, results)[-1], reason)

    def test_a_single_repetition_is_marked(self):
        figure = {"what": "w", "place": "p", "as": "a", "paper": 1.0, "here": {"run": "r", "in": "c", "of": "a", "to": "b", "phase": "x"}}
        results = Results({"r": report(comparison("c", 1, **{"a/x": (1,), "b/x": (2,)}))})
        self.assertEqual(page.cells(figure, results)[2], "2 (one repetition)")

    def test_a_value_is_judged_as_it_is_shown(self):
        for seconds, short in ((0.99977, False), (0.94, True)):
            times = {"m, 8 ranks, a": 1, "m, 8 ranks, b": seconds}
            results = Results({"simulated": {name: {"open_seconds": s, "transfer_seconds": 0, "close_seconds": 0} for name, s in times.items()}})
            figure = {"what": "w", "place": "p", "as": "a", "paper": None, "here": None, "unmeasured": "u", "why_simulated": "because",
                      "simulated": {"of": "m, 8 ranks, a", "to": "m, 8 ranks, b"}}
            self.assertEqual("because" in page.cells(figure, results)[-1], short)
            self.assertIn("because", page.cells({**figure, "least": 1.05}, results)[-1])

    def test_a_run_that_lacks_a_figure_is_reported(self):
        self.made({"omp": report()}, status=1)

    def test_a_machine_with_other_programs_is_marked(self):
        for busy, marked in ((run.CORES, True), (0.02, False)):
            results = {**results_of({"omp": report()}), "busy_cores": {"omp": busy}}
            self.assertEqual("beside other programs" in run.machine_line(results), marked)

    def test_runs_on_several_machines_are_told_apart(self):
        methods = [{"kind": "run", "version": "0", "machine": {"cpu": "P", "cores": 2, "memory_bytes": 2**34, "kernel": "S"}}]
        one = run.machine_line(results_of({"omp": report(), "methods": methods}))
        self.assertIn("on P, 2 cores, 16 GiB of memory, S; thalweg 0 (c), compiler 12.", one)
        other = {**report(), "machine": {**MACHINE, "cores": 16, "commit": "d"}}
        several = run.machine_line(results_of({"omp": report(), "vp": other}))
        for part in ("P, 2 cores, 16 GiB of memory, S (omp)", "P, 16 cores, 16 GiB of memory, S (vp)", "(d), compiler 12 (vp)"):
            self.assertIn(part, several)
        self.assertNotIn("Nothing was measured", run.machine_line(results_of({"methods": []})))

    def test_forms_of_runs_are_told(self):
        results = {**results_of({"omp": report(), "vp": report()}), "forms": {"omp": "quick", "vp": "full"}}
        self.assertIn("quick runs (vp: full), on P", run.machine_line(results))

    def test_more_than_three_plots_take_a_second_row(self):
        paper = next(one for one in run.PAPERS if len(one["plots"]) > 3)
        drawn = xml.etree.ElementTree.fromstring("".join(page.picture(paper, Results({}))))
        rows = {group.get("transform") for group in drawn.iter("{http://www.w3.org/2000/svg}g")}
        self.assertEqual(len(rows), (len(paper["plots"]) + 2) // 3)

    def test_numbers_have_three_digits(self):
        self.assertEqual([page.number(value) for value in (0.12345, 12.345, 1234.5)], ["0.123", "12.3", "1234"])


class Data(unittest.TestCase):
    def test_every_figure_names_a_run_that_exists_and_its_place_in_the_paper(self):
        known = {*run.RUNS, *run.METHODS}
        for paper in run.PAPERS:
            for figure in paper["figures"]:
                self.assertTrue(figure["place"] and figure["as"], figure)
                for spec in [figure["here"], *figure.get("beside", [])]:
                    self.assertTrue(spec is None or spec["run"] in known, figure)

    def test_every_simulated_figure_is_among_the_cases_of_a_full_run(self):
        cases = {name for name, _, _ in run.cases_of(run.PAPERS, "full")}
        for paper in run.PAPERS:
            for figure in paper["figures"]:
                for name in (figure.get("simulated") or {}).values():
                    if isinstance(name, str):
                        self.assertTrue(any(one in cases for one in run_alternatives(name)), name)

    def test_a_failed_program_is_reported_and_the_page_written(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder) / "build"
            (build / "bin").mkdir(parents=True)
            target = pathlib.Path(folder) / "papers.md"
            target.write_text("<!-- papers -->\n<!-- end papers -->\n")
            words = ["run.py", "--only", "stream", "--build", str(build), "--page", str(target), "--json", str(build / "papers.json")]
            old = results_of({"vp": report(), "omp": report()})
            (build / "papers.json").write_text(json.dumps(old))
            with mock.patch.object(sys, "argv", words), mock.patch.object(run, "LOOK", 0), \
                 contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(run.main(), 1)
            self.assertIn("run.py: vp:", errors.getvalue())
            self.assertIn("not measured", target.read_text())
            kept = json.loads((build / "papers.json").read_text())
            self.assertEqual(sorted(kept["runs"]), ["omp", "simulated"], "the failed run keeps no figures of before")

    def test_wrong_words_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            target, empty = pathlib.Path(folder) / "papers.md", pathlib.Path(folder) / "empty.json"
            target.write_text("<!-- papers -->\n<!-- end papers -->\n")
            empty.write_text("[]")
            (pathlib.Path(folder) / "bin").mkdir()
            here = ["--page", str(target), "--build", folder]
            for words, said in (([*here, "--patience", "0"], "--patience: 0 is not"), (["--page", folder], "is no page with the line"),
                                ([*here, "--from", str(empty)], "has no results of this program"),
                                ([*here, "--run", "vp", "--json", str(empty)], "has no results of this program"),
                                ([*here, "--run", "vp", "--json", str(pathlib.Path(folder) / "absent/x.json")], "--json: nothing can be written"),
                                (["--build", str(empty), "--page", str(target)], "has no programs")):
                with mock.patch.object(sys, "argv", ["run.py", *words]), contextlib.redirect_stderr(io.StringIO()) as errors:
                    with self.assertRaises(SystemExit) as caught:
                        run.main()
                self.assertEqual((caught.exception.code, said in errors.getvalue()), (2, True), (words, errors.getvalue()))


def is_running(pid):
    """Whether a process exists that has not ended: its parent may not have asked yet."""
    try:
        return pathlib.Path(f"/proc/{pid.strip()}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Programs(unittest.TestCase):
    """Programs that do not end by themselves."""

    def setUp(self):
        context = contextlib.ExitStack()
        self.addCleanup(context.close)
        context.enter_context(mock.patch.object(run, "GRACE", 0.5))
        context.enter_context(contextlib.redirect_stdout(io.StringIO()))

    def test_a_program_that_ignores_sigterm_is_killed(self):
        with self.assertRaisesRegex(RuntimeError, "it was ended after 0.5 s"):
            run.start(["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"], 0.5, "stubborn")

    def test_what_a_dead_program_has_left_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            pid = pathlib.Path(folder) / "pid"
            with self.assertRaisesRegex(RuntimeError, "it was ended after 0.5 s"):
                run.start(["sh", "-c", f"sleep 600 & echo $! > {pid}; exit 3"], 0.5, "left")
            self.assertFalse(is_running(pid.read_text()))

    def test_other_programs_are_seen(self):
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process, mock.patch.object(run, "LOOK", 0.5):
            busy = run.busy_cores()
            process.kill()
        self.assertGreater(busy, 0.1)

    def test_sigterm_ends_the_program_that_runs(self):
        code = (f"import sys; sys.path.insert(0, {str(ROOT / 'bench/papers')!r}); import run, signal; signal.signal(signal.SIGTERM, run.ended); "
                "run.start(['sh', '-c', 'echo $$ > pid; exec sleep 600'], 600, 'sleeper')")
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([sys.executable, "-c", code], cwd=folder, stdout=subprocess.DEVNULL) as process:
                written = pathlib.Path(folder) / "pid"
                while process.poll() is None and not (written.exists() and written.read_text().strip()):
                    time.sleep(0.02)
                process.terminate()
                self.assertEqual(process.wait(), 128 + signal.SIGTERM)
            self.assertFalse(is_running(written.read_text()))


def run_alternatives(name):
    from results import alternatives

    return alternatives(name)


if __name__ == "__main__":
    unittest.main()
