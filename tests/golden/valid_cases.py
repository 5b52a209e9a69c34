"""The valid golden files that are written from the format document alone. Each gives its parts and what they hold."""

import struct

from craft import FIRST_ADDED, PAGE, Part, close_all, lz4_literals, lz4_run, name_of_part, zstd_raw, zstd_run


def pattern(size, seed=1):
    out, state = bytearray(), seed * 2654435761 % 2**32
    while len(out) < size:
        state = (state * 1664525 + 1013904223) % 2**32
        out += struct.pack("<I", state)
    return bytes(out[:size])


def small(closed=True):
    """One chunk and one pack; the base of most invalid files, which know where what lies in it."""
    part = Part(2)
    part.session([4096])
    data = part.slab(0, 0)
    part.chunk(data, 0, 0, pattern(300))
    part.pack(data + 1024, [(1, 0, 100, pattern(100, 2), 0), (1, 100, 50, pattern(50, 3), 0)])
    if closed:
        part.close()
    return [part], {0: pattern(300), 1: pattern(100, 2) + pattern(50, 3)}


def no_logical_files():
    part = Part(0)
    part.session([512])
    part.close()
    return [part], {}


def empty_logical_files():
    part = Part(3)
    part.session([4096])
    part.chunk(part.slab(0, 0), 1, 0, b"", fills=[])  # given out, never filled
    part.close()
    return [part], {0: b"", 1: b"", 2: b""}


def granules():
    """A chunk of three granules and a bit, one of exactly two without a slot that would be needed, a later one smaller."""
    part = Part(2)
    part.session([65536])
    at = part.slab(0, 0)
    a, b, c = pattern(3 * 4096 + 777), pattern(8192, 2), pattern(1, 3)
    part.chunk(at, 0, 0, a)
    part.chunk(at + 16384, 1, 0, b, fills=[])
    part.chunk(at + 32768, 0, len(a), c, fills=[(0, 1), (1, 1), (0, 1)])
    part.close()
    return [part], {0: a + c, 1: b}


def checksum_none():
    part = Part(2, checksum=0)
    part.session([8192])
    at = part.slab(0, 0)
    part.chunk(at, 0, 0, pattern(5000))
    part.pack(at + 6144, [(1, 0, 10, pattern(10, 2), 0), (1, 10, 90, lz4_run(b"x", 90), 1)])
    part.close()
    return [part], {0: pattern(5000), 1: pattern(10, 2) + b"x" * 90}


def codecs():
    part = Part(5)
    part.session([8192])
    one, two = pattern(100, 1), pattern(30, 2)
    part.pack(part.slab(0, 0), [
        (0, 0, 100, one, 0), (1, 0, 100, lz4_literals(one), 1), (2, 0, 5000, lz4_run(b"r", 5000), 1),
        (3, 0, 30, zstd_raw(two), 2), (4, 0, 65536, zstd_run(b"z", 65536), 2), (0, 100, 30, zstd_raw(two), 2)])
    part.close()
    return [part], {0: one + two, 1: one, 2: b"r" * 5000, 3: two, 4: b"z" * 65536}


def overlaps_and_holes():
    """The higher sequence hides the lower one; bytes between pieces and behind them are zeros."""
    part = Part(1)
    part.session([16384])
    at = part.slab(0, 0)
    part.chunk(at, 0, 1000, b"a" * 2000)
    part.pack(at + 4096, [(0, 1500, 500, b"b" * 500, 0), (0, 2900, 200, b"c" * 200, 0)])
    part.chunk(at + 8192, 0, 1900, b"d" * 50)
    part.sizes[0] = 5000
    part.close()
    expected = bytearray(5000)
    for begin, end, byte in ((1000, 3000, b"a"), (1500, 2000, b"b"), (2900, 3100, b"c"), (1900, 1950, b"d")):
        expected[begin:end] = byte * (end - begin)
    return [part], {0: bytes(expected)}


def three_physical_files():
    """Consecutive ranks over three files, the one in the middle without any."""
    bounds, parts, content = [0, 2, 2, 3], [], {}
    for number in range(3):
        first, n_local = bounds[number], bounds[number + 1] - bounds[number]
        part = Part(3, first, n_local, number=number, n_physical=3, bounds=bounds)
        part.session([4096])
        at = part.slab(0, 0)
        for rank in part.ranks:
            content[rank] = pattern(200 + rank, rank + 1)
            part.chunk(at, rank, 0, content[rank])
            at += 1024
        part.close()
        parts.append(part)
    return parts, content


def table_mapping():
    table = [(1, 0), (0, 1), (1, 1), (0, 0), (0, 2)]
    parts, content = [], {}
    for number, ranks in enumerate(([3, 1, 4], [0, 2])):
        part = Part(5, number=number, n_physical=2, ranks=ranks, table=table)
        part.session([4096])
        pieces = []
        for rank in ranks:
            content[rank] = pattern(20 * rank + 1, rank + 7)
            pieces.append((rank, 0, len(content[rank]), content[rank], 0))
        part.pack(part.slab(0, 0), pieces)
        part.names[ranks[0]] = b"first of %d" % number
        parts.append(part)
    close_all(parts)
    return parts, content


