#!/usr/bin/env python3
"""The user interface of the command: help, usage errors, exit codes, manual pages, completions, progress bar,
dependencies."""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess

from cli_support import DAMAGED, FINE, IO_ERROR, THALWEG, USAGE, CliTest, data, main

COMMANDS = ["info", "ls", "cat", "pack", "extract", "defrag", "drain", "verify", "repair", "map", "vp-flatten", "vp-import", "hints", "tune", "check", "methods", "run", "advise", "completion", "man"]
OF_PYTHON = ("methods", "advise")  # completions ask them for their options


def on_a_terminal(words, folder):
    """Runs the command with a pseudo-terminal as standard error; returns (exit code, output on the terminal)."""
    ours, theirs = pty.openpty()
    environment = dict(os.environ, TERM="xterm")
    with subprocess.Popen([THALWEG, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side closed
                break
            if not part:
                break
            seen += part
        os.close(ours)
        return process.wait(timeout=60), seen


class Interface(CliTest):
    def test_help_lists_the_commands_and_the_exit_codes(self):
        out, _ = self.thalweg("--help")

        for command in COMMANDS:
            self.assertRegex(out.decode(), rf"(?m)^  {command} +\w")
        self.assertRegex(out.decode(), r"(?m)^  1  the file is damaged or unclosed$")

    def test_help_of_every_command_tells_options_exit_codes_json_and_examples(self):
        for command in COMMANDS:
            text = self.thalweg(command, "--help")[0].decode()
            for part in ("Usage: thalweg " + command, "Exit codes:", "  4  refused for safety", "Examples:\n  "):
                self.assertIn(part, text)
            if command not in ("man", "completion", "run"):
                self.assertIn("--json", text)
                self.assertIn("Keys of --json:", text)

    def test_version(self):
        self.assertRegex(self.thalweg("--version")[0], rb"^thalweg \d+\.\d+\.\d+\n$")

    def test_usage_errors_name_the_way_out(self):
        self.assertIn("did you mean 'verify'", self.thalweg("verfiy", "x", expect=USAGE)[1])
        self.assertIn("thalweg --help", self.thalweg("frobnicate", expect=USAGE)[1])
        self.assertIn("thalweg info --help", self.thalweg("info", expect=USAGE)[1])
        self.assertIn("--nonsense", self.thalweg("info", "--nonsense", "x", expect=USAGE)[1])
        self.thalweg("info", "a", "b", expect=USAGE)
        self.thalweg("completion", "fish", expect=USAGE)
        self.thalweg("man", "frobnicate", expect=USAGE)
        nothing = subprocess.run([THALWEG], capture_output=True, timeout=60)
        self.assertEqual(nothing.returncode, USAGE)
        self.assertIn(b"Usage: thalweg", nothing.stderr)

    def test_errors_are_json_too(self):
        error = self.json("info", "missing.tw", expect=3)

        self.assertEqual(error["error"]["status"], "TW_ERR_NOT_FOUND")
        self.assertIn("missing.tw", error["error"]["message"])

    def failure(self, *words, expect=USAGE):
        """Runs a failing command; returns (standard output, standard error)."""
        done = subprocess.run([THALWEG, *words], capture_output=True, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stdout, done.stderr

    def test_usage_errors_are_json_where_json_is_asked_for(self):
        for words, command in ((["info", "--json"], "info"), (["info", "a", "b", "--json"], "info"), (["--json", "info", "x"], None),
                               (["pack", "--json", "--nonsense", "x"], "pack"), (["verfiy", "x", "--json"], None),
                               (["map", "--json", "a.tw", "m.png", "--format", "png"], "map")):
            with self.subTest(words):
                out, message = self.failure(*words)
                result = json.loads(out)
                self.assertEqual((result["command"], result["exit_code"], result["error"]["status"]), (command, USAGE, None))
                self.assertEqual(message.decode(), f"thalweg: {result['error']['message']}\n")
        self.assertEqual(self.failure("info", "--nonsense", "--", "--json")[0], b"")  # after "--" it is a name

    def test_failures_of_cat_are_json_on_standard_error(self):
        for words, code in ((["missing.tw", "-t", "0"], IO_ERROR), (["missing.tw"], USAGE), (["x", "--task", "one"], USAGE)):
            with self.subTest(words):
                out, message = self.failure("cat", "--json", *words, expect=code)
                result = json.loads(message)
                self.assertEqual((out, result["command"], result["exit_code"]), (b"", "cat", code))
                self.assertTrue(result["error"]["message"])

    def test_a_damaged_file_gives_one_object(self):
        self.write("a", data(100_000))
        self.thalweg("pack", "t.tw", "a")
        image = bytearray((self.folder / "t.tw").read_bytes())
        image[image.index(data(100_000)[:64]) - 4096] ^= 1  # the frame
        (self.folder / "t.tw").write_bytes(image)

        result = json.loads(self.failure("info", "--json", "t.tw", expect=DAMAGED)[0])

        self.assertEqual((result["exit_code"], result["error"]["status"]), (DAMAGED, "TW_ERR_CORRUPT"))

    def test_a_full_disk_behind_any_output_is_an_error(self):
        self.write("a", b"x")
        self.thalweg("pack", "t.tw", "a")
        for words in (["--help"], ["--version"], ["info", "--help"], ["hints"], ["hints", "--json"], ["man"], ["completion", "bash"],
                      ["verify", "t.tw"], ["repair", "t.tw"], ["info", "--json", "t.tw"], ["map", "t.tw", "-"], ["pack", "n.tw", "a"],
                      ["info", "--json", "missing.tw"]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                done = subprocess.run([THALWEG, *words], stdout=full, stderr=subprocess.PIPE, cwd=self.folder, timeout=60)
                self.assertEqual(done.returncode, IO_ERROR)
                self.assertEqual(done.stderr.count(b"cannot write to standard output"), 1, done.stderr)

    def test_hints_lists_the_table(self):
        hints = {hint["name"]: hint for hint in self.json("hints")["hints"]}
        text = self.thalweg("hints")[0].decode()

        for name in ("chunk_bytes", "physical_files", "alignment_bytes", "buffer_bytes", "checksum", "compression", "verify"):
            self.assertEqual(sorted(hints[name]), ["default", "help", "name", "scope", "type", "values"])
            self.assertIn(name, text)

    def test_an_unknown_hint_gets_a_proposal(self):
        self.write("a")
        self.assertIn("chunk_bytes", self.thalweg("pack", "t.tw", "a", "--hint", "chunk_byte=1MiB", expect=USAGE)[1])

    def test_quiet_says_nothing_when_all_is_well(self):
        self.write("a", b"x")
        for words in (["pack", "t.tw", "a"], ["extract", "t.tw", "-C", "out"], ["verify", "t.tw"], ["repair", "t.tw"],
                      ["defrag", "t.tw", "d.tw"], ["map", "t.tw", "m.svg"]):
            self.assertEqual(self.thalweg(*words, "--quiet"), (b"", ""))

    def test_progress_bar_only_on_a_terminal(self):
        self.write("a", b"x" * (3 << 20))
        for words in (["pack", "t.tw", "a"], ["verify", "t.tw"], ["extract", "t.tw", "-C", "out"], ["defrag", "t.tw", "d.tw"]):
            quiet = [words[0], *words[1:], "--quiet"]
            force = [] if words[0] == "verify" else ["--force"]
            self.assertEqual(self.thalweg(*words)[1], "")
            code, seen = on_a_terminal(words + force, self.folder)
            self.assertEqual(code, FINE)
            self.assertRegex(seen.decode(), rf"\r\x1b\[K{words[0]} \[[#.]*\] +\d+ %")
            self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)  # the line is erased
            self.assertEqual(on_a_terminal(quiet + force, self.folder), (FINE, b""))

    def test_manual_pages(self):
        pages = self.folder / "man"
        pages.mkdir()

        self.thalweg("man", "--directory", "man")

        self.assertEqual(sorted(p.name for p in pages.iterdir()), sorted(["thalweg.1"] + [f"thalweg-{c}.1" for c in COMMANDS]))
        for page in pages.iterdir():
            self.assertIn(".SH EXIT STATUS", page.read_text())
        self.assertEqual(self.thalweg("man", "info")[0], (pages / "thalweg-info.1").read_bytes())
        self.assertEqual(self.thalweg("man")[0], (pages / "thalweg.1").read_bytes())

    def test_manual_pages_render_without_complaint(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        for command in [None] + COMMANDS:
            source, _ = self.thalweg("man", *([command] if command else []))
            done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=source, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""), command)
            text = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou"], input=source, capture_output=True, timeout=60).stdout
            self.assertIn(b"damaged or unclosed", text)

    def test_completions_are_valid_scripts_that_know_every_command_and_option(self):
        bash = self.thalweg("completion", "bash")[0]
        zsh = self.thalweg("completion", "zsh")[0]

        self.assertEqual(subprocess.run(["bash", "-n"], input=bash, timeout=60).returncode, 0)
        if shutil.which("zsh"):
            self.assertEqual(subprocess.run(["zsh", "-n"], input=zsh, timeout=60).returncode, 0)
        for command in COMMANDS:
            if command in OF_PYTHON:
                continue
            options = re.findall(r"(?m)^  .*?(--[a-z-]+)", self.thalweg(command, "--help")[0].decode().split("Options:")[1].split("\n\n")[0])
            for script in (bash.decode(), zsh.decode()):
                self.assertIn(f" {command})", script)
                for option in options:
                    self.assertIn(option, script)

    def complete(self, *words):
        """Returns bash's proposals for the last word."""
        script = ('source <("$0" completion bash); compopt() { :; }; COMP_WORDS=(thalweg "$@"); COMP_CWORD=$#; _thalweg_words; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        environment = {**os.environ, "PATH": f"{os.path.dirname(THALWEG)}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", script, THALWEG, *words], capture_output=True, cwd=self.folder, env=environment, timeout=60)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().split("\n")[:-1]

    def test_bash_completes(self):
        self.write("with space.tw")
        (self.folder / "folder").mkdir()

        self.assertEqual(self.complete("ver"), ["verify"])
        self.assertEqual(self.complete("pack", "--comp"), ["--compress"])
        self.assertEqual(self.complete("pack", "--compress", ""), ["zstd", "lz4"])
        self.assertIn("chunk_bytes=", self.complete("pack", "--hint", "ch"))
        self.assertEqual(self.complete("info", "wi"), ["with space.tw"])
        self.assertEqual(self.complete("extract", "-C", ""), ["folder"])
        self.assertEqual(self.complete("man", "ex"), ["extract"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh"])
        self.assertEqual(self.complete("methods", "--str"), ["--strong"])
        self.assertEqual(self.complete("advise", "--storage-b"), ["--storage-bandwidth"])
        self.assertEqual(self.complete("methods", "wi"), ["with space.tw"])

    def test_needs_no_mpi(self):
        if not shutil.which("ldd"):
            self.skipTest("no ldd")
        libraries = subprocess.run(["ldd", THALWEG], capture_output=True, timeout=60).stdout.decode()
        self.assertNotRegex(libraries, r"(?i)mpi(ch|_)|libmpi")

    def test_the_guide_names_every_command_and_exit_code(self):
        source = os.environ.get("TW_SOURCE", pathlib.Path(__file__).parents[2])
        guide = (pathlib.Path(source) / "docs/howto/command_line.md").read_text(encoding="utf-8")

        for command in COMMANDS:
            self.assertIn(f"thalweg {command}", guide)
        for code in range(5):
            self.assertRegex(guide, rf"(?m)^\| {code} \|")


if __name__ == "__main__":
    main()
