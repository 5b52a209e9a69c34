"""Reconstructs the logical files of a physical file: section 7, steps 1, 5 and 6, of docs/format/multifile.md."""

import struct

from multifile_base import ATTRIBUTES, FILES, LIMIT, LISTED, NAMES, PACKED, PAGE, PAYLOAD, ZEROS, Refused, is_added, split_name
from multifile_physical import parse_attributes
from multifile_scan import Scan


class Recovery(Scan):
    """Reconstructs the logical files of a physical file from its frames."""

    def __init__(self, physical, slot):
        super().__init__(physical)
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
        walked = []
        for _offset, session, limit in self.sessions_to_walk(slot, base, end):
            try:
                sizes = self.domains(session)
            except Refused:
                if not base and session[0] == 0:
                    raise
                self.left_out = True
                continue  # a synced session is complete
            self.walk(session, sizes, limit)
            walked.append(session)
        for k in range(1, physical.n_later + 1):
            try:
                self.walk_later(physical.later(k), walked)
            except Refused:
                self.here = physical  # it was never made, or is lost
        physical.index_offset = LIMIT  # there is no index that would end the pieces
        if not base:
            physical.no_files()
        self.known = []  # ranges of local indices and numbers whose entries, or their absence, are known
        told = self.salvage(slot) if slot and slot[5] and (not base or older) else {}
        if older and base:
            self.attributes = {**whole, **self.attributes}
        for number in filter(is_added, self.found):
            physical.make_logical(number)
        for local, logical in [*enumerate(physical.files), *physical.added.items()]:
            sound_before = 0 if logical.flags & 1 else logical.size
            self.add(logical, sorted(self.found.get(logical.number, []), key=lambda found: found[0]))
            if told.get(logical.number, 0) > logical.size:
                logical.size, logical.flags = told[logical.number], logical.flags | 1
            if self.left_out and (not base or older) and slot and slot[1] == 2 and not self.is_known(local):
                logical.flags |= 1
            if logical.flags & 1 and sound_before:
                logical.pieces.insert(0, (0, 0, sound_before, 0, 0, ZEROS, 0, 0))
        physical.added = {number: logical for number, logical in physical.added.items()
                          if logical.name or logical.pieces or logical.flags}  # others were not flushed

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
        behind = 0
        for local, entry in sorted(self.told_entries(pages, slot).items()):
            logical, (size, _first, _count, mode, at, count, flags) = p.make_logical(local), entry
            logical.flags, logical.mode = logical.flags | flags, mode or logical.mode
            touched = range(at // PAYLOAD, (at + count - 1) // PAYLOAD + 1) if count and at >= behind else ()
            if touched and len(touched) <= len(pages) and all((NAMES, i) in pages for i in touched):
                text = b"".join(pages[NAMES, i] for i in touched)
                name = text[at % PAYLOAD:at % PAYLOAD + count]
            else:
                name = b""
            if name and split_name(name) is not None:
                logical.name, behind = name, at + count
            if slot[1] == 2:
                told[logical.number] = size
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
        """Returns {local index or number: entry} of the pages; notes the ranges that they cover."""
        p, entries, ranges = self.p, {}, self.known
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
            ranges.append((ranges[-1][1], LIMIT))
        return entries

    def is_known(self, local):
        return any(begin <= local < end for begin, end in self.known)

    def listed_pages(self, slot):
        """Returns the number of pages of listed entries if the index page has it."""
        try:
            return -(-struct.unpack_from("<Q", self.p.sealed(slot[5], PAGE, b"TWINDEX1", "index page"), 104)[0] // 85)
        except Refused:
            return 0

    def add(self, logical, found):
        for session in sorted({f[0] >> 40 for f in found}):
            self.add_session(logical, session << 40, [f for f in found if f[0] >> 40 == session])

    def add_session(self, logical, expected, found):
        proven = max((i + 1 for i, f in enumerate(found) if f[4] is not None), default=0)
        for i, (sequence, before, piece, sound, synced, name) in enumerate(found):
            expected += 1
            if sequence != expected or before > logical.size:  # a previous piece is missing or shorter
                if not self.lost and i >= proven:
                    return
                logical.flags |= 1
            expected = sequence
            is_proven = i + 1 < proven
            goes_on = self.lost or is_proven  # later pieces count in any case
            if name is not None:
                self.take_name(logical, name)
                if not name:
                    logical.flags |= int(goes_on)
                if not name and not goes_on:
                    return
                continue
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

    @staticmethod
    def take_name(logical, stored):
        """Takes mode and name as a pack stores them; a name that is not legal changes nothing."""
        if stored and split_name(stored[4:]) is not None:
            logical.mode, logical.name = int.from_bytes(stored[:4], "little"), stored[4:]
