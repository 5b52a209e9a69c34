#!/usr/bin/env python3
"""extract never writes outside its directory, for any multifile and any existing files."""

import os
import stat

from cli_support import DAMAGED, IO_ERROR, UNSAFE, CliTest, main

FILE = stat.S_IFREG | 0o644
LINK = stat.S_IFLNK | 0o777
FOLDER = stat.S_IFDIR | 0o755


class Safety(CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.folder / "outside")
        self.write("outside/victim", b"untouched")

    def assert_outside_untouched(self):
        self.assertEqual(self.tree("outside"), {b"victim": ("file", 0o644, b"untouched")})

    def test_hostile_names_are_refused_before_anything_is_written(self):
        for name in (b"/etc/evil", b"../outside/victim", b"a/../../outside/victim", b"..", b"a/..", b"//x", b"./../x", b"/"):
            with self.subTest(name):
                self.craft([(FILE, b"good", b"g"), (FILE, name, b"evil")])

                result = self.json("extract", "crafted.tw", "-C", "out", expect=UNSAFE)
                self.json("extract", "crafted.tw", "-C", "out", "--force", expect=UNSAFE)

                self.assertIn("refused", result["error"]["message"])
                self.assertFalse((self.folder / "out").exists())
                self.assert_outside_untouched()

    def test_map_replaces_nothing_but_pictures(self):
        self.craft([(FILE, b"a", b"abc")])
        before = (self.folder / "crafted.tw").read_bytes()

        self.thalweg("map", "crafted.tw", "crafted.tw", "--format", "svg", expect=UNSAFE)
        self.thalweg("map", "crafted.tw", "m.svg")
        self.thalweg("map", "crafted.tw", "m.svg")

        self.assertEqual((self.folder / "crafted.tw").read_bytes(), before)

    def test_what_is_no_file_is_refused_and_keeps_nobody_waiting(self):
        os.mkfifo(self.folder / "pipe")

        for name, kind in (("pipe", "a pipe"), ("outside", "a directory")):
            error = self.json("info", name, expect=IO_ERROR)["error"]["message"]
            self.assertIn(f"'{name}' is {kind}, not a file", error)

    def test_relative_does_not_let_dots_through(self):
        self.craft([(FILE, b"/../outside/victim", b"evil")])

        self.thalweg("extract", "crafted.tw", "-C", "out", "--relative", expect=UNSAFE)

        self.assert_outside_untouched()

    def test_packed_names_that_lead_out_are_refused(self):
        os.mkdir(self.folder / "work")
        self.thalweg("pack", "hostile.tw", "-C", "work", "../outside/victim")

        self.assertEqual(self.json("ls", "hostile.tw")["entries"][0]["name"], "../outside/victim")
        self.thalweg("extract", "hostile.tw", "-C", "work", expect=UNSAFE)

        self.assert_outside_untouched()

    def test_pack_warns_once_of_names_that_extract_will_refuse(self):
        os.mkdir(self.folder / "here")
        self.write("here/in", b"i")
        self.write("here/..in", b"i")
        names = ["../outside/victim", "in", "..in", "../outside", str(self.folder / "here/in"), "../here/../here/in"]

        _, warning = self.thalweg("pack", "t.tw", "-C", "here", *names)
        packed = self.json("pack", "t.tw", "--force", "-C", "here", *names)
        _, one = self.thalweg("pack", "t.tw", "--force", "-C", "here", "../outside/victim")

        self.assertEqual(warning.count("\n"), 1)
        self.assertIn("4 names are", warning)
        self.assertIn("'../outside/victim'", warning)
        self.assertEqual(packed["unsafe_names"], 4)
        self.assertIn("1 name is", one)
        self.assertEqual(self.thalweg("pack", "t.tw", "--force", "-C", "here", "in", "..in")[1], "")

    def test_names_of_dots_that_stay_inside_are_fine(self):
        self.craft([(FOLDER, b".", b""), (FOLDER, b"./d", b""), (FILE, b"./d//x", b"x"), (FILE, b"...", b"y"), (FILE, b"..a", b"z")])

        self.thalweg("extract", "crafted.tw", "-C", "out")

        self.assertEqual(sorted(self.tree("out")), [b"...", b"..a", b"d", b"d/x"])

    def test_a_file_called_as_the_target_directory_is_refused(self):
        self.craft([(FILE, b".", b"x")])

        self.thalweg("extract", "crafted.tw", "-C", "out", expect=UNSAFE)

    def test_a_symlink_in_the_way_is_not_followed(self):
        self.craft([(FILE, b"sub/victim", b"evil")])
        os.mkdir(self.folder / "out")
        os.symlink("../outside", self.folder / "out/sub")

        for words in ([], ["--force"]):
            _, message = self.thalweg("extract", "crafted.tw", "-C", "out", *words, expect=UNSAFE)
            self.assertIn("symbolic link", message)

        self.assert_outside_untouched()

    def test_a_symlink_in_place_of_the_file_is_not_followed(self):
        self.craft([(FILE, b"victim", b"evil")])
        os.mkdir(self.folder / "out")
        os.symlink("../outside/victim", self.folder / "out/victim")

        self.thalweg("extract", "crafted.tw", "-C", "out", expect=UNSAFE)
        self.assert_outside_untouched()
        self.thalweg("extract", "crafted.tw", "-C", "out", "--force")  # replaces the link itself

        self.assert_outside_untouched()
        self.assertEqual(self.tree("out"), {b"victim": ("file", 0o644, b"evil")})

    def test_a_symlink_in_place_of_a_directory_is_not_followed(self):
        self.craft([(FOLDER, b"sub", b"")])
        os.mkdir(self.folder / "out")
        os.symlink("../outside", self.folder / "out/sub")

        self.thalweg("extract", "crafted.tw", "-C", "out", expect=UNSAFE)

        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "outside").st_mode), 0o755)

    def test_a_packed_symlink_does_not_redirect_what_comes_after_it(self):
        self.craft([(LINK, b"sub", b"../outside"), (FILE, b"sub/victim", b"evil")])

        for words in ([], ["--force"]):
            self.thalweg("extract", "crafted.tw", "-C", "out", *words, expect=UNSAFE)
            self.assert_outside_untouched()

    def test_two_that_want_one_place_are_refused_before_anything_is_written(self):
        other = (FILE, b"a-first-one", b"o")
        for first, second in (((FOLDER, b"x"), (FILE, b"./x")), ((FILE, b"x"), (FILE, b"x/y")), ((FILE, b"x/y/z"), (FILE, b"x")),
                              ((FOLDER, b"x"), (FILE, b"x/")), ((LINK, b"x"), (FILE, b"x/y")), ((FOLDER, b"x"), (LINK, b"x")),
                              ((FILE, b""), (FILE, b"task-000001"))):
            with self.subTest(first=first, second=second):
                self.craft([other, (*first, b"1"), (FILE, b"x!", b"beside x in order"), (*second, b"2")])

                for force in ([], ["--force"]):
                    message = self.json("extract", "crafted.tw", "-C", "out", *force, expect=UNSAFE)["error"]["message"]

                    self.assertIn(f"'{first[1].decode() or 'task-000001'}' (task 1)", message)
                    self.assertIn(f"'{second[1].decode()}' (task 3)", message)
                    self.assertIn("--pattern 'task-%06d'", message)
                    self.assertFalse((self.folder / "out").exists())

        self.thalweg("extract", "crafted.tw", "-C", "out", "--pattern", "task-%06d")
        self.assertEqual(len(self.tree("out")), 4)

    def test_one_directory_told_twice_is_no_conflict(self):
        self.craft([(FOLDER, b"x", b""), (FILE, b"x-y", b""), (FOLDER, b"x/", b""), (FILE, b"x/y", b"")])

        self.thalweg("extract", "crafted.tw", "-C", "out")

    def test_the_way_out_is_never_one_that_is_refused(self):
        self.craft([(FILE, b"/../x", b"1"), (FILE, b"/y", b"2")])
        advice = {}
        for words in (["-t", "0"], ["-t", "1"], ["--pattern", "../%d"], ["--pattern", "/tmp/%d"]):
            advice[words[1]] = self.thalweg("extract", "crafted.tw", "-C", "out", *words, expect=UNSAFE)[1]

        self.assertNotIn("--relative", advice["0"])
        self.assertIn("--relative", advice["1"])
        for pattern in ("../%d", "/tmp/%d"):
            self.assertIn(f"pattern '{pattern}'", advice[pattern])
            self.assertNotIn("--pattern", advice[pattern])
            self.assertIn("'task-%06d'", advice[pattern])

    def test_special_files_are_not_made(self):
        for kind in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK):
            self.craft([(kind | 0o644, b"special", b"x")])
            self.assertIn("thalweg cat", self.thalweg("extract", "crafted.tw", "-C", "out", expect=UNSAFE)[1])
            self.assertFalse((self.folder / "out").exists())

    def test_dangerous_mode_bits_are_dropped(self):
        self.craft([(stat.S_IFREG | 0o6755, b"suid", b"x"), (stat.S_IFDIR | 0o7777, b"d", b"")])

        self.thalweg("extract", "crafted.tw", "-C", "out")

        self.assertEqual(self.tree("out"), {b"suid": ("file", 0o755, b"x"), b"d": ("folder", 0o777)})

    def test_directories_without_rights_can_be_filled_in_any_order(self):
        self.craft([(FILE, b"a/b/c/x", b"1"), (stat.S_IFDIR | 0o500, b"a/b/c", b""), (stat.S_IFDIR | 0o500, b"a", b""),
                    (stat.S_IFDIR, b"a/b", b""), (FILE, b"a/y", b"2")])

        self.thalweg("extract", "crafted.tw", "-C", "out")

        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "out/a").st_mode), 0o500)

    def test_symlinks_with_impossible_targets_are_damage(self):
        for target in (b"", b"a\0b", b"x" * 5000):
            self.craft([(LINK, b"link", target), (FILE, b"good", b"g")])

            result = self.json("extract", "crafted.tw", "-C", "out", "--force", expect=DAMAGED)

            self.assertEqual([f["name"] for f in result["failed"]], ["link"])
            self.assertEqual(sorted(os.listdir(self.folder / "out")), ["good"])

    def test_very_deep_and_very_long_names(self):
        deep = b"/".join([b"d"] * 300) + b"/x"
        self.craft([(FILE, deep, b"deep")])
        self.craft([(FILE, b"n" * 300, b"long")], out="long.tw")

        self.thalweg("extract", "crafted.tw", "-C", "out")
        self.thalweg("pack", "again.tw", "-C", "out", "d")
        self.thalweg("extract", "long.tw", "-C", "out", expect=IO_ERROR)  # longer than a file name may be

        self.assertEqual(self.thalweg("cat", "again.tw", deep.decode())[0], b"deep")
        self.assertEqual(os.listdir(self.folder / "out"), ["d"])


if __name__ == "__main__":
    main()