def table_with_an_empty_file():
    part = Part(1, number=0, n_physical=2, ranks=[], table=[(1, 0)])
    other = Part(1, number=1, n_physical=2, ranks=[0])
    for p in (part, other):
        p.session([1024])
    other.chunk(other.slab(0, 0), 0, 0, pattern(64))
    part.close()
    other.close()
    return [part, other], {0: pattern(64)}


def names_and_attributes():
    part = Part(4)
    part.session([4096])
    part.pack(part.slab(0, 0), [(r, 0, 5, b"hello", 0) for r in range(4)])
    part.names = {0: b"a/b", 1: b"\xe4\n\xff", 3: b"n" * 4096}
    part.modes = {0: 0o100644, 1: 0o40755}
    part.attributes = {b"creator": b"craft", b"empty": b"", b"k" * 255: bytes(range(256))}
    part.flags[2] = 0xFFFF0000  # bits a later minor version may use
    part.close()
    return [part], {r: b"hello" for r in range(4)}


def later_minor_version():
    """Whatever a reader must ignore is there: minor version, optional features, reserved bytes, bytes behind the end."""
    part = Part(1, minor=9, optional=2**64 - 1, reserved=0xEE)
    session = part.session([2048])
    at = part.slab(0, 0)
    part.chunk(at, 0, 0, pattern(100))
    index = part.close()
    part.put(at + 60, b"\xee" * 4)
    part.put(at + 72, b"\xee" * 52)
    part.reseal(at, 128)
    part.poke(at + 128 + 20, "<II", 0xFFFFFFFE, 0xEEEEEEEE)
    part.reseal(at + 128, 32)
    part.put(session + 88, b"\xee" * 4004)
    part.reseal(session, PAGE)
    part.poke(index + 12, "<I", 0xEEEEEEEE)
    part.put(index + 152, b"\xee" * 3940)
    part.reseal(index, PAGE)
    for slot in (512, 1024):
        part.put(slot + 56, b"\xfe" + b"\xee" * 7)
        part.put(slot + 72, b"\xee" * 52)
        part.reseal(slot, 128)
        part.put(slot + 128, b"\xee" * 384)
    part.put(len(part.bytes), b"behind the end")
    return [part], {0: pattern(100)}


def appended():
    """Two sessions; the second overwrites bytes of the first."""
    part = Part(2)
    part.session([4096])
    at = part.slab(0, 0)
    part.chunk(at, 0, 0, b"1" * 300)
    part.pack(at + 1024, [(1, 0, 10, b"0123456789", 0)])
    part.names[1] = b"digits"
    part.close()
    part.session([2048, 1024])
    part.chunk(part.slab(1, 0), 0, 250, b"2" * 100)
    part.pack(part.slab(0, 0), [(1, 10, 3, b"abc", 0), (1, 1, 1, b"-", 0)])
    part.attributes[b"sessions"] = b"2"
    part.close()
    return [part], {0: b"1" * 250 + b"2" * 100, 1: b"0-23456789abc"}


def growing_slabs():
    """Three domains, slabs that double after every second round, at most twice; several slabs of each in use."""
    part = Part(3, alignment=1024)
    part.session([1024, 3072, 2048], growth=2, doublings=2)
    content = {rank: b"" for rank in range(3)}
    for k in range(7):
        for domain in range(3):
            at = part.slab(domain, k)
            data = pattern(40 + k, 10 * domain + k)
            part.pack(at, [(domain, len(content[domain]), len(data), data, 0)])
            content[domain] += data
    return part, content


def growing_slabs_closed():
    part, content = growing_slabs()
    part.close()
    return [part], content


def extent_over_the_index():
    """The index lies in the part of a chunk's extent that nobody filled, and the extent ends behind the file."""
    part = Part(1)
    part.session([1 << 20])
    part.chunk(part.slab(0, 0), 0, 0, pattern(100), extent=1 << 20)
    part.close()
    return [part], {0: pattern(100)}


def listed_entries():
    """Of ten logical files three have an entry in the index; of the others nothing is stored."""
    part = Part(10)
    part.session([4096])
    part.pack(part.slab(0, 0), [(1, 0, 5, b"hello", 0), (7, 0, 3, b"abc", 0)])
    part.names, part.modes, part.sizes[3] = {1: b"greeting", 3: b"zeros"}, {3: 0o100600}, 4
    part.close(listed=[1, 3, 7])
    return [part], {**dict.fromkeys(range(10), b""), 1: b"hello", 3: bytes(4), 7: b"abc"}


