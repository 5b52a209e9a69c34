"""The stages of make test-all that a CI run adds."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ.get("TW_SOURCE", os.path.join(os.path.dirname(__file__), "../..")), "scripts"))
import choose_stages

MINUTES = 22
TIMES = {name: minutes for name, minutes, _ in choose_stages.STAGES}


class ChooseStages(unittest.TestCase):
    def test_five_runs_in_a_row_run_every_stage(self):
        for changed in (None, ["src/engine/collective.cpp"], ["src/vpfile/stream.cpp"], ["src/base/status.cpp", "include/thalweg/file.h"]):
            for first in range(7):
                runs = [choose_stages.choose(MINUTES, commits, changed) for commits in range(first, first + 5)]
                self.assertEqual(set().union(*runs), set(TIMES), changed)

    def test_the_time_is_kept(self):
        for changed in (None, ["src/engine/collective.cpp"], ["bindings/python/src/thalweg/vp.py", "include/thalweg/file.h"]):
            for commits in range(10):
                chosen = choose_stages.choose(MINUTES, commits, changed)
                self.assertLessEqual(sum(TIMES[name] for name in chosen), MINUTES)

    def test_what_a_change_touches_is_run(self):
        for commits in range(10):
            self.assertIn("archer", choose_stages.choose(MINUTES, commits, ["frontends/omp_file/team.cpp"]))
            self.assertIn("python", choose_stages.choose(MINUTES, commits, ["bindings/python/src/thalweg/vp.py"]))

    def test_a_single_stage_fits(self):
        self.assertLessEqual(max(TIMES.values()), MINUTES)


if __name__ == "__main__":
    unittest.main()
