#!/usr/bin/env python3
"""thalweg check: its answer, the saved one, and the library's use of it, on one node. tests/nodes has several."""

import json
import os
import subprocess

from cli_support import DAMAGED, FINE, IO_ERROR, THALWEG, USAGE, CliTest, main

DUTY = DAMAGED
CHECKS = ["locks on a node", "locks across nodes", "reads of other nodes", "tw_file_sync", "pages of two nodes",
          "files replaced while open", "names of other nodes", "O_DIRECT", "fallocate", "holes", "sync of folders", "nameless files"]
ACROSS = ["locks across nodes", "reads of other nodes", "tw_file_sync", "pages of two nodes", "names of other nodes"]


class Check(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {k: v for k, v in os.environ.items() if k not in ("THALWEG_PROFILE", "THALWEG_PROBE")}
        self.environment["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.profile = self.folder / "config/thalweg/storage.json"
        (self.folder / "data").mkdir()

    def check(self, *words, expect=FINE, before=(), **environment):
        done = subprocess.run([*before, THALWEG, "check", *words], capture_output=True, cwd=self.folder, timeout=120,
                              env=self.environment | environment, text=True)
        self.assertEqual(done.returncode, expect, f"{words}: {done.stdout}{done.stderr}")
        return done

    def check_json(self, *words, **how):
        result = json.loads(self.check("--json", *words, **how).stdout)
        self.assertEqual(result["command"], "check")
        self.assertEqual(result["exit_code"], how.get("expect", FINE))
        return result

    def kept(self):
        return json.loads(self.profile.read_text())

    def storage_line(self):
        out = self.thalweg("tune", "--show", "data", "--json", env=self.environment)[0]
        return json.loads(out)["write"].splitlines()[0]

    def test_one_node_on_a_local_file_system(self):
        result = self.check_json("data")

        self.assertEqual([each["check"] for each in result["checks"]], CHECKS)
        for each in result["checks"]:
            self.assertEqual(each["result"] == "-", each["check"] in ACROSS, each)
            self.assertFalse(each["duty"])
            self.assertTrue(each["reason"], each)
        found = {each["check"]: each["result"] for each in result["checks"]}
        for name in ("locks on a node", "files replaced while open", "fallocate"):
            self.assertEqual(found[name], "yes")
        self.assertEqual(result["file"], "data")
        self.assertEqual(len(result["nodes"]), 1)
        self.assertTrue(result["known_coherent"])
        self.assertIn("MiB free", result["room"])
        self.assertEqual(os.listdir(self.folder / "data"), [])

    def test_the_text_has_a_line_for_each(self):
        out = self.check("data").stdout

        for name in CHECKS:
            self.assertIn(f" {name} ", out)
        self.assertIn("kept in '", out)
        self.assertEqual(self.check("data", "--quiet").stdout, "")

    def test_the_answer_is_kept_beside_the_measurements(self):
        self.profile.parent.mkdir(parents=True)
        before = {"version": 1, "more": "x", "file_systems": [{"id": "other"}], "checks": {"other": {"coherent": "no"}}}
        self.profile.write_text(json.dumps(before))

        result = self.check_json("data")

        kept = self.kept()
        self.assertEqual(result["profile"], str(self.profile))
        (identity,) = result["file_systems"]
        self.assertEqual(kept["checks"].pop(identity).keys() - {"direct_alignment"}, {"checked"})
        self.assertEqual(kept, before)
        self.assertEqual(os.listdir(self.profile.parent), ["storage.json"])

    def test_what_several_nodes_saw_stays(self):
        (identity,) = self.check_json("data")["file_systems"]
        self.profile.write_text(json.dumps({"version": 1, "file_systems": [],
                                            "checks": {identity: {"coherent": "no", "locks": "node", "checked": "before"}}}))
        self.check("data")

        self.assertEqual(self.kept()["checks"][identity]["coherent"], "no")
        self.assertEqual(self.kept()["checks"][identity]["locks"], "node")
        self.assertNotEqual(self.kept()["checks"][identity]["checked"], "before")

    def test_the_library_uses_the_answer(self):
        (identity,) = self.check_json("data")["file_systems"]
        self.assertNotIn("tw_file_sync", self.storage_line())

        profile = self.kept()
        profile["checks"][identity]["coherent"] = "no"
        self.profile.write_text(json.dumps(profile))

        self.assertIn("nodes see each other's writes after tw_file_sync()", self.storage_line())

    def test_tune_leaves_the_answer_alone(self):
        self.check("data")
        before = self.kept()["checks"]
        self.thalweg("tune", "data", "--size", "1MiB", "--repetitions", "1", "--no-methods", "--quiet", env=self.environment)

        self.assertEqual(self.kept()["checks"], before)

    def test_nothing_is_kept_without_a_profile(self):
        self.assertIsNone(self.check_json("data", THALWEG_PROFILE="none")["profile"])
        self.leftovers("data")

    def test_what_is_no_profile_is_not_overwritten(self):
        self.profile.parent.mkdir(parents=True)
        self.profile.write_text('{"version": 2}')

        self.assertIn("not a profile", self.check("data", expect=IO_ERROR).stderr)
        self.assertEqual(self.profile.read_text(), '{"version": 2}')

    def test_trust_is_not_needed_where_the_kind_is_known(self):
        result = self.check_json("data", "--trust")

        self.assertEqual([each["result"] for each in result["checks"] if each["check"] == "trust"], ["yes"])
        self.assertNotIn("coherent", self.kept()["checks"][result["file_systems"][0]])

    def test_wrong_usage(self):
        self.check(expect=USAGE)
        self.check("data", "--frobnicate", expect=USAGE)
        self.check("data", "more", expect=USAGE)

    def test_wrong_folders_are_named(self):
        self.write("file")
        for wrong in ("missing", "file"):
            done = self.check(wrong, expect=IO_ERROR)
            self.assertTrue(done.stderr.startswith("thalweg: "), done.stderr)
            self.assertIn(f"'{wrong}' is not a folder that you may use", done.stderr)
        self.assertIn("not a folder", self.check_json("missing", expect=IO_ERROR)["error"]["message"])

    def test_a_folder_that_cannot_be_written_to(self):
        mount = self.mounted("data", "-o", "ro")
        done = self.check("data", expect=IO_ERROR, before=mount)

        self.assertIn("Read-only file system", done.stderr)
        self.assertIn("data/.thalweg-check-", done.stderr)

    def test_a_full_folder(self):
        done = self.check("data", expect=IO_ERROR, before=self.mounted("data", "-o", "size=8k"))

        self.assertIn("No space left on device", done.stderr)
        self.assertIn("not kept", done.stdout)

    def test_tmpfs(self):
        result = json.loads(self.check("data", "--json", before=self.mounted("data", "-o", "size=16m")).stdout)

        (identity,) = result["file_systems"]
        self.assertTrue(identity.startswith("tmpfs-"))
        self.assertNotIn("direct_alignment", self.kept()["checks"][identity])

    # Words that start a program which sees a tmpfs at the folder.
    def mounted(self, folder, *options):
        mount = f'mount -t tmpfs {" ".join(options)} none {folder} && exec "$@"'
        for how in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
            before = [*how, "sh", "-c", mount, "sh"]
            if subprocess.run([*before, "true"], capture_output=True, cwd=self.folder, timeout=60).returncode == 0:
                return before
        self.skipTest("no file system may be mounted here")

    def test_without_the_program_it_says_what_to_do(self):
        for wrong in ("/no/such/probe", str(self.folder)):
            done = self.check("data", expect=IO_ERROR, THALWEG_PROBE=wrong)
            self.assertIn(wrong, done.stderr)
            self.assertIn("THALWEG_PROBE", done.stderr)


if __name__ == "__main__":
    main()
