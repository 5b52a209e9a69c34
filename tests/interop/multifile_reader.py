#!/usr/bin/env python3
"""Read a Thalweg multifile without the library: an independent reader, written from docs/format/multifile.md.

Usage: multifile_reader.py [--recover] (--list | --cat RANK | --find NAME [--part NUMBER] | --check) FILE
  --list     one line per logical file: rank, bytes, pieces, flags, mode, name; then the attributes
  --cat      the bytes of one logical file to standard output
  --find     the rank of the logical file that is found by this name, and part where it is one of an array
  --check    read everything, verify every checksum and that the places of the names agree with them, print "ok"
  --recover  read a file that was not closed, as section 7 of the document says
Exit status: 0 fine, 1 refused (standard error begins with the name of the status code), 2 usage.
"""

import argparse
import bisect
import os
import struct
import sys

from multifile_base import BOUNDS, FIRST_ADDED, LIMIT, TABLE, Refused, crc32c, is_added, need, split_name
from multifile_physical import Logical, Physical, parse_attributes
from multifile_recovery import Recovery
from multifile_scan import Scan


class Multifile:
    def __init__(self, path, recover=False):
        self.path, self.recover, self.recovered = path, recover, set()
        first = Physical(path, 0)
        self.parts = [first] + [Physical(f"{path}.{k:06d}", k) for k in range(1, first.n_physical)]
        same = ("uuid", "n_logical", "n_physical", "n_later", "mapping", "checksum", "alignment", "granule")
        for part in self.parts:
            need(all(getattr(part, f) == getattr(first, f) for f in same), f"{part.path} belongs to another multifile")
        self.place = self.read_table(first) if first.mapping else self.read_bounds(first)
        self.attributes = [self.open_part(part) for part in self.parts][0]
        self.runs = self.found_runs() if 0 in self.recovered else self.checked_runs(first)
        self.first_ranks = [first.n_logical]  # of each run; then the number of all logical files
        for _number, count, _k in self.runs:
            self.first_ranks.append(self.first_ranks[-1] + count)

    def read_bounds(self, first):
        bounds = struct.unpack(f"<{first.n_physical + 1}Q",
                               first.section(BOUNDS, first.map_offset, first.n_physical + 1, 8))
        need(bounds[0] == 0 and bounds[-1] == first.n_logical and list(bounds) == sorted(bounds), "bounds section")
        for k, part in enumerate(self.parts):
            need((part.first, part.n_local) == (bounds[k], bounds[k + 1] - bounds[k]), f"{part.path}: its ranks")

        def place(rank):
            k = bisect.bisect_right(bounds, rank) - 1
            return k, rank - bounds[k]
        return place

    def read_table(self, first):
        table = list(struct.iter_unpack("<II", first.section(TABLE, first.map_offset, first.n_logical, 8)))
        need(sum(p.n_local for p in self.parts) == len(table), "table section: number of logical files")
        for rank, (k, local) in enumerate(table):
            need(k < len(self.parts) and local < self.parts[k].n_local and self.parts[k].ranks[local] == rank,
                 f"table section: rank {rank}")
        return table.__getitem__

    def open_part(self, part):
        slot, torn = part.slots()
        closed = slot is not None and slot[1] == 2 and not torn and slot[4] <= part.size
        if self.recover:
            try:
                if closed:
                    return parse_attributes(part.load_index(slot))
            except Refused:
                pass
            self.recovered.add(part.number)
            return Recovery(part, slot).attributes
        need(slot is not None, f"{part.path}: neither state slot is valid")
        need(not torn, f"{part.path}: a state slot is damaged")
        need(slot[1] == 2, f"{part.path} was not closed", "TW_ERR_NOT_CLOSED")
        need(slot[4] <= part.size, f"{part.path}: truncated, it should have {slot[4]} bytes")
        return parse_attributes(part.load_index(slot))

    def checked_runs(self, first):
        end = FIRST_ADDED
        for number, count, k in first.runs:
            need(end <= number and 1 <= count <= LIMIT - number, "runs of added logical files: they do not ascend")
            need(k < len(self.parts), f"runs of added logical files: physical file {k}")
            end = number + count
        return first.runs

    def found_runs(self):
        """The runs of the base index, and one for each other added logical file that the physical files have."""
        base = self.parts[0].base_runs
        held = [number for number, _count, _k in base]

        def is_held(number):
            run = bisect.bisect_right(held, number) - 1
            return run >= 0 and number < base[run][0] + base[run][1]
        found = ((number, 1, part.number) for part in self.parts for number in part.added if not is_held(number))
        return sorted([*base, *found])

    def __len__(self):
        return self.first_ranks[-1]

    def logical(self, rank):
        need(0 <= rank < len(self), f"there is no logical file {rank}", "TW_ERR_NOT_FOUND")
        if rank < self.first_ranks[0]:
            k, local = self.place(rank)
            return self.parts[k].files[local]
        run = bisect.bisect_right(self.first_ranks, rank) - 1
        number, _count, k = self.runs[run]
        number += rank - self.first_ranks[run]
        return self.parts[k].added.get(number) or Logical(self.parts[k], number)  # one without an entry is empty

    def rank_of(self, k, local):
        """The rank of a local index or number of a physical file."""
        if not is_added(local):
            need(local < self.parts[k].n_local, f"{self.parts[k].path} has no logical file {local}")
            return self.parts[k].ranks[local]
        run = bisect.bisect_right(self.runs, (local, LIMIT + 1)) - 1
        need(run >= 0 and local - self.runs[run][0] < self.runs[run][1] and self.runs[run][2] == k,
             f"no run holds the added logical file {local}")
        return self.first_ranks[run] + local - self.runs[run][0]

    def __iter__(self):
        return (self.logical(rank) for rank in range(len(self)))

    def find(self, name, part=None):
        """The rank of the logical file that is found by a name, from the places of the names where they count."""
        stored = name if part is None else name + b"\0" + part.to_bytes(8, "little")
        if self.recovered:
            ranks = [rank for rank, logical in enumerate(self) if logical.name == stored]
        else:
            places = self.parts[0].places
            at = bisect.bisect_left(places, (crc32c(stored),))
            ranks = []
            while at < len(places) and places[at][0] == crc32c(stored):
                need(places[at][1] < len(self.parts), f"place of a name: physical file {places[at][1]}")
                ranks.append(self.rank_of(*places[at][1:]))
                at += 1
            ranks = [rank for rank in ranks if self.logical(rank).name == stored]
        need(stored and ranks, f"there is no logical file {name!r}", "TW_ERR_NOT_FOUND")
        return max(ranks)

    def check_names(self):
        """Refuses places of names that are not those of the logical files that have them, in their order."""
        def order(place):
            crc, k, local = place
            return crc, is_added(local), 0 if is_added(local) else k, local
        named = [(crc32c(logical.name), part.number, local) for part in self.parts
                 for local, logical in [*enumerate(part.files), *part.added.items()] if logical.name]
        need(self.parts[0].places == sorted(named, key=order), "the places of the names are not those of the names")

    def check(self):
        """Reads and verifies everything."""
        for logical in self:
            for _block in logical.blocks():
                pass
        if self.recovered:
            return
        for part in self.parts:
            for number in part.added:
                self.rank_of(part.number, number)
            Scan(part).check_closed(part.slots()[0])
        self.check_names()


