"""One physical file of a multifile and its logical files: sections 2, 4 and 6 of docs/format/multifile.md."""

import struct

from multifile_base import ATTRIBUTES, CHUNK, FILES, LIMIT, LISTED, NAMES, PACKED, PAGE, PAYLOAD, PIECES, PLACES, RANKS, RUNS
from multifile_base import LATER, ZEROS, Refused, arrival_seal, crc32c, decompress, is_added, need, split_name


def is_page(offset):
    return PAGE <= offset <= LIMIT and offset % PAGE == 0


def is_power(value, low, high):
    return low <= value <= high and value & (value - 1) == 0


class Physical:
    """Header, state and index of one physical file. `state` is None when no slot is valid."""

    base_runs = []  # of the index that was loaded last

    def __init__(self, path, number):
        try:
            self.file = open(path, "rb")
        except OSError as error:
            raise Refused(str(error), "TW_ERR_NOT_FOUND") from None
        self.path, self.number, self.laters, self.later_ends = path, number, {}, []
        self.size = self.file.seek(0, 2)
        self.header(number)

    def read(self, offset, count):
        self.file.seek(offset)
        return self.file.read(count)

    def exactly(self, offset, count):
        need(offset + count <= self.size, f"{self.path}: bytes at {offset} lie behind the end of the file")
        return self.read(offset, count)

    def bound_crc(self, offset, data):
        return crc32c(data, crc32c(self.uuid + struct.pack("<IQ", self.number, offset)))

    def sealed(self, offset, count, magic, what):
        data = self.exactly(offset, count)
        need(data[:8] == magic, f"{self.path}: no {what} at {offset}")
        crc = struct.unpack_from("<I", data, count - 4)[0]
        need(crc == self.bound_crc(offset, data[:-4]), f"{self.path}: checksum of the {what} at {offset}")
        return data

    def section_bytes(self, entries, entry_bytes):
        return -(-entries // (PAYLOAD // entry_bytes)) * PAGE

    def section(self, kind, offset, entries, entry_bytes):
        size = self.section_bytes(entries, entry_bytes)
        need(offset + size <= self.size, f"{self.path}: section {kind} at {offset} does not fit into the file")
        per_page, out = PAYLOAD // entry_bytes * entry_bytes, []
        for number in range(size // PAGE):
            at = offset + number * PAGE
            page = self.exactly(at, PAGE)
            found = struct.unpack_from("<IQI", page, PAYLOAD)
            need(found == (kind, number, self.bound_crc(at, page[:PAGE - 4])), f"{self.path}: section page at {at}")
            out.append(page[:per_page])
        return b"".join(out)[:entries * entry_bytes]

    def header(self, number):
        data = self.read(0, 512)
        need(data[:8] == b"\x89THALW\r\n", f"{self.path} is not a multifile")
        need(len(data) == 512, f"{self.path}: header is cut off")
        major, _minor, size, self.uuid, required, _optional, self.n_logical, self.n_local, self.first, \
            self.n_physical, self.number, self.mapping, self.checksum, self.alignment, self.granule, self.map_offset, \
            self.ranks_offset, self.session_offset, _created, self.n_later = \
            struct.unpack_from("<HHI16sQQQQQIIIIIIQQQQI", data, 8)
        need(major in (0, 4), f"{self.path}: major version {major}", "TW_ERR_VERSION")
        need(struct.unpack_from("<I", data, 508)[0] == crc32c(data[:508]), f"{self.path}: checksum of the header")
        need(required == 0, f"{self.path}: required feature {(required & -required).bit_length() - 1}", "TW_ERR_VERSION")
        need(major == 4 and size == 512 and self.n_logical <= 2**40 and self.n_local <= self.n_logical
             and 1 <= self.n_physical <= 2**20 and self.number < self.n_physical + self.n_later and self.mapping <= 1
             and self.n_later < 2**16 and (self.n_later == 0 or self.n_physical == 1 and self.mapping == 0)
             and self.checksum <= 1 and is_power(self.alignment, 512, 2**26) and is_power(self.granule, 4096, 2**26),
             f"{self.path}: a field of the header is not legal")
        need(self.first == 0 if self.mapping else self.first + self.n_local <= self.n_logical,
             f"{self.path}: first rank {self.first}")
        need(self.number == number, f"{self.path} is physical file {self.number}, not {number}")
        has_ranks = self.mapping == 1 and self.n_local > 0
        map_entries = self.n_logical if self.mapping else self.n_physical + 1
        for is_there, offset, entries in ((number == 0, self.map_offset, map_entries),
                                          (has_ranks, self.ranks_offset, self.n_local)):
            need(is_page(offset) and offset + self.section_bytes(entries, 8) <= self.size if is_there else offset == 0,
                 f"{self.path}: a section of the header does not fit into the file")
        self.is_later = self.number >= self.n_physical
        if self.is_later:
            need(self.n_local == self.session_offset == 0, f"{self.path}: a field of the header of a later physical file")
            return
        need(is_page(self.session_offset) and self.session_offset + PAGE <= self.size,
             f"{self.path}: session page at {self.session_offset}")
        self.ranks = range(self.first, self.first + self.n_local)
        if self.mapping:
            self.ranks = struct.unpack(f"<{self.n_local}Q", self.section(RANKS, self.ranks_offset, self.n_local, 8))
            self.here = set(self.ranks)
            need(all(rank < self.n_logical for rank in self.ranks), f"{self.path}: ranks section")

    def later(self, number):
        """A later physical file of this one."""
        if number not in self.laters:
            other = Physical(f"{self.path}.{number:06d}", number)
            same = ("uuid", "n_logical", "n_physical", "n_later", "mapping", "checksum", "alignment", "granule")
            need(all(getattr(other, f) == getattr(self, f) for f in same), f"{other.path} belongs to another multifile")
            self.laters[number] = other
        return self.laters[number]

    def has(self, rank):
        if self.is_later:
            return is_added(rank) or rank < self.n_logical
        return is_added(rank) or (rank in self.here if self.mapping else rank in self.ranks)

    def slots(self):
        """Returns the valid slots, and whether an invalid one is not empty."""
        valid, torn = [], False
        for i, offset in enumerate((512, 1024)):
            data = self.read(offset, 128)
            try:
                self.sealed(offset, 128, b"TWSTATE1", "state slot")
            except Refused:
                torn = torn or any(data)
                continue
            slot = struct.unpack_from("<QIIQQQQI4xQ", data, 8)
            sequence, state, session, page, end, index, count, _flags, covered = slot
            need(sequence % 2 == 1 - i and sequence and state in (1, 2) and session < 2**24 and is_page(page)
                 and page <= end <= LIMIT, f"{self.path}: a field of the state slot at {offset} is not legal")
            need(page == end if state == 1 else index, f"{self.path}: end {end} in the state slot")
            if index or count:
                need(is_page(index) and count >= PAGE and count % PAGE == 0 and index + count <= end
                     and (state == 1 or index + count == end), f"{self.path}: index in the state slot")
            need(is_page(covered) and covered < index and (state == 1 or covered == page) if index else covered == 0,
                 f"{self.path}: covered session in the state slot")
            valid.append(slot)
        self.before = min(valid) if len(valid) == 2 else None
        return max(valid, default=None), torn

    def load_index(self, slot):
        """Takes the logical files, runs and places of the index that a slot names; returns the attributes."""
        session, offset, end = slot[2], slot[5], slot[5] + slot[6]
        data = self.sealed(offset, PAGE, b"TWINDEX1", "index page")
        found = struct.unpack_from("<I4x17Q", data, 8)
        n_local, n_pieces, n_names, n_attributes = found[1:5]
        n_entries, n_added, n_runs, n_places, n_later, later_at = found[12:]
        need(found[0] <= session and n_local == self.n_local and n_added <= LIMIT - n_local
             and n_added <= n_entries <= n_local + n_added and n_later == self.n_later
             and (self.number == 0 or n_attributes == n_runs == n_places == 0), f"{self.path}: counts of the index page")
        listed = n_added > 0 or n_entries < n_local
        places, at = [], offset + PAGE
        for entries, entry_bytes in ((n_entries, 48 if listed else 40), (n_pieces, 40), (n_names, 1), (n_attributes, 1),
                                     (n_runs, 24), (n_places, 16), (n_later, 8)):
            places.append(at)
            at += self.section_bytes(entries, entry_bytes)
        need((*found[5:11], later_at, found[11]) == (*places, at) and at == end, f"{self.path}: offsets of the index page")
        need(end <= self.size, f"{self.path}: truncated, the index ends at {end}")
        self.index_offset = offset
        if listed:
            entries = [(e[0], e[1:]) for e in struct.iter_unpack("<QQQIIQII", self.section(LISTED, places[0], n_entries, 48))]
        else:
            entries = list(enumerate(struct.iter_unpack("<QQIIQII", self.section(FILES, places[0], n_entries, 40))))
        self.check_listed([local for local, _entry in entries], n_added)
        pieces = list(struct.iter_unpack("<QQQQIBBH", self.section(PIECES, places[1], n_pieces, 40)))
        names = self.section(NAMES, places[2], n_names, 1)
        self.take_entries(entries, pieces, names)
        attributes = self.section(ATTRIBUTES, places[3], n_attributes, 1)
        self.runs = list(struct.iter_unpack("<QQI4x", self.section(RUNS, places[4], n_runs, 24)))
        self.places = list(struct.iter_unpack("<IIQ", self.section(PLACES, places[5], n_places, 16)))
        self.base_runs = self.runs
        self.later_ends = struct.unpack(f"<{n_later}Q", self.section(LATER, places[6], n_later, 8))
        need(all(last == 0 or PAGE <= last <= LIMIT for last in self.later_ends), f"{self.path}: ends of later physical files")
        return attributes

    def check_listed(self, locals_, n_added):
        need(all(a < b for a, b in zip(locals_, locals_[1:])), f"{self.path}: the listed entries do not ascend")
        n_numbered = len(locals_) - n_added
        need(all(local < self.n_local for local in locals_[:n_numbered]) and all(map(is_added, locals_[n_numbered:])),
             f"{self.path}: a listed entry of a logical file that is not here")

    def take_entries(self, entries, pieces, names):
        self.no_files()
        behind = behind_names = 0
        for local, entry in entries:
            size, first, count, _mode, name_at, name_bytes, _flags = entry
            need(count == 0 or first >= behind, f"{self.path}: pieces that belong to two logical files")
            behind = first + count if count else behind
            need(name_bytes == 0 or name_at >= behind_names, f"{self.path}: names that belong to two logical files")
            behind_names = name_at + name_bytes if name_bytes else behind_names
            name = names[name_at:name_at + name_bytes]
            need(size <= LIMIT and first + count <= len(pieces) and name_at + name_bytes <= len(names)
                 and split_name(name) is not None, f"{self.path}: an entry of the files section")
            logical = self.make_logical(local)
            logical.take(entry, name, pieces[first:first + count])

    def no_files(self):
        self.files = [Logical(self, rank) for rank in self.ranks]
        self.added = {}

    def make_logical(self, local):
        """The logical file of a local index or number, which is made for a number that has none."""
        return self.added.setdefault(local, Logical(self, local)) if is_added(local) else self.files[local]

    def frame(self, offset, room=LIMIT):
        """(kind, session, extent, data offset, a, b, logical offset, directory crc, end before), "zero" or "damaged"."""
        data = self.read(offset, 128).ljust(128, b"\0")
        if not any(data):
            return "zero"
        if data[:8] != b"TWFRAME1" or struct.unpack_from("<I", data, 124)[0] != self.bound_crc(offset, data[:124]):
            return "damaged"
        frame = struct.unpack_from("<IIQQQQQI4xQ", data, 8)
        kind, session, extent, front, a, b, logical, directory_crc, before = frame
        good = kind in (0, 1, 2, 4) and session < 2**24 and 0 < extent <= min(room, LIMIT - offset) and front <= extent \
            and extent % self.alignment == 0 and offset % self.alignment == 0
        if good and kind == 1:
            table = 4 * -(-(extent - front) // self.granule)
            good = front % self.alignment == 0 and front >= 192 + table and self.has(a) \
                and b >> 40 == session and b % 2**40 and max(logical, before) <= LIMIT and directory_crc == 0
        if good and kind == 4:
            good = 1 <= a <= self.n_later and not self.is_later
        if good and kind == 2:
            good = a <= 2**20 and front >= 128 + 48 * a and front + b <= extent
        return frame if good else "damaged"

    def fill_slots(self, offset, capacity):
        """(bytes, count, tail seal, flags) of the valid fill slots of a chunk, the larger first."""
        found = []
        for at in (offset + 128, offset + 160):
            data = self.read(at, 32)
            if len(data) == 32 and struct.unpack_from("<I", data, 28)[0] == self.bound_crc(at, data[:28]):
                slot = struct.unpack_from("<QQII", data, 0)
                if slot[0] <= capacity and slot[1]:
                    found.append(slot)
        return sorted(found, reverse=True)

    def seal(self, data):
        return crc32c(data) if self.checksum else arrival_seal(data)

    def granule_is_sound(self, offset, front, number):
        data = self.read(offset + front + number * self.granule, self.granule)
        entry = self.read(offset + 192 + 4 * number, 4)
        return len(data) == self.granule and len(entry) == 4 and self.seal(data) == struct.unpack("<I", entry)[0]

    def tail_is_sound(self, offset, front, slot):
        start = slot[0] - slot[0] % self.granule
        data = self.read(offset + front + start, slot[0] - start)
        return len(data) == slot[0] - start and self.seal(data) == slot[2]


def parse_attributes(data):
    found, at, last = {}, 0, b""
    while at < len(data):
        need(at + 8 <= len(data), "attributes: cut off")
        key_bytes, value_bytes = struct.unpack_from("<II", data, at)
        key, value = data[at + 8:at + 8 + key_bytes], data[at + 8 + key_bytes:at + 8 + key_bytes + value_bytes]
        at += 8 + key_bytes + value_bytes
        need(at <= len(data) and 1 <= key_bytes <= 255 and 0 not in key and key > last, "attributes: a pair")
        found[key] = value
        last = key
    return found


class Logical:
    """One logical file: its entry, its name and its pieces in order. `number` is what frames name it by: the rank, or the
    number of one that was added."""

    def __init__(self, physical, number):
        self.physical, self.number, self.pieces = physical, number, []
        self.size = self.mode = self.flags = 0
        self.name = b""

    def take(self, entry, name, pieces):
        self.size, self.mode, self.flags, self.name, self.pieces = entry[0], entry[3], entry[6], name, pieces

    def verifies(self):
        return self.physical.checksum or self.flags & 1

    def stored(self, piece):
        """Returns the verified bytes of a piece."""
        logical, offset, size, stored, crc, kind, codec, later = piece
        p = self.home(later)
        need(size and (stored or kind == ZEROS) and logical + size <= min(self.size, LIMIT), "piece entry: its bytes")
        need(kind in (CHUNK, PACKED, ZEROS), f"piece entry: kind {kind}")
        if kind == ZEROS:
            need(offset == stored == crc == codec == later == 0, "piece entry: zeros that are stored")
            return bytes(size)
        front = 192 if kind == CHUNK else 0
        end = LIMIT if later else p.index_offset
        need(PAGE <= offset and offset + front + stored <= end, f"piece entry: it lies at {offset}")
        if kind == CHUNK:
            need(codec == 0 and crc == 0 and stored == size, "piece entry: a chunk with codec or crc")
            return self.chunk(p, logical, offset, size)
        need(codec <= 2, f"piece entry: codec {codec}", "TW_ERR_VERSION")
        need(size <= 2**26 and (stored == size if codec == 0 else stored <= size + size // 128 + 4096),
             "piece entry: stored bytes")
        data = p.exactly(offset, stored)
        need(not self.verifies() or crc32c(data) == crc, f"{p.path}: checksum of the piece at {offset}")
        return data if codec == 0 else decompress(codec, data, size)

    def home(self, later):
        """The physical file in which a piece lies."""
        need(later <= self.physical.n_later, f"piece entry: later physical file {later}")
        return self.physical.later(later) if later else self.physical

    def chunk(self, p, logical, offset, size):
        frame = p.frame(offset)
        need(isinstance(frame, tuple) and frame[0] == 1 and frame[4] == self.number and frame[6] == logical
             and size <= frame[2] - frame[3], f"{p.path}: frame of the chunk at {offset}")
        front = frame[3]
        if self.verifies():
            slots = [s for s in p.fill_slots(offset, frame[2] - front) if s[0] == size]
            need(slots or size % p.granule == 0, f"{p.path}: no fill slot of the chunk at {offset} has {size} bytes")
            need(all(p.granule_is_sound(offset, front, i) for i in range(size // p.granule))
                 and (size % p.granule == 0 or any(p.tail_is_sound(offset, front, s) for s in slots)),
                 f"{p.path}: checksum of the chunk at {offset}")
        return p.exactly(offset + front, size)

    def blocks(self):
        """Yields the content of the file in blocks."""
        contents = [(piece[0], self.stored(piece)) for piece in self.pieces]
        borders = sorted({0, self.size, *(b for at, data in contents for b in (at, at + len(data)))})
        for begin, end in zip(borders, borders[1:]):
            for at, data in reversed(contents):  # later pieces overwrite earlier ones
                if at <= begin and end <= at + len(data):
                    yield data[begin - at:end - at]
                    break
            else:
                need(not self.flags & 1, f"logical file {self.number}: a repair found bytes at {begin} lost")
                for start in range(begin, end, 2**20):
                    yield bytes(min(2**20, end - start))
