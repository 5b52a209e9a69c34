"""The invalid golden files: for each rule of the format document a file that breaks it and nothing else.

A case is (name, rule broken, open mode, expected status code, parts). Opening, or reading every logical file, all names and
all attributes, must fail with that code.
"""

import pathlib
import struct

import valid_cases
from craft import ATTRIBUTES, FIRST_ADDED, NAME_CODEC, PAGE, PLACES, Part, added_runs, crc32c, lz4_literals, places_of_names
from craft import sequence, zstd_raw, zstd_run

CORRUPT, VERSION, NOT_CLOSED, NOT_FOUND = "TW_ERR_CORRUPT", "TW_ERR_VERSION", "TW_ERR_NOT_CLOSED", "TW_ERR_NOT_FOUND"
CASES = []

# Where what lies in valid_cases.small()
BOUNDS_AT, SESSION_AT, DOMAINS_AT, CHUNK_AT, PACK_AT, INDEX_AT = 4096, 8192, 12288, 16384, 17408, 20480
FILES_AT, PIECES_AT, END = 24576, 28672, 32768
CHUNK_DATA, SUPER_DATA = CHUNK_AT + 512, PACK_AT + 128 + 96
SLOT_A, SLOT_B = 512, 1024


def add(name, rule, parts, mode="read", code=CORRUPT):
    CASES.append((name, rule, mode, code, parts))


def small(name, rule, change, mode="read", code=CORRUPT):
    """A case made of valid_cases.small() by one change; in mode "recover" of the same file before its close."""
    parts, _ = valid_cases.small(mode == "read")
    change(parts[0])
    add(name, rule, parts, mode, code)


def header(name, offset, form, value, code=CORRUPT, mode="read"):
    def change(part):
        part.poke(offset, form, value)
        part.reseal_header()
    small("header_" + name, "2.1 " + name.replace("_", " "), change, mode, code)


def field(group, rule, at, size, mode="read"):
    """Gives a function that makes cases with one field of the structure at `at` wrong and its crc right."""
    def make(name, offset, form, value, code=CORRUPT):
        def change(part):
            part.poke(at + offset, form, value)
            part.reseal(at, size)
        small(f"{group}_{name}", f"{rule} {name.replace('_', ' ')}", change, mode, code)
    return make


def flip(name, rule, offset, mode="read"):
    def change(part):
        part.bytes[offset] ^= 0x10
    small(name, rule, change, mode)


def make_header_cases():
    flip("header_magic", "2.1 wrong magic", 1)
    small("header_magic_text_mode", "2.1 the magic after a transfer as text", lambda p: p.put(6, b"\n"))
    small("header_cut_off", "2.1 a file of 100 bytes", lambda p: p.bytes.__delitem__(slice(100, None)))
    small("header_no_bytes", "2.1 an empty file", lambda p: p.bytes.clear())
    flip("header_crc", "2.1 crc", 400)
    header("major_version_0", 8, "<H", 0)
    header("major_version_1", 8, "<H", 1, VERSION)
    header("major_version_2", 8, "<H", 2, VERSION)
    header("major_version_3", 8, "<H", 3, VERSION)
    header("major_version_5", 8, "<H", 5, VERSION)
    header("header_bytes", 12, "<I", 513)
    header("required_feature", 32, "<Q", 1 << 5, VERSION)
    header("more_than_2_to_40_logical_files", 48, "<Q", 2**40 + 1)
    header("more_here_than_in_all", 56, "<Q", 3)
    header("first_rank_too_high", 64, "<Q", 1)
    header("no_physical_file", 72, "<I", 0)
    header("too_many_physical_files", 72, "<I", 2**20 + 1)
    header("number_of_file_too_high", 76, "<I", 1)
    header("more_than_65535_later_physical_files", 128, "<I", 2**16)
    header("other_number_of_later_physical_files", 128, "<I", 1)
    header("mapping", 80, "<I", 2)
    header("checksum", 84, "<I", 2)
    for value in (256, 3000, 2**27):
        header(f"alignment_{value}", 88, "<I", value)
    for value in (2048, 5000, 2**27):
        header(f"granule_{value}", 92, "<I", value)
    for name, offset in (("map", 96), ("session_page", 112)):
        for value in (0, BOUNDS_AT + 512, END):
            header(f"{name}_at_{value}", offset, "<Q", value)
    header("ranks_without_table", 104, "<Q", BOUNDS_AT)

    def million(part):
        part.poke(48, "<QQ", 10**6, 10**6)
        part.poke(80, "<I", 1)
        part.poke(104, "<Q", BOUNDS_AT)
        part.reseal_header()
    small("header_a_million_that_is_not_there", "1 sizes are checked against the file before memory is taken", million)


