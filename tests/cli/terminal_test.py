#!/usr/bin/env python3
"""Names are printed without characters that a terminal interprets or hides: control, format and ignorable characters."""

import json
import stat
import unicodedata

from cli_support import CliTest, main

FILE = stat.S_IFREG | 0o644
IN_A_NAME = 1000

# DerivedCoreProperties.txt of Unicode 16.0: Default_Ignorable_Code_Point.
IGNORABLE = [
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]
# DerivedGeneralCategory.txt of Unicode 16.0: Cf, of which older Pythons know a part.
FORMAT = [
    (0x00AD, 0x00AD), (0x0600, 0x0605), (0x061C, 0x061C), (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891),
    (0x08E2, 0x08E2), (0x180E, 0x180E), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2064), (0x2066, 0x206F),
    (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0001, 0xE0001), (0xE0020, 0xE007F),
]


def codes_of(ranges):
    return {code for first, last in ranges for code in range(first, last + 1)}


CONTROLS = {code for code in range(0x3000) if unicodedata.category(chr(code)) in {"Cc", "Zl", "Zp"}}
HIDDEN = CONTROLS | codes_of(FORMAT) | codes_of(IGNORABLE)


def is_hidden(code):
    return code in HIDDEN


def shown(code):
    """The expected output of `thalweg ls` for the character."""
    if code == ord("\\"):
        return "\\\\"
    if code in (9, 10, 13):
        return {9: "\\t", 10: "\\n", 13: "\\r"}[code]
    if not is_hidden(code):
        return chr(code)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Terminal(CliTest):
    def craft_all(self):
        codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
        self.pieces = [codes[i : i + IN_A_NAME] for i in range(0, len(codes), IN_A_NAME)]
        self.craft([(FILE, "".join(map(chr, piece)).encode(), b"") for piece in self.pieces])

    def test_the_lists_of_this_test_are_those_of_unicode(self):
        formats = [code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]

        self.assertEqual([hex(code) for code in formats if code not in codes_of(FORMAT)], [])
        self.assertLessEqual({0x07, 0x1B, 0x85, 0x9B, 0x2028, 0x2029}, CONTROLS)

    def test_every_character_is_shown_or_escaped(self):
        self.craft_all()
        out, _ = self.thalweg("ls", "crafted.tw")

        lines = out.decode().split("\n")
        self.assertEqual(len(lines), len(self.pieces) + 1)
        for piece, line in zip(self.pieces, lines):
            expected = "".join(map(shown, piece))
            if not line.endswith("  " + expected):
                wrong = [hex(code) for code in piece if shown(code) not in line]
                self.fail(f"{hex(piece[0])} and on: {wrong[:20] or 'other characters'}")

    def test_json_escapes_the_same_and_loses_nothing(self):
        self.craft_all()
        out, _ = self.thalweg("ls", "--json", "crafted.tw")

        text = out.decode()
        self.assertEqual([hex(ord(c)) for c in set(text) if c not in "\n" and is_hidden(ord(c))], [])
        names = [entry["name"] for entry in json.loads(text)["entries"]]
        self.assertEqual(names, ["".join(map(chr, piece)) for piece in self.pieces])

    def test_messages_escape_the_same(self):
        hidden = "".join(chr(code) for code in sorted(CONTROLS | codes_of(FORMAT)) if code != 0)
        for first in range(0, len(hidden), 60):
            name = hidden[first : first + 60]
            _, message = self.thalweg("info", name, expect=3)
            self.assertEqual([hex(ord(c)) for c in set(message) if c != "\n" and is_hidden(ord(c))], [])


if __name__ == "__main__":
    main()
