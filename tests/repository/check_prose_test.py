"""Sentences without a subject, merged contracts and bad subjects are complaints; plain sentences and code are none."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("TW_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT / "scripts"))
import check_prose

SOURCE = "src/engine/plan/plan.hpp"
HEADER = "include/thalweg/file.h"


def found_in(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return list(check_prose.prose_complaints(pathlib.Path(folder)))


class CheckProse(unittest.TestCase):
    def test_sentences_with_a_subject_are_clean(self):
        for name, text in {
            SOURCE: "// Reads a plan. The first of two plans is kept; its size is that of the file.\nint size;  // of the plan\n",
            HEADER: "/* Reads.\n * Call:     collective.\n * Blocking: until read. */\n",
            "docs/a.md": "# A\n\nThe plan.\n\n```c\n/* Of a plan */\n```\n\n    Of a command\n",
            "scripts/a.py": "#!/usr/bin/env python3\n# Reads the plan.\nsize = 1  # of the plan\n",
        }.items():
            self.assertEqual(found_in(name, text), [], name)

    def test_sentences_without_a_subject_are_named_with_their_line(self):
        for name, text, line in [
            (SOURCE, "int a;\n// Reads a plan. Of a plan that is empty nothing is kept.\n", 2),
            (SOURCE, "int a;  // The same for a file\n", 1),
            (SOURCE, "/* Reads.\n   The same, as text. */\n", 1),
            ("docs/a.md", "# A\n\n| a |\n|---|\n\nIt is read. Of the rest the size is kept.\n", 6),
            ("scripts/a.sh", "set -e\n# Of the files: the last.\n", 2),
        ]:
            found = found_in(name, text)
            self.assertEqual(len(found), 1, (text, found))
            self.assertTrue(found[0].startswith(f"{name}:{line}: a sentence begins with '"), found)

    def test_texts_of_programs_are_read_as_well(self):
        self.assertIn("a text begins with 'Of 3 files'", found_in("tools/thalweg/a.cpp", 'put("Of 3 files");\n')[0])
        self.assertEqual(found_in("tests/a.cpp", 'put("Of 3 files");\n'), [])

    def test_labels_of_a_contract_begin_their_lines(self):
        found = found_in(HEADER, "/* Reads.\n * Call:     collective. Blocking: until read. */\n")
        self.assertEqual(found, [f"{HEADER}:2: 'Blocking:' stands within a line: a contract has one line for each label"])

    def test_subjects_of_the_range_are_short_and_name_one_thing(self):
        with tempfile.TemporaryDirectory() as folder:
            def git(*arguments):
                subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false",
                                *arguments], check=True, stdout=subprocess.DEVNULL)

            for name in [name for name in os.environ if name.startswith("GIT_")]:
                del os.environ[name]  # those of a hook name another repository

            git("init", "-q")
            for subject in ["plan: read it", "plan: " + "a" * 66, "plan: " + "a" * 67, "plan: read it; store it"]:
                git("commit", "-q", "--allow-empty", "-m", subject)
            found = list(check_prose.subject_complaints(pathlib.Path(folder), ""))
            self.assertEqual(len(found), 2, found)
            self.assertIn("names more than one thing: plan: read it; store it", found[0])
            self.assertIn("has 73 characters, at most 72", found[1])
            self.assertEqual(list(check_prose.subject_complaints(pathlib.Path(folder), "HEAD~3..HEAD~2")), [])


if __name__ == "__main__":
    unittest.main()