def make_state_cases():
    rule = "2.2 "
    slot = field("state", "2.2", SLOT_B, 128)
    small("state_open", rule + "the file was not closed", lambda p: p.put(SLOT_B, bytes(128)), code=NOT_CLOSED)
    small("state_none", rule + "no valid slot", lambda p: p.put(SLOT_A, bytes(640)))
    small("state_torn", rule + "a newer slot that is torn", lambda p: p.put(SLOT_B + 64, b"\xff" * 64))
    flip("state_crc", rule + "crc of the newer slot", SLOT_B + 8)
    flip("state_older_crc", rule + "a place that is not zeros and does not verify", SLOT_A + 100)

    def swap(part):
        part.put(SLOT_A, part.bytes[SLOT_B:SLOT_B + 128])
        part.put(SLOT_B, bytes(128))
        part.reseal(SLOT_A, 128)
    small("state_in_the_wrong_place", rule + "odd sequences stand in slot A, even ones in B", swap)
    slot("sequence_0", 8, "<Q", 0)
    slot("value_0", 16, "<I", 0)
    slot("value_3", 16, "<I", 3)
    slot("session_number_too_high", 20, "<I", 2**24)
    for value in (0, SESSION_AT + 8, END + PAGE):
        slot(f"session_page_at_{value}", 24, "<Q", value)
    slot("end_is_not_that_of_the_index", 32, "<Q", END + PAGE)
    slot("end_beyond_2_to_63", 32, "<Q", 2**63)
    slot("closed_without_index", 40, "<Q", 0)
    for value in (100, END + PAGE, 2**64 - PAGE):
        slot(f"index_at_{value}", 40, "<Q", value)
    for value in (0, 4000, END - INDEX_AT - PAGE, 2**64 - PAGE):
        slot(f"index_bytes_{value}", 48, "<Q", value)
    slot("covered_session_in_a_closed_file", 64, "<Q", SESSION_AT + PAGE)
    small("truncated_by_a_byte", rule + "shorter than end", lambda p: p.bytes.__delitem__(-1))
    small("truncated_in_the_data", rule + "shorter than end", lambda p: p.bytes.__delitem__(slice(CHUNK_DATA + 10, None)))


def make_section_cases():
    page = field("bounds_page", "1", BOUNDS_AT, PAGE)
    page("kind", 4080, "<I", 2)
    page("number", 4084, "<Q", 1)
    flip("bounds_page_crc", "1 crc of a section page", BOUNDS_AT + 2000)
    page("does_not_begin_at_0", 0, "<Q", 1)
    page("does_not_end_at_N", 8, "<Q", 1)
    flip("files_page_crc", "1 crc of a section page", FILES_AT + 4000)
    flip("pieces_page_crc", "1 crc of a section page", PIECES_AT + 4000)

    def moved(part):  # the files page as it would be elsewhere in the same file
        part.put(FILES_AT + 4092, struct.pack("<I", part.bound_crc(FILES_AT + PAGE, part.bytes[FILES_AT:FILES_AT + 4092])))
    small("files_page_of_another_place", "1 a bound crc is bound to its offset", moved)

    def foreign(part):
        part.uuid = bytes(16)
        part.reseal(FILES_AT, PAGE)
    small("files_page_of_another_multifile", "1 a bound crc is bound to its uuid", foreign)

    def other_number(part):
        part.number = 1
        part.reseal(INDEX_AT, PAGE)
    small("index_page_of_another_physical_file", "1 a bound crc is bound to the number of the file", other_number)


