"""The page: its facts from golden and made records, hostile texts, its plots, the code of its cards."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from made_runs import GOLDEN, OUTCOMES, SPEED, full_run, hostile_run, made_cell, points_of, run_of, scaling_cells

from thalweg.measure import conclusions, figures, page
from thalweg.measure.records import Cell, Run, load
from thalweg.measure.report import Report

SNIPPETS = pathlib.Path(page.__file__).parent / "snippets"


@pytest.fixture(autouse=True, scope="module")
def without_plotly_js():
    """Pages without plotly's script, which is megabytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "_get_plotlyjs", lambda: "/* plotly */ '</script>'")
        yield


@pytest.fixture(scope="module")
def full():
    return full_run(scaling_cells(), repetitions=3, predicted=[Cell(2048, (64, 32), (4096, 4096))])


@pytest.fixture(scope="module")
def source(full):
    return page.html(full, points_of(full))


class Text(html.parser.HTMLParser):
    """Elements, attributes and text of a page; what stands in scripts and styles is apart."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.attributes, self.text, self.scripts, self._open = [], [], "", [], []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] in ("script", "style"):
            self.scripts.append(data)
        else:
            self.text += data

    @property
    def words(self):
        return " ".join(self.text.split())


def data_of(source):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', source, re.S)[1])


def test_the_facts_of_the_golden_run():
    run = load(GOLDEN / "scaling.jsonl")
    source = page.html(run, points_of(run))
    words = Text(source).words
    assert "Example CPU 8-Core @ 3.00GHz · ext4 · /scratch/example · 2026-03-02T10:15:00Z" in words
    assert "4 of 22 methods were measured in 2 cells" in words
    table = {(row.method, row.cell.ranks): row for row in run.rows().itertuples() if row.phase == "write"}
    fastest = table["tw-nonblocking", 4]
    assert f"{fastest.median * 1e3:#.3g} ms" in words  # both cells are small: their times are shown
    assert "not used for the fit" in words and "20.0 %" in words  # points are 20 % too long
    assert "SIONlib: SIONlib was not found when Thalweg was built" in words
    assert "Repetitions6" in words.replace(" ", "")


def test_every_number_of_the_table_is_a_median_of_the_records(full, source):
    body = re.search(r"<summary>Numbers: write</summary>.*?<tbody>(.*?)</tbody>", source, re.S)[1]
    found = [re.findall(r"<td[^>]*>([^<]*)", row) for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)]
    report = Report(full)
    assert len(found) == len(SPEED) and len(report.cells) == len(found[0]) - 1
    order = list(report.groups("write").table["method"])
    at = order.index("tw-multifile")
    for cell, text in zip(report.cells, found[at][1:]):
        row = report.find("tw-multifile", "write", cell)
        number = float(text.split()[0]) * (1e-3 if text.endswith(" ms") else 1)
        assert number == pytest.approx(row.median if cell in report.small else row.bytes / 2**20 / row.median, rel=0.01), cell
    assert "–" in found[order.index("gather")]  # it was skipped in one cell


def test_words_about_the_study_have_a_verdict_each(full, source):
    words = Text(source).words
    for one in conclusions.judge(full):
        for claim in one.claims:
            assert claim.text in words
    assert "By measured times" in source and "By simulated times" in source
    assert len(re.findall(r'<li class="(?:confirmed|refuted|undecided)">', source)) == 12


def test_small_and_large_cells_have_plots_of_their_own(source):
    data = data_of(source)
    keys = [key for key in data["plots"] if key.startswith("p0-")]
    assert set(keys) == {"p0-large-strong", "p0-large-weak", "p0-small-strong", "p0-bars"}
    wanted = ("p0-large-strong", "p0-large-weak", "p0-small-strong")
    titles = [data["plots"][key][0]["layout"]["yaxis"]["title"]["text"] for key in wanted]
    assert titles == ["MiB/s", "MiB/s", "ms"]


def test_the_limit_of_the_storage_is_in_every_plot_of_speeds(source):
    data = data_of(source)
    for key, plots in data["plots"].items():
        for plot in plots:
            if re.match(r"p\d+-(large|small)-", key):
                assert "limit" in [trace.get("meta") for trace in plot["data"]], key
            elif key.endswith("-bars"):
                assert plot["layout"]["shapes"][0]["type"] == "line" and "limit of the storage" in plot["layout"][
                    "annotations"][0]["text"]
    without = data_of(page.html(full_run(scaling_cells()[:4], repetitions=1, limits=False)))
    assert "limit" not in [trace.get("meta") for trace in without["plots"]["p0-large-strong"][0]["data"]]


def test_a_curve_has_the_medians_of_its_cells(full):
    report = Report(full)
    one = next(curve for _, found in report.curves() for curve in found if curve.kind == "strong" and len(curve.cells) == 5)
    traces = figures.as_figure(figures.curve(report, "write", one, False)).data
    trace = next(trace for trace in traces if trace.name == "Thalweg collective")
    rows = [report.find("tw-collective", "write", cell) for cell in one.cells]
    assert list(trace.x) == [1, 2, 4, 8, 2048]
    assert list(trace.y) == pytest.approx([row.bytes / 2**20 / row.median for row in rows], rel=1e-4)
    up = [row.bytes / 2**20 * (1 / row.low - 1 / row.median) for row in rows]
    assert list(trace.error_y.array) == pytest.approx(up, rel=0.02, abs=0.1)
    assert list(trace.marker.symbol) == ["square"] * 4 + ["square-open"]  # the last one is simulated
    looks = {(trace.line.color, trace.line.dash, trace.marker.symbol[0]) for trace in traces}
    assert len(looks) == len(SPEED) + 1


def test_plotly_knows_every_property(source):
    for plots in data_of(source)["plots"].values():
        figures.as_figure(plots[0])


def test_figures_for_notebooks():
    run = full_run(scaling_cells(), repetitions=1)
    found = page.figure(run, "read")
    assert len({trace.xaxis for trace in found.data}) == 4 and found.layout.showlegend
    assert len([trace for trace in found.data if trace.showlegend]) == len(SPEED) + 1  # each once, and the limit
    one = page.figure(run_of([("gather", made_cell(2), 1.0), ("tw-collective", made_cell(2), 0.5)]))
    assert list(one.data[0].y) == [0, 1] and "Thalweg" not in one.data[1].text[0] and one.data[0].x[0] > one.data[0].x[1]


def test_time_to_the_global_array_is_write_and_merge(full):
    report = Report(full)
    methods = {method["id"]: method for method in report.methods}
    cell = made_cell(8, grid=(4, 2))
    write, merge = (report.find("file-per-task", phase, cell).median for phase in ("write", "merge"))
    assert report.whole(methods["file-per-task"], cell) == (write, merge)
    assert report.whole(methods["tw-collective"], cell) == (report.find("tw-collective", "write", cell).median, 0)
    assert {method["id"] for method, _, merged in report.ranked_wholes() if merged} == set(OUTCOMES)


def test_hostile_texts_stay_texts():
    run = hostile_run()
    source = page.html(run, points_of(run))
    found = Text(source)
    assert source.count("</script") == source.count("<script") == 3 and found.tags.count("img") == 0
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not any(char in source for char in "\u202e\0\u2028")
    assert "alert(1)" in found.text and "{{ 7 * 7 }}" in found.text and source.encode("utf-8")
    data = json.dumps(data_of(source), ensure_ascii=False)
    assert "<img" not in data and "&lt;img" in data  # plotly reads its texts as a kind of HTML
    assert "Content-Security-Policy" in source and "default-src 'none'" in source


def test_nothing_measured_is_a_page():
    words = Text(page.html(Run())).words
    assert "No measurements." in words and "The run is incomplete" in words


def test_an_unknown_phase_an_unknown_method_and_a_time_of_zero_are_shown():
    run = run_of([("odd", made_cell(2), 0.0), ("odd", made_cell(2), 1.0, "sideways"), ("gather", made_cell(2), 1.0)])
    words = Text(page.html(run)).words
    assert "sideways" in words and "odd" in words


def test_the_model_is_told_by_its_errors():
    cell = made_cell(2)
    points = [{
        "method": method, "phase": "write", "cell": cell, "predicted": predicted, "measured": measured, "used_for_fit": False
    } for method, predicted, measured in (("a", 1.0, 2.0), ("b", 1.1, 1.0), ("c", 3.0, 3.0))]
    source = page.html(run_of([("a", cell, 2.0), ("b", cell, 1.0)]), points)
    row = re.search(r"not used for the fit</th>(.*?)</tr>", source, re.S)[1]
    assert re.findall(r"<td>(.*?)</td>", row) == ["3", "10.0 %", "50 %", "0 of 1 (0 %)"]


def test_the_best_of_each_family_is_the_first_choice(full, source):
    report = Report(full)
    choice = data_of(source)["choices"][0]
    chosen = [report.methods[index]["id"] for index in choice["methods"][0]]
    place = list(report.groups("write").table["method"]).index
    families = {}
    for method in sorted((method for method in report.methods if method["timed"]), key=lambda method: place(method["id"])):
        families.setdefault(method["family"], method["id"])
    assert sorted(chosen) == sorted(families.values()) and len(chosen) == 7


def test_every_method_has_a_card_with_code():
    known = {method["id"] for method in load(GOLDEN / "scaling.jsonl").methods}
    assert set(page._cards()) == known
    for method, card in page._cards().items():
        assert set(card) == {"afterwards", "memory", "use", "beware"} and all(card.values()), method
        assert page.code_lines(page.snippet(method)) >= 5, method
    assert page.snippet("none") == "" and page.snippet("../page") == ""
    assert page.snippet("mpiio-chunk-2") != page.snippet("mpiio-chunk-3")


def test_lines_of_code_are_counted_without_comments_and_braces():
    assert page.code_lines("#include <a.h>\n/* a */\n\nvoid f() {\n  // b\n  g();\n  }\n};\n") == 2


HEADERS = ("stdint.h", "stdio.h", "stdlib.h", "fcntl.h", "unistd.h", "sys/stat.h", "thalweg/thalweg.h", "thalweg/group_mpi.h")
LIBRARIES = {"hdf5": ("h5pcc.mpich", "hdf5.h"), "pnetcdf": (None, None), "sionlib": (None, None)}


@pytest.mark.parametrize("path", sorted(SNIPPETS.glob("*.c")), ids=lambda path: path.stem)
def test_the_code_of_the_cards_compiles(path):
    compiler, header = LIBRARIES.get(path.stem.split("-")[0], ("mpicc.mpich", None))
    include = pathlib.Path(__file__).parents[4] / "include"
    if compiler is None or shutil.which(compiler) is None or not include.exists():
        pytest.skip("its library, or the headers of Thalweg, are not here")
    includes = [word for name in ("snippet.h", *HEADERS, *([header] if header else [])) for word in ("-include", name)]
    words = [
        compiler, "-c", "-D_GNU_SOURCE", "-Wall", "-Werror", "-Wno-unused-result", f"-I{SNIPPETS}", f"-I{include}", *includes
    ]
    done = subprocess.run([*words, str(path), "-o", "/dev/null"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
