#!/usr/bin/env python3
"""Vpfiles: info, verify, repair, cat, extract, map, vp-flatten and vp-import."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree

from cli_support import DAMAGED, FINE, IO_ERROR, THALWEG, UNSAFE, USAGE, CliTest, data, main, stream
from interface_test import on_a_terminal

SVG = "{http://www.w3.org/2000/svg}"
RAGGED = [0, 40, 5000, 24, 300, 70_000]  # bytes of each stream after the first records


class VpTest(CliTest):
    """nb.vp: two records of 24 bytes; cb.vp: rounds after a record; ib.vp: streams of different lengths after a record.
    Shape 2,3."""

    def setUp(self):
        super().setUp()
        self.craft_vpfile("2,3", "all 24", "all 24", out="nb.vp")
        self.craft_vpfile("2,3", "all 24", "all 1000", "all 77", out="cb.vp")
        self.craft_vpfile("2,3", "all 24", "each " + " ".join(map(str, RAGGED)), "one 0 10", out="ib.vp")
        self.sizes = {"nb.vp": [48] * 6, "cb.vp": [1101] * 6, "ib.vp": [24 + n + (10 if vp == 0 else 0) for vp, n in enumerate(RAGGED)]}

    def unclosed(self, name="u.vp"):
        self.craft_vpfile("2,3", "all 24", "each " + " ".join(map(str, RAGGED)), out=name, options=["--unclosed"])
        return name

    def assert_streams(self, name, sizes):
        for vp, size in enumerate(sizes):
            self.assertEqual(self.thalweg("cat", name, "--vp", str(vp))[0], stream(vp, size), (name, vp))


class Info(VpTest):
    def test_shape_mode_segments_and_sizes_are_told(self):
        nb, cb, ib = (self.json("info", name, "--tasks") for name in ("nb.vp", "cb.vp", "ib.vp"))

        self.assertEqual([i["mode"] for i in (nb, cb, ib)], ["NB", "CB", "IB"])
        for info, name in ((nb, "nb.vp"), (cb, "cb.vp"), (ib, "ib.vp")):
            sizes = self.sizes[name]
            self.assertEqual((info["kind"], info["health"], info["closed"]), ("vpfile", "closed", True))
            self.assertEqual((info["shape"], info["vps"], info["sessions"]), ([2, 3], 6, 1))
            self.assertEqual(info["vp_bytes"], sizes)
            told = info["sizes"]
            self.assertEqual((told["total"], told["min"], told["max"], told["empty"]), (sum(sizes), min(sizes), max(sizes), 0))
            self.assertEqual(sum(row["files"] for row in told["histogram"]), 6)
            for file in info["files"]:
                self.assertEqual(file["bytes"], (self.folder / file["name"]).stat().st_size)
        self.assertEqual(nb["segments"], {"nb": {"record_bytes": 24, "bytes_per_vp": 48, "bytes": 288}, "cb": None, "ib": None})
        self.assertEqual(cb["segments"]["cb"]["bytes_per_vp"], 1077)
        self.assertEqual(ib["segments"]["ib"]["bytes"], sum(RAGGED) + 10)
        self.assertEqual([f["name"] for f in ib["files"]], ["ib.vp", "ib.vp.meta", "ib.vp.first", "ib.vp.dir"])

    def test_text(self):
        out = self.thalweg("info", "ib.vp", "--tasks")[0].decode()

        for line in (r"kind +vpfile, mode IB", r"shape +2,3: 6 virtual processors", r"  IB  .* blocks of .* in superblocks of .*",
                     r"per processor +min 34 B, .*; 0 empty", r"vp +5 +70024"):
            self.assertRegex(out, rf"(?m)^{line}$")
        self.assertNotIn("  IB", self.thalweg("info", "nb.vp")[0].decode())

    def test_empty_streams_are_counted(self):
        self.craft_vpfile("4", "each 0 5 0 7", out="e.vp")

        self.assertEqual(self.json("info", "e.vp")["sizes"]["empty"], 2)

    def test_multifiles_are_told_as_such(self):
        self.craft([(0, b"", b"abc")])

        self.assertEqual(self.json("info", "crafted.tw")["kind"], "multifile")
        self.assertEqual(self.json("verify", "crafted.tw")["kind"], "multifile")


class Cat(VpTest):
    def test_every_stream_of_every_mode_by_number_and_by_index(self):
        for name, sizes in self.sizes.items():
            self.assert_streams(name, sizes)
            self.assertEqual(self.thalweg("cat", name, "--vp", "1,2")[0], stream(5, sizes[5]))

    def test_json_goes_to_standard_error(self):
        out, errors = self.thalweg("cat", "ib.vp", "--vp=1,0", "--json")

        self.assertEqual(out, stream(3, 48))
        self.assertEqual(json.loads(errors), {"command": "cat", "file": "ib.vp", "entries": [{"vp": 3, "bytes": 48}], "exit_code": 0})

    def test_wrong_arguments_are_told(self):
        self.craft([(0, b"", b"abc")])
        for words, told in ((["ib.vp"], "give --vp N"), (["ib.vp", "--vp", "6"], "numbers 0 to 5"), (["ib.vp", "--vp", "2,0"], "shape 2,3"),
                            (["ib.vp", "--vp", "1,1,1"], "shape 2,3"), (["ib.vp", "--vp", "x"], "'x' is neither"),
                            (["ib.vp", "--vp=-1"], "'-1' is neither"), (["ib.vp", "--vp", "1,"], "'1,' is neither"),
                            (["ib.vp", "--task", "0"], "give --vp N"), (["ib.vp", "a"], "give --vp N"),
                            (["ib.vp", "--vp", "0", "--recover"], "--recover applies to multifiles"),
                            (["crafted.tw", "--vp", "0"], "--vp applies to vpfiles"), (["crafted.tw"], "--vp N")):
            with self.subTest(words):
                self.assertIn(told, self.thalweg("cat", *words, expect=USAGE)[1])

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        self.craft_vpfile("2", "each 3000000 5", out="long.vp")
        with subprocess.Popen([THALWEG, "cat", "long.vp", "--vp", "0"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as cat:
            cat.stdout.read(10)
            cat.stdout.close()
            self.assertEqual((cat.stderr.read(), cat.wait(timeout=60)), (b"", FINE))


class Extract(VpTest):
    def test_each_stream_becomes_a_file(self):
        for name, sizes in self.sizes.items():
            result = self.json("extract", name, "-C", "out-" + name)

            self.assertEqual((result["kind"], result["files"], result["bytes"]), ("vpfile", 6, sum(sizes)))
            found = {key: entry[2] for key, entry in self.tree("out-" + name).items()}
            self.assertEqual(found, {b"vp-%06d" % vp: stream(vp, size) for vp, size in enumerate(sizes)})

    def test_selection_and_pattern(self):
        self.thalweg("extract", "ib.vp", "--vp", "0-1", "1,2", "--vp", "3", "-C", "out", "--pattern", "s%d.bin")

        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["s0.bin", "s1.bin", "s3.bin", "s5.bin"])
        self.assertEqual((self.folder / "out/s5.bin").read_bytes(), stream(5, 70_024))

    def test_wrong_arguments_are_told(self):
        self.craft([(0, b"", b"abc")])
        for words, code, told in ((["ib.vp", "--vp", "0-6"], USAGE, "numbers 0 to 5"), (["ib.vp", "--vp", "3-1"], USAGE, "not a range"),
                                  (["ib.vp", "--task", "0"], USAGE, "--task applies to multifiles"), (["ib.vp", "-p", "x"], USAGE, "no conversion"),
                                  (["ib.vp", "-p", "../%d"], UNSAFE, "refused"), (["crafted.tw", "--vp", "0"], USAGE, "--vp applies to vpfiles"),
                                  (["ib.vp", "--recover"], USAGE, "--recover"), (["ib.vp", "--relative"], USAGE, "--relative")):
            with self.subTest(words):
                self.assertIn(told, self.thalweg("extract", *words, "-C", "out", expect=code)[1])
                self.assertFalse((self.folder / "out").exists() and os.listdir(self.folder / "out"))

    def test_what_exists_is_kept(self):
        self.write("out/vp-000003", b"old")

        self.thalweg("extract", "nb.vp", "-C", "out", expect=UNSAFE)
        self.thalweg("extract", "nb.vp", "-C", "out", "--force")

        self.assertEqual((self.folder / "out/vp-000003").read_bytes(), stream(3, 48))


class Health(VpTest):
    def test_whole_files(self):
        for name, sizes in self.sizes.items():
            health = self.json("verify", name)
            self.assertEqual((health["kind"], health["status"], health["closed"], health["repaired"]), ("vpfile", "TW_OK", True, False))
            self.assertEqual((health["logical_files"], health["logical_bytes"]), (6, sum(sizes)))
            self.assertIn(b": whole: 6 virtual processors with ", self.thalweg("verify", name)[0])
            before = self.tree(".")
            self.assertIn(b"sound, left alone", self.thalweg("repair", name)[0])
            self.assertEqual(self.tree("."), before)
            for command in ("verify", "repair"):
                self.assertEqual(self.thalweg(command, name, "--quiet"), (b"", ""))

    def test_one_that_was_not_closed(self):
        self.unclosed()
        sizes = [24 + n for n in RAGGED]

        for words in (["info", "u.vp"], ["verify", "u.vp"], ["cat", "u.vp", "--vp", "0"], ["extract", "u.vp", "-C", "out"],
                      ["map", "u.vp", "m.svg"], ["vp-flatten", "u.vp", "flat"]):
            self.assertIn("thalweg repair u.vp", self.thalweg(*words, expect=DAMAGED)[1], words)
        info = self.json("info", "u.vp", "--tasks", expect=DAMAGED)
        self.assertEqual((info["health"], info["shape"], info["sizes"]), ("not closed", [2, 3], None))
        self.leftovers("m.svg", *(n for n in os.listdir(self.folder) if ".vp" in n))
        repaired = self.json("repair", "u.vp")
        self.assertEqual((repaired["repaired"], repaired["closed"], repaired["logical_bytes"]), (True, False, sum(sizes)))
        self.assert_streams("u.vp", sizes)
        self.thalweg("verify", "u.vp")

    def test_the_way_out_can_be_copied_into_a_shell(self):
        for name in ("with space.vp", "it's.vp"):
            self.unclosed(name)
            for words in (["cat", name, "--vp", "1"], ["verify", name], ["info", name]):
                message = self.thalweg(*words, expect=DAMAGED)[1]
                self.assertEqual(shlex.split(message.split("thalweg repair ")[1].split("`")[0]), [name], message)

    def test_a_flipped_bit_of_a_block_is_found(self):
        image = bytearray((self.folder / "ib.vp").read_bytes())
        image[image.index(stream(5, 70_024)[2000:2030])] ^= 1
        (self.folder / "ib.vp").write_bytes(image)

        for command in ("verify", "repair"):
            health = self.json(command, "ib.vp", expect=DAMAGED)
            self.assertEqual(health["status"], "TW_ERR_CORRUPT")
            self.assertGreaterEqual(health["damaged_logical_files"], 1)
            self.assertTrue(health["findings"])

    def test_lost_and_damaged_side_files_are_made_anew(self):
        for name in ("ib.vp.first", "ib.vp.dir"):
            for damage in ("lost", "flipped"):
                with self.subTest(name=name, damage=damage):
                    path = self.folder / name
                    image = bytearray(path.read_bytes())
                    image[20] ^= 1
                    path.unlink() if damage == "lost" else path.write_bytes(image)

                    self.thalweg("verify", "ib.vp", expect=DAMAGED)
                    self.assertTrue(self.json("repair", "ib.vp")["repaired"])
                    self.assert_streams("ib.vp", self.sizes["ib.vp"])

    def test_a_lost_meta_file_takes_the_shape(self):
        for damage in ("lost", "empty", "rubbish"):
            with self.subTest(damage):
                meta = self.folder / "ib.vp.meta"
                meta.unlink() if damage == "lost" else meta.write_bytes(b"" if damage == "empty" else data(2048))

                for words in (["info"], ["cat", "--vp", "0"], ["map", "m.svg"]):
                    self.assertIn("--shape", self.thalweg(words[0], "ib.vp", *words[1:], expect=DAMAGED)[1])
                self.thalweg("verify", "ib.vp", expect=DAMAGED)
                self.assertIn("shape of its 6 virtual processors", self.thalweg("repair", "ib.vp", expect=USAGE)[1])
                self.thalweg("repair", "ib.vp", "--shape", "5,3", expect=USAGE)
                self.thalweg("repair", "ib.vp", "--shape", "2x3", expect=USAGE)
                self.assertTrue(self.json("repair", "ib.vp", "--shape", "2,3")["repaired"])
                self.assert_streams("ib.vp", self.sizes["ib.vp"])

    def test_a_shape_is_for_vpfiles(self):
        self.craft([(0, b"", b"abc")])

        self.assertIn("--shape applies to vpfiles", self.thalweg("repair", "crafted.tw", "--shape", "2,3", expect=USAGE)[1])

    def test_a_shortened_data_file(self):
        os.truncate(self.folder / "nb.vp", 200)

        health = self.json("verify", "nb.vp", expect=DAMAGED)

        self.assertIn("200 bytes", health["findings"][0])
        self.thalweg("cat", "nb.vp", "--vp", "0", expect=DAMAGED)
        repaired = self.json("repair", "nb.vp", expect=DAMAGED)
        self.assertEqual((repaired["repaired"], repaired["closed"], repaired["damaged_logical_files"]), (True, True, 6))
        self.assertLess((self.folder / "nb.vp").stat().st_size, 201)
        self.thalweg("verify", "nb.vp")

    def test_a_missing_data_file(self):
        os.unlink(self.folder / "nb.vp")

        for name in ("nb.vp", "nothing.vp"):  # the first one still has its NAME.meta
            for words in (["info"], ["verify"], ["cat", "--vp", "0"], ["extract", "--vp", "0"], ["vp-flatten", "x"], ["map", "m.svg"],
                          ["repair", "--shape", "2,3"]):
                self.assertIn(name, self.thalweg(words[0], name, *words[1:], expect=IO_ERROR)[1])


class Kinds(VpTest):
    def test_what_is_neither_is_told_so(self):
        self.write("text", b"no such thing\n" * 100)
        for words in (["info"], ["ls"], ["verify"], ["repair"], ["cat", "-t", "0"], ["cat", "--vp", "0"], ["extract", "-C", "out"],
                      ["map", "m.svg"], ["defrag", "o.tw"], ["vp-flatten", "flat"]):
            with self.subTest(words):
                message = self.thalweg(words[0], "text", *words[1:], expect=DAMAGED)[1]
                self.assertIn("neither a multifile nor a vpfile", message)
                self.assertEqual(message.count("text"), 1)

    def test_commands_for_the_other_kind_say_so(self):
        self.craft([(0, b"", b"abc")])

        self.assertIn("is a vpfile", self.thalweg("ls", "ib.vp", expect=USAGE)[1])
        self.assertIn("is a vpfile", self.thalweg("defrag", "ib.vp", "o.tw", expect=USAGE)[1])
        self.assertIn("is a multifile", self.thalweg("vp-flatten", "crafted.tw", "o", expect=USAGE)[1])
        self.assertIn("is a multifile", self.thalweg("vp-import", "crafted.tw", "--shape", "1", "--record-bytes", "1", expect=USAGE)[1])

    def test_a_multifile_beside_a_foreign_meta_file_stays_one(self):
        self.craft([(0, b"", b"abc")])
        self.write("crafted.tw.meta", b"notes of somebody else")

        self.assertEqual(self.json("info", "crafted.tw")["kind"], "multifile")
        self.assertEqual(self.thalweg("cat", "crafted.tw", "-t", "0")[0], b"abc")


class Map(VpTest):
    def ranges(self, name):
        root = ElementTree.fromstring((self.folder / name).read_bytes())
        titles = {rect.find(SVG + "title").text for rect in root.iter(SVG + "rect") if rect.find(SVG + "title") is not None}
        return sorted((*map(int, re.search(r"bytes (\d+) to (\d+) of the data file", title).groups()), title) for title in titles)

    def test_every_byte_is_in_the_picture(self):
        for name in self.sizes:
            result = self.json("map", name, "m.svg", "--force")

            at = 0
            for first, last, _ in self.ranges("m.svg"):
                self.assertEqual(first, at)
                at = last + 1
            self.assertEqual(at, (self.folder / name).stat().st_size)
            self.assertEqual((result["kind"], result["vps"], result["bytes"], result["closed"]), ("vpfile", 6, at, True))
            self.assertEqual(result["ranges"], len(self.ranges("m.svg")))

    def test_whose_what_is(self):
        self.thalweg("map", "ib.vp", "ib.svg")
        self.thalweg("map", "cb.vp", "cb.svg")
        image = (self.folder / "ib.vp").read_bytes()
        place = image.index(stream(5, 70_024)[40:90])

        blocks = [title for first, last, title in self.ranges("ib.svg") if first <= place <= last]
        self.assertRegex(blocks[0], r"^blocks of VPs? .*5")
        kinds = {title.split(":")[0] for _, _, title in self.ranges("ib.svg")}
        self.assertLessEqual({"NB segment", "hole", "header", "table", "unused room"}, kinds)
        self.assertEqual({title.split(":")[0] for _, _, title in self.ranges("cb.svg")}, {"NB segment", "hole", "CB segment"})

    def test_the_page_has_the_picture(self):
        self.thalweg("map", "ib.vp", "m.html")

        root = ElementTree.fromstring((self.folder / "m.html").read_text(encoding="utf-8").replace("<!DOCTYPE html>", ""))
        self.assertEqual(len(list(root.iter(SVG + "svg"))), 1)

    def test_many_ranges_are_drawn_in_few_pieces(self):
        self.craft_vpfile("9000", *("each " + " ".join(str(0 if vp % 3 else 1 + (vp * 7 + k) % 90) for vp in range(9000)) for k in range(4)), out="many.vp")

        self.assertGreater(self.json("map", "many.vp", "m.svg")["ranges"], 3000)
        self.assertLess((self.folder / "m.svg").stat().st_size, 8 << 20)

    def test_no_file_of_the_vpfile_is_replaced(self):
        before = self.tree(".")

        for out in ("ib.vp", "ib.vp.meta", "ib.vp.first", "ib.vp.dir"):
            message = self.thalweg("map", "ib.vp", out, "--format", "svg", "--force", expect=UNSAFE)[1]
            self.assertIn("file of the vpfile", message)
        self.assertEqual(self.tree("."), before)


class Flatten(VpTest):
    def test_any_vpfile_becomes_the_array_of_its_streams(self):
        for name, sizes in self.sizes.items():
            result = self.json("vp-flatten", name, "flat-" + name)

            self.assertEqual((result["to"], result["shape"], result["vps"]), ("flat-" + name, [2, 3], 6))
            self.assertEqual((result["record_bytes"], result["bytes"]), (max(sizes), 6 * max(sizes)))
            flat = b"".join(stream(vp, size).ljust(max(sizes), b"\0") for vp, size in enumerate(sizes))
            self.assertEqual((self.folder / ("flat-" + name)).read_bytes(), flat)
            info = self.json("info", "flat-" + name)
            self.assertEqual((info["mode"], info["shape"]), ("NB", [2, 3]))
            self.thalweg("verify", "flat-" + name)

    def test_the_progress_bar_counts_virtual_processors(self):
        for words in (["vp-flatten", "ib.vp", "flat"], ["verify", "ib.vp"]):
            code, seen = on_a_terminal(words, self.folder)

            self.assertEqual(code, FINE)
            self.assertRegex(seen.decode(), rf"\r\x1b\[K{words[0]} \[[#.]*\] +\d+ %  \d+ of 6 virtual processors")
            self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)

    def test_record_bytes_and_fill(self):
        self.assertEqual(self.thalweg("vp-flatten", "ib.vp", "flat", "--record-bytes", "100", "--fill", "0xff", "--quiet"), (b"", ""))

        flat = b"".join(stream(vp, min(size, 100)).ljust(100, b"\xff") for vp, size in enumerate(self.sizes["ib.vp"]))
        self.assertEqual((self.folder / "flat").read_bytes(), flat)

    def test_wrong_arguments_are_told(self):
        self.craft_vpfile("4", out="empty.vp")
        for words, told in ((["--record-bytes", "0"], "--record-bytes"), (["--record-bytes=-1"], "--record-bytes"), (["--fill", "256"], "--fill"),
                            (["--fill=-1"], "--fill"), (["--record-bytes", "x"], "--record-bytes")):
            self.assertIn(told, self.thalweg("vp-flatten", "ib.vp", "flat", *words, expect=USAGE)[1])
        self.assertIn("give the bytes of a record", self.thalweg("vp-flatten", "empty.vp", "flat", expect=USAGE)[1])
        self.assertIn("the folder 'no/such' does not exist", self.thalweg("vp-flatten", "ib.vp", "no/such/flat", expect=IO_ERROR)[1])
        self.assertFalse((self.folder / "flat").exists())

    def test_nothing_is_replaced(self):
        self.write("there", b"old")
        self.write("half.meta", b"old")
        before = self.tree(".")

        for out in ("there", "half", "ib.vp"):
            self.thalweg("vp-flatten", "ib.vp", out, expect=UNSAFE)

        self.assertEqual(self.tree("."), before)

    def test_what_fails_leaves_nothing(self):
        before = self.tree(".")

        for limit in (0, 1000, 1 << 16):
            def small_files_only(limit=limit):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            message = self.thalweg("vp-flatten", "ib.vp", "flat", expect=IO_ERROR, preexec_fn=small_files_only)[1]
            self.assertNotIn(".part", message)
            self.assertEqual(self.tree("."), before)

    def test_what_comes_between_is_kept(self):
        before = self.tree(".")
        for other in ("flat", "flat.meta"):
            for _ in range(20):  # until the command is stopped before the array has its name
                stopped, message, code = self.flatten_beside(other)
                for name in ("flat", "flat.meta"):
                    (self.folder / name).unlink(missing_ok=True)
                if stopped:
                    break
            self.assertTrue(stopped)
            self.assertIn(f"'{other}' exists already", message)
            self.assertEqual(code, UNSAFE)
            self.assertEqual(self.tree("."), before)

    def flatten_beside(self, other):
        """Writes `other` while vp-flatten works: (whether the array had no name by then, standard error, exit code)."""
        words = ["vp-flatten", "ib.vp", "flat", "--record-bytes", str(1 << 24), "--fill", "0xff"]
        with subprocess.Popen([THALWEG, *words], cwd=self.folder, stderr=subprocess.PIPE) as child:
            try:
                deadline = time.monotonic() + 60
                while not any(name.startswith("flat") for name in os.listdir(self.folder)):
                    self.assertLess(time.monotonic(), deadline)
                child.send_signal(signal.SIGSTOP)
                stopped = not (self.folder / "flat").exists() and child.poll() is None
                if stopped:
                    self.write(other, b"of another program")
                child.send_signal(signal.SIGCONT)
                message = child.communicate(timeout=60)[1].decode()
            finally:
                child.kill()
        return stopped, message, child.returncode

    def test_what_is_stopped_leaves_nothing(self):
        before = self.tree(".")
        for number in (signal.SIGINT, signal.SIGTERM):
            words = ["vp-flatten", "ib.vp", "flat", "--record-bytes", str(1 << 30)]
            with subprocess.Popen([THALWEG, *words], cwd=self.folder, stderr=subprocess.PIPE) as child:
                deadline = time.monotonic() + 60
                while not any(name.startswith("flat") for name in os.listdir(self.folder)):
                    self.assertLess(time.monotonic(), deadline)
                child.send_signal(number)
                self.assertNotIn(b".part", child.communicate(timeout=60)[1])
                self.assertEqual(child.returncode, -number)
            self.assertEqual(self.tree("."), before)


class Import(VpTest):
    def test_an_array_becomes_a_vpfile(self):
        streams = [data(32, vp) for vp in range(6)]
        array = b"".join(s[8 * k:8 * k + 8] for k in range(4) for s in streams)
        self.write("array", array)

        result = self.json("vp-import", "array", "--shape", "3,2", "--record-bytes", "8")

        self.assertEqual((result["shape"], result["vps"], result["record_bytes"], result["records"]), ([3, 2], 6, 8, 4))
        self.assertEqual((self.folder / "array").read_bytes(), array)
        for vp in range(6):
            self.assertEqual(self.thalweg("cat", "array", "--vp", str(vp))[0], streams[vp])
        self.thalweg("verify", "array")
        self.assertIn("exists", self.thalweg("vp-import", "array", "--shape", "3,2", "--record-bytes", "8", expect=UNSAFE)[1])

    def test_wrong_arguments_are_told(self):
        self.write("array", bytes(48))
        for words, told in ((["--shape", "7", "--record-bytes", "8"], "no multiple"), (["--shape", "0,2", "--record-bytes", "8"], "not a shape"),
                            (["--shape", "a", "--record-bytes", "8"], "not a shape"), (["--shape", "3"], "--record-bytes"),
                            (["--record-bytes", "8"], "--shape"), (["--shape", "3", "--record-bytes", "0"], "--record-bytes")):
            with self.subTest(words):
                self.assertIn(told, self.thalweg("vp-import", "array", *words, expect=USAGE)[1])
                self.assertFalse((self.folder / "array.meta").exists())
        self.thalweg("vp-import", "missing", "--shape", "3", "--record-bytes", "8", expect=IO_ERROR)

    def test_what_fails_leaves_nothing(self):
        self.write("array", bytes(48))

        self.thalweg("vp-import", "array", "--shape", "3", "--record-bytes", "8", expect=IO_ERROR,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))

        self.assertFalse((self.folder / "array.meta").exists())
        self.thalweg("vp-import", "array", "--shape", "3", "--record-bytes", "8")


if __name__ == "__main__":
    main()