def make_set_cases():
    rule = "2.1 physical files of one set agree"

    def three(change, name, text, code=CORRUPT):
        parts, _ = valid_cases.three_physical_files()
        change(parts)
        add("set_" + name, text, parts, "read", code)

    def falling(parts):
        parts[0].poke(BOUNDS_AT + 8, "<QQ", 3, 2)
        parts[0].reseal(BOUNDS_AT, PAGE)
    three(falling, "bounds_fall", "2.1 bounds ascend")
    three(lambda parts: parts.pop(), "misses_a_file", "2 every physical file is there", NOT_FOUND)
    three(lambda parts: parts.__setitem__(2, parts[1]), "has_a_file_twice", rule)

    def foreign(parts):
        other = Part(3, 2, 1, number=2, n_physical=3, uuid=bytes(16))
        other.session([4096])
        other.close()
        parts[2] = other
    three(foreign, "has_a_foreign_file", rule)
    for name, offset, form, value in (("other_N", 48, "<Q", 4), ("other_M", 72, "<I", 4), ("other_granule", 92, "<I", 8192),
                                      ("other_alignment", 88, "<I", 1024), ("other_checksum", 84, "<I", 0),
                                      ("other_first_rank", 64, "<Q", 1)):
        def change(parts, offset=offset, form=form, value=value):
            parts[2].poke(offset, form, value)
            parts[2].reseal_header()
        three(change, name, rule)

    for name, at, value in (("file", 0, 2), ("local_index", 4, 3), ("local_index_of_another", 4, 1)):
        parts, _ = valid_cases.table_mapping()
        parts[0].poke(4096 + at, "<I", value)  # where rank 0 lives
        parts[0].reseal(4096, PAGE)
        add("table_with_a_wrong_" + name, "2.1 the table names a logical file that has that rank", parts)


def make_later_cases():
    def made(change, name, rule, code=CORRUPT, case=valid_cases.later_physical_files):
        parts, _ = case()
        change(parts)
        add("later_" + name, rule, parts, "read", code)
    made(lambda parts: parts.pop(), "lost", "2.5 a piece lies in a file that is missing", NOT_FOUND)
    rule = "2.1 all files of a set agree"
    for name, offset, form, value in (("other_uuid", 16, "<B", 9), ("other_number_of_later_files", 128, "<I", 3),
                                      ("other_granule", 92, "<I", 8192), ("with_logical_files", 56, "<Q", 1),
                                      ("with_a_session_page", 112, "<Q", PAGE), ("with_another_number", 76, "<I", 2)):
        def change(parts, offset=offset, form=form, value=value):
            parts[1].poke(offset, form, value)
            parts[1].reseal_header()
        made(change, name, rule)

    def session(name, offset, form, value):
        def change(parts):
            parts[0].poke(2 * PAGE + offset, form, value)
            parts[0].reseal(2 * PAGE, PAGE)
        made(change, "session_" + name, "2.3 " + name.replace("_", " "))
    session("41_doublings", 60, "<I", 41)
    session("data_start_below_4096", 64, "<Q", 512)
    session("data_start_not_aligned", 64, "<Q", PAGE + 1)
    session("no_domains", 72, "<Q", 0)
    session("slabs_not_aligned", 80, "<Q", PAGE + 1)
    session("slabs_of_0_bytes", 80, "<Q", 0)
    session("round_beyond_2_to_63", 72, "<Q", 2**60)

    def piece(parts):  # the second one lies in the later physical file
        at = parts[0].newest_index[0] + 2 * PAGE
        parts[0].poke(at + 40 + 38, "<H", 3)
        parts[0].reseal(at, PAGE)
    made(piece, "piece_in_no_file", "6.3 later physical file <= L")

    def end(parts):
        at = sum(parts[0].newest_index) - PAGE
        parts[0].poke(at, "<Q", 4095)
        parts[0].reseal(at, PAGE)
    made(end, "end_below_4096", "6.7 0, or 4096 and more")

    def damaged(parts):  # of the pack
        parts[1].bytes[PAGE + 1024 + 128 + 8] ^= 1
    made(damaged, "directory_damaged", "4.2 crc of the directory")
    small("session_with_later_start_without_later_files", "2.3 without later files, only 0", later_start)


def later_start(part):
    part.poke(part.session_at + 64, "<Q", PAGE)
    part.reseal(part.session_at, PAGE)


