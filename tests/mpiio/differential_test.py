#!/usr/bin/env python3
"""Random programs of MPI_File calls on libthalweg_mpiio and on the MPI's own MPI-IO: they observe equal things.

TW_MPIIO_SEEDS="FROM N" plays other seeds. Where the lines of a step differ as a function of OWN_IS_WRONG says, the MPI's
own is known to be wrong. A program that the MPI's own ends early, or never, is compared up to there.
"""

import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.environ["TW_MPIIO"]
LAUNCH = shlex.split(os.environ["TW_MPI_LAUNCH"])
KIND = os.environ["TW_MPI_KIND"]
PROGRAM = pathlib.Path(os.environ["TW_BIN"]) / "mpiio_differential"
FROM, N = map(int, os.environ.get("TW_MPIIO_SEEDS", "0 4").split())
STEPS = 25
LIMIT_SECONDS = 100  # of ours
OWN_SECONDS = 15


class Line:
    """STEP WHAT ..., or of an access: STEP NAME at OFFSET COUNT TYPE -> CLASS BYTES COUNT CHECKSUM."""

    def __init__(self, text):
        self.words = text.split()
        self.asked, _, result = text.partition(" -> ")
        self.result = [int(word) for word in result.split()]
        self.is_read = "read" in self.asked.split()[1]


# Each takes our line, the MPI's own, and the line before.


def read_beyond_the_end(ours, own, _):
    """MPI 4.1, 14.4.1: a read that meets the end of the file gives less than was asked for; ROMIO and OMPIO give all that
    was asked for, when they read through views or into strided memory."""
    both = ours.is_read and own.is_read and len(ours.result) == len(own.result) == 4
    return both and ours.asked == own.asked and ours.result[0] == own.result[0] == 0 and ours.result[1] < own.result[1]


def refused_seek(ours, own, _):
    """MPI 4.1, 9.4: an invalid argument that has no class of its own is MPI_ERR_ARG; OMPIO gives MPI_ERR_OTHER for a seek
    before the view."""
    equal = ours.words[:-1] == own.words[:-1]
    return KIND == "openmpi" and equal and ours.words[1] in ("seek", "seek_shared") and ours.words[-1] == "13"


def end_of_a_view(ours, own, before):
    """MPI 4.1, 14.1.1: the end of file in a view is the offset of the first etype of the view that begins behind the last
    byte of the file; OMPIO takes another place in views with holes."""
    seeks = [line.words[1:3] in (["seek", "end"], ["seek_shared", "2"]) for line in (ours, before)]
    kept = 1 if seeks[0] else 2  # the class of the seek; the class and the position that are asked for then
    return KIND == "openmpi" and any(seeks) and ours.words[:-kept] == own.words[:-kept]


def position_behind_a_short_read(ours, own, before):
    """MPI 4.1, 14.6.10: file pointers are updated by the amount accessed; at the end of the file OMPIO moves them by the
    amount that was asked for, and so does ROMIO in MPI_File_iread and where bytes are not contiguous."""
    is_move = ours.words[1] == "position" and "from" in ours.words
    if not is_move or not before.is_read or before.result[0] != 0:
        return False
    start, asked, etype_bytes = (int(ours.words[i]) for i in (5, 7, 9))
    accessed = before.result[1] // etype_bytes
    positions = int(ours.words[3]), int(own.words[3])
    equal = ours.words[:3] + ours.words[4:] == own.words[:3] + own.words[4:]
    return equal and accessed < asked and positions == (start + accessed, start + asked)


def bytes_of_a_vector(ours, own, _):
    """Where memory is a vector with gaps, a collective read of OMPIO may give other bytes, always the same ones (seed
    20786002); ROMIO gives those of ours."""
    is_one = ours.is_read and ours.words[1].endswith("_all") and "vector(" in ours.asked
    return KIND == "openmpi" and is_one and ours.asked == own.asked and ours.result[:3] == own.result[:3]


OWN_IS_WRONG = [read_beyond_the_end, refused_seek, end_of_a_view, position_behind_a_short_read, bytes_of_a_vector]


def play(seed, ranks, folder, preload):
    """The lines of each rank's log, how the run ended, and what it printed."""
    environment = {**os.environ, **({"LD_PRELOAD": LIBRARY} if preload else {})}
    command = [*LAUNCH, "-n", str(ranks), str(PROGRAM), str(seed), str(STEPS), folder]
    limit = LIMIT_SECONDS if preload else OWN_SECONDS
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as started:
        try:
            words, _ = started.communicate(timeout=limit)
            status = started.returncode
        except subprocess.TimeoutExpired:
            started.send_signal(signal.SIGTERM)  # the launcher ends its ranks
            words = started.communicate()[0] + f"no end within {limit} s"
            status = signal.SIGTERM  # MPICH's launcher now and then says 0
    logs = [pathlib.Path(folder) / f"log.{rank}" for rank in range(ranks)]
    return [log.read_text().splitlines() if log.exists() else [] for log in logs], status, words


def differences(ours, own):
    for rank, (mine, theirs) in enumerate(zip(ours, own)):
        for before, one, other in zip(["-1 begin", *mine], mine, theirs):
            if one == other:
                continue
            if not any(known(Line(one), Line(other), Line(before)) for known in OWN_IS_WRONG):
                yield f"rank {rank}\n  ours: {one}\n  own:  {other}"


class Differential(unittest.TestCase):
    def compare(self, seed, ranks):
        """How many lines were compared."""
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            ours, status, words = play(seed, ranks, one, True)
            self.assertEqual(status, 0, words)
            own, ended, words = play(seed, ranks, other, False)
        if ended == 0:
            self.assertEqual([len(log) for log in ours], [len(log) for log in own], words)
        self.assertEqual(list(differences(ours, own)), [], words)
        return sum(map(len, own)), sum(map(len, ours))

    def test_programs_observe_equal_things(self):
        compared = played = 0
        for seed in range(FROM, FROM + N):
            ranks = (1, 2, 3, 5)[seed % 4]
            with self.subTest(seed=seed, ranks=ranks):
                lines = self.compare(seed, ranks)
                compared, played = compared + lines[0], played + lines[1]
        print(f"{compared} of {played} observations compared")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
