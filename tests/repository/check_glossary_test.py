"""The glossary has a line for every type, class and noun of a hint."""

import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("TW_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT / "scripts"))
import check_glossary

TREE = {
    "include/thalweg/file.h": "typedef struct tw_file tw_file; /* open */\n\ntypedef struct tw_extent {\n  int n;\n} tw_extent;\n"
                              "typedef int32_t tw_order;\ntypedef int (*tw_walk_fn)(const tw_extent* extent, void* user);\n",
    "src/engine/plan/plan.hpp": "class Forward;\nstruct Plan {\n  struct Inner {};\n};\ntemplate <class T>\nclass Map final : public Base<T> {\n};\n",
    "src/multifile/a.hpp": "enum class Mode { read };\n",
    "src/vpfile/b.hpp": "",
    "src/base/hint_table.cpp": 'kTable[] = {\n    {"queue_depth", HintType::count, "4"},\n};\n',
}
NAMES = ["`tw_file`", "`tw_extent`", "`tw_order`", "`tw_walk_fn`", "`Plan`", "`Map`", "`Mode`", "queue depth"]


def found_with(names):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**TREE, "docs/glossary.md": "".join(f"| {name} | meaning |\n" for name in names)}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return list(check_glossary.complaints(root))


class CheckGlossary(unittest.TestCase):
    def test_a_complete_glossary_is_clean(self):
        self.assertEqual(found_with(NAMES), [])

    def test_each_line_that_is_missing_is_named_once(self):
        for name in NAMES[:-1]:
            found = found_with([other for other in NAMES if other != name])
            self.assertEqual(len(found), 1, found)
            self.assertIn(name.strip("`"), found[0])

    def test_the_nouns_of_hints_are_wanted(self):
        self.assertIn("'queue' of the hint 'queue_depth'", "\n".join(found_with(NAMES[:-1] + ["depth"])))

    def test_a_name_that_is_gone_and_a_name_with_two_lines_are_complaints(self):
        self.assertIn("'Inner' is not a type", "\n".join(found_with([*NAMES, "`Inner`"])))
        self.assertIn("'Plan' has two lines", "\n".join(found_with([*NAMES, "plan, `Plan`"])))


if __name__ == "__main__":
    unittest.main()