def make_index_cases():
    index = field("index", "6.1", INDEX_AT, PAGE)
    flip("index_magic", "6.1 magic", INDEX_AT)
    flip("index_crc", "6.1 crc", INDEX_AT + 3000)
    index("session_number", 8, "<I", 1)
    index("number_of_logical_files", 16, "<Q", 1)
    for value in (200, 2**64 - 1):
        index(f"{value}_pieces", 24, "<Q", value)
        index(f"{value}_bytes_of_names", 32, "<Q", value)
        index(f"{value}_bytes_of_attributes", 40, "<Q", value)
        index(f"{value}_runs", 120, "<Q", value)
        index(f"{value}_places_of_names", 128, "<Q", value)
    for name, offset in (("files", 48), ("pieces", 56), ("names", 64), ("attributes", 72), ("runs", 80),
                         ("places", 88), ("end", 96), ("later_ends", 144)):
        index("offset_of_" + name, offset, "<Q", END + PAGE)

    entry = field("file_entry", "6.2", FILES_AT, PAGE)

    def shared(part):  # the first logical file has the last piece of the second
        part.poke(FILES_AT, "<QQI", 150, 2, 1)
        part.reseal(FILES_AT, PAGE)
    small("file_entries_share_a_piece", "6.2 no piece belongs to two logical files", shared)

    entry("bytes_beyond_2_to_63", 0, "<Q", 2**63)
    entry("bytes_less_than_a_piece", 0, "<Q", 299)
    entry("first_piece_too_high", 8, "<Q", 3)
    entry("first_piece_overflows", 8, "<Q", 2**64 - 1)
    entry("too_many_pieces", 16, "<I", 2**32 - 1)
    index("more_entries_than_logical_files", 104, "<Q", 3)
    index("listed_entries_that_are_not_listed", 104, "<Q", 1)
    index("more_added_logical_files_than_entries", 112, "<Q", 3)  # A > F
    index("too_many_added_logical_files", 112, "<Q", 2**63 - 2)

    for name, number, local in (("do_not_ascend", 1, 0), ("twice", 1, 1), ("of_a_logical_file_that_is_not_here", 2, 10)):
        parts, _ = valid_cases.listed_entries()
        part = parts[0]
        at = part.newest_index[0] + PAGE
        part.poke(at + 48 * number, "<Q", local)
        part.reseal(at, PAGE)
        add("listed_entries_" + name, "6.2 listed entries ascend by local index, none twice", parts)

    parts, _ = valid_cases.names_and_attributes()
    part = parts[0]
    at = part.newest_index[0] + PAGE
    part.poke(at + 40 + 24, "<Q", 0)  # the second one begins where the first one does
    part.reseal(at, PAGE)
    add("file_entries_share_a_name", "6.2 no byte of the names belongs to two logical files", parts)

    entry("name_behind_the_names", 24, "<Q", 1)
    entry("name_too_long", 32, "<I", 1)

    parts, _ = valid_cases.names_and_attributes()
    part = parts[0]
    name_at = bytes(part.bytes).index(b"a/b")
    part.put(name_at + 1, b"\0")
    part.reseal(name_at - name_at % PAGE, PAGE)
    add("name_with_a_nul", "6.2 no NUL inside", parts)

    other = Part(2, 1, 1, number=1, n_physical=2)
    other.session([512])
    other.attributes[b"key"] = b"value"
    other.close()
    first = Part(2, 0, 1, number=0, n_physical=2, bounds=[0, 1, 2])
    first.session([512])
    first.close()
    add("attributes_in_physical_file_1", "6.1 attributes only in file 0", [first, other])


