#!/usr/bin/env python3
"""Read a Thalweg multifile without the library: an independent reader, written from docs/format/multifile.md.

Usage: multifile_reader.py [--recover] (--list | --cat RANK | --check) FILE
  --list     one line per logical file: rank, bytes, pieces, flags, mode, name; then the attributes
  --cat      the bytes of one logical file to standard output
  --check    read everything, verify every checksum, print "ok"
  --recover  read a file that was not closed, as section 7 of the document says
Exit status: 0 fine, 1 refused (standard error begins with the name of the status code), 2 usage.
"""

import argparse
import bisect
import struct
import sys

from multifile_base import BOUNDS, TABLE, Refused, need
from multifile_physical import Physical, parse_attributes
from multifile_recovery import Recovery


class Multifile:
    def __init__(self, path, recover=False):
        self.path, self.recover = path, recover
        first = Physical(path, 0)
        self.parts = [first] + [Physical(f"{path}.{k:06d}", k) for k in range(1, first.n_physical)]
        same = ("uuid", "n_logical", "n_physical", "mapping", "checksum", "alignment", "granule")
        for part in self.parts:
            need(all(getattr(part, f) == getattr(first, f) for f in same), f"{part.path} belongs to another multifile")
        self.place = self.read_table(first) if first.mapping else self.read_bounds(first)
        self.attributes = [self.open_part(part) for part in self.parts][0]

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
            return Recovery(part, slot).attributes
        need(slot is not None, f"{part.path}: neither state slot is valid")
        need(not torn, f"{part.path}: a state slot is damaged")
        need(slot[1] == 2, f"{part.path} was not closed", "TW_ERR_NOT_CLOSED")
        need(slot[4] <= part.size, f"{part.path}: truncated, it should have {slot[4]} bytes")
        return parse_attributes(part.load_index(slot))

    def logical(self, rank):
        need(0 <= rank < self.parts[0].n_logical, f"there is no logical file {rank}", "TW_ERR_NOT_FOUND")
        k, local = self.place(rank)
        return self.parts[k].files[local], self.parts[k].names[local]

    def __iter__(self):
        return (self.logical(rank) for rank in range(self.parts[0].n_logical))


def main(argv):
    parser = argparse.ArgumentParser(description="independent reader of Thalweg multifiles")
    parser.add_argument("--recover", action="store_true")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true")
    what.add_argument("--cat", type=int, metavar="RANK")
    what.add_argument("--check", action="store_true")
    parser.add_argument("file")
    arguments = parser.parse_args(argv)
    try:
        multifile = Multifile(arguments.file, arguments.recover)
        if arguments.cat is not None:
            for block in multifile.logical(arguments.cat)[0].blocks():
                sys.stdout.buffer.write(block)
        for logical, name in multifile if arguments.list else ():
            print(logical.rank, logical.size, len(logical.pieces), logical.flags, oct(logical.mode), name.decode(errors="replace"))
        for key, value in multifile.attributes.items() if arguments.list else ():
            print(f"{key.decode(errors='replace')}={value.decode(errors='replace')}")
        if arguments.check:
            for logical, _name in multifile:
                for _block in logical.blocks():
                    pass
            print("ok")
    except Refused as refused:
        print(f"{refused.code}: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