def listed_pages():
    """All but the first and last logical files have an entry: three pages of them."""
    part = Part(210)
    part.session([1 << 20])
    ranks = range(5, 205)
    part.pack(part.slab(0, 0), [(rank, 0, 5, b"%05d" % rank, 0) for rank in ranks])
    part.names = {rank: b"n%d" % rank for rank in ranks}
    part.close(listed=ranks)
    return part, {rank: b"%05d" % rank if rank in ranks else b"" for rank in range(210)}


def listed_entries_of_several_pages():
    part, content = listed_pages()
    return [part], content


# ---- Logical files that tasks added ------------------------------------------------------------------------------

A_TASK = 2**32  # numbers of a task in a session, as the library gives them


def added():
    """A task that serves one logical file adds four by a name: in a pack, without bytes, in a chunk, and compressed."""
    part = Part(1)
    part.session([65536])
    at = part.slab(0, 0)
    a, b, c, d = range(FIRST_ADDED, FIRST_ADDED + 4)
    part.pack(at, [(0, 0, 8, b"numbered", 0), part.add(a, b"run7/log"), (a, 0, 5, b"hello", 0), part.add(b, b"run7/empty", 0)])
    part.pack(at + 1024, [part.add(c, b"\xc3\xa4 \xff\n", 0o100600)])
    part.chunk(at + 2048, c, 0, pattern(5000))
    part.pack(at + 16384, [part.add(d, b"n" * 4096), (d, 0, 3000, lz4_run(b"d", 3000), 1)])
    part.close()
    return [part], {0: b"numbered", 1: b"hello", 2: b"", 3: pattern(5000), 4: b"d" * 3000}


def added_to_none():
    """A multifile that has no logical files with a rank from the beginning."""
    part = Part(0)
    part.session([4096])
    part.pack(part.slab(0, 0), [part.add(FIRST_ADDED, b"a"), (FIRST_ADDED, 0, 3, b"one", 0),
                                part.add(2**63 - 2, b"last"), (2**63 - 2, 0, 3, b"two", 0)])  # the least and the highest number
    part.close()
    return [part], {0: b"one", 1: b"two"}


def added_in_two_physical_files():
    """Four tasks, two for each physical file; the runs go from one to the other."""
    parts, content = [], {}
    for k in range(2):
        part = Part(4, 2 * k, 2, number=k, n_physical=2, bounds=[0, 2, 4])
        part.session([4096, 4096])
        parts.append(part)
    for task, k in enumerate((0, 1, 0, 1)):
        part, number = parts[k], FIRST_ADDED + task * A_TASK
        text = b"task %d" % task
        part.pack(part.slab(task // 2, 0), [part.add(number, b"of/%d" % task), (number, 0, 6, text, 0),
                                            part.add(number + 1, b"log"), (number + 1, 0, 6, text, 0)])
        content[task], content[4 + 2 * task], content[5 + 2 * task] = b"", text, text
    close_all(parts)
    return parts, content


def added_in_two_sessions():
    """The second session adds, writes to a logical file of the first one and gives another one of it a new name."""
    part = Part(2)
    part.session([4096])
    a, b = FIRST_ADDED, FIRST_ADDED + 1
    part.pack(part.slab(0, 0), [part.add(a, b"a"), (a, 0, 3, b"one", 0), part.add(b, b"b"), (b, 0, 3, b"two", 0)])
    part.close()
    part.session([4096, 4096])
    c, d = b + A_TASK, b + 2 * A_TASK
    part.pack(part.slab(0, 0), [part.add(c, b"c"), (a, 3, 5, b" more", 0), (c, 0, 5, b"three", 0), part.named(0, b"zero")])
    part.pack(part.slab(1, 0), [part.add(d, b"a"), (d, 0, 4, b"four", 0), part.named(b, b"new b", 0o100755)])
    part.close()
    return [part], {0: b"", 1: b"", 2: b"one more", 3: b"two", 4: b"three", 5: b"four"}


def added_parts():
    """Parts of an array, a logical file with the name of the array, and a part of another one."""
    part = Part(0)
    part.session([4096])
    names = [name_of_part(b"temperature", 1), name_of_part(b"temperature", 0), b"temperature", name_of_part(b"t", 0),
             name_of_part(b"temperature", 2**63 - 1), name_of_part(b"temperature", 0x100)]
    pieces, content = [], {}
    for i, name in enumerate(names):
        number, content[i] = FIRST_ADDED + i, b"block %d" % i
        pieces += [part.add(number, name), (number, 0, 7, content[i], 0)]
    part.pack(part.slab(0, 0), pieces)
    part.close()
    return [part], content