def make_piece_cases():
    chunk = field("chunk_piece", "6.3", PIECES_AT, PAGE)
    chunk("logical_offset_of_another", 0, "<Q", 0 + 1)
    chunk("before_4096", 8, "<Q", 512)
    chunk("behind_the_index", 8, "<Q", END)
    chunk("offset_overflows", 8, "<Q", 2**64 - 512)
    chunk("at_a_pack", 8, "<Q", PACK_AT)
    chunk("at_no_frame", 8, "<Q", CHUNK_AT + 512)
    chunk("logical_bytes_differ", 16, "<Q", 299)
    chunk("stored_bytes_differ", 24, "<Q", 299)
    chunk("with_a_crc", 32, "<I", 1)
    chunk("of_kind_0", 36, "<B", 0)
    chunk("of_kind_3_that_is_stored", 36, "<B", 3)
    chunk("of_kind_4", 36, "<B", 4)
    chunk("with_a_codec", 37, "<B", 1)
    chunk("in_a_later_physical_file", 38, "<H", 1)

    def both(part, value):
        part.poke(PIECES_AT + 16, "<QQ", value, value)
        part.poke(FILES_AT, "<Q", max(value, 300))
        for at in (PIECES_AT, FILES_AT):
            part.reseal(at, PAGE)
    small("chunk_piece_of_0_bytes", "6.3 logical bytes", lambda p: both(p, 0))
    small("chunk_piece_longer_than_its_slot", "4.1 a slot that has that number", lambda p: both(p, 301))
    small("chunk_piece_longer_than_its_capacity", "6.3 logical bytes <= capacity", lambda p: both(p, 600))

    def packed(name, offset, form, *values, code=CORRUPT):
        def change(part):
            part.poke(PIECES_AT + 40 + offset, form, *values)
            part.reseal(PIECES_AT, PAGE)
        small("packed_piece_" + name, "6.3 " + name.replace("_", " "), change, code=code)
    packed("logical_offset_overflows", 0, "<Q", 2**63 - 50)
    packed("before_4096", 8, "<Q", 4000)
    packed("behind_the_index", 8, "<Q", INDEX_AT - 99)
    packed("of_0_bytes", 16, "<QQ", 0, 0)
    packed("stored_bytes_differ", 24, "<Q", 99)
    packed("with_another_crc", 32, "<I", 1)
    packed("with_codec_3", 37, "<B", 3, code=VERSION)
    packed("of_more_than_2_to_26_with_a_codec", 16, "<QQIBB", 2**26 + 1, 100, crc32c(valid_cases.pattern(100, 2)), 2, 1)
    packed("that_is_no_lz4", 37, "<B", 1)
    packed("that_is_no_zstd", 37, "<B", 2)


def make_data_cases():
    frame = field("frame", "6.3", CHUNK_AT, 128)
    flip("frame_crc", "4 crc of a frame", CHUNK_AT + 100)
    frame("kind_2", 8, "<I", 2)
    frame("of_another_rank", 32, "<Q", 1)
    frame("of_a_rank_that_is_not_here", 32, "<Q", 2)
    frame("of_another_logical_offset", 48, "<Q", 5)
    frame("extent_0", 16, "<Q", 0)
    frame("extent_not_aligned", 16, "<Q", 1025)
    frame("data_offset_behind_the_extent", 24, "<Q", 1536)
    frame("data_offset_not_aligned", 24, "<Q", 500)
    frame("data_offset_before_the_table", 24, "<Q", 0)
    frame("sequence_of_another_session", 40, "<Q", sequence(1, 1))
    frame("sequence_0", 40, "<Q", 0)
    frame("with_a_directory_crc", 56, "<I", 1)
    flip("chunk_data_in_the_tail", "4.1 tail crc", CHUNK_DATA + 299)
    flip("chunk_fill_slot", "4.1 no valid slot has the number of the index", CHUNK_AT + 128)
    flip("packed_data", "4.2 crc of the stored bytes", SUPER_DATA + 5)

    for name, change in (("data_of_a_granule", 512 + 4100), ("table", 192 + 4)):
        parts, _ = valid_cases.granules()
        parts[0].bytes[16384 + change] ^= 1
        add("chunk_" + name, "4.1 table entry i is the CRC32C of granule i", parts)

    data = valid_cases.pattern(60)
    for name, stored, codec in (
            ("lz4_too_short", lz4_literals(data[:-1]), 1), ("lz4_too_long", lz4_literals(data + b"x"), 1),
            ("lz4_distance_0", b"\x1fa\x00\x00" + b"\x25\x50aaaaa", 1), ("lz4_distance_too_far", b"\x1fa\x05\x00" + b"\x25\x50aaaaa", 1),
            ("lz4_cut_off", lz4_literals(data)[:-1], 1), ("zstd_too_short", zstd_raw(data[:-1]), 2),
            ("zstd_too_long", zstd_raw(data + b"x"), 2), ("zstd_cut_off", zstd_raw(data)[:-1], 2),
            ("zstd_twice", zstd_raw(data[:30]) + zstd_raw(data[30:]), 2), ("zstd_bomb", zstd_run(b"x", 100000), 2),
            ("zstd_with_a_frame_to_skip", zstd_raw(data) + b"\x50\x2a\x4d\x18\x04\0\0\0skip", 2)):
        part = Part(1)
        part.session([4096])
        part.pack(part.slab(0, 0), [(0, 0, 60, stored, codec)])
        part.close()
        add("codec_" + name, "4.2 decompressed bytes must be exactly logical bytes, of one block or frame", [part])

    padded = zstd_raw(data)[:9] + bytes(3) * 1400 + zstd_raw(data)[9:]  # blocks of 0 bytes before the only one with data
    part = Part(1)
    part.session([8192])
    part.pack(part.slab(0, 0), [(0, 0, 60, padded, 2)])
    part.close()
    add("codec_zstd_of_far_more_bytes", "4.2 stored bytes are not many more than logical bytes", [part])


