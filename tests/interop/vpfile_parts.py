"""The parts of a vpfile: geometry, NAME.meta, superblocks, batches, NAME.first, NAME.dir and NAME.batches."""

import collections
import dataclasses
import functools
import math
import os
import struct

from multifile_base import LIMIT, crc32c, need

VERSION, SLOT, SLOTS, SUMS, FIRST_ENTRY, LEAST_Z, MOST_HOLE = 5, 1024, (0, 4096), 8192, 4096, 4096, 2**59
META = struct.Struct("<8sHHIQ16sQIIQQQQQIIIIQQQQI4xQQQQQQQQ")
HEADER = struct.Struct("<8sIIQQ16sQQQQQQIIIQQI")
SEAL = struct.Struct("<IIQIIII")
ROW = struct.Struct("<QQIIII")
LISTED = struct.Struct("<QQQQQIIII")
SIDE, SIDE_BYTES = struct.Struct("<8s16sQII20x"), 64
SIDE_NAMES = "NAME.first", "NAME.dir"
SIDES = {".first": (1, b"TWVPFRST"), ".dir": (2, b"TWVPDIRE"), ".batches": (4, b"TWVPBATC")}  # number in bound CRCs, magic
Row = collections.namedtuple("Row", "vp index n blocks first bytes")
Seal = collections.namedtuple("Seal", "blocks rows count block_crc flags table_crc crc")
Piece = collections.namedtuple("Piece", "begin end offset")  # bytes of a stream's IB segment; where they are in the data file
BATCH = 2**32 - 1  # the last field of the row of a batch
META_FILE = 3  # number of NAME.meta in bound CRCs; that of the data file is 0


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def bound(uuid, number, offset, raw):
    """The bound CRC of store.md, section 2."""
    return crc32c(uuid + struct.pack("<IQ", number, offset) + raw)


def is_sealed(uuid, number, offset, raw):
    return u32(raw, len(raw) - 4) == bound(uuid, number, offset, raw[:-4])


