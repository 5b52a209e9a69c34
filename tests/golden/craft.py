"""Writes multifiles byte by byte as docs/format/multifile.md says; for golden files only, so any field can be wrong.

It shares with the independent reader nothing but CRC32C. See generate.py.
"""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
from multifile_base import arrival_seal, crc32c  # noqa: E402

PAGE, PAYLOAD = 4096, 4080
BOUNDS, TABLE, RANKS, DOMAINS, FILES, PIECES, NAMES, ATTRIBUTES, LISTED, RUNS, PLACES, LATER = range(1, 13)
FIRST_ADDED = 2**62
NAME_CODEC = 255
UUID = bytes(range(0x10, 0x20))


def up(x, a):
    return -(-x // a) * a


def name_of_part(name, part):
    return name + b"\0" + struct.pack("<Q", part)


def sequence(session, count):
    return session << 40 | count


class Part:
    """One physical file. Methods put structures in place and remember what the index must tell."""

    def __init__(self, n_logical, first=0, n_local=None, *, number=0, n_physical=1, ranks=None, table=None, bounds=None,
                 checksum=1, alignment=512, granule=4096, uuid=UUID, minor=0, optional=0, reserved=0, n_later=0):
        n_local = n_logical - first if n_local is None else n_local
        self.number, self.uuid, self.checksum, self.alignment, self.granule = number, uuid, checksum, alignment, granule
        mapping = 0 if ranks is None else 1
        self.ranks = list(range(first, first + n_local)) if ranks is None else ranks
        self.n_logical, self.bytes = n_logical, bytearray(PAGE)
        self.pieces = {rank: [] for rank in self.ranks}
        self.sizes, self.flags = dict.fromkeys(self.ranks, 0), dict.fromkeys(self.ranks, 0)
        self.names, self.modes, self.attributes = {}, {}, {}
        self.added = []  # numbers of the logical files that were added to this physical file, ascending
        self.stored = dict.fromkeys(self.ranks, 0)  # bytes of each logical file, as its next piece will tell
        self.session_number, self.previous, self.newest_index, self.slot_sequence = -1, 0, (0, 0), 0
        self.covered = 0
        self.home = 0  # what pieces here have as the number of the later physical file
        self.n_physical, self.n_later, self.later_ends = n_physical, n_later, [0] * n_later
        map_offset = ranks_offset = 0
        if number == 0:
            entries = [(bounds or [0, n_logical])] if mapping == 0 else []
            map_offset = self.end()
            if mapping == 0:
                self.section(BOUNDS, [struct.pack("<Q", b) for b in entries[0]])
            else:
                self.section(TABLE, [struct.pack("<II", *place) for place in table])
        if mapping and self.ranks:
            ranks_offset = self.end()
            self.section(RANKS, [struct.pack("<Q", rank) for rank in self.ranks])
        head = b"\x89THALW\r\n" + struct.pack(
            "<HHI16sQQQQQIIIIIIQQQQI", 4, minor, 512, uuid, 0, optional, n_logical, len(self.ranks), 0 if mapping else first,
            n_physical, number, mapping, checksum, alignment, granule, map_offset, ranks_offset, self.end(), 1700000000, n_later)
        self.put(0, head + bytes([reserved]) * (508 - len(head)))
        self.reseal_header()

    # -- bytes ------------------------------------------------------------------------------------------------------

    def end(self):
        return up(len(self.bytes), PAGE)

    def put(self, offset, data):
        if len(self.bytes) < offset + len(data):
            self.bytes.extend(bytes(offset + len(data) - len(self.bytes)))
        self.bytes[offset:offset + len(data)] = data

    def poke(self, offset, form, *values):
        struct.pack_into(form, self.bytes, offset, *values)

    def bound_crc(self, offset, data):
        return crc32c(data, crc32c(self.uuid + struct.pack("<IQ", self.number, offset)))

    def reseal(self, offset, size):
        """Makes the bound crc in the last 4 of `size` bytes right: of a slot, frame, fill slot or page."""
        self.poke(offset + size - 4, "<I", self.bound_crc(offset, bytes(self.bytes[offset:offset + size - 4])))

    def reseal_header(self):
        self.poke(508, "<I", crc32c(bytes(self.bytes[:508])))

    def section(self, kind, entries):
        """Appends a section at the next page; entries are bytes of equal length."""
        offset = self.end()
        per_page = PAYLOAD // len(entries[0]) if entries else 1
        for number in range(-(-len(entries) // per_page)):
            at = offset + number * PAGE
            payload = b"".join(entries[number * per_page:(number + 1) * per_page])
            self.put(at, payload.ljust(PAYLOAD, b"\0") + struct.pack("<IQI", kind, number, 0))
            self.reseal(at, PAGE)
        return offset

    # -- sessions and states ----------------------------------------------------------------------------------------

    def later(self, number):
        """A later physical file of this one, which has one domain in it. Its frames count with the sessions of this one."""
        part = Later.__new__(Later)
        part.__dict__.update(self.__dict__)
        part.number, part.home, part.bytes = number, number, bytearray(PAGE)
        part.put(0, bytes(self.bytes[:512]))
        for offset, form, value in ((56, "<QQ", (0, 0)), (76, "<I", (number,)), (96, "<Q", (0,)), (112, "<Q", (0,))):
            part.poke(offset, form, *value)
        part.reseal_header()
        return part

    def session(self, domains, growth=0, doublings=0, later=(0, 0, 0, 0)):
        """Begins a session; gives the offset of its session page. With state() the file says that it is open. `later`: most
        doublings, data start, domains and slab bytes in later physical files."""
        self.session_number += 1
        self.session_at, self.domains, self.growth, self.doublings = self.end(), domains, growth, doublings
        self.put(self.session_at, bytes(PAGE))
        domains_at = self.section(DOMAINS, [struct.pack("<Q", d) for d in domains])
        self.data_start = up(len(self.bytes), self.alignment)
        self.put(self.session_at, b"TWSESSN1" + struct.pack(
            "<IIQQQQQIIQQQ", self.session_number, growth, self.previous, len(domains), domains_at, self.data_start,
            sum(domains), doublings, *later))
        self.reseal(self.session_at, PAGE)
        self.previous = self.session_at
        self.counts = dict.fromkeys([*self.ranks, *self.added], 0)
        self.state(1)
        return self.session_at

    def state(self, state):
        self.slot_sequence += 1
        end = self.session_at if state == 1 else sum(self.newest_index)
        self.covered = self.session_at if state == 2 else self.covered
        at = 512 if self.slot_sequence % 2 else 1024
        self.put(at, (b"TWSTATE1" + struct.pack("<QIIQQQQ", self.slot_sequence, state, self.session_number, self.session_at,
                                                end, *self.newest_index) + struct.pack("<8xQ", self.covered)).ljust(128, b"\0"))
        self.reseal(at, 128)

    def slab(self, domain, k):
        exponent = [0 if self.growth == 0 else min(j // self.growth, self.doublings) for j in range(k + 1)]
        return (self.data_start + sum(self.domains) * sum(2**e for e in exponent[:k])
                + 2**exponent[k] * sum(self.domains[:domain]))

    def close(self, listed=None, of=None, runs=None, places=None, without=()):
        """Writes index and state; gives the offset of the index page. `listed`: the ranks that have an entry; None: all.
        `of`: in physical file 0 all parts, whose runs and names it has. `runs` and `places` replace those that are right;
        `without`: added logical files that have no entry."""
        names, files, pieces = b"", [], []
        everything = [*enumerate(self.ranks), *((number, number) for number in self.added if number not in without)]
        for _local, rank in everything:
            name, own = self.names.get(rank, b""), self.pieces[rank]
            size = max([self.sizes[rank]] + [p[0] + p[2] for p in own])
            files.append(struct.pack("<QQIIQII", size, len(pieces), len(own), self.modes.get(rank, 0), len(names), len(name),
                                     self.flags[rank]))
            pieces += [struct.pack("<QQQQIBBH", *p) for p in own]
            names += name
        n_added = len(everything) - len(self.ranks)
        is_listed = listed is not None or n_added > 0
        if is_listed:
            files = [struct.pack("<Q", local) + entry for (local, rank), entry in zip(everything, files)
                     if listed is None or rank in listed or local >= FIRST_ADDED]
        attributes = b"".join(struct.pack("<II", len(k), len(v)) + k + v for k, v in self.attributes.items())
        parts = (of or [self]) if self.number == 0 else []
        runs = added_runs(parts) if runs is None else runs
        name_places = places_of_names(parts) if places is None else places
        offset = self.end()
        self.put(offset, bytes(PAGE))
        sections = [self.section(LISTED if is_listed else FILES, files), self.section(PIECES, pieces),
                    self.section(NAMES, [bytes([b]) for b in names]), self.section(ATTRIBUTES, [bytes([b]) for b in attributes]),
                    self.section(RUNS, [struct.pack("<QQI4x", *run) for run in runs]),
                    self.section(PLACES, [struct.pack("<IIQ", *place) for place in name_places])]
        later_at = self.section(LATER, [struct.pack("<Q", end) for end in self.later_ends])
        self.put(offset, b"TWINDEX1" + struct.pack(
            "<II17Q", self.session_number, 0, len(self.ranks), len(pieces), len(names), len(attributes), *sections, self.end(),
            len(files), n_added, len(runs), len(name_places), self.n_later, later_at))
        self.reseal(offset, PAGE)
        self.newest_index = (offset, self.end() - offset)
        self.put(self.end() - 1, b"" if len(self.bytes) == self.end() else b"\0")
        self.state(2)
        return offset

    # -- frames -----------------------------------------------------------------------------------------------------

    def add(self, number, name, mode=0o100644):
        """A logical file that a task adds; gives the piece of a pack that holds its name."""
        self.added.append(number)
        self.pieces[number], self.sizes[number], self.flags[number] = [], 0, 0
        self.stored[number] = self.counts[number] = 0
        return self.named(number, name, mode)

    def named(self, rank, name, mode=0o100644):
        """The piece of a pack that gives a logical file a name."""
        self.names[rank], self.modes[rank] = name, mode
        return rank, 0, 0, struct.pack("<I", mode) + name, NAME_CODEC

    def count(self, rank):
        self.counts[rank] += 1
        return sequence(self.session_number, self.counts[rank])

    def grow(self, rank, logical, size):
        """Gives what was stored of the logical file before a piece of `size` bytes."""
        before = self.stored[rank]
        self.stored[rank] = max(before, self.sizes[rank], logical + size)
        return before

    def frame(self, at, kind, extent, front, a=0, b=0, logical=0, directory_crc=0, end_before=0):
        self.put(at, (b"TWFRAME1" + struct.pack("<IIQQQQQI4xQ", kind, self.session_number, extent, front, a, b, logical,
                                                directory_crc, end_before)).ljust(128, b"\0"))
        self.reseal(at, 128)

    def seal(self, data):
        return crc32c(data) if self.checksum else arrival_seal(data)

    def fill(self, chunk, slot, size, count, front, synced=0):
        """Fill slot 0 or 1 of the chunk at `chunk`, for the first `size` bytes of its data area as they are now."""
        tail = size - size % self.granule
        seal = self.seal(bytes(self.bytes[chunk + front + tail:chunk + front + size]))
        at = chunk + 128 + 32 * slot
        self.put(at, struct.pack("<QQIII", size, count, seal, synced, 0) + bytes(4))
        self.reseal(at, 32)

    def chunk(self, at, rank, logical, data, extent=None, fills=None, in_index=True):
        """A chunk with `data`; `fills`: (slot, bytes) one after the other. Gives the offset of its data."""
        capacity = up(max(len(data), 1), self.alignment)
        front = up(192 + 4 * -(-capacity // self.granule), self.alignment)
        if extent:
            front = up(192 + 4 * -(-extent // self.granule), self.alignment)
            capacity = extent - front
        extent = front + capacity
        self.frame(at, 1, extent, front, rank, self.count(rank), logical, 0, self.grow(rank, logical, len(data)))
        self.put(at + front, data)
        for i in range(len(data) // self.granule):
            self.put(at + 192 + 4 * i, struct.pack("<I", self.seal(data[i * self.granule:(i + 1) * self.granule])))
        for count, (slot, size) in enumerate(fills if fills is not None else [(0, len(data))], 1):
            self.fill(at, slot, size, count, front)
        if in_index and data:
            self.pieces[rank].append((logical, at, len(data), len(data), 0, 1, 0, self.home))
        return at + front

    def pack(self, at, pieces, extent=None, kind=2, in_index=True):
        """`pieces`: (rank, logical offset, logical bytes, stored, codec). Gives the end of its extent."""
        front, payload, directory = 128 + 48 * len(pieces), b"", b""
        for rank, logical, size, stored, codec in pieces:
            crc = crc32c(stored)
            directory += struct.pack("<QQQQIIII", rank, self.count(rank), logical, self.grow(rank, logical, size), size,
                                     len(stored), crc, codec)
            if in_index and codec != NAME_CODEC:
                self.pieces[rank].append((logical, at + front + len(payload), size, len(stored), crc, 2, codec, self.home))
            payload += stored
        extent = extent or up(front + len(payload), self.alignment)
        self.put(at + 128, directory + payload)
        self.frame(at, kind, extent, front, *((len(pieces), len(payload), 0, self.bound_crc(at + 128, directory)) if kind else ()))
        return at + extent


class Later(Part):
    """A later physical file; made by Part.later()."""


def added_runs(parts):
    """(first number, count, physical file) of the added logical files of all parts."""
    runs = []
    for number, k in sorted((number, part.number) for part in parts for number in part.added):
        if runs and runs[-1][2] == k and sum(runs[-1][:2]) == number:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1, k)
        else:
            runs.append((number, 1, k))
    return runs


def places_of_names(parts):
    """(CRC32C of the name, physical file, local index or number) of the names of all parts."""
    numbered = [(crc32c(part.names[rank]), part.number, local) for part in parts
                for local, rank in enumerate(part.ranks) if part.names.get(rank)]
    added = [(crc32c(part.names[number]), part.number, number) for part in parts
             for number in part.added if part.names.get(number)]
    return sorted(sorted(numbered) + sorted(added, key=lambda place: place[2]), key=lambda place: place[0])


def close_all(parts):
    """Closes the physical files of a multifile, the first one last."""
    for part in parts[1:]:
        part.close()
    parts[0].close(of=parts)


def lz4_literals(data):
    """An LZ4 block of literals only."""
    rest = len(data) - 15
    if rest < 0:
        return bytes([len(data) << 4]) + data
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


def lz4_run(byte, size):
    """An LZ4 block of one literal, a match that repeats it, and five last literals."""
    rest = size - 6 - 4 - 15
    return b"\x1f" + byte + b"\x01\x00" + b"\xff" * (rest // 255) + bytes([rest % 255]) + b"\x50" + byte * 5


def zstd_raw(data):
    """A Zstandard frame of one raw block: single segment, size of the content in four bytes."""
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data)) + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def zstd_run(byte, size):
    """A Zstandard frame of one block that repeats a byte."""
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", size) + struct.pack("<I", size << 3 | 3)[:3] + byte
