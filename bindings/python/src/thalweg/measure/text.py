"""Text for people: characters that a terminal hides, sizes, counts, similar words."""

import difflib as _difflib
import re as _re
import unicodedata as _unicodedata

__all__ = ["printable", "short_size", "seconds_text", "count_text", "joined", "nearest"]

_PLAIN = _re.compile(r"[ -\[\]-~]*\Z")  # ASCII without control characters and backslash
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Characters with the property Default_Ignorable_Code_Point that have another category.
_IGNORABLE = _re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
                         "\U000e0000-\U000e0fff]")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def printable(text, unambiguous=True):
    """Any text as one line for a terminal.

    Parameters
    ----------
    text : str
        Bytes that are no UTF-8 are surrogates, as `os.fsdecode` makes them.
    unambiguous : bool, default True
        Double a backslash of the text.

    Returns
    -------
    str
        Characters that a terminal interprets or hides have become ``\\n``, ``\\x1b``, ``\\u202e``, ``\\U000e0041``.
    """
    return text if _PLAIN.match(text) else "".join(_shown(char, unambiguous) for char in text)


def _shown(char, unambiguous):
    if char == "\\":
        return "\\\\" if unambiguous else char
    if _unicodedata.category(char) not in _HIDDEN_CATEGORIES and not _IGNORABLE.match(char):
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        code -= 0xDC00
    if char in _SHORT:
        return _SHORT[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def short_size(n_bytes):
    """A number of bytes as "1.5 MiB"."""
    if n_bytes < 1024:
        return f"{int(n_bytes)} B"
    value, unit = float(n_bytes), 0
    while value >= 1023.95 and unit < 6:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB')[unit]}"


def seconds_text(seconds):
    """A time with three digits: "12.3 us", "1.23 ms", "4.56 s", "15.0 min"."""
    factor, unit = (1e6, "us") if seconds < 1e-4 else (1e3, "ms") if seconds < 0.9995 else (1, "s") if seconds < 600 else (1 / 60, "min")
    return f"{seconds * factor:#.3g} {unit}".replace(". ", " ")


def count_text(n, thing):
    """A number and its thing: "1 rank", "3 ranks"."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def joined(numbers):
    """Extents as "2x3"."""
    return "x".join(map(str, numbers))


def nearest(word, known):
    """The word of `known` that is the most similar one to `word`; "" where none is similar."""
    return next(iter(_difflib.get_close_matches(word, known, 1, 0.75)), "")
