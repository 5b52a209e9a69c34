"""Finds the pieces in the frames of a physical file: section 7, steps 2 to 4, of docs/format/multifile.md."""

import struct

from multifile_base import CHUNK, DOMAINS, FILES, LATER, LIMIT, LONGEST_NAME, NAME_CODEC, PACKED, PAGE, PAYLOAD
from multifile_base import Refused, crc32c, is_added, need
from multifile_physical import is_page


class Scan:
    """Walks the sessions of a physical file. `found`: by rank or number (sequence, end before, piece, sound bytes, synced
    bytes or None, name or None)."""

    def __init__(self, physical):
        self.p, self.found = physical, {}
        self.here = physical  # where the frames lie: also a later physical file
        self.made = set()  # the later physical files of which a frame says that they were made
        self.lost = False  # a damaged frame: any piece may be missing
        self.left_out = False  # a session was begun and is not walked
        self.refused = []  # offsets of packs whose directory is refused

    def check_closed(self, slot):
        """Refuses the frames of a closed physical file that are not all sound."""
        sessions = self.sessions_to_walk(slot, False, 0)
        for _offset, session, limit in sessions:
            self.walk(session, self.domains(session), limit)
        for k, end in enumerate(self.p.later_ends, 1):
            if end:
                self.walk_later(self.p.later(k), [session for _offset, session, _limit in sessions])
        need(not self.lost and not self.left_out and not self.refused, f"{self.p.path}: damaged frames")

    def session(self, offset):
        p = self.p
        s = struct.unpack_from("<IIQQQQQIIQQQ", p.sealed(offset, PAGE, b"TWSESSN1", "session page"), 8)
        number, _growth, previous, n_domains, domains, start, round_bytes, doublings = s[:8]
        need(number < 2**24 and (number == 0) == (offset == p.session_offset) and n_domains and doublings <= 40
             and (is_page(previous) and previous < offset if number else previous == 0), "session page: numbers")
        end = domains + p.section_bytes(n_domains, 8)
        need(is_page(domains) and domains > offset and end <= p.size and end <= start < end + 2**26 and start % p.alignment == 0
             and n_domains * p.alignment <= round_bytes <= LIMIT and round_bytes % p.alignment == 0, "session page: places")
        more_doublings, start, n_domains, slab = s[8:]
        if p.n_later == 0:
            need(s[8:] == (0, 0, 0, 0), "session page: later physical files, which there are not")
        else:
            need(PAGE <= start <= LIMIT and start % p.alignment == 0 and n_domains and slab and slab % p.alignment == 0
                 and n_domains * slab <= LIMIT and more_doublings <= 40, "session page: later physical files")
        return s

    def walk_later(self, later, sessions):
        """Walks the frames of the sessions, which follow each other, in a later physical file."""
        self.here = later
        for i, session in enumerate(sessions):
            growth, (doublings, start, n_domains, slab) = session[1], session[8:]
            limit = min(later.size, sessions[i + 1][9] if i + 1 < len(sessions) else LIMIT)
            self.walk_slabs((session[0], growth, start, n_domains * slab, doublings), [slab] * n_domains, limit)
        self.here = self.p

    def domains(self, session):
        p = self.p
        sizes = struct.unpack(f"<{session[3]}Q", p.section(DOMAINS, session[4], session[3], 8))
        need(sum(sizes) == session[6] and all(b and b % p.alignment == 0 for b in sizes), "domain section")
        return sizes

    def is_sealed(self, offset):
        page = self.p.read(offset, PAGE)
        return len(page) == PAGE and struct.unpack_from("<I", page, PAGE - 4)[0] == self.p.bound_crc(offset, page[:-4])

    def never_was_whole(self, offset):
        """Whether a session page or its domain section never reached storage."""
        if not self.is_sealed(offset):
            return True
        size, self.p.size = self.p.size, LIMIT
        try:
            self.session(offset)
            return True
        except Refused:
            return False
        finally:
            self.p.size = size

    def chain(self, last, end):
        """Returns (offset, session page) of the session at `last` and of the previous ones back to `end`, the oldest
        first."""
        found = []
        while last and last >= end:
            try:
                found.insert(0, (last, self.session(last)))
            except Refused as refused:
                refused.offset = last
                raise
            last = found[0][1][2]
        return found

    def sessions_to_walk(self, slot, base, end):
        """Returns (offset, session page, limit) of each session not covered by the index before `end`, the oldest
        first."""
        p, found = self.p, None
        newest = [s[3] for s in (slot, p.before) if s] + [p.session_offset]
        for last in newest:
            if base and last < end:
                found = []
                break
            try:
                found = self.chain(last, end)
                break
            except Refused as refused:
                if not self.never_was_whole(refused.offset):
                    raise
                self.left_out, failed = True, refused
        if found is None:
            raise failed
        if base and not found and not self.left_out:
            try:
                found = [(end, self.session(end))]
            except Refused:
                pass
        if not found:
            return []
        limits = [self.index_begin(min(offset, p.size)) for offset, _session in found[1:]] + [self.limit(slot, found[-1][0])]
        return [(offset, session, limit) for (offset, session), limit in zip(found, limits)]

    def limit(self, slot, offset):
        """Limit of the frames of the session at `offset` when no session follows it."""
        closed = slot and slot[1] == 2 and slot[3] == offset
        return min(slot[5], self.p.size) if closed else self.index_begin(self.p.size)

    def index_begin(self, end):
        """Returns the beginning of the run of index pages before `end`; `end` when there is none."""
        begin, met = end // PAGE * PAGE, False
        while begin >= 2 * PAGE:
            if self.is_index(begin - PAGE) == "page":
                return begin - PAGE
            if not self.is_index(begin - PAGE):
                return begin if met else end
            begin, met = begin - PAGE, True
        return end

    def is_index(self, offset):
        """Whether an index "page" or a page of an index "section" is present."""
        if not self.is_sealed(offset):
            return None
        page = self.p.exactly(offset, PAGE)
        if page[:8] == b"TWINDEX1":
            return "page"
        return "section" if FILES <= struct.unpack_from("<I", page, PAYLOAD)[0] <= LATER else None

    def index_begins(self, offset):
        """Whether an index that may be torn begins or continues here."""
        return self.is_index(offset) or self.p.read(offset, 8) == b"TWINDEX1"

    def walk(self, session, sizes, limit):
        number, growth, _, _, _, start, round_bytes, doublings = session[:8]
        self.walk_slabs((number, growth, start, round_bytes, doublings), sizes, limit)

    def walk_slabs(self, layout, sizes, limit):
        number, growth, start, round_bytes, doublings = layout
        prefix = 0
        for size in sizes:
            k = before = 0  # before: S(k)
            while True:
                factor = 2 ** min(k // growth, doublings) if growth else 1
                begin = start + round_bytes * before + factor * prefix
                if begin >= limit or begin + factor * size > LIMIT:
                    break
                self.slab(number, begin, begin + factor * size, limit)
                k, before = k + 1, before + factor
            prefix += size

    def slab(self, session, at, end, limit):
        searching = False
        while at < min(end, limit):
            frame = self.here.frame(at, end - at)
            if isinstance(frame, tuple) and frame[1] == session:
                searching = False
                if frame[0] == 4:
                    self.made.add(frame[4])
                elif frame[0]:
                    (self.chunk if frame[0] == CHUNK else self.pack)(at, frame)
                at += frame[2]
                continue
            if isinstance(frame, tuple) and frame[1] > session and self.here.is_later:
                return
            if (frame == "zero" and not searching) or (self.here is self.p and at % PAGE == 0 and self.index_begins(at)):
                return
            searching = self.lost = True
            at += self.p.alignment

    def chunk(self, at, frame):
        p, front = self.here, frame[3]
        slots = [s for s in p.fill_slots(at, frame[2] - front) if frame[6] + s[0] <= LIMIT]
        count = sound = slots[0][0] if slots else None
        synced = max((s[0] for s in slots if s[3] & 1 and any(o[1] > s[1] for o in slots)), default=None)
        if slots:
            whole = 0
            while whole < count // p.granule and p.granule_is_sound(at, front, whole):
                whole += 1
            good = [s[0] for s in slots if s[0] // p.granule <= whole and p.tail_is_sound(at, front, s)]
            sound = max([whole * p.granule] + good)
        self.keep(frame[4], frame[5], frame[8], (frame[6], at, count, count, 0, CHUNK, 0, self.number_here()), sound, synced)

    def pack(self, at, frame):
        p, session, front, n_pieces, payload = self.here, frame[1], frame[3], frame[4], frame[5]
        data = p.read(at + 128, 48 * n_pieces)
        entries = list(struct.iter_unpack("<QQQQIIII", data)) if len(data) == 48 * n_pieces else []
        if len(entries) != n_pieces or p.bound_crc(at + 128, data) != frame[7] or payload != sum(e[5] for e in entries) \
                or not all(self.is_legal(e, session) for e in entries):
            self.refused.append(at)  # its pieces are missing
            return
        at += front
        for rank, sequence, logical, before, size, stored, crc, codec in entries:
            data = p.read(at, stored)
            is_sound = len(data) == stored and crc32c(data) == crc
            name = (data if is_sound else b"") if codec == NAME_CODEC else None
            if p.has(rank):
                piece = (logical, at, size, stored, crc, PACKED, codec, self.number_here())
                self.keep(rank, sequence, before, piece, size if is_sound else 0, None, name)
            else:
                self.lost = True
            at += stored

    def is_legal(self, entry, session):
        """Whether the fields of a directory entry are legal; an unknown codec refuses only the piece."""
        rank, sequence, logical, before, size, stored, _crc, codec = entry
        is_here = is_added(rank) or (rank < self.p.n_logical and (self.p.mapping or self.here.has(rank)))
        if not is_here or sequence >> 40 != session or sequence % 2**40 == 0 or max(before, logical + size) > LIMIT:
            return False
        if codec == NAME_CODEC:
            return size == 0 and logical == 0 and 4 <= stored <= 4 + LONGEST_NAME
        return 1 <= size <= 2**26 and 1 <= stored <= size + size // 128 + 4096 and (codec or size == stored)

    def number_here(self):
        return self.here.number if self.here.is_later else 0

    def keep(self, rank, sequence, before, piece, sound, synced, name=None):
        """`name`: what a pack stores of a name, empty where it is not sound; None: a piece with bytes."""
        self.found.setdefault(rank, []).append((sequence, before, piece, sound, synced, name))
