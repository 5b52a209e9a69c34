#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: structures of sound files, cut to the layouts that the targets read, and accesses
of some shapes.

Usage: make_corpus.py        (writes corpus/{multifile_*,vpfile_*,plan,view}/seed_*; other files there are findings and stay)
"""

import pathlib
import random
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "golden"))
GOLDEN_VPFILES = HERE.parent / "tests" / "golden" / "vpfile" / "valid"
sys.dont_write_bytecode = True
import valid_cases  # noqa: E402


def store(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ("seed_" + name)).write_bytes(data)


def header_choices(part, n_local):
    """As header_from() of fuzz_support.hpp reads it."""
    alignment, granule = part.alignment.bit_length() - 10, part.granule.bit_length() - 13
    mapping = int(part.ranks != list(range(part.n_logical - n_local, part.n_logical)))
    return struct.pack("<I", alignment | granule << 4 | (1 - part.checksum) << 8 | mapping << 9 | part.n_logical << 10
                       | n_local << 20 | part.number << 28 | int(part.n_later > 0) << 29)


def header_seed(part):
    session = part.session_at
    return (struct.pack("<Q", len(part.bytes)) + part.bytes[:640] + part.bytes[1024:1152] + part.bytes[session:session + 88]
            + struct.pack("<QQQB", 0 if part.session_number == 0 else session, 512, 9, 60))


def frame_seeds(part):
    frames = [at for at in range(0, len(part.bytes), 512) if part.bytes[at:at + 8] == b"TWFRAME1"]
    for at in frames[:4]:
        kind, _, extent, _front, pieces = struct.unpack_from("<IIQQQ", part.bytes, at + 8)
        directory = part.bytes[at + 128:at + 128 + 48 * pieces] if kind == 2 else b""
        yield (header_choices(part, len(part.ranks)) + struct.pack("<QQ", at, extent) + part.bytes[at:at + 128]
               + part.bytes[at + 128:at + 160] + directory)


def index_seed(part, consistent):
    offset, size = part.newest_index
    page = part.bytes[offset:offset + 152]
    files_at, pieces_at, attributes_at, end = struct.unpack_from("<QQxxxxxxxxQQ", page, 48)  # end: of the attributes
    attributes_bytes = struct.unpack_from("<Q", page, 40)[0]
    rest = part.bytes[attributes_at:attributes_at + attributes_bytes] if end > attributes_at else b""
    return (header_choices(part, len(part.ranks)) + struct.pack("<BIHH", part.session_number << 1, offset // 4096, size // 4096, 0)
            + bytes([consistent]) + page + part.bytes[files_at:files_at + 40] + part.bytes[pieces_at:pieces_at + 40]
            + struct.pack("<Q", attributes_bytes or 1) + rest)


def read_seed(part):
    """The parts of the file that are not zero, as multifile_read_fuzz reads them."""
    out, at, data = b"\0", 0, bytes(part.bytes)
    while at < len(data):
        if data[at] == 0:
            at += 1
            continue
        end = at
        while end < len(data) and end - at < 60000 and any(data[end:end + 16]):
            end += 1
        out += struct.pack("<IH", at, end - at) + data[at:end]
        at = end
    return out + struct.pack("<IHB", len(data) - 1, 1, data[-1])


def plan_head(flags, tasks, workers, block_log=9, most_pieces=16, most_bytes=255):
    """As choices_from() of plan_fuzz.cpp reads it; flags: 1 read, 2 shared memory, 4 may sieve writes, 8 far."""
    return bytes([flags | (tasks - 1) << 4, workers, block_log, 0, most_pieces - 1, most_bytes - 1, 0])


def plan_seeds():
    """Name and bytes of accesses; an extent is (task, offset, bytes), a task + 128 has a gap in memory."""
    shapes = {
        "contiguous": (3, [(i // 4, i * 200, 200) for i in range(12)]),
        "strided": (2, [(i // 6, i * 300, 100) for i in range(12)]),
        "interleaved": (4, [(i % 4 + 128 * (i % 3 == 0), i * 64, 64) for i in range(24)]),
        "backwards": (1, [(128, (19 - i) * 150, 100) for i in range(20)]),
        "overlapping": (3, [(i % 3, i * 40, 100) for i in range(20)]),
        "same": (5, [(i, 100, 250) for i in range(5)]),
        "nothing": (2, [(0, 5, 0), (1, 9, 0)]),
    }
    for name, (tasks, extents) in shapes.items():
        body = b"".join(struct.pack("<BHB", *extent) for extent in extents)
        for flags in (6, 7):
            yield f"{name}_{flags}", plan_head(flags, tasks, 3, most_pieces=3, most_bytes=120) + body
    largest = 2**63 - 1
    far = [(0, 1, largest - 1), (0, 1 << 40, 0), (1, largest, 0), (1, 4096, 1 << 62), (2, 2, largest - 1), (130, 1, 1)]
    for flags in (14, 15):
        yield f"far_{flags}", plan_head(flags, 3, 4) + b"".join(struct.pack("<BQQ", *extent) for extent in far)


def view_seeds():
    """Name and bytes of nested views; view_fuzz.cpp draws each of its numbers from two bytes: the depth, the bytes inside, ..."""
    for seed in range(12):
        draw = random.Random(seed)
        yield f"nested_{seed}", struct.pack("<HH", 1 + seed % 6, seed % 4) + draw.randbytes(120)


def vpfile_parts(name):
    """The bytes of NAME, NAME.meta, NAME.first and NAME.dir of a golden vpfile; empty where there is none."""
    paths = [GOLDEN_VPFILES / f"{name}.vp{side}" for side in ("", ".meta", ".first", ".dir")]
    return [path.read_bytes() if path.exists() else b"" for path in paths]


def vpfile_read_seed(parts, n):
    """As vpfile_read_fuzz.cpp reads it."""
    out = bytes([0, n])
    for which, data in enumerate(parts):
        at = 0
        while at < len(data):
            if not any(data[at:at + 32]):
                at += 32
                continue
            end = at
            while end < len(data) and end - at < 60000 and any(data[end:end + 32]):
                end += 32
            out += struct.pack("<IH", which << 30 | at, min(end, len(data)) - at) + data[at:end]
            at = end
        if data:
            out += struct.pack("<IHB", which << 30 | (len(data) - 1), 1, data[-1])
    return out


def vpfile_seeds():
    """Target, name and bytes."""
    for path in sorted(GOLDEN_VPFILES.glob("*.vp")):
        name, parts = path.stem, vpfile_parts(path.stem)
        for n in (0, 6):
            seed = vpfile_read_seed(parts, n)
            if len(seed) < 12000 and name != "pages":  # the target takes few VPs
                yield "vpfile_read", f"{name}_{n}", seed
        if parts[1]:
            yield "vpfile_meta", name, parts[1]
        for at in range(0, len(parts[0]), 4096):
            block = parts[0][at:at + 4096]
            if block[:8] == b"TWFRAME1":
                rows = 32 * max(struct.unpack_from("<I", block, seal + 4)[0] for seal in (128, 160))
                head = b"\0" + struct.pack("<Q", at) + block[:256] + struct.pack("<H", rows) + block[4096 - rows:]
                yield "vpfile_superblock", f"{name}_{at // 4096}", head + block[256:1024]
        for which in (2, 3):
            if parts[which]:
                pointers = struct.unpack_from("<I", parts[which], 32)[0]
                size = 32 + 8 * pointers
                for number in range(2):
                    entry = parts[which][4096 + number * size:][:size]
                    yield ("vpfile_directory", f"{name}_{which}_{number}", bytes([(which - 2) * 2 | (pointers - 1) << 2])
                           + struct.pack("<Q", number + which - 2) + parts[which][:64] + entry)


def main():
    for target, name, data in vpfile_seeds():
        store(target, name, data)
    for name, data in plan_seeds():
        store("plan", name, data)
    for name, data in view_seeds():
        store("view", name, data)
    for case in valid_cases.READ + valid_cases.RECOVER:
        parts = case()[0]
        seed = read_seed(parts[0])
        if len(parts) == 1 and len(seed) < 5000:
            store("multifile_read", case.__name__, seed)
    for case in valid_cases.READ:
        for part in case()[0]:
            name = f"{case.__name__}_{part.number}"
            if case in (valid_cases.small, valid_cases.appended, valid_cases.table_mapping, valid_cases.growing_slabs_closed,
                        valid_cases.no_logical_files, valid_cases.three_physical_files, valid_cases.later_physical_files):
                store("multifile_header", name, header_seed(part))
            if case in (valid_cases.small, valid_cases.codecs, valid_cases.checksum_none, valid_cases.table_mapping,
                        valid_cases.granules, valid_cases.added, valid_cases.later_physical_files):
                for number, seed in enumerate(frame_seeds(part)):
                    store("multifile_frame", f"{name}_{number}", seed)
            if case in (valid_cases.small, valid_cases.names_and_attributes, valid_cases.appended, valid_cases.table_mapping,
                        valid_cases.added, valid_cases.added_in_two_physical_files, valid_cases.later_physical_files):
                for consistent in (0, 1) if part.home == 0 else ():
                    store("multifile_index", f"{name}_{consistent}", index_seed(part, consistent))


if __name__ == "__main__":
    main()
