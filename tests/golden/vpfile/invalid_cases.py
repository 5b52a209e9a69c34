"""Vpfiles that each break one rule of docs/format/vpfile.md, made from the valid golden files by changing bytes and making
the checksums around them right again."""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "interop"))
from multifile_base import crc32c  # noqa: E402
from vpfile_parts import LISTED, META_FILE, SIDE_BYTES, SLOTS, SUMS, bound, mix  # noqa: E402

SIDES = ("", ".meta", ".first", ".dir", ".batches")


def seal_at(raw, uuid, number, at, size):
    """Makes the bound CRC at the end of a structure right again."""
    struct.pack_into("<I", raw, at + size - 4, bound(uuid, number, at, bytes(raw[at:at + size - 4])))


class Files:
    """The files of a vpfile, as bytes that may be changed; those that are not there are None."""

    def __init__(self, base):
        paths = [HERE / "valid" / f"{base}.vp{side}" for side in SIDES]
        self.parts = [bytearray(path.read_bytes()) if path.exists() else None for path in paths]
        if self.meta is None:
            return
        sequences = [struct.unpack_from("<Q", self.meta, at + 16)[0] for at in SLOTS]
        self.slot = SLOTS[0 if sequences[0] > sequences[1] else 1]
        self.id = bytes(self.meta[self.slot + 24:self.slot + 40])
        self.block, self.z, self.pointers = struct.unpack_from("<III", self.meta, self.slot + 96)
        self.vps = struct.unpack_from("<Q", self.meta, self.slot + 56)[0]
        self.first_superblock = struct.unpack_from("<Q", self.meta, self.slot + 112)[0]

    data, meta, first, overflow, batches = (property(lambda self, i=i: self.parts[i]) for i in range(5))

    # Each changes some bytes, and seals what they are in.
    def change_meta(self, at, form, *values):
        struct.pack_into("<" + form, self.meta, self.slot + at, *values)
        for sector in (self.slot, self.slot + 512):
            seal_at(self.meta, self.id, META_FILE, sector, 512)

    def change_side(self, which, at, form, value):
        header = self.parts[which]
        struct.pack_into("<" + form, header, at, value)
        seal_at(header, self.id, 4 if which == 4 else which - 1, 0, 64)

    def seal_list(self, count):
        """NAME.batches has so many entries."""
        self.change_meta(200, "QQ", count, crc32c(bytes(self.batches[SIDE_BYTES:SIDE_BYTES + count * LISTED.size])))

    @property
    def listed(self):
        return (len(self.batches) - SIDE_BYTES) // LISTED.size

    def change_listed(self, at, form, value, number=0):
        """`number`: among the entries of NAME.batches, from 0."""
        struct.pack_into("<" + form, self.batches, SIDE_BYTES + number * LISTED.size + at, value)
        self.seal_list(self.listed)

    def entry_at(self, which, number):
        return 4096 + (number if which == 2 else number - 1) * (32 + 8 * self.pointers)

    def change_entry(self, which, number, at, form, value, summed=True):
        begin, size = self.entry_at(which, number), 32 + 8 * self.pointers
        struct.pack_into("<" + form, self.parts[which], begin + at, value)
        seal_at(self.parts[which], self.id, which - 1, begin, size)
        if summed:
            self.sum_up(which)

    def sum_at(self, which, j):
        return SUMS + (which - 2) * 4096 * -(-self.vps // 2**18) + 8 * j

    def sum_up(self, which):
        """Makes the sums and the seal of NAME.first (2) or NAME.dir (3) right again."""
        size, seal = 32 + 8 * self.pointers, 0
        entries = self.parts[which][4096:]
        entries += bytes(-len(entries) % size)
        for j in range(-(-len(entries) // (512 * size))):
            crcs = enumerate((struct.unpack_from("<I", entries, at + size - 4)[0]
                              for at in range(512 * j * size, min(512 * (j + 1) * size, len(entries)), size)), 512 * j + which - 2)
            told = sum(mix((2**32 * number + crc) % 2**64) for number, crc in crcs if crc) % 2**64
            struct.pack_into("<Q", self.meta, self.sum_at(which, j), told)
            seal += mix(mix(j) ^ told) if told else 0
        self.change_meta(160 + 8 * which, "Q", seal % 2**64)

    @property
    def superblock(self):
        return self.first_superblock * self.z

    def change_superblock(self, at, form, value, number=0):
        """`number`: among the superblocks, from 0."""
        begin = self.superblock + number * self.z
        struct.pack_into("<" + form, self.data, begin + at, value)
        seal_at(self.data, bytes(self.data[begin + 32:begin + 48]), 0, begin, 128)

    def seals(self):
        return [at for at in (self.superblock + 128, self.superblock + 160) if any(self.data[at:at + 32])]

    def seal(self, at):
        rows = struct.unpack_from("<I", self.data, at + 4)[0]
        end = self.superblock + self.z
        struct.pack_into("<I", self.data, at + 24, crc32c(bytes(self.data[end - 32 * rows:end])))
        seal_at(self.data, self.id, 0, at, 32)

    def change_seals(self, at, form, value):
        for seal in self.seals():
            struct.pack_into("<" + form, self.data, seal + at, value)
            self.seal(seal)

    def change_row(self, at, form, value):
        struct.pack_into("<" + form, self.data, self.superblock + self.z - 32 + at, value)
        for seal in self.seals():
            self.seal(seal)

    def change_pieces(self, at, form, *values):
        """Changes the table of the first batch, which begins with the first block of the first superblock."""
        n, first, blocks, _lost = LISTED.unpack_from(self.batches, SIDE_BYTES)[5:]
        begin = self.superblock + -(-256 // self.block) * self.block
        struct.pack_into("<" + form, self.data, begin + (first + blocks) * self.block - 8 * n + at, *values)
        for seal in self.seals():
            sealed = struct.unpack_from("<I", self.data, seal)[0]
            struct.pack_into("<I", self.data, seal + 16, crc32c(bytes(self.data[begin:begin + sealed * self.block])))
            self.seal(seal)

    def flip(self, which, at):
        self.parts[which][at] ^= 64


CORRUPT, VERSION, NOT_CLOSED, INVALID = "TW_ERR_CORRUPT", "TW_ERR_VERSION", "TW_ERR_NOT_CLOSED", "TW_ERR_INVALID"


def both_slots(files, at):
    for slot in SLOTS:
        files.flip(1, slot + at)


def swap_slots(files):
    files.meta[:1024], files.meta[4096:5120] = files.meta[4096:5120], files.meta[:1024]


def lose_entry(which, number):
    """It is zeros."""
    return lambda files: files.parts[which].__setitem__(slice(files.entry_at(which, number), files.entry_at(which, number + 1)),
                                                        bytes(32 + 8 * files.pointers))


def both_seals(files, at):
    for seal in files.seals():
        files.flip(0, seal + at)


def drop(which):
    return lambda files: files.parts.__setitem__(which, None)


def cut(which, size):
    return lambda files: files.parts.__setitem__(which, files.parts[which][:size])


def swap_listed(files):
    one, size = SIDE_BYTES, LISTED.size
    files.batches[one:one + 2 * size] = files.batches[one + size:one + 2 * size] + files.batches[one:one + size]
    files.seal_list(files.listed)


def list_twice(files):
    files.batches.extend(files.batches[-LISTED.size:])
    files.seal_list(files.listed)


def listed(at, form, value):
    return lambda files: files.change_listed(at, form, value)


def pieces(at, form, *values):
    return lambda files: files.change_pieces(at, form, *values)


def meta(at, form, *values):
    return lambda files: files.change_meta(at, form, *values)


# name, rule, base, code, change
CASES = [
    ("meta_magic", "magic of NAME.meta", "three_segments", CORRUPT, lambda f: both_slots(f, 0)),
    ("meta_crc", "crc of NAME.meta", "three_segments", CORRUPT, lambda f: both_slots(f, 300)),
    ("meta_shape_crc", "crc of the dimensions", "three_segments", CORRUPT, lambda f: both_slots(f, 900)),
    ("meta_shape_of_another", "the dimensions are bound to the id: the slot before says open", "array", NOT_CLOSED,
     lambda f: seal_at(f.meta, bytes(16), META_FILE, f.slot + 512, 512)),
    ("meta_torn", "the newest slot is cut off: the one before says open", "three_segments", NOT_CLOSED, lambda f: f.flip(1, f.slot + 700)),
    ("meta_cut", "NAME.meta is shorter than a slot", "three_segments", CORRUPT, cut(1, 1000)),
    ("meta_version", "a higher version", "three_segments", VERSION, meta(8, "H", 6)),
    ("meta_feature", "a required feature that is not known", "array", VERSION, meta(40, "Q", 4)),
    ("meta_place", "odd sequences are at 0", "array", CORRUPT, swap_slots),
    ("meta_open", "state open", "rounds", NOT_CLOSED, meta(48, "I", 1)),
    ("meta_state", "states are 1 and 2", "rounds", CORRUPT, meta(48, "I", 3)),
    ("meta_no_dimensions", "at least one dimension", "array", CORRUPT, meta(12, "I", 0)),
    ("meta_65_dimensions", "at most 64 dimensions", "array", CORRUPT, meta(12, "I", 65)),
    ("meta_empty_dimension", "dimensions are 1 or more", "array", CORRUPT, meta(512, "Q", 0)),
    ("meta_product", "N is the product of the dimensions", "array", CORRUPT, meta(512, "Q", 5)),
    ("meta_no_vps", "N is 1 or more", "rounds", CORRUPT, meta(56, "Q", 0)),
    ("meta_many_vps", "N is at most 2^40", "rounds", CORRUPT, meta(56, "Q", 2**40 + 1)),
    ("meta_records", "R is a multiple of b", "array", CORRUPT, meta(72, "Q", 71)),
    ("meta_no_record", "R is 0 where b is", "array", CORRUPT, meta(64, "Q", 0)),
    ("meta_no_round", "C is 0 where B is", "rounds", CORRUPT, meta(80, "Q", 0)),
    ("meta_long_rounds", "the data file reaches the end of the lattice", "rounds", CORRUPT, meta(80, "Q", 4096)),
    ("meta_session", "there is a session behind", "sessions", CORRUPT, meta(144, "I", 2**32 - 1)),
    ("meta_sums", "no sum exceeds 2^63-1", "rounds", CORRUPT, meta(88, "Q", 2**61)),
    ("meta_batches_seal_without_list", "no crc of a list without batches", "sessions", CORRUPT, meta(208, "Q", 1)),
    ("meta_block", "S is a power of two", "sessions", CORRUPT, meta(96, "I", 48)),
    ("meta_superblock", "Z is 4096 or more", "sessions", CORRUPT, meta(100, "I", 2048)),
    ("meta_pointers", "P is at most 64", "sessions", CORRUPT, meta(104, "I", 65)),
    ("meta_superblock_without_blocks", "Z is 0 where S is", "rounds", CORRUPT, meta(100, "I", 4096)),
    ("meta_first_superblock", "the first superblock follows the lattice", "three_segments", CORRUPT, meta(112, "Q", 9)),
    ("meta_end_of_superblocks", "it is not before the first one", "three_segments", CORRUPT, meta(120, "Q", 0)),
    ("meta_superblocks", "there is a number for each superblock", "three_segments", CORRUPT, meta(192, "Q", 9)),
    ("meta_superblocks_without_blocks", "no superblocks where S is 0", "rounds", CORRUPT, meta(192, "Q", 1)),
    ("meta_superblocks_missing", "there are as many superblocks as NAME.meta says", "sessions", CORRUPT,
     lambda f: f.change_meta(192, "Q", struct.unpack_from("<Q", f.meta, f.slot + 192)[0] + 1)),
    ("meta_end_of_entries", "it is 1 or more with S", "three_segments", CORRUPT, meta(128, "Q", 0)),
    ("meta_superblocks_in_use", "all superblocks in use are lower", "sessions", CORRUPT, meta(120, "Q", 1)),
    ("meta_entries_in_use", "all entries in use are lower", "chains", CORRUPT, meta(128, "Q", 1)),
    ("meta_first_bytes_without_blocks", "NAME.first has no bytes where S is 0", "rounds", CORRUPT, meta(152, "Q", 1 << 37)),
    ("meta_dir_bytes_without_blocks", "NAME.dir has no bytes where S is 0", "rounds", CORRUPT, meta(160, "Q", 1)),
    ("meta_first_seal_without_blocks", "the seal of NAME.first is 0 where S is", "rounds", CORRUPT, meta(176, "Q", 1)),
    ("meta_dir_seal_without_blocks", "the seal of NAME.dir is 0 where S is", "rounds", CORRUPT, meta(184, "Q", 1)),
    ("superblock_magic", "magic of a superblock", "three_segments", CORRUPT, lambda f: f.flip(0, f.superblock)),
    ("superblock_crc", "crc of the header", "three_segments", CORRUPT, lambda f: f.flip(0, f.superblock + 40)),
    ("superblock_id", "the id is that of NAME.meta", "three_segments", CORRUPT, lambda f: f.change_superblock(32, "Q", 1)),
    ("superblock_kind", "the kind of its frame", "three_segments", CORRUPT, lambda f: f.change_superblock(8, "I", 2)),
    ("superblock_extent", "its extent is Z", "three_segments", CORRUPT, lambda f: f.change_superblock(16, "Q", 8192)),
    ("superblock_data_offset", "the blocks are behind the header", "three_segments", CORRUPT, lambda f: f.change_superblock(24, "Q", 512)),
    ("superblock_place", "it is bound to its place", "three_segments", CORRUPT,
     lambda f: struct.pack_into("<I", f.data, f.superblock + 124, bound(f.id, 0, 0, bytes(f.data[f.superblock:f.superblock + 124])))),
    ("superblock_layout", "it repeats NAME.meta", "three_segments", CORRUPT, lambda f: f.change_superblock(56, "Q", 4)),
    ("superblock_previous", "the previous one has no higher number", "three_segments", CORRUPT,
     lambda f: f.change_superblock(108, "Q", f.first_superblock + 1)),
    ("superblock_before", "earlier sessions left as many superblocks as the header says", "three_segments", CORRUPT,
     lambda f: f.change_superblock(116, "Q", 1)),
    ("superblock_no_previous", "without a previous one it has no rows", "chains", CORRUPT, lambda f: f.change_superblock(104, "I", 1)),
    ("superblock_previous_rows", "the previous one has the rows that the header says", "successors", CORRUPT,
     lambda f: f.change_superblock(104, "I", 3, number=2)),
    ("superblock_lost", "the previous one is there", "successors", CORRUPT,
     lambda f: f.data.__setitem__(slice(f.superblock, f.superblock + 256), bytes(256))),
    ("seal_crc", "crc of the seals", "three_segments", CORRUPT, lambda f: both_seals(f, 29)),
    ("seal_rows", "blocks and rows have room", "three_segments", CORRUPT, lambda f: f.change_seals(0, "I", 64)),
    ("seal_count", "count 0 is no seal", "three_segments", CORRUPT, lambda f: f.change_seals(8, "Q", 0)),
    ("seal_place", "even counts are seal B", "three_segments", CORRUPT, lambda f: f.change_seals(8, "Q", 2)),
    ("table_crc", "crc of the rows", "three_segments", CORRUPT, lambda f: f.flip(0, f.superblock + f.z - 3)),
    ("block_crc", "crc of the blocks", "three_segments", CORRUPT, lambda f: f.flip(0, f.superblock + 256 + 5)),
    ("row_vp", "VPs of a row are below N", "three_segments", CORRUPT, lambda f: f.change_row(0, "Q", 6)),
    ("row_vps", "a row has a VP", "three_segments", CORRUPT, lambda f: f.change_row(16, "I", 0)),
    ("row_blocks", "blocks of a row are in use", "three_segments", CORRUPT, lambda f: f.change_row(24, "I", 50)),
    ("row_bytes", "bytes of a row fit in its blocks", "three_segments", CORRUPT, lambda f: f.change_row(28, "I", 4000)),
    ("row_index", "a row ends below 2^63", "three_segments", CORRUPT, lambda f: f.change_row(8, "Q", 2**60)),
    ("data_cut", "the superblock is cut off", "three_segments", CORRUPT, lambda f: f.parts.__setitem__(0, f.data[:-40])),
    ("array_cut", "an array has R·N bytes", "array", CORRUPT, cut(0, 800)),
    ("rounds_cut", "a closed data file is as long as NAME.meta says", "rounds", CORRUPT, lambda f: f.parts.__setitem__(0, f.data[:-1])),
    ("data_shorter", "a closed data file is as long as NAME.meta says", "sessions", CORRUPT,
     lambda f: f.change_meta(168, "Q", len(f.data) + 1)),
    ("array_rest", "an array without NAME.meta leaves no rest", "array_alone", INVALID, cut(0, 803)),
    ("first_missing", "NAME.first is there", "sessions", CORRUPT, drop(2)),
    ("first_magic", "magic of NAME.first", "sessions", CORRUPT, lambda f: f.change_side(2, 0, "8s", b"TWVPDIRE")),
    ("first_crc", "crc of NAME.first", "sessions", CORRUPT, lambda f: f.flip(2, 30)),
    ("first_id", "id of NAME.first", "sessions", CORRUPT, lambda f: f.change_side(2, 8, "Q", 1)),
    ("first_vps", "N of NAME.first", "sessions", CORRUPT, lambda f: f.change_side(2, 24, "Q", 4)),
    ("first_pointers", "P of NAME.first", "sessions", CORRUPT, lambda f: f.change_side(2, 32, "I", 5)),
    ("first_block", "S of NAME.first", "sessions", CORRUPT, lambda f: f.change_side(2, 36, "I", 32)),
    ("first_cut", "NAME.first is cut off within an entry", "sessions", CORRUPT, cut(2, 4096 + 40)),
    ("first_empty", "NAME.first is cut off before an entry", "sessions", CORRUPT, cut(2, 4096)),
    ("first_shorter", "NAME.first is as long as NAME.meta says", "sessions", CORRUPT, lambda f: f.change_meta(152, "Q", len(f.parts[2]) + 1)),
    ("dir_shorter", "NAME.dir is as long as NAME.meta says", "chains", CORRUPT, lambda f: f.change_meta(160, "Q", len(f.parts[3]) + 1)),
    ("first_lost", "an entry of zeros is not what its sum tells", "sessions", CORRUPT, lose_entry(2, 3)),
    ("first_lost_page", "all entries of a sum are zeros", "pages", CORRUPT,
     lambda f: f.parts.__setitem__(2, f.parts[2][:f.entry_at(2, 512)] + bytes(len(f.parts[2]) - f.entry_at(2, 512)))),
    ("first_fell_back", "an entry with a right crc is not what its sum tells", "sessions", CORRUPT,
     lambda f: f.change_entry(2, 1, 8, "Q", 64, summed=False)),
    ("first_sum", "the sums of NAME.first are those of its seal", "sessions", CORRUPT, lambda f: f.flip(1, f.sum_at(2, 0))),
    ("first_sum_lost", "a sum of zeros is not what the seal tells", "pages", CORRUPT,
     lambda f: f.meta.__setitem__(slice(f.sum_at(2, 1), f.sum_at(2, 2)), bytes(8))),
    ("first_seal", "the sums of NAME.first are those of its seal", "sessions", CORRUPT, meta(176, "Q", 5)),
    ("dir_lost", "an entry of zeros is not what its sum tells", "chains", CORRUPT, lose_entry(3, 1)),
    ("dir_fell_back", "an entry with a right crc is not what its sum tells", "chains", CORRUPT,
     lambda f: f.change_entry(3, 1, 16 + 8 * f.pointers, "I", 77, summed=False)),
    ("dir_sum", "the sums of NAME.dir are those of its seal", "chains", CORRUPT, lambda f: f.flip(1, f.sum_at(3, 0))),
    ("dir_seal", "the sums of NAME.dir are those of its seal", "chains", CORRUPT, meta(184, "Q", 5)),
    ("sums_cut", "NAME.meta is cut off within the sums", "sessions", CORRUPT, cut(1, 5120)),
    ("first_entry_crc", "crc of an entry", "sessions", CORRUPT, lambda f: f.flip(2, 4096 + 17)),
    ("first_bytes", "lengths are those that the rows tell", "sessions", CORRUPT, lambda f: f.change_entry(2, 1, 8, "Q", 65)),
    ("first_too_long", "a stream ends below 2^63", "sessions", CORRUPT, lambda f: f.change_entry(2, 1, 8, "Q", 2**63)),
    ("first_none", "0 is no pointer", "sessions", CORRUPT, lambda f: f.change_entry(2, 0, 16, "Q", 0)),
    ("first_used", "at most P pointers are in use", "sessions", CORRUPT, lambda f: f.change_entry(2, 0, 72, "I", 7)),
    ("first_outside", "a pointer leads to a superblock", "sessions", CORRUPT, lambda f: f.change_entry(2, 0, 16, "Q", 1 << 40)),
    ("first_far_outside", "a pointer leads to a superblock", "sessions", CORRUPT, lambda f: f.change_entry(2, 0, 16, "Q", (1 << 63) - 1)),
    ("first_header", "a pointer leads to blocks", "sessions", CORRUPT, lambda f: f.change_entry(2, 0, 16, "Q", 1 << 12)),
    ("first_hole", "a hole has a block", "sessions", CORRUPT, lambda f: f.change_entry(2, 1, 16, "Q", 1 << 63)),
    ("first_link", "a link leads to an entry", "chains", CORRUPT, lambda f: f.change_entry(2, 0, 0, "Q", 10**6)),
    ("dir_missing", "NAME.dir is there", "chains", CORRUPT, drop(3)),
    ("dir_magic", "magic of NAME.dir", "chains", CORRUPT, lambda f: f.change_side(3, 0, "8s", b"TWVPFRST")),
    ("dir_crc", "crc of NAME.dir", "chains", CORRUPT, lambda f: f.flip(3, 30)),
    ("dir_entry_crc", "crc of an entry", "chains", CORRUPT, lambda f: f.flip(3, f.entry_at(3, 1) + 9)),
    ("dir_index", "a chain goes on where it was", "chains", CORRUPT, lambda f: f.change_entry(3, 1, 8, "Q", 5)),
    ("dir_loop", "a chain ends", "chains", CORRUPT, lambda f: f.change_entry(3, 1, 0, "Q", 1)),
    ("dir_cut", "NAME.dir is cut off within the chains", "chains", CORRUPT, cut(3, 4096 + 40)),
    ("batches_missing", "NAME.batches is there", "batches", CORRUPT, drop(4)),
    ("batches_magic", "magic of NAME.batches", "batches", CORRUPT, lambda f: f.change_side(4, 0, "8s", b"TWVPDIRE")),
    ("batches_crc", "crc of NAME.batches", "batches", CORRUPT, lambda f: f.flip(4, 30)),
    ("batches_number", "number of NAME.batches in its crc", "batches", CORRUPT, lambda f: seal_at(f.batches, f.id, 3, 0, SIDE_BYTES)),
    ("batches_id", "id of NAME.batches", "batches", CORRUPT, lambda f: f.change_side(4, 8, "Q", 1)),
    ("batches_vps", "N of NAME.batches", "batches", CORRUPT, lambda f: f.change_side(4, 24, "Q", 99)),
    ("batches_block", "S of NAME.batches", "batches", CORRUPT, lambda f: f.change_side(4, 36, "I", 32)),
    ("batches_list", "crc of the list", "batches", CORRUPT, lambda f: f.flip(4, SIDE_BYTES + 3 * LISTED.size + 17)),
    ("batches_cut", "the list is cut off within an entry", "batches", CORRUPT, lambda f: f.parts.__setitem__(4, f.batches[:-9])),
    ("batches_empty", "the list is cut off before an entry", "batches", CORRUPT, cut(4, SIDE_BYTES)),
    ("meta_batches", "NAME.batches has as many entries as NAME.meta says", "batches", CORRUPT, lambda f: f.seal_list(f.listed + 1)),
    ("meta_many_batches", "there are at most 2^32 batches", "batches", CORRUPT, meta(200, "Q", 2**32 + 1)),
    ("meta_most_batches", "NAME.batches is as long as NAME.meta says", "batches", CORRUPT, meta(200, "Q", 2**32)),
    ("meta_batches_fewer", "NAME.batches lists all batches", "batches", CORRUPT, lambda f: f.seal_list(f.listed - 1)),
    ("meta_no_batches", "NAME.batches lists all batches", "batches_behind", CORRUPT, meta(200, "QQ", 0, 0)),
    ("meta_batches_seal", "NAME.meta has the crc of the list", "batches", CORRUPT, meta(208, "Q", 5)),
    ("meta_batches_seal_high", "the crc of the list has 32 bits", "batches", CORRUPT, meta(212, "I", 1)),
    ("meta_batches_without_blocks", "no batches where S is 0", "rounds", CORRUPT, meta(200, "Q", 1)),
    ("meta_batches_seal_without_blocks", "no crc of a list where S is 0", "rounds", CORRUPT, meta(208, "Q", 1)),
    ("listed_vp", "VPs of a batch are below N", "batches", CORRUPT, listed(0, "Q", 90)),
    ("listed_vps", "a batch has a VP", "batches", CORRUPT, listed(40, "I", 0)),
    ("listed_superblock", "a batch is in a superblock", "batches", CORRUPT, listed(8, "Q", 10**6)),
    ("listed_far_superblock", "a batch is in a superblock", "batches", CORRUPT, listed(8, "Q", 2**62)),
    ("listed_base", "the base is below 2^62", "batches", CORRUPT, listed(16, "Q", 2**62)),
    ("listed_least", "the least is that of the pieces", "batches", CORRUPT, listed(24, "Q", 3)),
    ("listed_most", "the most is that of the pieces", "batches", CORRUPT, listed(32, "Q", 39)),
    ("listed_first_block", "a batch is in blocks of its superblock", "batches", CORRUPT, listed(44, "I", 50)),
    ("listed_blocks", "the table has room in the blocks", "batches", CORRUPT, listed(48, "I", 4)),
    ("listed_lost_two", "lost is 0 or 1", "batches", CORRUPT, listed(52, "I", 2)),
    ("listed_lost", "a batch of a whole superblock is not lost", "batches", CORRUPT, listed(52, "I", 1)),
    ("listed_order", "the list is in the order of blocks", "batches", CORRUPT, swap_listed),
    ("listed_twice", "the list has each batch once", "batches", CORRUPT, list_twice),
    ("batch_vp", "VPs of a batch are below N", "batches", CORRUPT, lambda f: f.change_row(0, "Q", 90)),
    ("batch_base", "the base is below 2^62", "batches", CORRUPT, lambda f: f.change_row(8, "Q", 2**62)),
    ("batch_vps", "a batch has a VP", "batches", CORRUPT, lambda f: f.change_row(16, "I", 0)),
    ("batch_table", "a batch has no more VPs than its blocks have room for", "batches", CORRUPT, lambda f: f.change_row(20, "I", 4)),
    ("batch_blocks", "blocks of a batch are in use", "batches", CORRUPT, lambda f: f.change_row(24, "I", 50)),
    ("piece_down", "pieces do not end before they begin", "batches", CORRUPT, pieces(8 * 5 + 4, "I", 1)),
    ("piece_table", "pieces end before the table", "batches", CORRUPT, pieces(8 * 48 + 4, "I", 21 * 64)),
    ("piece_negative", "pieces begin at 0 or behind", "batches", CORRUPT, pieces(0, "i", -1)),
    ("piece_gap", "pieces of a stream without entry follow each other", "batches", CORRUPT, pieces(8 * 41 + 4, "I", 824)),
    ("piece_overlap", "pieces of a stream do not overlap", "batches_behind", CORRUPT, pieces(0, "i", 3)),
    ("piece_overlap_entry", "pieces of a stream do not overlap", "batches", CORRUPT, pieces(8 * 3, "i", 1)),
    ("piece_none", "a batch has a piece", "batches", CORRUPT, pieces(0, "392s", bytes(392))),
]