def attributes_case(name, raw):
    part = Part(1)
    part.session([512])
    part.attributes = {b"k": raw[9:]}  # replaced below by bytes of the same size
    part.close()
    at = part.bytes.rindex(struct.pack("<I", ATTRIBUTES)) - 4080
    part.put(at, raw)
    part.reseal(at, PAGE)
    add("attributes_" + name, "6.4 " + name.replace("_", " "), [part])


def make_attribute_cases():
    def pair(key, value=b"v"):
        return struct.pack("<II", len(key), len(value)) + key + value
    attributes_case("key_of_0_bytes", pair(b"", b"value"))
    attributes_case("key_of_256_bytes", pair(b"k" * 256))
    attributes_case("key_with_a_nul", pair(b"a\0b"))
    attributes_case("key_twice", pair(b"a") + pair(b"a"))
    attributes_case("keys_not_ascending", pair(b"b") + pair(b"a"))
    attributes_case("cut_off_in_the_sizes", pair(b"a") + b"\1\0\0\0\0\0")
    attributes_case("cut_off_in_the_key", struct.pack("<II", 20, 0) + b"key")
    attributes_case("cut_off_in_the_value", struct.pack("<II", 3, 2**32 - 1) + b"key" + b"v")


def make_recovery_cases():
    session = field("session", "2.3", SESSION_AT, PAGE, "recover")
    flip("session_magic", "2.3 magic", SESSION_AT, "recover")
    flip("session_crc", "2.3 crc", SESSION_AT + 4000, "recover")
    session("number_1", 8, "<I", 1)
    session("previous_of_session_0", 16, "<Q", 4096)
    session("without_domains", 24, "<Q", 0)
    session("with_more_domains_than_bytes", 24, "<Q", 2**40)
    for value in (0, SESSION_AT, DOMAINS_AT + 8, 2**64 - PAGE):
        session(f"domains_at_{value}", 32, "<Q", value)
    for value in (DOMAINS_AT, CHUNK_AT + 8, 2**63):
        session(f"data_start_{value}", 40, "<Q", value)
    for value in (0, 4096 + 512, 4096 + 8, 2**63):
        session(f"round_bytes_{value}", 48, "<Q", value)
    session("doublings_41", 56, "<I", 41)
    flip("domains_crc", "2.3 domain section", DOMAINS_AT + 100, "recover")

    def domain(value):
        def change(part):
            part.poke(DOMAINS_AT, "<Q", value)
            part.reseal(DOMAINS_AT, PAGE)
        return change
    for value in (0, 4096 + 512, 4000):
        small(f"domain_of_{value}_bytes", "3 domains are positive multiples of alignment and sum up to round bytes",
              domain(value), "recover")
    header("recovered_with_another_major_version", 8, "<H", 5, VERSION, "recover")

    parts, _ = valid_cases.appended()
    part = parts[0]
    at = part.session([4096])
    part.poke(at + 16, "<Q", at)
    part.reseal(at, PAGE)
    add("session_leads_to_itself", "2.3 offset of the previous session page", parts, "recover")


def added_case(name, rule, make=valid_cases.added_in_two_physical_files, runs=None, places=None, change=None):
    """A case made of a valid one with other runs or places in the index of physical file 0; `runs` and `places` change
    lists of those that are right."""
    parts, _ = make()
    part = parts[0]
    del part.bytes[part.newest_index[0]:]
    part.slot_sequence -= 1
    right = {"runs": added_runs(parts), "places": places_of_names(parts)}
    for key, edit in (("runs", runs), ("places", places)):
        if edit:
            edit(right[key])
    part.close(of=parts, **right)
    if change:
        change(parts)
    add("added_" + name, rule, parts)