def main(argv):
    parser = argparse.ArgumentParser(description="independent reader of Thalweg multifiles")
    parser.add_argument("--recover", action="store_true")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true")
    what.add_argument("--cat", type=int, metavar="RANK")
    what.add_argument("--find", metavar="NAME")
    what.add_argument("--check", action="store_true")
    parser.add_argument("--part", type=int, metavar="NUMBER")
    parser.add_argument("file")
    arguments = parser.parse_args(argv)
    try:
        multifile = Multifile(arguments.file, arguments.recover)
        if arguments.cat is not None:
            for block in multifile.logical(arguments.cat).blocks():
                sys.stdout.buffer.write(block)
        if arguments.find is not None:
            print(multifile.find(os.fsencode(arguments.find), arguments.part))
        for rank, logical in enumerate(multifile) if arguments.list else ():
            name, part = split_name(logical.name)
            print(rank, logical.size, len(logical.pieces), logical.flags, oct(logical.mode), name.decode(errors="replace"),
                  *(() if part is None else (f"part {part}",)))
        for key, value in multifile.attributes.items() if arguments.list else ():
            print(f"{key.decode(errors='replace')}={value.decode(errors='replace')}")
        if arguments.check:
            multifile.check()
            print("ok")
    except Refused as refused:
        print(f"{refused.code}: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