def added_with_one_name():
    """Names that several have, with a rank from the beginning or added; two other names have one CRC32C."""
    table = [(1, 0), (0, 0), (0, 1)]
    parts = [Part(3, number=0, n_physical=2, ranks=[1, 2], table=table), Part(3, number=1, n_physical=2, ranks=[0])]
    for part in parts:
        part.session([4096])
    first, other = parts
    a, b = FIRST_ADDED, FIRST_ADDED + A_TASK
    one, two = b"run/1371838", b"run/2000402"
    first.pack(first.slab(0, 0), [first.named(1, b"log"), first.named(2, one), first.add(a, b"log"), (a, 0, 1, b"3", 0),
                                  first.add(a + 1, two), (a + 1, 0, 1, b"4", 0)])
    other.pack(other.slab(0, 0), [other.named(0, b"only"), other.add(b, b"log"), (b, 0, 1, b"5", 0), other.add(b + 1, one)])
    close_all(parts)
    return parts, {0: b"", 1: b"", 2: b"", 3: b"3", 4: b"4", 5: b"5", 6: b""}


def table_with_one_name():
    """A mapping by table: the place that comes last is not that of the highest rank."""
    table = [(1, 0), (0, 0), (0, 1)]
    parts = [Part(3, number=0, n_physical=2, ranks=[1, 2], table=table), Part(3, number=1, n_physical=2, ranks=[0])]
    for part in parts:
        part.session([4096])
        part.pack(part.slab(0, 0), [part.named(rank, b"same") for rank in part.ranks])
    close_all(parts)
    return parts, {0: b"", 1: b"", 2: b""}


def added_and_lost():
    """A run stands for three logical files; a repair has lost the one in the middle, which is empty and has no name."""
    part = Part(1)
    part.session([4096])
    a, b, c = range(FIRST_ADDED, FIRST_ADDED + 3)
    part.pack(part.slab(0, 0), [part.add(a, b"a"), (a, 0, 1, b"1", 0), part.add(b, b"b"), part.add(c, b"c"), (c, 0, 1, b"3", 0)])
    del part.names[b]
    part.close(without=[b])
    return [part], {0: b"", 1: b"1", 2: b"", 3: b"3"}


def many_added():
    """Several pages of entries, of names and of their places."""
    part = Part(3)
    part.session([1 << 16])
    content, pieces = {0: b"", 1: b"", 2: b""}, []
    for i in range(300):
        number, content[3 + i] = FIRST_ADDED + i, b"%d" % i
        pieces += [part.add(number, b"directory/%d" % i), (number, 0, len(content[3 + i]), content[3 + i], 0)]
    part.pack(part.slab(0, 0), pieces)
    part.close(listed=[])
    return [part], content


def names_of_4105_bytes():
    """The longest names: a plain one of a rank from the beginning, and that of a part whose text has 4096 bytes."""
    part = Part(1)
    part.session([16384])
    at = part.pack(part.slab(0, 0), [part.named(0, b"n" * 4105), (0, 0, 4, b"zero", 0)])
    part.pack(at, [part.add(FIRST_ADDED, name_of_part(b"p" * 4096, 3)), (FIRST_ADDED, 0, 4, b"part", 0)])
    part.close()
    return [part], {0: b"zero", 1: b"part"}


# ---- Not closed: to be opened with recovery ----------------------------------------------------------------------

def growing_slabs_unclosed():
    part, content = growing_slabs()
    return [part], content


def unclosed_flushed():
    """What flushes leave: two fill slots, data behind the last flush, reserved space, a gap, an unfinished append of data."""
    part = Part(6)
    part.session([65536])
    at = part.slab(0, 0)
    front = part.chunk(at, 0, 0, pattern(5000), extent=16384, fills=[(0, 4096), (1, 5000)]) - at
    part.put(at + front + 5000, b"never flushed")
    at += 16384
    front = part.chunk(at, 1, 0, pattern(5000, 2), extent=16384, fills=[(0, 100), (1, 5000)]) - at
    part.bytes[at + front + 4999] ^= 1  # the newer slot does not verify: its whole granule does
    at += 16384
    part.chunk(at, 2, 0, pattern(10, 3), extent=1024, fills=[])  # given out, nothing flushed
    at += 1024
    part.pack(at, [(3, 0, 10, b"reserved  ", 0)], kind=0, extent=1024)
    at += 1024
    part.pack(at, [(4, 0, 4, b"kept", 0)])
    at += 512
    part.count(4)  # a piece that never arrived: nothing behind it counts
    part.chunk(at, 4, 100, b"behind a gap", extent=1024)
    at += 1024
    part.chunk(at, 5, 7, pattern(4096, 4), extent=8192, fills=[(0, 4096)])
    return [part], {0: pattern(5000), 1: pattern(4096, 2), 2: b"", 3: b"", 4: b"kept", 5: bytes(7) + pattern(4096, 4)}


def unclosed_append():
    """The session before is closed: its index, names and attributes hold; the open one adds to them."""
    part = Part(2)
    part.session([4096])
    part.chunk(part.slab(0, 0), 0, 0, b"old" * 100)
    part.names[0], part.attributes[b"key"] = b"name", b"value"
    part.sizes[1] = 50
    part.close()
    part.session([4096])
    part.chunk(part.slab(0, 0), 0, 300, b"new" * 50)
    part.pack(part.slab(0, 0) + 1024, [(1, 10, 4, b"more", 0)])
    return [part], {0: b"old" * 100 + b"new" * 50, 1: bytes(10) + b"more" + bytes(36)}


