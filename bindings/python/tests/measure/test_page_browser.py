"""The page in a real browser, at the widths of a desktop and of a phone, light and dark; skipped without a Chromium.

TW_CHROMIUM names the browser, TW_PICTURES a folder that keeps the screenshots.
"""

import os
import pathlib
import re

import devtools
import pytest
from made_runs import full_run, hostile_run, points_of, run_of, scaling_cells

from thalweg.measure import page
from thalweg.measure.records import Cell

BROWSER = devtools.find_browser()
DESKTOP, PHONE = (1280, 900), (390, 844)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")

# Visible plots without a drawing: each has paths of curves, points or bars, and text.
UNDRAWN = """[...document.querySelectorAll('.plot')].filter(one => one.offsetParent && !(
  one.querySelectorAll('.scatterlayer path, .barlayer path').length && one.querySelectorAll('.main-svg text').length
  && one.querySelector('.main-svg').getBoundingClientRect().height > 100)).map(one => one.dataset.plot)"""
# Pairs of visible boxes that share area: plots, legend, controls, tables, headings, and labels within a plot.
OVERLAPS = """(() => {
  const box = one => one.getBoundingClientRect();
  const name = one => one.dataset.plot || one.id || one.className || one.textContent.slice(0, 30);
  const pairs = (list, slack) => list.flatMap((a, i) => list.slice(i + 1).filter(b => {
    const x = box(a), y = box(b);
    return !a.contains(b) && !b.contains(a) && Math.min(x.right, y.right) - Math.max(x.left, y.left) > slack
      && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > slack;
  }).map(b => name(a) + ' / ' + name(b)));
  const shown = what => [...document.querySelectorAll(what)].filter(one => one.offsetParent);
  const blocks = shown('#plots figure, #legend, #controls, #plots h3, #plots details, main > section');
  const labels = [...document.querySelectorAll('.plot')].filter(one => one.offsetParent).flatMap(one => {
    const texts = what => [...one.querySelectorAll(what)].filter(text => text.textContent.trim());
    return [texts('.xtick text'), texts('.ytick text'), texts('.textpoint text')].flatMap(list => pairs(list, 2));
  });
  return [...pairs(blocks, 1), ...labels];
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with devtools.Browser(BROWSER, tmp_path_factory.mktemp("browser"), timeout=180) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The path of the page of a kind of run, made once."""
    folder, made = tmp_path_factory.mktemp("pages"), {}
    cells = scaling_cells()
    kinds = {
        "full": lambda: full_run(cells, repetitions=2, predicted=[Cell(2048, (64, 32), (4096, 4096))]),
        "hostile": hostile_run,
        "one-cell": lambda: full_run([Cell(2, (2, 1), (1024, 1024))], repetitions=2),
        "sizes": lambda: full_run([Cell(4, (2, 2), (n, n)) for n in (512, 1024, 2048)], repetitions=2),
        "nothing": lambda: run_of([]),
    }

    def path(kind):
        if kind not in made:
            run = kinds[kind]()
            made[kind] = folder / f"{kind}.html"
            made[kind].write_text(page.html(run, points_of(run)), encoding="utf-8")
        return made[kind]

    return path


def look(browser, path, size, dark=False):
    browser.window(*size, dark)
    browser.open(path)
    assert_quiet(browser)


def assert_quiet(browser):
    assert browser.complaints() == [] and browser.requests() == []


def assert_narrow_enough(browser):
    """Nothing is wider than the window, except in boxes that scroll."""
    wide = browser.evaluate(
        """[...document.body.querySelectorAll('*')].filter(one => !one.closest('.scroll, pre, nav, svg') &&
        one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 120))""")
    assert wide == [] and browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    browser.evaluate("scrollTo(50, 0)")
    assert browser.evaluate("scrollX") == 0


def curves(browser, plot="p0-large-strong"):
    """Names of the visible curves of a plot."""
    return browser.evaluate(
        f"document.querySelector('[data-plot={plot}] .canvas').data.filter(one => one.visible).map(one => one.name)")


def press(browser, name, choice):
    browser.evaluate(f"document.querySelector('input[name={name}][value=\"{choice}\"]').click()")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("kind", ["full", "hostile", "one-cell", "sizes", "nothing"])
def test_every_plot_is_drawn_and_nothing_overlaps(browser, pages, kind, size):
    look(browser, pages(kind), size)
    for phase in range(browser.evaluate("document.querySelectorAll('input[name=phase]').length") or 1):
        if kind != "nothing":
            press(browser, "phase", phase)
            press(browser, "choice", 1)  # all methods
        browser.settle()
        assert browser.evaluate(UNDRAWN) == []
        assert browser.evaluate(OVERLAPS) == []
    assert_narrow_enough(browser)
    assert_quiet(browser)
    assert browser.evaluate("[document.images.length, document.scripts.length]") == [0, 3]


def test_phases_and_choices(browser, pages):
    look(browser, pages("full"), DESKTOP)
    first = curves(browser)
    assert len(first) == 8 and first[0] == "limit of the storage"
    press(browser, "choice", 3)
    assert curves(browser) == [
        "limit of the storage", "Thalweg multifile", "Thalweg collective", "Thalweg nonblocking, while computing",
        "Thalweg vpfile"
    ]
    press(browser, "choice", 2)
    assert len(curves(browser)) == 10
    y = "document.querySelector('[data-plot={}] .canvas').data[1].y[0]"
    write = browser.evaluate(y.format("p0-large-strong"))
    press(browser, "phase", 1)
    assert browser.evaluate("document.querySelector('[data-phase=\"0\"]').hidden")
    assert len(curves(browser, "p1-large-strong")) == 10 and browser.evaluate(y.format("p1-large-strong")) != write
    assert_quiet(browser)