def mix(x):
    """Section 6."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def power_of_two(number, least, most):
    return least <= number <= most and number & (number - 1) == 0


class Data:
    """A file that reads as zeros beyond its end."""

    def __init__(self, path):
        self.there = os.path.exists(path)
        self.file = open(path, "rb") if self.there else None
        self.size = os.path.getsize(path) if self.there else 0

    def read(self, at, count):
        if at >= self.size:
            return bytes(count)
        self.file.seek(at)
        return self.file.read(min(count, self.size - at)).ljust(count, b"\0")


@dataclasses.dataclass(frozen=True)
class Geometry:
    """Section 1, and the limits of section 2."""
    N: int
    b: int
    R: int
    B: int = 0
    C: int = 0
    S: int = 0
    Z: int = 0
    P: int = 0
    first: int = 0

    @property
    def L(self):
        return self.R + self.C

    @property
    def plain(self):
        return self.C == 0 and self.S == 0

    @property
    def cb(self):
        return self.R * self.N if self.C == 0 else -(-self.R * self.N // 4096) * 4096

    @property
    def end(self):
        return self.cb if self.C == 0 else self.cb + self.N * self.B * -(-self.C // self.B)

    @property
    def head(self):
        """h: number of the first block of a superblock."""
        return -(-256 // self.S)

    def without_blocks(self):
        return dataclasses.replace(self, S=0, Z=0, P=0, first=0)

    def check(self, whose):
        need(1 <= self.N <= 2**40, f"{whose}: number of VPs")
        need(self.R % self.b == 0 if self.b else self.R == 0, f"{whose}: NB segment")
        need(self.B or self.C == 0, f"{whose}: CB segment")
        need((self.R + self.C + self.B) * self.N <= LIMIT - 2**24 - 4096, f"{whose}: it is longer than files are")
        if self.S == 0:
            need((self.Z, self.P, self.first) == (0, 0, 0), f"{whose}: superblocks of a file without IB segment")
            return
        need(power_of_two(self.S, 16, 2**20), f"{whose}: block size")
        need(power_of_two(self.Z, max(4096, 8 * self.S), 2**24), f"{whose}: superblock size")
        need(1 <= self.P <= 64, f"{whose}: pointers per directory entry")
        need(self.first == -(-self.end // self.Z), f"{whose}: first superblock")

    def lattice(self, vp):
        """(place within the stream, offset in the data file, bytes) of each record and round."""
        for k in range(self.R // self.b if self.b else 0):
            yield k * self.b, (k * self.N + vp) * self.b, self.b
        for m in range(-(-self.C // self.B) if self.B else 0):
            yield self.R + m * self.B, self.cb + (m * self.N + vp) * self.B, min(self.B, self.C - m * self.B)


class Meta:
    """A slot of NAME.meta with a valid checksum."""

    def __init__(self, slot):
        (_magic, _major, _minor, n_dims, self.sequence, self.id, required, self.state, self.flags, n, b, r, cb_round, c, s, z, p,
         _reserved, first, self.end_superblocks, self.end_entries, _informational, self.session, *self.side_bytes, self.data_bytes,
         self.first_seal, self.dir_seal, self.superblocks, self.batches, self.batches_seal) = META.unpack_from(slot)
        need(required == 0, f"required feature {(required & -required).bit_length() - 1} is unknown", "TW_ERR_VERSION")
        need(1 <= n_dims <= 64, "NAME.meta: number of dimensions")
        need(self.state in (1, 2), "NAME.meta: state")
        need(self.session < 2**32 - 1, "NAME.meta: session")
        dims = struct.unpack_from(f"<{n_dims - 1}Q", slot, 512)
        need(all(dims) and n % math.prod(dims) == 0, "NAME.meta: dimensions")
        self.shape = (*dims, n // math.prod(dims))
        self.geometry = Geometry(n, b, r, cb_round, c, s, z, p, first)
        self.geometry.check("NAME.meta")
        if s:
            need(first <= self.end_superblocks < 2**63 // z, "NAME.meta: end of superblocks")
            need(self.superblocks <= self.end_superblocks - first, "NAME.meta: number of superblocks")
            need(1 <= self.end_entries <= 2**62 // (32 + 8 * p), "NAME.meta: end of entries")
        else:
            need((self.end_superblocks, self.superblocks, self.end_entries) == (0, 0, 0), "NAME.meta: superblocks or entries of a file without IB segment")
            need(list(self.side_bytes) == [0, 0], "NAME.meta: bytes of side files of a file without IB segment")
            need((self.first_seal, self.dir_seal) == (0, 0), "NAME.meta: seals of a file without IB segment")
            need((self.batches, self.batches_seal) == (0, 0), "NAME.meta: batches of a file without IB segment")


def read_meta(path):
    """Returns the slot in force; None without the file, or with an empty one and no NAME.first."""
    file = Data(path)
    if not file.there or (file.size == 0 and not Data(path.removesuffix(".meta") + ".first").there):
        return None
    valid = []
    for parity, place in zip((1, 0), SLOTS):
        slot = file.read(place, SLOT)
        if slot[:8] != b"TWVPMETA":
            continue
        major = struct.unpack_from("<H", slot, 8)[0]
        need(major == VERSION, f"NAME.meta: version {major}, not {VERSION}", "TW_ERR_VERSION")
        sequence = struct.unpack_from("<Q", slot, 16)[0]
        uuid = slot[24:40]
        sealed = is_sealed(uuid, META_FILE, place, slot[:512]) and is_sealed(uuid, META_FILE, place + 512, slot[512:])
        if sealed and sequence % 2 == parity:
            valid.append((sequence, slot))
    need(valid, f"{path}: neither slot is valid")
    return Meta(max(valid)[1])


@dataclasses.dataclass(frozen=True)
class Batch:
    """Section 8: a piece of each of n VPs, in consecutive blocks of a superblock."""
    vp: int
    superblock: int
    base: int
    n: int
    first: int
    blocks: int
    lost: int = 0

    def check(self, whose, geometry, blocks):
        """`blocks`: number of them that the superblock has."""
        need(self.lost <= 1 and self.n + self.lost >= 1 and self.vp + self.n <= geometry.N and self.base < 2**62 and 8 * self.n <= self.blocks * geometry.S
             and self.first + self.blocks <= blocks, f"{whose}: {self}")

    def pieces(self, data, geometry):
        """Returns (VP, piece) of those that are not empty."""
        at = self.superblock * geometry.Z + (geometry.head + self.first) * geometry.S
        room, begin, found = self.blocks * geometry.S - 8 * self.n, 0, []
        for i, (past, end) in enumerate(struct.iter_unpack("<iI", data.read(at + room, 8 * self.n))):
            need(begin <= end <= room, f"{self}: its piece {i} ends at {end}")
            place = self.base + past
            if begin < end:
                need(0 <= place <= 2**62 and geometry.L + place + end - begin <= LIMIT, f"{self}: its piece {i} begins at {place}")
                found.append((self.vp + i, Piece(place, place + end - begin, at + begin)))
            begin = end
        need(found and found[0][0] == self.vp, f"{self}: its first piece is empty")
        return found

    def listed(self, data, geometry):
        """Returns the fields of the entry of NAME.batches."""
        pieces = [piece for _vp, piece in self.pieces(data, geometry)]
        least, most = min(piece.begin for piece in pieces), max(piece.end for piece in pieces)
        return self.vp, self.superblock, self.base, least, most, self.n, self.first, self.blocks, 0


class Pieces:
    """The pieces of all VPs."""

    def __init__(self, data, geometry, batches):
        self.of, self.lost = collections.defaultdict(list), [batch for batch in batches if batch.lost]
        for batch in batches:
            for vp, piece in () if batch.lost else batch.pieces(data, geometry):
                self.of[vp].append(piece)
        for vp, pieces in self.of.items():
            pieces.sort()
            need(all(a.end <= b.begin for a, b in zip(pieces, pieces[1:])), f"VP {vp}: two of its pieces overlap")

    def end(self, vp):
        return self.of[vp][-1].end if vp in self.of else 0

    def some_are_lost(self, vp):
        return any(batch.vp <= vp < batch.vp + batch.n for batch in self.lost)

    def whole(self, vp):
        """Returns the bytes of a stream that consists of its pieces."""
        need(sum(piece.end - piece.begin for piece in self.of.get(vp, ())) == self.end(vp), f"VP {vp}: bytes between two pieces are missing")
        return self.end(vp)


class Superblock:
    """A superblock with a valid header. `sealed` is the seal in force, None when there is none; `rows` are its rows, but
    those of batches are in `batches`."""

    def __init__(self, data, at, header):
        (_magic, kind, self.session, z, data_offset, self.id, n, b, r, cb_round, c, first, s, p, self.previous_rows, self.previous,
         self.before, _crc) = HEADER.unpack_from(header)
        need(kind == 3, f"superblock at {at}: its kind")
        self.geometry = Geometry(n, b, r, cb_round, c, s, z, p, first)
        self.geometry.check(f"superblock at {at}")
        need(s and at % z == 0 and at // z >= first, f"superblock at {at}: its place")
        need(data_offset == self.geometry.head * s, f"superblock at {at}: its data offset")
        self.number = at // z
        need(first <= self.previous <= self.number, f"superblock at {at}: its previous one")
        need(self.previous < self.number or self.previous_rows == 0, f"superblock at {at}: rows of no previous one")
        self.data, self.at = data, at
        sealed = [seal for place in (0, 1) if (seal := self.seal(header, place))]
        sealed.sort(key=lambda seal: -seal.count)
        whole = [seal for seal in sealed if self.block_crc(seal) == seal.block_crc]
        updating = bool(sealed) and sealed[0].flags & 2
        self.damaged = bool(sealed) and not whole and not updating
        self.sealed = sealed[0] if sealed and (updating or not whole) else whole[0] if whole else None
        self.rows, self.batches = self.read_rows(self.sealed) if self.sealed else ([], [])

    def seal(self, header, place):
        raw = header[128 + 32 * place:160 + 32 * place]
        if not is_sealed(self.id, 0, self.at + 128 + 32 * place, raw):
            return None
        seal, g = Seal(*SEAL.unpack_from(raw)), self.geometry
        if seal.count == 0 or seal.count % 2 == place or (g.head + seal.blocks) * g.S + 32 * seal.rows > g.Z:
            return None
        return seal if crc32c(self.table(seal)) == seal.table_crc else None

    def table(self, seal):
        return self.data.read(self.at + self.geometry.Z - 32 * seal.rows, 32 * seal.rows)

    def block_crc(self, seal):
        g = self.geometry
        return crc32c(self.data.read(self.at + g.head * g.S, seal.blocks * g.S))

    def read_rows(self, seal):
        all_rows, g = [Row(*row) for row in ROW.iter_unpack(self.table(seal))][::-1], self.geometry
        rows = [row for row in all_rows if row.bytes != BATCH]
        batches = [Batch(row.vp, self.number, row.index, row.n, row.first, row.blocks) for row in all_rows if row.bytes == BATCH]
        for row in rows:
            need(row.n >= 1 and row.vp + row.n <= g.N and row.first + row.n * row.blocks <= seal.blocks
                 and row.bytes <= max(row.blocks, 1) * g.S and (row.index + row.blocks + 1) * g.S <= LIMIT,
                 f"superblock {self.number}: row {row}")
        for batch in batches:
            batch.check(f"superblock {self.number}", g, seal.blocks)
        need(sum(row.n * row.blocks for row in rows) + sum(batch.blocks for batch in batches) <= seal.blocks,
             f"superblock {self.number}: its rows share blocks")
        return rows, sorted(batches, key=lambda batch: batch.first)

    def address(self, block):
        return self.number * (self.geometry.Z // self.geometry.S) + self.geometry.head + block

    def check(self):
        need(self.sealed, f"superblock {self.number}: neither seal of its table matches")
        need(not self.damaged, f"superblock {self.number}: its blocks do not match their checksum")


def superblock_at(data, at, own_id=None):
    """Returns the superblock at an offset, or None. `own_id`: it must belong to this file."""
    header = data.read(at, 256)
    if header[:8] != b"TWFRAME1":
        return None
    sound = is_sealed(header[32:48], 0, at, header[:128])
    if own_id is None:
        return Superblock(data, at, header) if sound else None
    need(sound and header[32:48] == own_id, f"superblock at {at}: its header")
    return Superblock(data, at, header)


def scan(data, meta):
    """Returns all superblocks of the file, without NAME.first and NAME.dir. Unknown values come from the first
    superblock."""
    at, own_id, step = (meta.geometry.end, meta.id, meta.geometry.Z) if meta else (0, None, 0)
    known, step = bool(step), step or LEAST_Z
    at = -(-at // step) * step
    while at < data.size:
        found = superblock_at(data, at, own_id if known else None)
        if found and own_id in (None, found.id):
            own_id, step, known = found.id, found.geometry.Z, True
            yield found
        at += step


class Directory:
    """NAME.first and NAME.dir, here kind 0 and 1, and NAME.batches: `list` are its entries."""

    def __init__(self, path, meta, data):
        self.meta, self.geometry, self.data = meta, meta.geometry, data
        self.files = [self.open(path, ".first"), self.open(path, ".dir")]
        for file, side, size in zip(self.files, (".first", ".dir"), meta.side_bytes):
            need(file.size >= size, f"{path}{side}: it is cut off, it had {size} bytes")
        self.table, self.summed = Data(path + ".meta"), set()
        for kind, seal in enumerate((meta.first_seal, meta.dir_seal)):
            sums = enumerate(self.sum(kind, j) for j in range(-(-self.end(kind) // 512)))
            need(seal == sum(mix(mix(j) ^ s) for j, s in sums if s) % 2**64, f"{path}.meta: the sums of {SIDE_NAMES[kind]}")
        raw = self.read_list(path) if meta.batches else b""
        need(crc32c(raw) == meta.batches_seal, f"{path}.batches: the checksum of its list does not match")
        self.list = list(LISTED.iter_unpack(raw))

    def read_list(self, path):
        file, size = self.open(path, ".batches"), LISTED.size * self.meta.batches
        need(self.meta.batches <= 2**32 and file.size >= SIDE_BYTES + size, f"{path}.batches: it is cut off, it had {self.meta.batches} entries")
        return file.read(SIDE_BYTES, size)

    @functools.cached_property
    def pieces(self):
        batches, g = [], self.geometry
        for vp, superblock, base, _least, _most, n, first, blocks, lost in self.list:
            batches.append(Batch(vp, superblock, base, n, first, blocks, lost))
            need(g.first <= superblock < self.meta.end_superblocks, f"NAME.batches: superblock {superblock}")
            batches[-1].check("NAME.batches", g, g.Z // g.S - g.head)
        return Pieces(self.data, g, batches)

    def end(self, kind):
        """Maximum number of entries."""
        return self.meta.end_entries - 1 if kind else self.geometry.N

    def sum(self, kind, j):
        begin = SUMS + kind * 4096 * -(-self.geometry.N // 2**18)
        return struct.unpack("<Q", self.table.read(begin + 8 * j, 8))[0]

    def check_sum(self, kind, number):
        """Sums of the 512 entries around this one."""
        j, size = (number - kind) // 512, 32 + 8 * self.geometry.P
        if (kind, j) in self.summed:
            return
        raw = self.files[kind].read(FIRST_ENTRY + 512 * j * size, 512 * size)
        crcs = (u32(raw, (i + 1) * size - 4) for i in range(512))
        told = sum(mix((2**32 * (512 * j + i + kind) + crc) % 2**64) for i, crc in enumerate(crcs) if crc)
        need(told % 2**64 == self.sum(kind, j), f"{SIDE_NAMES[kind]}: the sum of the entries from {512 * j + kind} on")
        self.summed.add((kind, j))

    def open(self, path, side):
        file, g, (number, magic) = Data(path + side), self.geometry, SIDES[side]
        header = file.read(0, SIDE_BYTES)
        need(is_sealed(self.meta.id, number, 0, header), f"{path}{side}: its checksum does not match")
        need(SIDE.unpack_from(header) == (magic, self.meta.id, g.N, g.P, g.S), f"{path}{side}: it belongs to another file")
        return file

    def raw_entry(self, kind, number):
        self.check_sum(kind, number)
        size = 32 + 8 * self.geometry.P
        place = FIRST_ENTRY + (number - kind) * size
        return place, self.files[kind].read(place, size)

    def entry(self, kind, number):
        """Returns (link, bytes or index, pointers in use). kind 0: NAME.first, 1: NAME.dir."""
        place, raw = self.raw_entry(kind, number)
        size = len(raw)
        if not any(raw):
            return 0, 0, []
        what = f"{SIDE_NAMES[kind]}: entry {number}"
        need(is_sealed(self.meta.id, kind + 1, place, raw), f"{what}: its checksum does not match")
        link, value, *pointers = struct.unpack_from(f"<{2 + self.geometry.P}Q", raw)
        used = u32(raw, size - 8)
        need(used <= self.geometry.P and not any(pointers[used:]) and all(pointers[:used]), f"{what}: pointers in use")
        need(link < max(self.meta.end_entries, 1), f"{what}: its link")
        return link, value, pointers[:used]

    def has_entry(self, vp):
        return any(self.raw_entry(0, vp)[1])

    def bytes_of(self, vp):
        size = self.entry(0, vp)[1] if self.has_entry(vp) else self.pieces.whole(vp)
        need(self.geometry.L + size <= LIMIT, f"VP {vp}: it is longer than files are")
        return size

    def chain(self, vp):
        """Returns the numbers and pointers of the entries of a VP in NAME.dir."""
        last = self.entry(0, vp)[0]
        number = self.entry(1, last)[0] if last else 0
        need(bool(last) == bool(number), f"VP {vp}: the chain of its entries")
        steps = 0
        while number:
            link, index, pointers = self.entry(1, number)
            steps += 1
            need(link and steps < self.meta.end_entries, f"VP {vp}: the chain of its entries does not end")
            yield number, index, pointers
            number = 0 if number == last else link

    def runs(self, vp):
        """Yields (number of the first block, address or None for a hole, number of blocks) in stream order."""
        at = 0
        entries = [(0, 0, self.entry(0, vp)[2]), *self.chain(vp)]
        for number, index, pointers in entries:
            need(index == at and (pointers or number == 0), f"VP {vp}: an entry goes on at another block, or is empty")
            for pointer in pointers:
                address, count = self.decode(vp, pointer)
                yield at, address, count
                at += count
                need(self.geometry.L + at * self.geometry.S <= LIMIT, f"VP {vp}: it has more blocks than files have")
        need(at * self.geometry.S >= self.bytes_of(vp) or not self.has_entry(vp), f"VP {vp}: its chain ends before its stream")

    def decode(self, vp, pointer):
        if pointer >> 63:
            count = pointer & (2**63 - 1)
            need(1 <= count <= MOST_HOLE, f"VP {vp}: a hole of {count} blocks")
            return None, count
        g, count, address = self.geometry, (pointer & 4095) + 1, pointer >> 12
        number, block = divmod(address, g.Z // g.S)
        need(g.first <= number < self.meta.end_superblocks and g.head <= block and block + count <= g.Z // g.S,
             f"VP {vp}: a pointer leads out of the superblocks")
        return address, count

    def blocks_of(self, vp):
        return {at + i: address + i for at, address, count in self.runs(vp) if address is not None for i in range(count)}

    def check(self):
        """Checks every entry, including unused ones."""
        seen = set()
        for vp in range(self.geometry.N):
            for number, _index, _pointers in self.chain(vp):
                need(number not in seen, f"VP {vp}: an entry of NAME.dir is that of another VP, too")
                seen.add(number)
        stored = (self.files[1].size - FIRST_ENTRY) // (32 + 8 * self.geometry.P) + 1
        for number in range(1, min(self.meta.end_entries, stored + 1)):
            self.entry(1, number)