def unclosed_append_to_listed_entries():
    """The index of the session before lists its entries; the open session adds a logical file between them."""
    parts, content = listed_entries()
    part = parts[0]
    part.session([4096])
    part.pack(part.slab(0, 0), [(7, 3, 3, b"def", 0), (5, 0, 3, b"new", 0)])
    return parts, {**content, 5: b"new", 7: b"abcdef"}


def listed_page_lost():
    """A page of listed entries does not verify: the frames tell what they told, but for the names."""
    part, content = listed_pages()
    part.bytes[part.newest_index[0] + 2 * PAGE + 100] ^= 1
    return [part], content


def listed_page_and_session_lost():
    """As well the session page of an append: whatever lies between the entries that are left may have lost bytes."""
    part = Part(210)
    ranks = range(5, 205)
    for session in (ranks[:100], ranks[100:]):
        part.session([1 << 20])
        part.pack(part.slab(0, 0), [(rank, 0, 5, b"%05d" % rank, 0) for rank in session])
        part.close(listed=ranks)
    part.bytes[part.newest_index[0] + 2 * PAGE + 100] ^= 1  # the entries of 90 to 174
    part.bytes[part.session_at + 100] ^= 1
    content = {rank: b"%05d" % rank if rank in ranks[:100] else b"" for rank in range(210)}
    return [part], {**content, **dict.fromkeys(range(175, 205))}


def unclosed_torn_slot():
    """The state slot of the close is torn; the file is then as it was while open."""
    part = Part(1)
    part.session([4096])
    part.chunk(part.slab(0, 0), 0, 0, pattern(600))
    part.close()
    part.put(1024 + 64, b"\xff" * 64)
    return [part], {0: pattern(600)}


def unclosed_damaged_frame():
    """A damaged frame among others: what follows it in the slab is found; files with a gap are refused, others whole."""
    part = Part(3)
    part.session([8192])
    at = part.slab(0, 0)
    part.pack(at, [(0, 0, 3, b"one", 0)])
    part.pack(at + 512, [(0, 3, 3, b"two", 0), (1, 0, 4, b"lost", 0)])
    part.pack(at + 1024, [(0, 6, 5, b"three", 0)])
    part.pack(at + 1536, [(1, 4, 4, b"kept", 0), (2, 0, 5, b"whole", 0)])
    part.bytes[at + 512 + 16] ^= 0x40
    return [part], {0: None, 1: None, 2: b"whole"}


def unclosed_machine_died():
    """What was stored after the last sync is there in parts: nothing synced is hidden by it, and no gap read as zeros."""
    part = Part(6)
    part.session([65536])
    at = part.slab(0, 0)
    front = part.chunk(at, 0, 0, pattern(3000), extent=16384, fills=[(0, 1000), (1, 3000)]) - at
    part.bytes[at + front + 2000] ^= 1  # the slot of the sync holds
    part.pack(at + 16384, [(0, 3000, 5, b"later", 0)])  # tells that 3000 bytes were there
    at += 16384 + 512
    part.pack(at, [(1, 0, 10, b"0123456789", 0), (2, 0, 10, b"0123456789", 0)])
    part.pack(at + 512, [(1, 4, 2, b"--", 0), (2, 20, 2, b"xx", 0)])
    part.bytes[at + 512 + 128 + 96 + 1] ^= 1  # an overwrite that is not whole: what it would hide is shown
    part.pack(at + 1024, [(1, 10, 2, b"ab", 0), (2, 22, 2, b"yy", 0)])
    at += 1536
    part.pack(at, [(3, 0, 4, b"kept", 0)])
    part.pack(at + 512, [(3, 4, 4, b"lost", 0), (4, 0, 4, b"gone", 0)])
    part.bytes[at + 512 + 128 + 8] ^= 1  # a directory that is not whole: its pieces are missing
    part.pack(at + 1024, [(3, 8, 4, b"none", 0), (5, 0, 5, b"whole", 0)])
    return [part], {0: pattern(1000), 1: b"0123456789", 2: b"0123456789" + bytes(10) + b"xxyy", 3: b"kept", 4: b"", 5: b"whole"}


def unclosed_damaged_after_a_sync():
    """A fill slot with a newer one beside it proves its sync: what is damaged below it, or before it, is refused."""
    part = Part(2)
    part.session([65536])
    at = part.slab(0, 0)
    for rank in range(2):
        if rank == 1:
            part.pack(at, [(1, 0, 5, b"first", 0)])
            part.bytes[at + 128 + 48 + 1] ^= 1
            at += 512
        front = part.chunk(at, rank, 5 * rank, pattern(300), extent=16384, fills=[(0, 200), (1, 300)]) - at
        part.fill(at, 0, 200, 1, front, synced=1)
        if rank == 0:
            part.bytes[at + front + 100] ^= 1
        at += 16384
    return [part], {0: None, 1: None}


