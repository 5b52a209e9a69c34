#!/usr/bin/env python3
"""The page of `thalweg methods` in a real browser: no error, no network access, plots drawn, narrow and dark displays.

Environment: TW_REPORT_PAGE, the program that makes a page of records; TW_PICTURES, the folder for screenshots;
TW_PLOTS, 0 when Chart.js was not found at build time. Skipped without a Chromium (TW_CHROMIUM names one).
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import devtools  # noqa: E402

HERE = pathlib.Path(__file__).parent
MAKER = os.environ.get("TW_REPORT_PAGE")
BROWSER = devtools.find_browser()
PLOTS = os.environ.get("TW_PLOTS", "1") != "0"
SKIPPED = 77

# Share of the pixels of a canvas that differ from its background.
INKED = """(id => {
  const canvas = document.getElementById(id), pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let inked = 0;
  for (let i = 3; i < pixels.length; i += 4) inked += pixels[i] > 0;
  return inked / (pixels.length / 4);
})"""
CHARTS = "[...document.querySelectorAll('canvas')].filter(one => Chart.getChart(one))"


def pixels_of(path):
    """Width, height and rows of a PNG with 8 bits per channel, as bytes."""
    data = path.read_bytes()
    width, height, depth, kind = struct.unpack("!IIBB", data[16:26])
    assert (depth, kind) in ((8, 2), (8, 6)), (depth, kind)
    size, at, packed = (3 if kind == 2 else 4), 8, b""
    while at < len(data):
        (length,) = struct.unpack("!I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    raw, stride, rows, above = zlib.decompress(packed), width * size, [], bytes(width * size)
    for y in range(height):
        begin = y * (stride + 1)
        row = unfiltered(raw[begin], bytearray(raw[begin + 1 : begin + 1 + stride]), above, size)
        rows.append(bytes(row))
        above = row
    return width, height, [[row[i : i + 3] for i in range(0, stride, size)] for row in rows]


def unfiltered(kind, row, above, size):
    for i in range(len(row)) if kind else ():
        left, up, corner = (row[i - size] if i >= size else 0), above[i], (above[i - size] if i >= size else 0)
        if kind == 4:
            guess = left + up - corner
            distances = abs(guess - left), abs(guess - up), abs(guess - corner)
            guess = (left, up, corner)[distances.index(min(distances))]
        else:
            guess = (0, left, up, (left + up) // 2)[kind]
        row[i] = (row[i] + guess) & 255
    return row


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="report-", ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.pictures = pathlib.Path(os.environ.get("TW_PICTURES") or cls.folder.name)
        cls.browser = devtools.Browser(BROWSER, cls.folder.name)
        cls.addClassCleanup(cls.browser.close)
        cls.pages = {}

    def page(self, kind, *words):
        """The path of the page of made-up records."""
        if (kind, words) not in self.pages:
            records = pathlib.Path(self.folder.name) / f"{kind}.jsonl"
            with open(records, "wb") as out:
                subprocess.run([sys.executable, "-B", HERE / "make_results.py", "--kind", kind], stdout=out, check=True, timeout=60)
            page = records.with_name("-".join((kind, *words)) + ".html")
            subprocess.run([MAKER, records, page, *words], check=True, timeout=60)
            self.pages[kind, words] = page
        return self.pages[kind, words]

    def look(self, kind, width, *words, height=900, dark=False):
        self.browser.window(width, height, dark)
        self.browser.open(self.page(kind, *words))
        self.assert_quiet()

    def assert_quiet(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])

    def assert_drawn(self, *plots):
        wanted = [f"plot-{name}" for name in plots]
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('canvas')].map(one => one.id)"), wanted if PLOTS else [])
        if not PLOTS:
            return
        self.assertEqual(self.browser.evaluate(CHARTS + ".map(one => one.id)"), wanted)
        for name in wanted:
            self.assertGreater(self.browser.evaluate(f"{INKED}('{name}')"), 0.01, name)

    def assert_narrow_enough(self):
        """No element is wider than the window, except in scrolling boxes."""
        wide = self.browser.evaluate(
            """[...document.body.querySelectorAll('*')].filter(one => !one.closest('.scroll, pre, nav') &&
                one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 120))"""
        )
        self.assertEqual(wide, [])
        self.assertTrue(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"))
        self.browser.evaluate("scrollTo(50, 0)")
        self.assertEqual(self.browser.evaluate("scrollX"), 0)

    def choose(self, plot, i):
        """State of a plot, by its list of choices."""
        self.browser.evaluate(
            f"(pick => {{ pick.selectedIndex = {i}; pick.dispatchEvent(new Event('change')); }})(document.querySelector('[data-plot={plot}] select'))"
        )

    def picture(self, name):
        path = self.pictures / f"{name}.png"
        self.browser.screenshot(path)
        return path

    def test_wide(self):
        self.look("full", 1280, "validate")
        self.assert_drawn("strong", "weak", "bars", "validation")
        self.assert_narrow_enough()
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.card').length"), 22)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.conclusions > li').length"), 5)

    def test_phone(self):
        self.look("full", 360, "validate", height=740)
        self.assert_drawn("strong", "weak", "bars", "validation")
        self.assert_narrow_enough()

    @unittest.skipUnless(PLOTS, "built without Chart.js")
    def test_what_a_curve_is_made_of(self):
        self.look("full", 1280)
        curve = "Chart.getChart('plot-strong').data.datasets.find(one => one.method === 'tw-collective')"
        points = self.browser.evaluate(f"{curve}.data.map(one => [one.x, one.low <= one.y && one.y <= one.high])")
        self.assertEqual(points, [[ranks, True] for ranks in (1, 2, 4, 8)])
        self.assertEqual(self.browser.evaluate("Chart.getChart('plot-strong').data.datasets.length"), 21)
        self.assertEqual(self.browser.evaluate("['x', 'y'].map(one => Chart.getChart('plot-strong').scales[one].type)"), ["logarithmic"] * 2)
        marks = self.browser.evaluate(
            "Chart.getChart('plot-strong').data.datasets.map(one => [one.borderColor, one.pointStyle, String(one.borderDash)].join())"
        )
        self.assertEqual(len(set(marks)), 21, "each method has a look of its own")

    @unittest.skipUnless(PLOTS, "built without Chart.js")
    def test_controls(self):
        self.look("full", 1280)
        y = "Chart.getChart('plot-strong').data.datasets[0].data[0].y"
        colour = "Chart.getChart('plot-strong').data.datasets[0].borderColor"
        before = self.browser.evaluate(y), self.browser.evaluate(colour)
        self.browser.evaluate("document.querySelector('input[name=phase][value=\"1\"]').click()")
        self.browser.evaluate("document.querySelector('input[name=colours][value=group]').click()")
        self.assertNotEqual(self.browser.evaluate(y), before[0])
        self.assertNotEqual(self.browser.evaluate(colour), before[1])
        self.assertIn("read", self.browser.evaluate("document.getElementById('plot-strong').getAttribute('aria-label')"))
        self.choose("strong", 1)
        self.assertIn("order f", self.browser.evaluate("document.getElementById('plot-strong').getAttribute('aria-label')"))
        self.assert_quiet()

    @unittest.skipUnless(PLOTS, "built without Chart.js")
    def test_the_legend_switches_methods(self):
        self.look("full", 1280)
        gather = "[...document.querySelectorAll('#legend button')].find(one => one.dataset.method === 'gather')"
        hidden = "Chart.getChart('plot-strong').data.datasets.find(one => one.method === 'gather').hidden"
        self.assertEqual(self.browser.evaluate(f"[{gather}.getAttribute('aria-pressed'), {hidden}]"), ["true", False])
        self.browser.evaluate(f"{gather}.click()")
        self.assertEqual(self.browser.evaluate(f"[{gather}.getAttribute('aria-pressed'), {hidden}]"), ["false", True])
        self.assertEqual(self.browser.evaluate("document.activeElement.dataset.method"), "gather")
        self.choose("bars", 0)
        self.assertEqual(self.browser.evaluate("Chart.getChart('plot-bars').data.labels.length"), 20)
        self.browser.evaluate(f"{gather}.click()")
        self.browser.evaluate("document.querySelector('#legend h4 button').click()")
        shown = "Chart.getChart('plot-strong').data.datasets.filter(one => !one.hidden).length"
        self.assertEqual(self.browser.evaluate(shown), 11)  # 10 of 21 are efficient
        self.assert_quiet()

    @unittest.skipUnless(PLOTS, "built without Chart.js")
    def test_a_hidden_curve_has_no_error_bars(self):
        self.look("full", 1280)
        drawn = """(() => { // strokes in the colour of a curve
          const chart = Chart.getChart('plot-strong'), stroke = chart.ctx.stroke, seen = [];
          chart.ctx.stroke = function (...path) { seen.push(this.strokeStyle); return stroke.apply(this, path); };
          chart.draw();
          delete chart.ctx.stroke;
          const colours = chart.data.datasets.map(one => one.barColour.toLowerCase());
          return seen.filter(one => colours.includes(one)).length; })()"""
        self.assertGreater(self.browser.evaluate(drawn), 21 * 4)  # each point of each curve has a bar
        for group in range(self.browser.evaluate("document.querySelectorAll('#legend h4 button').length")):
            self.browser.evaluate(f"document.querySelectorAll('#legend h4 button')[{group}].click()")
        self.assertEqual(self.browser.evaluate("Chart.getChart('plot-strong').data.datasets.filter(one => !one.hidden).length"), 0)
        self.assertEqual(self.browser.evaluate(drawn), 0)
        self.assert_quiet()

    def test_one_cell_and_several_sizes(self):
        self.look("one-cell", 1280)
        self.assert_drawn("bars")
        self.look("sizes", 1280)
        self.assert_drawn("size", "bars")
        self.look("sizes", 360)
        self.assert_narrow_enough()

    def test_hostile_records(self):
        for width in (1280, 360):
            self.look("hostile", width, "validate")
            self.assert_drawn("bars", "validation")
            self.assert_narrow_enough()
        self.assertEqual(self.browser.evaluate("document.images.length"), 0)
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 3 if PLOTS else 0)

    def test_labels(self):
        """Needs of a screen reader: a language, one top heading, names of all controls, unique ids."""
        self.look("full", 1280, "validate")
        self.assertEqual(self.browser.evaluate("[document.documentElement.lang, document.querySelectorAll('h1').length]"), ["en", 1])
        for what in ("canvas", "button", "select", "input", ".scroll", "nav"):
            nameless = self.browser.evaluate(
                f"[...document.querySelectorAll('{what}')].filter(one => !(one.getAttribute('aria-label') || one.textContent.trim() ||"
                " (one.labels && one.labels[0] && one.labels[0].textContent.trim()))).length"
            )
            self.assertEqual(nameless, 0, what)
        self.assertEqual(self.browser.evaluate("(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(one => one.id))"), 0)
        lost = "[...document.querySelectorAll('a[href^=\"#\"]')].filter(one => !document.getElementById(one.hash.slice(1))).map(one => one.hash)"
        self.assertEqual(self.browser.evaluate(lost), [])

    def test_pictures(self):
        for name, width, height, dark in (("wide", 1280, 1300, False), ("phone", 360, 740, False), ("dark", 1280, 1300, True)):
            self.look("full", width, "validate", height=height, dark=dark)
            self.browser.evaluate("document.querySelector('main section').scrollIntoView({behavior: 'instant'})")
            self.browser.settle()
            found_width, found_height, rows = pixels_of(self.picture(name))
            self.assertEqual((found_width, found_height), (width, height))
            colours = {pixel for row in rows[::3] for pixel in row[::2]}
            self.assertGreater(len(colours), 60, name)
            back = bytes.fromhex("1a212b" if dark else "ffffff")  # of a section
            share = sum(row.count(back) for row in rows) / (width * height)
            self.assertGreater(share, 0.3, f"{name}: {share}")
            if PLOTS and name != "phone":
                self.assertIn(bytes.fromhex("58b4f5" if dark else "0072b2"), colours)  # one of our curves


if __name__ == "__main__":
    if MAKER is None:
        sys.exit("set TW_REPORT_PAGE to the program report_page of a build, as build/release/tests/report_page")
    if BROWSER is None:
        print("skipped: there is no Chromium here")
        sys.exit(SKIPPED)
    unittest.main()
