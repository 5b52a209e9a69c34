#!/usr/bin/env python3
"""Read a Thalweg vpfile without the library: an independent reader, written from docs/format/vpfile.md.

Usage: vpfile_reader.py [--shape D,D,...] [--record BYTES] [--superblocks] (--list | --cat VP | --check) FILE
  --list         one line per stream: number, bytes, bytes of them in the IB segment
  --cat          the bytes of one stream to standard output
  --check        read everything, verify every checksum, print "ok"
  --shape        the shape, where there is no FILE.meta
  --record       bytes of a record of an array without FILE.meta; without it, what each VP has is one record
  --superblocks  do without FILE.first, FILE.dir and FILE.batches, as section 7 of the document says
Exit status: 0 fine, 1 refused (standard error begins with the name of the status code), 2 usage.
"""

import argparse
import math
import sys

from multifile_base import Refused, need
from vpfile_parts import Data, Directory, Geometry, Pieces, read_meta, scan


class Vpfile:
    """`meta` is NAME.meta, None without one; `geometry` gives the places of the streams."""

    def __init__(self, path, shape=(), record=0, superblocks=False):
        self.data, self.meta, self.directory, self.rows = Data(path), read_meta(path + ".meta"), None, None
        need(self.data.there, f"{path}: there is no such file", "TW_ERR_NOT_FOUND")
        self.shape = self.meta.shape if self.meta else tuple(shape)
        need(self.shape and (not shape or tuple(shape) == self.shape), "the shape of the file is another, or not told", "TW_ERR_INVALID")
        self.path, self.n = path, math.prod(self.shape)
        self.superblocks = []
        if superblocks:
            self.open_by_superblocks(record)
        elif self.meta:
            need(self.meta.state == 2, f"{path} was not closed", "TW_ERR_NOT_CLOSED")
            needed = max(self.meta.data_bytes, self.meta.geometry.end)
            need(self.data.size >= needed, f"{path}: it is cut off, it had {needed} bytes")
            self.geometry = self.meta.geometry
            if self.geometry.S:
                self.directory = Directory(path, self.meta, self.data)
        else:
            self.open_array(record)
        if self.geometry.plain:
            need(self.data.size >= self.geometry.R * self.n, f"{path}: it is cut off, its array has {self.geometry.R * self.n} bytes")

    def open_array(self, record):
        need(self.data.size % self.n == 0, f"{self.path}: its size is no multiple of the number of VPs", "TW_ERR_INVALID")
        each = self.data.size // self.n
        record = record or each
        need(each == 0 or each % record == 0, f"{self.path}: its size is no multiple of the records", "TW_ERR_INVALID")
        self.geometry = Geometry(self.n, record, each)

    def open_by_superblocks(self, record):
        self.superblocks = list(scan(self.data, self.meta))
        if self.superblocks:
            self.geometry = self.superblocks[0].geometry
            need(self.geometry.N == self.n, "the shape has another number of VPs than the superblocks say", "TW_ERR_INVALID")
            self.rows = Rows(self.data, self.geometry, self.superblocks)
        elif self.meta:
            self.geometry = self.meta.geometry.without_blocks()
        else:
            self.open_array(record)

    def ib_bytes(self, vp):
        return self.directory.bytes_of(vp) if self.directory else self.rows.bytes_of(vp) if self.rows else 0

    def pieces(self, vp):
        source = self.directory or self.rows
        return source.pieces.of.get(vp, ()) if source else ()

    def blocks(self, vp):
        """Returns the address of each block of the IB segment, by its number within the segment."""
        return self.directory.blocks_of(vp) if self.directory else self.rows.blocks_of(vp) if self.rows else {}

    def size(self, vp):
        need(0 <= vp < self.n, f"there is no VP {vp}", "TW_ERR_NOT_FOUND")
        return self.geometry.L + self.ib_bytes(vp)

    def stream(self, vp):
        out = bytearray(self.size(vp))
        for place, at, count in self.geometry.lattice(vp):
            out[place:place + count] = self.data.read(at, count)
        g = self.geometry
        parts = [(piece.begin, piece.offset, piece.end - piece.begin) for piece in self.pieces(vp)]  # blocks hide them
        parts += [(index * g.S, address * g.S, g.S) for index, address in self.blocks(vp).items()]
        if self.directory and self.directory.pieces.some_are_lost(vp):
            told = {begin + i for begin, _at, count in parts for i in range(count)}
            need(told >= set(range(self.ib_bytes(vp))), f"VP {vp}: bytes of a lost batch")
        for begin, at, count in parts:
            place = g.L + begin
            count = min(count, len(out) - place)
            if count > 0:
                out[place:place + count] = self.data.read(at, count)
        return bytes(out)

    def check(self):
        """Checks the parts that a reader of single streams skips."""
        if self.directory and not self.superblocks:
            self.superblocks = list(scan(self.data, self.meta))
        need(not self.meta or len(self.superblocks) == self.meta.superblocks, f"{self.path}: its number of superblocks")
        rows, before = {}, {}  # of each superblock; session -> number of superblocks of earlier ones
        for superblock in self.superblocks:
            superblock.check()
            need(superblock.before == before.setdefault(superblock.session, len(rows)),
                 f"superblock {superblock.number}: the number of those of earlier sessions")
            need(superblock.previous in (*rows, superblock.number), f"superblock {superblock.number}: its previous one is missing")
            need(rows.get(superblock.previous, 0) == superblock.previous_rows, f"superblock {superblock.number}: rows of its previous one")
            rows[superblock.number] = superblock.sealed.rows
            need(not self.directory or superblock.number < self.meta.end_superblocks, f"superblock {superblock.number}: its number")
            need(superblock.geometry == self.geometry, f"superblock {superblock.number}: it tells of another file")
            need(not self.meta or superblock.session <= self.meta.session, f"superblock {superblock.number}: its session")
        if self.directory:
            self.directory.check()
            rows = Rows(self.data, self.geometry, self.superblocks)
            for vp in range(self.n):
                need(rows.bytes_of(vp) == self.ib_bytes(vp), f"VP {vp}: the directory and the superblocks tell other lengths")
                end = -(-self.ib_bytes(vp) // self.geometry.S)
                told, named = ({i: a for i, a in blocks.items() if i < end} for blocks in (rows.blocks_of(vp), self.blocks(vp)))
                need(told == named, f"VP {vp}: the directory and the superblocks name other blocks")
            batches = [batch for superblock in self.superblocks for batch in superblock.batches]
            need([batch.listed(self.data, self.geometry) for batch in batches] == self.directory.list,
                 f"{self.path}.batches: it lists other batches than the superblocks have")
        for vp in range(self.n):
            self.stream(vp)


class Rows:
    """The combined rows of all superblocks."""

    def __init__(self, data, geometry, superblocks):
        self.bytes, self.blocks = {}, {}  # vp -> bytes; vp -> index -> (session, address)
        for superblock in superblocks:
            superblock.check()
            for row in superblock.rows:
                for vp in range(row.vp, row.vp + row.n):
                    self.bytes[vp] = max(self.bytes.get(vp, 0), row.index * superblock.geometry.S + row.bytes)
                    self.add(superblock, row, self.blocks.setdefault(vp, {}), row.first + (vp - row.vp) * row.blocks)
        self.pieces = Pieces(data, geometry, [batch for superblock in superblocks for batch in superblock.batches])

    @staticmethod
    def add(superblock, row, blocks, first):
        for i in range(row.blocks):
            old = blocks.get(row.index + i, (0, 0))
            need(old[0] != superblock.session, f"superblock {superblock.number}: a block is in two rows of one session")
            if old[0] < superblock.session:
                blocks[row.index + i] = (superblock.session, superblock.address(first + i))

    def bytes_of(self, vp):
        """Rows without blocks count only for VPs with blocks; those without blocks consist of their pieces."""
        return max(self.bytes[vp], self.pieces.end(vp)) if self.blocks.get(vp) else self.pieces.whole(vp)

    def blocks_of(self, vp):
        return {index: address for index, (_session, address) in sorted(self.blocks.get(vp, {}).items())}


def main(argv):
    parser = argparse.ArgumentParser(description="independent reader of Thalweg vpfiles")
    parser.add_argument("--shape", default=(), type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--record", default=0, type=int)
    parser.add_argument("--superblocks", action="store_true")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true")
    what.add_argument("--cat", type=int, metavar="VP")
    what.add_argument("--check", action="store_true")
    parser.add_argument("file")
    arguments = parser.parse_args(argv)
    try:
        vpfile = Vpfile(arguments.file, arguments.shape, arguments.record, arguments.superblocks)
        if arguments.cat is not None:
            sys.stdout.buffer.write(vpfile.stream(arguments.cat))
        for vp in range(vpfile.n) if arguments.list else ():
            print(vp, vpfile.size(vp), vpfile.ib_bytes(vp))
        if arguments.check:
            vpfile.check()
            print("ok")
    except Refused as refused:
        print(f"{refused.code}: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
