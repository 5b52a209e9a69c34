#!/usr/bin/env python3
"""Every built method writes and reads every byte in each phase: odd grids, shapes that the grid does not divide, ranks
without elements, both orders, 1 to 3 dimensions. The program verifies the bytes of every phase; the test checks that it
ran and reported all phases."""

import math

from probe_support import GLOBAL, OVERLAPPING, ProbeTest, built, cell, main

QUICK = ("--repeat", "1", "--no-warm-up")


class Bytes(ProbeTest):
    def check(self, ranks, cells):
        words = [word for one in cells for word in ("--cell", cell(*one))]
        launch = self.measure(ranks, *QUICK, *words)

        expected = [(id, *self.members(*one), phase) for one in cells for id in built() for phase in self.phases(id, ranks)]
        got = [(time["method"], *self.members_of(time["cell"]), time["phase"]) for time in launch.time]
        self.assertEqual(sorted(got), sorted(expected))
        facts = [(record["method"], *self.members_of(record["cell"])) for record in launch.facts]
        self.assertEqual(sorted(facts), sorted((id, *self.members(*one)) for one in cells for id in built()))
        self.assertEqual({time["cell"]["ranks"] for time in launch.time}, {ranks})
        for time in launch.time:
            self.assertEqual(time["bytes"], 4 * math.prod(time["cell"]["shape"]))
            self.assertIn(time.get("readers"), (None, (ranks + 1) // 2))
        self.assertEqual(list(self.folder.iterdir()), [], "something was left behind")
        return launch

    @staticmethod
    def members(shape, grid, order="c"):
        return tuple(shape), tuple(grid), order

    def members_of(self, cell):
        return self.members(cell["shape"], cell["grid"], cell["order"])

    @staticmethod
    def phases(id, ranks):
        phases = {"write", "read", "serial"}
        if ranks > 1:
            phases.add("restart")
        if id not in GLOBAL:
            phases.add("merge")
        if id in OVERLAPPING:
            phases.add("overlap")
        return phases

    def test_one_rank(self):
        launch = self.check(1, [((7, 5), (1, 1)), ((1, 1), (1, 1), "f"), ((3, 4, 5), (1, 1, 1), "f"), ((9,), (1,))])

        self.assertEqual({skipped["phase"] for skipped in launch.skipped}, {"restart"})

    def test_three_ranks_side_by_side(self):
        self.check(3, [((7, 5), (1, 3), "c"), ((7, 5), (1, 3), "f"), ((2, 1), (1, 3), "c")])

    def test_four_ranks_in_two_and_three_dimensions(self):
        self.check(4, [((7, 5), (2, 2), "f"), ((3, 4, 5), (2, 1, 2), "c"), ((3, 4, 1), (2, 1, 2), "f")])

    def test_five_ranks_one_below_the_other(self):
        self.check(5, [((7, 5), (5, 1), "c"), ((3, 2), (5, 1), "f")])

    def test_six_ranks(self):
        self.check(6, [((64, 33), (3, 2), "f")])

    # Rows of unequal lengths, also none for a rank.
    def test_ragged_arrays(self):
        for ranks in (1, 3):
            fit = [id for id in built() if id not in ("tw-vpfile", "pnetcdf")]
            launch = self.measure(ranks, *QUICK, "--cell", cell((41, 7), (ranks, 1), ragged=True),
                                  "--cell", cell((2, 3), (ranks, 1), ragged=True))
            got = sorted((time["method"], tuple(time["cell"]["shape"]), time["phase"]) for time in launch.time)
            self.assertEqual(got, sorted((id, shape, phase) for id in fit for shape in ((41, 7), (2, 3)) for phase in self.phases(id, ranks)))
            self.assertTrue(all(time["cell"]["ragged"] for time in launch.time))
            unfit = {skipped["method"] for skipped in launch.skipped if skipped["phase"] == "write"}
            self.assertEqual(unfit, {id for id in built() if id not in fit})

    # Durable files, and pages that are dropped before reads where the storage is more than memory.
    def test_the_other_caches(self):
        for cache in ("sync", "drop"):
            launch = self.measure(2, *QUICK, "--cache", cache, "--cell", cell((130, 70), (2, 1)))
            self.assertEqual({time["cell"]["cache"] for time in launch.time}, {cache})
            self.assertEqual({time["cache"] for time in launch.time if time["phase"] == "write"}, {"sync"})
            self.assertLessEqual({time["cache"] for time in launch.time if time["phase"] == "read"}, {"warm", cache} - {"sync"})

    def test_repetitions_are_interleaved_and_the_first_is_not_timed(self):
        launch = self.measure(2, "--repeat", "4", "--methods", "gather,file-per-task,tw-collective", "--phases", "write,read",
                              "--cell", cell((8, 8), (2, 1)))

        self.assertEqual({(time["repetition"], time["phase"]) for time in launch.time},
                         {(n, phase) for n in (1, 2, 3, 4) for phase in ("write", "read")})
        self.assertEqual(len(launch.facts), 3)
        orders = {tuple(time["method"] for time in launch.time if (time["repetition"], time["phase"]) == (n, "write")) for n in (1, 2, 3, 4)}
        self.assertGreater(len(orders), 1)


if __name__ == "__main__":
    main()