def unclosed_checksum_none():
    part = Part(1, checksum=0)
    part.session([4096])
    part.chunk(part.slab(0, 0), 0, 0, b"x" * 700, fills=[(0, 500), (1, 700)])
    return [part], {0: b"x" * 700}


def unclosed_checksum_none_lost_sector():
    """Without checksums: the second sector of what was flushed last never reached the storage."""
    part = Part(1, checksum=0)
    part.session([4096])
    data = part.chunk(part.slab(0, 0), 0, 0, b"x" * 700, fills=[(0, 500), (1, 700)])
    part.put(data + 512, bytes(188))
    return [part], {0: b"x" * 500}


def unclosed_checksum_none_damaged_after_a_sync():
    """Without checksums: synced bytes that never arrived in a sector, a piece of a pack or behind the end of the file."""
    part = Part(4, checksum=0)
    part.session([65536])
    at = part.slab(0, 0)
    lost = {}
    for rank in range(4):
        if rank == 1:
            part.pack(at, [(1, 0, 5, b"first", 0)])
            part.put(at + 128 + 48, bytes(5))
            at += 512
        data = part.chunk(at, rank, 5 if rank == 1 else 0, b"x" * 1000, extent=8192, fills=[(0, 900), (1, 1000)])
        part.fill(at, 0, 900, 1, data - at, synced=1)
        lost[rank] = data + 512
        at += 8192
    part.put(lost[0], bytes(488))
    del part.bytes[lost[3] + 100:]
    return [part], {0: None, 1: None, 2: b"x" * 1000, 3: None}


def piece_falls_back():
    """A compressed piece, not synced, whose bytes never arrived: the synced chunk under it is shown."""
    part = Part(1, checksum=0)
    part.session([4096])
    at = part.slab(0, 0)
    front = part.chunk(at, 0, 0, b"a" * 400, fills=[(0, 400), (1, 400)]) - at
    part.fill(at, 0, 400, 1, front, synced=1)
    part.pack(at + 1024, [(0, 100, 200, lz4_run(b"b", 200), 1)])
    part.put(at + 1024 + 128 + 48, bytes(8))
    return [part], {0: b"a" * 400}


def append_never_arrived():
    """Closed, then an append of which only the session page and the state slot reached the storage."""
    parts, known = appended()
    part = parts[0]
    part.session([4096])
    part.bytes[part.session_at + PAGE:] = b""
    return parts, known


def close_of_an_append_never_arrived():
    """Closed with a gap, then appended to: the last state slot and a page of sizes got to the storage, all else did not."""
    part = Part(2)
    part.session([8192])
    part.chunk(part.slab(0, 0), 0, 1000, b"behind a gap", extent=4096)
    part.chunk(part.slab(0, 0) + 4096, 1, 0, b"short", extent=4096)
    part.names = {0: b"zero", 1: b"one"}
    part.close()
    end = len(part.bytes)
    part.session([4096])
    part.chunk(part.slab(0, 0), 0, 1012, b"more, never synced")
    index = part.close()
    files = bytes(part.bytes[index + PAGE:index + 2 * PAGE])
    part.bytes[end + PAGE:] = bytes(len(part.bytes) - end - PAGE)
    part.put(index + PAGE, files)
    return [part], {0: None, 1: b"short"}


def unclosed_added():
    """Names are as durable as bytes: each logical file whose name was flushed is there, whatever else was lost."""
    part = Part(2)
    part.session([65536])
    at = part.slab(0, 0)
    n = range(FIRST_ADDED, FIRST_ADDED + 9)
    at = part.pack(at, [part.add(n[0], b"kept"), (n[0], 0, 4, b"kept", 0), part.add(n[1], b"empty", 0),
                        part.add(n[2], name_of_part(b"array", 7)), (n[2], 0, 5, b"block", 0), part.named(0, b"zero")])
    at = part.pack(at, [part.named(n[0], b"renamed", 0o100600)])
    end = part.pack(at, [part.add(n[3], b"a name that did not arrive"), (n[3], 0, 5, b"bytes", 0)])
    part.bytes[at + 128 + 96 + 6] ^= 1
    at, name = end, b"with bytes that did not arrive"
    end = part.pack(at, [part.add(n[4], name), (n[4], 0, 4, b"lost", 0)])
    part.bytes[at + 128 + 96 + 4 + len(name)] ^= 1
    part.add(n[5], b"of which the pack is missing")
    part.count(n[5])
    part.chunk(end, n[5], 0, b"a chunk without the name before it", extent=2048)
    at = part.pack(end + 2048, [part.add(n[6], b"chunk")])
    part.chunk(at, n[6], 0, pattern(5000), extent=8192)
    at = part.pack(at + 8192, [part.add(n[7], b"with a NUL\0inside"), (n[7], 0, 7, b"no name", 0)])
    part.pack(at, [part.add(n[8], b"reserved")], kind=0)
    return [part], {0: b"", 1: b"", 2: b"kept", 3: b"", 4: b"block", 5: b"", 6: pattern(5000), 7: b"no name"}


