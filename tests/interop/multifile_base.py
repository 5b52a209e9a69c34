"""Foundations of the independent reader of multifiles: refusal, CRC32C, LZ4 blocks, Zstandard frames."""

import importlib.util
import shutil
import subprocess

PAGE, PAYLOAD, LIMIT = 4096, 4080, 2**63 - 1
BOUNDS, TABLE, RANKS, DOMAINS, FILES, PIECES, NAMES, ATTRIBUTES, LISTED, RUNS, PLACES, LATER = range(1, 13)
CHUNK, PACKED, ZEROS = 1, 2, 3
NAME_CODEC = 255
LONGEST_NAME = 4096 + 1 + 8  # that of a part
FIRST_ADDED = 2**62  # numbers of added logical files begin here and end before LIMIT


class Refused(Exception):
    """A refusal that the document demands. `code` is the name of the status code of the library."""

    def __init__(self, text, code="TW_ERR_CORRUPT"):
        super().__init__(text)
        self.code = code


def need(condition, text, code="TW_ERR_CORRUPT"):
    if not condition:
        raise Refused(text, code)


def is_added(number):
    return FIRST_ADDED <= number < LIMIT


def split_name(stored):
    """Returns (name, part) of a stored name, the part None where it has none; None where it is not legal."""
    if len(stored) > LONGEST_NAME:
        return None
    end = stored.find(b"\0")
    if end < 0:
        return stored, None
    part = int.from_bytes(stored[end + 1:], "little")
    return (stored[:end], part) if end > 0 and end + 9 == len(stored) and part < 2**63 else None


CRC_TABLE = []
for _n in range(256):
    for _ in range(8):
        _n = (_n >> 1) ^ (0x82F63B78 if _n & 1 else 0)
    CRC_TABLE.append(_n)


def crc32c(data, before=0):
    state = before ^ 0xFFFFFFFF
    for byte in data:
        state = (state >> 8) ^ CRC_TABLE[(state ^ byte) & 0xFF]
    return state ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def arrival_seal(data):
    """Seal of data without checksum: the last eight bytes up to the last nonzero one, by sector."""
    ends = b""
    for at in range(0, len(data), 512):
        sector = data[at:at + 512].rstrip(b"\0")
        ends += len(sector).to_bytes(2, "little") + sector[-8:].rjust(8, b"\0")
    return crc32c(ends)


def lz4_block(data, size):
    out, at = bytearray(), 0

    def length(nibble):
        nonlocal at
        total = nibble
        while nibble == 15:
            nibble = 15 if data[at] == 255 else 0
            total += data[at]
            at += 1
        return total

    while at < len(data):
        token = data[at]
        at += 1
        literals = length(token >> 4)
        need(at + literals <= len(data) and len(out) + literals <= size, "LZ4 block: literals reach beyond its end")
        out += data[at:at + literals]
        at += literals
        if at == len(data):
            break
        distance = data[at] | data[at + 1] << 8
        at += 2
        count = length(token & 15) + 4
        need(0 < distance <= len(out) and len(out) + count <= size, "LZ4 block: a match reaches beyond its borders")
        for _ in range(count):
            out.append(out[-distance])
    return bytes(out)


def zstd_frame_bytes(data):
    """Size of the Zstandard frame at the front of `data` (RFC 8878, section 3.1.1)."""
    need(data[:4] == b"\x28\xb5\x2f\xfd", "Zstandard frame: magic")
    flags = data[4]
    single = flags >> 5 & 1
    at = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
    last = False
    while not last:
        block = int.from_bytes(data[at:at + 3].ljust(3, b"\xff"), "little")
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        at += 3 + (1 if kind == 1 else size)
        need(at <= len(data), "Zstandard frame: it ends too early")
    return at + 4 * (flags >> 2 & 1)


def zstd_frame(data, size):
    need(zstd_frame_bytes(data) == len(data), "Zstandard frame: bytes follow it")
    if importlib.util.find_spec("zstandard"):
        import zstandard
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    command = shutil.which("zstd")
    need(command, "codec 2 (Zstandard) needs the Python module zstandard or the command zstd", "TW_ERR_NOT_BUILT")
    done = subprocess.run([command, "-q", "-d", "-c"], input=data, capture_output=True, check=False)
    need(done.returncode == 0, "Zstandard frame: " + done.stderr.decode(errors="replace").strip())
    return done.stdout


def decompress(codec, data, size):
    try:
        out = lz4_block(data, size) if codec == 1 else zstd_frame(data, size)
    except IndexError:
        raise Refused("compressed piece: it ends too early") from None
    need(len(out) == size, f"compressed piece gives {len(out)} bytes instead of {size}")
    return out