def make_run_cases():
    def replace(at, *values):
        return lambda runs: runs.__setitem__(at, tuple(new if new is not None else old for new, old in zip(values, runs[at])))

    rule = "6.5 first number"
    added_case("runs_fall", rule, runs=lambda runs: runs.reverse())
    added_case("runs_overlap", rule, runs=replace(1, FIRST_ADDED + 1, None, None))
    added_case("run_twice", rule, runs=lambda runs: runs.insert(0, runs[0]))
    added_case("run_below_2_to_62", rule, runs=replace(0, FIRST_ADDED - 1, None, None))
    added_case("run_of_none", "6.5 count", runs=replace(0, None, 0, None))
    added_case("run_beyond_2_to_63", "6.5 count", runs=replace(3, None, 2**63 - FIRST_ADDED - 3 * valid_cases.A_TASK, None))
    added_case("run_count_overflows", "6.5 count", runs=replace(3, None, 2**64 - 1, None))
    added_case("run_in_no_physical_file", "6.5 physical file", runs=replace(1, None, None, 2))
    rule = "6.5 each entry is one that a run stands for, in the physical file of the run"
    added_case("entry_behind_the_runs", rule, runs=lambda runs: runs.pop())
    added_case("entry_before_the_runs", rule, runs=lambda runs: runs.pop(0))
    added_case("entry_behind_its_run", rule, runs=replace(2, None, 1, None))
    added_case("run_in_another_physical_file", rule, runs=replace(1, None, None, 0))


def make_place_cases():
    def moved(at, k, local):
        return lambda places: places.__setitem__(at, (places[at][0], places[at][1] if k is None else k,
                                                     places[at][2] if local is None else local))

    rule = "6.6 a place for each name"
    added_case("place_in_no_physical_file", "6.6 physical file", places=moved(0, 2, None))
    added_case("places_fall", "6.6 places ascend", places=lambda places: places.reverse())
    added_case("place_with_another_crc", rule, places=lambda places: places.__setitem__(0, (places[0][0] + 1, *places[0][1:])))
    added_case("place_of_another_number", rule, places=moved(0, None, FIRST_ADDED + 2))
    added_case("place_in_another_physical_file", rule, places=lambda places: moved(0, 1 - places[0][1], None)(places))
    added_case("place_missing", rule, places=lambda places: places.pop())
    added_case("place_twice", rule, places=lambda places: places.append(places[-1]))
    added_case("places_of_one_crc_fall", "6.6 added ones by number", valid_cases.added_with_one_name,
               places=lambda places: places.sort(key=lambda place: (place[0], -place[2])))
    added_case("place_of_a_rank_behind_the_added", "6.6 those with a rank below N come first", valid_cases.added_with_one_name,
               places=lambda places: places.sort(key=lambda place: (place[0], place[2] < FIRST_ADDED)))
    added_case("place_of_a_logical_file_without_a_name", rule, valid_cases.added_and_lost,
               places=lambda places: places.insert(0, (0, 0, FIRST_ADDED + 1)))

    def damaged(parts):
        at = bytes(parts[0].bytes).rindex(struct.pack("<IQ", PLACES, 0)) - 4080
        parts[0].bytes[at + 1000] ^= 1
    added_case("places_page_crc", "1 crc of a section page", change=damaged)


def make_listed_added_cases():
    def entry(name, number, value):
        parts, _ = valid_cases.added()
        part = parts[0]
        at = part.newest_index[0] + PAGE
        part.poke(at + 48 * number, "<Q", value)
        part.reseal(at, PAGE)
        add("added_" + name, "6.2 a listed entry has a local index or a number", parts)
    entry("entry_below_2_to_62", 1, FIRST_ADDED - 1)
    entry("entry_beyond_the_numbers", 4, 2**63 - 1)
    entry("entries_fall", 1, FIRST_ADDED + 2)
    entry("entry_twice", 2, FIRST_ADDED)

    def second(name, **wrong):
        parts, _ = valid_cases.added_in_two_physical_files()
        part = parts[1]
        part.number = 0  # has the sections
        del part.bytes[part.newest_index[0]:]
        part.slot_sequence -= 1
        part.close(**{"runs": [], "places": [], **wrong})
        part.number = 1
        for at in range(part.newest_index[0], len(part.bytes), PAGE):
            part.reseal(at, PAGE)
        part.reseal(1024, 128)
        add("added_" + name + "_in_physical_file_1", "6.1 only in file 0", parts)
    second("runs", runs=[(FIRST_ADDED, 2, 0)])
    second("places", places=[(0, 0, FIRST_ADDED)])