def unclosed_added_in_two_physical_files():
    """The ranks follow the numbers of all physical files. What the first one has in its runs is not all."""
    parts, content = added_in_two_physical_files()
    number = FIRST_ADDED + 5 * A_TASK
    for k, part in enumerate(parts):
        part.session([4096])
        added = number + (1 - k) * A_TASK
        part.pack(part.slab(0, 0), [part.add(added, b"later %d" % k), (added, 0, 5, b"later", 0)])
    return parts, {**content, 12: b"later", 13: b"later"}


def unclosed_append_to_added():
    """The index of the sessions before holds; the open session adds, appends to what was added, and gives a new name."""
    parts, content = added_in_two_sessions()
    part = parts[0]
    part.session([4096])
    number = part.added[-1] + A_TASK
    part.pack(part.slab(0, 0), [part.add(number, b"newest"), (number, 0, 6, b"newest", 0), (part.added[0], 8, 6, b", last", 0),
                                part.named(part.added[1], b"newer b", 0)])
    return parts, {**content, 2: b"one more, last", 6: b"newest"}


def unclosed_names_of_wrong_sizes():
    """A directory with a name whose sizes are not legal is refused with all its pieces."""
    part = Part(1)
    part.session([65536])
    at = part.slab(0, 0)
    for i, (size, stored) in enumerate(((1, b"mode"), (0, b"mod"), (0, bytes(4) + b"n" * 4106))):
        part.add(FIRST_ADDED + i, b"refused")
        at = part.pack(at, [(FIRST_ADDED + i, 0, size, stored, 255), (FIRST_ADDED + i, size, 4, b"data", 0)])
    part.pack(at, [part.add(FIRST_ADDED + 3, b"kept"), (FIRST_ADDED + 3, 0, 4, b"data", 0)])
    return [part], {0: b"", 1: b"data"}


def places_page_lost():
    """A page of the places of names does not verify: they follow from the names."""
    parts, content = added_in_two_sessions()
    part = parts[0]
    part.bytes[-2000] ^= 1
    return parts, content


def added_page_lost():
    """A page of the entries of added logical files does not verify: the frames tell what it told, and the names as well."""
    parts, content = many_added()
    part = parts[0]
    part.bytes[part.newest_index[0] + 2 * PAGE + 100] ^= 1
    return parts, content


def unclosed_with_an_index_in_place_of_frames():
    """The slot of the close never arrived; its index lies where eight slabs begin. None of its pages, also of runs and places,
    is taken for a damaged frame: a piece behind a missing one does not count."""
    part = Part(1)
    part.session([4096] * 9)
    at = part.slab(0, 0)
    part.chunk(at, 0, 0, pattern(300))
    at = part.pack(at + 1024, [part.add(FIRST_ADDED, b"a"), (FIRST_ADDED, 0, 3, b"one", 0)], extent=1024)
    part.count(0)  # a piece that never arrived
    part.pack(at, [(0, 400, 4, b"gap!", 0)], extent=2048, in_index=False)
    part.close()
    part.put(1024, bytes(128))
    return [part], {0: pattern(300), 1: b"one"}


def part_of_a_lost_session():
    """Nothing of the last session can be walked: what it added is known from the pages of the index, with the name of a part."""
    part = Part(0)
    number = FIRST_ADDED
    for session in range(2):
        part.session([4096])
        part.pack(part.slab(0, 0), [part.add(number, name_of_part(b"array", session)), (number, 0, 5, b"block", 0)])
        index = part.close()
        number += A_TASK
    part.bytes[part.session_at + 100] ^= 1
    part.bytes[index + 200] ^= 1
    return [part], {0: b"block", 1: None}


def added_page_and_session_lost():
    """A page of the entries of added logical files, of two tasks, a session and the index before it are lost: those of that
    page may have had more bytes, so their gaps are refused. Of the others the pages tell how many they had."""
    part = Part(1)
    numbers = [first + i for first in (FIRST_ADDED, FIRST_ADDED + A_TASK) for i in range(100)]
    part.session([1 << 16])
    pieces = []
    for i, number in enumerate(numbers):
        pieces += [part.add(number, b"file/%d" % i), (number, 2, 5, b"%05d" % i, 0)]
    part.pack(part.slab(0, 0), pieces)
    older = part.close(listed=[])
    part.session([1 << 16])
    part.pack(part.slab(0, 0), [(number, 7, 4, b"more", 0) for number in numbers[::2]])
    index = part.close(listed=[])
    for at in (index + 2 * PAGE, part.session_at, older):  # the entries of 85 to 169
        part.bytes[at + 100] ^= 1
    known = {1 + i: None if i % 2 == 0 or 85 <= i < 170 else bytes(2) + b"%05d" % i for i in range(200)}
    return [part], {0: b"", **known}