def test_the_list_of_curves(browser, pages):
    look(browser, pages("full"), DESKTOP)
    x = "document.querySelector('[data-plot=p0-large-strong] .canvas').data[1].y.join()"
    before = browser.evaluate(x)
    browser.evaluate("(pick => { pick.selectedIndex = 1; pick.dispatchEvent(new Event('change', {bubbles: true})); })"
                     "(document.querySelector('[data-plot=p0-large-strong] select'))")
    assert browser.evaluate(x) != before
    assert "order f" in browser.evaluate(
        "document.querySelector('[data-plot=p0-large-strong] select').selectedOptions[0].text")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_legend_switches_methods(browser, pages, size):
    look(browser, pages("full"), size)
    gather = "[...document.querySelectorAll('#legend button')].find(one => one.textContent.includes('Gather'))"
    name = "Gather to one rank, one POSIX write"
    assert browser.evaluate(f"{gather}.getAttribute('aria-pressed')") == "true" and name in curves(browser)
    browser.evaluate(f"{gather}.click()")
    assert browser.evaluate(f"{gather}.getAttribute('aria-pressed')") == "false" and name not in curves(browser)
    assert browser.evaluate("document.querySelector('input[name=choice]:checked')") is None
    assert browser.evaluate("document.querySelectorAll('#legend button').length") == 21
    browser.evaluate(f"{gather}.click()")
    faint = """(() => { {}.dispatchEvent(new Event('mouseenter'));
      const all = [...document.querySelectorAll('[data-plot=p0-large-strong] .trace')];
      return [all.filter(one => one.style.opacity).length, all.length]; })()""".replace("{}", gather)
    assert browser.evaluate(faint) == [6, 8]  # all but the gather and the limit
    assert_quiet(browser)


def test_pointing_at_a_curve_shows_its_numbers(browser, pages):
    look(browser, pages("full"), DESKTOP)
    where = browser.evaluate("(box => [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector("
                             "'[data-plot=p0-large-strong] .scatterlayer .point').getBoundingClientRect())")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=where[0], y=where[1])
    browser.until("!!document.querySelector('[data-plot=p0-large-strong] .hoverlayer text')")
    assert "MiB/s" in browser.evaluate("document.querySelector('[data-plot=p0-large-strong] .hoverlayer').textContent")


def test_a_wide_window_that_becomes_narrow(browser, pages):
    look(browser, pages("full"), DESKTOP)
    browser.window(*PHONE)
    browser.settle()
    browser.until(
        "document.querySelector('[data-plot=p0-large-strong] .main-svg').getBoundingClientRect().right <= innerWidth")
    assert_narrow_enough(browser)
    assert browser.evaluate("document.querySelector('#legend').parentElement.className") == "phase"


def test_without_a_script_all_tables_are_there(browser, pages):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.window(*PHONE)
        browser.call("Page.navigate", url=pages("full").resolve().as_uri())
        browser.until("document.readyState === 'complete' && document.querySelectorAll('.phase').length === 5")
        shown = browser.evaluate("[...document.querySelectorAll('.phase')].filter(one => one.offsetHeight > 50).length")
        assert shown == 5 and browser.evaluate("document.querySelectorAll('details.numbers table').length") >= 5
        assert browser.evaluate("[...document.querySelectorAll('.js')].every(one => !one.offsetParent)")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_labels(browser, pages):
    """Needs of a screen reader: a language, one top heading, names of all controls, unique ids."""
    look(browser, pages("full"), DESKTOP)
    assert browser.evaluate("[document.documentElement.lang, document.querySelectorAll('h1').length]") == ["en", 1]
    for what in ("[role=img]", "button", "select", "input", ".scroll", "nav"):
        nameless = browser.evaluate(
            f"[...document.querySelectorAll('{what}')]"
            ".filter(one => !(one.getAttribute('aria-label') || one.textContent.trim() ||"
            " (one.labels && one.labels[0] && one.labels[0].textContent.trim()))).length")
        assert nameless == 0, what
    assert browser.evaluate(
        "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]:not(svg *)')].map(one => one.id))") == 0
    lost = ("[...document.querySelectorAll('a[href^=\"#\"]')]"
            ".filter(one => !document.getElementById(one.hash.slice(1))).map(one => one.hash)")
    assert browser.evaluate(lost) == []


def channels(browser, selector, what):
    """Red, green and blue of a colour."""
    text = browser.evaluate(f"getComputedStyle(document.querySelector('{selector}')).{what}")
    return [int(value) for value in re.findall(r"\d+", text)[:3]]


@pytest.mark.parametrize("name, size, dark", [("desktop", DESKTOP, False), ("phone", PHONE, False), ("dark", DESKTOP, True)])
def test_colours_of_light_and_dark_displays(browser, pages, tmp_path, name, size, dark):
    look(browser, pages("full"), size, dark)
    line = browser.evaluate("getComputedStyle(document.querySelector('[data-plot=p0-large-strong] .js-line')).stroke")
    found = "document.querySelector('[data-plot=p0-large-strong] .canvas').data.find(one => one.name === 'Thalweg multifile')"
    thalweg = browser.evaluate(found + ".line.color")
    assert thalweg == ("#58b4f5" if dark else "#0072b2") and line.startswith("rgb")
    assert (max(channels(browser, "section", "backgroundColor")) < 80) == dark
    ink = channels(browser, "[data-plot=p0-large-strong] .xtick text", "fill")
    assert (min(ink) > 150) == dark  # readable on that background
    pictures = pathlib.Path(os.environ.get("TW_PICTURES") or tmp_path)
    browser.screenshot(pictures / f"{name}.png")
    assert (pictures / f"{name}.png").stat().st_size > 10_000