def make_count_cases():
    def count(name, listed, value):
        parts, _ = valid_cases.added_in_two_sessions()
        part = parts[0]
        del part.bytes[part.newest_index[0]:]
        part.slot_sequence -= 1
        at = part.close(listed=listed)
        part.poke(at + 112, "<Q", value)
        part.reseal(at, PAGE)
        add("added_" + name, "6.2 the entries of added logical files are the last A", parts)
    count("fewer_than_their_entries", [], 3)
    count("more_than_their_entries", None, 5)


def make_name_cases():
    for name, stored in (("a_nul_and_7_bytes", b"text\0" + bytes(7)), ("a_nul_and_9_bytes", b"text\0" + bytes(9)),
                         ("a_part_without_a_name", bytes(9)), ("part_2_to_63", b"text\0" + struct.pack("<Q", 2**63))):
        part = Part(0)
        part.session([4096])
        part.pack(part.slab(0, 0), [part.add(FIRST_ADDED, stored)])
        part.close()
        add("added_name_of_" + name, "6.2 a name without NUL, or of a part", [part])

    part = Part(1)
    part.session([512])
    part.names[0] = b"n" * 4106
    part.close()
    add("name_of_4106_bytes", "6.2 bytes of the name", [part])

    part = Part(0)
    part.session([4096])
    part.add(FIRST_ADDED, b"name")
    part.pack(part.slab(0, 0), [(FIRST_ADDED, 1, 0, bytes(4) + b"name", NAME_CODEC)])
    part.close()
    add("added_directory_with_a_name_at_a_logical_offset", "4.2 logical offset of a piece of codec 255", [part])

    for name, size, stored in (("logical_bytes", 1, bytes(4) + b"name"), ("3_stored_bytes", 0, bytes(3)),
                               ("4110_stored_bytes", 0, bytes(4) + b"n" * 4106), ("no_stored_bytes", 0, b"")):
        part = Part(0)
        part.session([16384])
        part.add(FIRST_ADDED, b"name")
        part.pack(part.slab(0, 0), [(FIRST_ADDED, 0, size, stored, NAME_CODEC)])
        part.close()
        add("added_directory_with_a_name_of_" + name, "4.2 sizes of a piece of codec 255", [part])

    for name, number in (("below_2_to_62", FIRST_ADDED - 1), ("beyond_the_numbers", 2**63 - 1)):
        part = Part(0)
        part.session([4096])
        part.add(number, b"name")
        part.pack(part.slab(0, 0), [(number, 0, 0, bytes(4) + b"name", NAME_CODEC)])
        part.added.clear()
        part.close(places=[], runs=[])
        add("added_directory_with_a_number_" + name, "2.4 numbers", [part])


def make_added_cases():
    make_run_cases()
    make_place_cases()
    make_listed_added_cases()
    make_count_cases()
    make_name_cases()


class Kept:
    """A physical file that an earlier version of the library wrote: its bytes are kept as they are."""

    def __init__(self, name):
        self.bytes = (pathlib.Path(__file__).parent / "invalid" / (name + ".tw")).read_bytes()


def make_old_version_cases():
    for version in (1, 2, 3):
        name = f"written_as_version_{version}"
        for mode in ("read", "recover"):
            add(name if mode == "read" else name + "_recovered", "2.1 major version", [Kept(name)], mode, VERSION)


def all_cases():
    for make in (make_header_cases, make_state_cases, make_section_cases, make_set_cases, make_index_cases, make_piece_cases,
                 make_data_cases, make_attribute_cases, make_recovery_cases, make_added_cases, make_later_cases, make_old_version_cases):
        make()
    names = [case[0] for case in CASES]
    assert len(set(names)) == len(names)
    return CASES
