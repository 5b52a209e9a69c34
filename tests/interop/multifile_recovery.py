"""Reconstructs the logical files of a physical file from its frames: section 7 of docs/format/multifile.md."""

import struct

from multifile_base import ATTRIBUTES, CHUNK, DOMAINS, FILES, LIMIT, LISTED, NAMES, PACKED, PAGE, PAYLOAD, ZEROS, Refused
from multifile_base import crc32c, need
from multifile_physical import Logical, is_page, parse_attributes


class Recovery:
    """Reconstructs the logical files of a physical file from its frames."""

    def __init__(self, physical, slot):
        self.p, self.lost, self.found, self.left_out = physical, False, {}, False
        base, end = False, 0
        self.attributes = {}
        whole, older = self.whole_index(slot), None
        if whole is not None:
            self.attributes, base, end = whole, True, slot[5] + slot[6]
        elif slot and slot[5] and physical.before and physical.before[5] not in (0, slot[5]):
            older = physical.before
            whole = self.whole_index(older)
            if whole is not None:
                base, end = True, older[5] + older[6]
        for _offset, session, limit in self.sessions_to_walk(slot, base, end):
            try:
                sizes = self.domains(session)
            except Refused:
                if not base and session[0] == 0:
                    raise
                self.left_out = True
                continue  # a synced session is complete
            self.walk(session, sizes, limit)
        physical.index_offset = LIMIT  # there is no index that would end the pieces
        if not base:
            physical.names = [b""] * physical.n_local
            physical.files = [Logical(physical, rank, (0,) * 7, []) for rank in physical.ranks]
        self.known = set()
        told = self.salvage(slot) if slot and slot[5] and (not base or older) else {}
        if older and base:
            self.attributes = {**whole, **self.attributes}
        for logical in physical.files:
            sound_before = 0 if logical.flags & 1 else logical.size
            self.add(logical, sorted(self.found.get(logical.rank, []), key=lambda found: found[0]))
            if told.get(logical.rank, 0) > logical.size:
                logical.size, logical.flags = told[logical.rank], logical.flags | 1
            if self.left_out and (not base or older) and slot and slot[1] == 2 and logical.rank not in self.known:
                logical.flags |= 1
            if logical.flags & 1 and sound_before:
                logical.pieces.insert(0, (0, 0, sound_before, 0, 0, ZEROS, 0))

    def whole_index(self, slot):
        """Returns the attributes when the index of a slot is intact."""
        try:
            return parse_attributes(self.p.load_index(slot)) if slot and slot[5] else None
        except Refused:
            return None

    def salvage(self, slot):
        """Takes the valid pages of a damaged index, and the sizes that the index of a closed file gives."""
        p, pages, told = self.p, {}, {}
        for at in range(slot[5] + PAGE, min(slot[5] + slot[6], p.size), PAGE):
            page = p.read(at, PAGE)
            kind, number, crc = struct.unpack_from("<IQI", page.ljust(PAGE, b"\0"), PAYLOAD)
            if crc == p.bound_crc(at, page[:-4]) and number <= slot[6] // PAGE:
                pages[kind, number] = page[:PAYLOAD]
        whole = b"".join(pages.get((NAMES, i), bytes(PAYLOAD)) for i in range(slot[6] // PAGE))
        behind = 0
        for local, entry in sorted(self.told_entries(pages, slot).items()):
            logical, (size, _first, _count, mode, at, count, flags) = p.files[local], entry
            logical.flags, logical.mode = logical.flags | flags, mode or logical.mode
            name = whole[at:at + count]
            if count and at >= behind and len(name) == count and 0 not in name:
                p.names[local], behind = name, at + count
            if slot[1] == 2:
                told[logical.rank] = size
        attributes = b""
        while (ATTRIBUTES, len(attributes) // PAYLOAD) in pages:
            attributes += pages[ATTRIBUTES, len(attributes) // PAYLOAD]
        end = 0
        while end + 8 <= len(attributes) and (sizes := struct.unpack_from("<II", attributes, end))[0]:
            if end + 8 + sum(sizes) > len(attributes):
                break
            end += 8 + sum(sizes)
        try:
            self.attributes = parse_attributes(attributes[:end])
        except Refused:
            pass
        return told

    def told_entries(self, pages, slot):
        """Returns {local index: entry} of the pages; notes the ranks they cover, also empty ones."""
        p, entries, ranges = self.p, {}, []
        for kind, number in sorted(pages):
            if kind == FILES:
                begin = number * 102
                for local in range(begin, min(begin + 102, p.n_local)):
                    entries[local] = struct.unpack_from("<QQIIQII", pages[kind, number], (local - begin) * 40)
                ranges.append((begin, begin + 102))
            elif kind == LISTED:
                found = list(struct.iter_unpack("<QQQIIQII", pages[kind, number]))
                found = [e for i, e in enumerate(found) if i == 0 or found[i - 1][0] < e[0]]
                entries.update((e[0], e[1:]) for e in found)
                before = (kind, number - 1) in pages
                begin = 0 if number == 0 else ranges[-1][1] if before else found[0][0]
                ranges.append((begin, found[-1][0] + 1))
        if (LISTED, self.listed_pages(slot) - 1) in pages:
            ranges.append((ranges[-1][1], p.n_local))
        for begin, end in ranges:
            self.known.update(p.ranks[begin:end])
        return entries

    def listed_pages(self, slot):
        """Returns the number of pages of listed entries if the index page has it."""
        try:
            return -(-struct.unpack_from("<Q", self.p.sealed(slot[5], PAGE, b"TWINDEX1", "index page"), 88)[0] // 85)
        except Refused:
            return 0

    def session(self, offset):
        p = self.p
        s = struct.unpack_from("<IIQQQQQI", p.sealed(offset, PAGE, b"TWSESSN1", "session page"), 8)
        number, _growth, previous, n_domains, domains, start, round_bytes, doublings = s
        need(number < 2**24 and (number == 0) == (offset == p.session_offset) and n_domains and doublings <= 40
             and (is_page(previous) and previous < offset if number else previous == 0), "session page: numbers")
        end = domains + p.section_bytes(n_domains, 8)
        need(is_page(domains) and domains > offset and end <= p.size and end <= start < end + 2**26 and start % p.alignment == 0
             and n_domains * p.alignment <= round_bytes <= LIMIT and round_bytes % p.alignment == 0, "session page: places")
        return s

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
        return "section" if FILES <= struct.unpack_from("<I", page, PAYLOAD)[0] <= LISTED else None

    def index_begins(self, offset):
        """Whether an index that may be torn begins or continues here."""
        return self.is_index(offset) or self.p.read(offset, 8) == b"TWINDEX1"

    def walk(self, session, sizes, limit):
        number, growth, _, _, _, start, round_bytes, doublings = session
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
            frame = self.p.frame(at, end - at)
            if isinstance(frame, tuple) and frame[1] == session:
                searching = False
                if frame[0]:
                    (self.chunk if frame[0] == CHUNK else self.pack)(at, frame)
                at += frame[2]
                continue
            if (frame == "zero" and not searching) or (at % PAGE == 0 and self.index_begins(at)):
                return
            searching = self.lost = True
            at += self.p.alignment

    def chunk(self, at, frame):
        p, front = self.p, frame[3]
        slots = [s for s in p.fill_slots(at, frame[2] - front) if frame[6] + s[0] <= LIMIT]
        count = sound = slots[0][0] if slots else None
        synced = max((s[0] for s in slots if s[3] & 1 and any(o[1] > s[1] for o in slots)), default=None)
        if slots:
            whole = 0
            while whole < count // p.granule and p.granule_is_sound(at, front, whole):
                whole += 1
            good = [s[0] for s in slots if s[0] // p.granule <= whole and p.tail_is_sound(at, front, s)]
            sound = max([whole * p.granule] + good)
        self.keep(frame[4], frame[5], frame[8], (frame[6], at, count, count, 0, CHUNK, 0), sound, synced)

    def pack(self, at, frame):
        p, session, front, n_pieces, payload = self.p, frame[1], frame[3], frame[4], frame[5]
        data = p.read(at + 128, 48 * n_pieces)
        entries = list(struct.iter_unpack("<QQQQIIII", data)) if len(data) == 48 * n_pieces else []
        if len(entries) != n_pieces or p.bound_crc(at + 128, data) != frame[7] or payload != sum(e[5] for e in entries) \
                or not all(e[0] < p.n_logical and (p.mapping or p.has(e[0])) and e[1] >> 40 == session and e[1] % 2**40
                           and 1 <= e[4] <= 2**26 and e[5] and e[2] + e[4] <= LIMIT and e[3] <= LIMIT
                           and (e[7] or e[4] == e[5]) and e[5] <= e[4] + e[4] // 128 + 4096 for e in entries):
            return  # its pieces are missing
        at += front
        for rank, sequence, logical, before, size, stored, crc, codec in entries:
            data = p.read(at, stored)
            sound = size if len(data) == stored and crc32c(data) == crc else 0
            if p.has(rank):
                self.keep(rank, sequence, before, (logical, at, size, stored, crc, PACKED, codec), sound, None)
            else:
                self.lost = True
            at += stored

    def keep(self, rank, sequence, before, piece, sound, synced):
        self.found.setdefault(rank, []).append((sequence, before, piece, sound, synced))

    def add(self, logical, found):
        for session in sorted({f[0] >> 40 for f in found}):
            self.add_session(logical, session << 40, [f for f in found if f[0] >> 40 == session])

    def add_session(self, logical, expected, found):
        proven = max((i + 1 for i, f in enumerate(found) if f[4] is not None), default=0)
        for i, (sequence, before, piece, sound, synced) in enumerate(found):
            expected += 1
            if sequence != expected or before > logical.size:  # a previous piece is missing or shorter
                if not self.lost and i >= proven:
                    return
                logical.flags |= 1
            expected = sequence
            is_proven = i + 1 < proven
            goes_on = self.lost or is_proven  # later pieces count in any case
            if piece[2] is None:
                if not goes_on:
                    return
                continue
            size = piece[2]
            if sound < size:
                must = size if is_proven else synced or 0
                if sound < must or self.lost:
                    logical.flags |= 1
                goes_on |= sound < must
                size = max(sound, must)
            if size:
                logical.pieces.append(piece if size == piece[2] else (*piece[:2], size, size, *piece[4:]))
                logical.size = max(logical.size, piece[0] + size)
            if sound < piece[2] and not goes_on and piece[5] == PACKED:
                return