def unclosed_names_with_a_logical_offset():
    """A directory with a name at a logical offset that is not 0 is refused with all its pieces."""
    part = Part(1)
    part.session([4096])
    at = part.slab(0, 0)
    part.add(FIRST_ADDED, b"refused")
    at = part.pack(at, [(FIRST_ADDED, 1, 0, bytes(4) + b"refused", 255), (FIRST_ADDED, 0, 4, b"data", 0)])
    part.pack(at, [part.add(FIRST_ADDED + 1, b"kept"), (FIRST_ADDED + 1, 0, 4, b"data", 0)])
    return [part], {0: b"", 1: b"data"}


LATER = (0, 4096, 1, 8192)  # one domain in each later physical file


def later_physical_files():
    """Of two later physical files the first was made; a logical file has pieces in it and in physical file 0."""
    part = Part(2, n_later=2)
    part.session([8192], later=LATER)
    text = pattern(900, 5)
    part.chunk(part.slab(0, 0), 0, 0, text[:300])
    part.frame(part.slab(0, 0) + 1024, 4, 512, 128, 1)
    part.later_ends[0] = 6144
    later = part.later(1)
    later.chunk(4096, 0, 300, text[300:700])
    later.pack(5120, [(0, 700, 200, text[700:], 0), (1, 0, 5, b"other", 0)])
    part.names[1] = b"other"
    part.close()
    return [part, later], {0: text, 1: b"other"}


def later_files_appended():
    """A second session in the same later physical file; it hides bytes of the first one, and adds a logical file."""
    parts, content = later_physical_files()
    part, later = parts
    part.session([8192], later=(1, 8192, 2, 4096))
    later.session_number, later.counts = part.session_number, part.counts
    part.frame(part.slab(0, 0), 4, 512, 128, 1)
    later.chunk(8192, 0, 100, b"x" * 500)
    named = part.add(FIRST_ADDED, b"added")
    part.pack(part.slab(0, 0) + 512, [named])
    later.pack(12288, [(FIRST_ADDED, 0, 3, b"new", 0)])  # in the second domain
    part.later_ends[0] = 16384
    part.close()
    return parts, {0: content[0][:100] + b"x" * 500 + content[0][600:], 1: b"other", 2: b"new"}


def unclosed_later_files():
    """A session that was not closed: what lies in the later physical file is found by its frames."""
    part = Part(2, n_later=2)
    part.session([8192], later=LATER)
    text = pattern(700, 5)
    part.chunk(part.slab(0, 0), 0, 0, text[:300])
    part.frame(part.slab(0, 0) + 1024, 4, 512, 128, 1)
    later = part.later(1)
    later.chunk(4096, 0, 300, text[300:])
    later.pack(5120, [(1, 0, 5, b"other", 0)])
    return [part, later], {0: text, 1: b"other"}


def unclosed_later_file_lost():
    """A frame says that the later physical file was made, and it is missing: the rest is there."""
    parts, content = unclosed_later_files()
    return parts[:1], {0: content[0][:300], 1: b""}


def unclosed_append_to_later_files():
    """The index of the session before is whole; the append has made the second later physical file."""
    parts, content = later_physical_files()
    part = parts[0]
    part.session([8192], later=(0, 8192, 1, 8192))
    part.frame(part.slab(0, 0), 4, 512, 128, 2)
    later = part.later(2)
    later.chunk(8192, 1, 5, b" file")
    return [*parts, later], {0: content[0], 1: b"other file"}


READ = [small, no_logical_files, empty_logical_files, granules, checksum_none, codecs, overlaps_and_holes,
        three_physical_files, table_mapping, table_with_an_empty_file, names_and_attributes, later_minor_version, appended,
        growing_slabs_closed, extent_over_the_index, listed_entries, listed_entries_of_several_pages, added, added_to_none,
        added_in_two_physical_files, added_in_two_sessions, added_parts, added_with_one_name, table_with_one_name, added_and_lost,
        many_added, names_of_4105_bytes, later_physical_files, later_files_appended]
RECOVER = [growing_slabs_unclosed, unclosed_flushed, unclosed_append, unclosed_torn_slot, unclosed_damaged_frame, unclosed_machine_died,
          unclosed_damaged_after_a_sync, unclosed_checksum_none, unclosed_checksum_none_lost_sector,
          unclosed_checksum_none_damaged_after_a_sync, piece_falls_back,
          append_never_arrived, close_of_an_append_never_arrived, unclosed_append_to_listed_entries, listed_page_lost,
          listed_page_and_session_lost, unclosed_added, unclosed_added_in_two_physical_files, unclosed_append_to_added,
          unclosed_names_of_wrong_sizes, places_page_lost, added_page_lost, unclosed_with_an_index_in_place_of_frames,
          part_of_a_lost_session, added_page_and_session_lost, unclosed_names_with_a_logical_offset, unclosed_later_files,
          unclosed_later_file_lost, unclosed_append_to_later_files]
