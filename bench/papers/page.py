"""Tables and pictures of docs/papers.md."""

import html
import math

MARK, END = "<!-- papers -->\n", "<!-- end papers -->"
REACHED = 0.95  # of the paper's figure
WIDTH, HEIGHT, LEFT, TOP, BELOW, GAP = 300, 200, 60, 34, 96, 40
IN_A_ROW = 3  # plots
COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd")


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def value_text(value, unit):
    text = number(value.median) + unit
    if value.repetitions == 1:
        text += " (one repetition)"
    elif value.low is not None and number(value.low) != number(value.high):
        text += f" ({number(value.low)} .. {number(value.high)})"
    return text


def ratio_of(figure, value):
    """Above 1: more than the paper has. A value below zero is as far from the paper's as none."""
    return None if value is None or figure["paper"] is None else max(value.median, 0) / figure["paper"]


def falls_short(figure, value):
    """Without a number of the paper: whether what the text says is better is not. As shown, not by further digits."""
    if value is None:
        return False
    ratio = ratio_of(figure, value)
    if ratio is not None:
        return float(number(ratio)) < REACHED
    return float(number(value.median)) < figure.get("least", 100 if figure.get("unit") == "%" else 1)


def reason(figure, value):
    if figure["paper"] is not None and value.low is not None and value.low <= figure["paper"] <= value.high:
        return "inconclusive: the repetitions are on both sides of the paper's figure"
    return figure.get("why", "")


def here_text(figure, value, results, unit):
    if figure["here"] is None:
        return f"not measured: {figure['unmeasured']}"
    text = "not measured" if value is None else value_text(value, unit)
    for one in figure.get("beside", []):
        beside = results.value(one)
        if beside:
            text += f"; {one['name']}: {number(beside.median)}{unit}"
    return text


def cells(figure, results):
    unit = " %" if figure.get("unit") == "%" else ""
    here, simulated = results.value(figure["here"]), results.simulated(figure.get("simulated"))
    reasons = [reason(figure, here)] if falls_short(figure, here) else []
    if falls_short(figure, simulated):
        reasons.append("simulated: " + figure["why_simulated"] if "why_simulated" in figure else "")
    ratio = ratio_of(figure, here or simulated)
    told = figure["as"] if figure["paper"] is None else f"{number(figure['paper'])}{unit}: {figure['as']}"
    beyond = "" if simulated is None else f"{value_text(simulated, unit)} ({simulated.of})"
    return [f"{figure['what']} ({figure['place']})", told, here_text(figure, here, results, unit), beyond,
            "" if ratio is None else number(ratio), "; ".join(filter(None, reasons))]


def table(paper, results):
    yield "| experiment | paper's figure | ours here | simulated at the paper's size | ratio | why it is less |"
    yield "|---" * 6 + "|"
    for figure in paper["figures"]:
        yield "| " + " | ".join(cells(figure, results)) + " |"


def reached(paper, results):
    """Figures, those with a value here, how many of them reach a number that the paper states, and those that were simulated."""
    here = [(one, results.value(one["here"])) for one in paper["figures"]]
    ratios = [ratio_of(one, value) for one, value in here if value is not None]
    simulated = sum(results.simulated(one.get("simulated")) is not None for one in paper["figures"])
    with_figure = [ratio for ratio in ratios if ratio is not None]
    return (len(paper["figures"]), len(ratios),
            f"{sum(float(number(ratio)) >= REACHED for ratio in with_figure)} of {len(with_figure)}", simulated)


def section(paper, results, machines):
    yield f"\n## {paper['title']}\n"
    yield f"{paper['source']}.\n"
    yield f"The paper's machines: {paper['machines']}.\n"
    yield f"Here: {paper['here']}.\n"
    yield f"Simulation: {paper['no_simulation']}." + (" Simulated machines:\n" if machines else "\n")
    for text in machines:
        yield f"* {text}"
    if machines:
        yield ""
    yield from table(paper, results)
    if paper["plots"]:
        yield f"\n![{paper['title']}: plots](papers/{paper['id']}.svg)"


def lines(papers, results, machine, machines):
    """The generated part of the page."""
    yield machine + "\n"
    yield f"| paper | figures | measured here | at {REACHED:g} of the paper's or more | simulated |"
    yield "|---|---|---|---|---|"
    for paper in papers:
        yield f"| {paper['title']} | " + " | ".join(map(str, reached(paper, results))) + " |"
    for paper in papers:
        yield from section(paper, results, machines.get(paper["id"], []))


def put_into(page, text):
    before, rest = page.read_text(encoding="utf-8").split(MARK, 1)
    behind = rest.split(END, 1)[1]
    page.write_text(f"{before}{MARK}{text}\n{END}{behind}", encoding="utf-8")


def filled(spec, x):
    return {key: value.replace("{x}", str(x)) if isinstance(value, str) else value for key, value in spec.items()}


def step_text(x):
    """1000000 as 1M; words as they are."""
    for size, letter in ((10**6, "M"), (10**3, "k")):
        if isinstance(x, int) and x % size == 0:
            return f"{x // size}{letter}"
    return str(x)


class Chart:
    """Lines over equally spaced steps; the vertical axis begins at 0 unless it is logarithmic."""

    def __init__(self, at, plot, results):
        self.at, self.plot = at, plot
        values = {line["name"]: [results.value(filled(line, x)) for x in plot["x"]] for line in plot["lines"]}
        self.steps = [i for i in range(len(plot["x"])) if any(line[i] for line in values.values())]
        self.lines = {name: [(k, line[i].median) for k, i in enumerate(self.steps) if line[i] and line[i].median > 0]
                      for name, line in values.items()}
        every = [value for line in self.lines.values() for _, value in line]
        self.log = plot.get("log", False)
        if self.log and every:
            self.low, self.high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))
            self.ticks = [10.0**e for e in range(self.low, self.high + 1)]
        elif every:
            step = 10 ** math.floor(math.log10(max(every)))
            step = next(s for s in (step / 5, step / 2, step, 2 * step) if max(every) / s <= 6)
            self.ticks = [step * i for i in range(math.ceil(max(every) / step) + 1)]
            self.low, self.high = 0, self.ticks[-1]

    def x(self, step):
        return self.at + 20 + (WIDTH - 40) * (step / max(len(self.steps) - 1, 1))

    def y(self, value):
        position = math.log10(value) if self.log else value
        return TOP + HEIGHT * (self.high - position) / max(self.high - self.low, 1e-12)

    def svg(self):
        yield f'<text x="{self.at}" y="{TOP - 14}" font-weight="bold">{html.escape(self.plot["title"])}, {self.plot["unit"]}</text>'
        if not self.steps:
            yield f'<text x="{self.at}" y="{TOP + 20}">not measured</text>'
            return
        for tick in self.ticks:
            yield f'<line x1="{self.at}" x2="{self.at + WIDTH}" y1="{self.y(tick):.1f}" y2="{self.y(tick):.1f}" stroke="#ddd"/>'
            yield f'<text x="{self.at - 6}" y="{self.y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for k, i in enumerate(self.steps):
            yield f'<text x="{self.x(k):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{step_text(self.plot["x"][i])}</text>'
        yield f'<text x="{self.at + WIDTH / 2}" y="{TOP + HEIGHT + 32}" text-anchor="middle">{html.escape(self.plot["axis"])}</text>'
        for colour, (row, (name, line)) in zip(COLOURS, enumerate(self.lines.items())):
            path = " ".join(f"{self.x(k):.1f},{self.y(value):.1f}" for k, value in line)
            yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            yield from (f'<circle cx="{self.x(k):.1f}" cy="{self.y(value):.1f}" r="3" fill="{colour}"/>' for k, value in line)
            x, y = self.at + WIDTH / 2 * (row % 2), TOP + HEIGHT + 52 + 18 * (row // 2)
            yield f'<line x1="{x}" x2="{x + 18}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
            yield f'<text x="{x + 24}" y="{y + 4}">{html.escape(name)}</text>'


def picture(paper, results):
    """The plots of a paper, three in a row."""
    plots, tall = paper["plots"], TOP + HEIGHT + BELOW
    across = min(len(plots), IN_A_ROW)
    width, height = LEFT + across * (WIDTH + LEFT + GAP), tall * math.ceil(len(plots) / IN_A_ROW)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    yield 'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
    for i, plot in enumerate(plots):
        row, column = divmod(i, IN_A_ROW)
        yield f'<g transform="translate(0, {row * tall})">\n'
        yield "\n".join(Chart(LEFT + column * (WIDTH + LEFT + GAP), plot, results).svg()) + "\n</g>\n"
    yield "</svg>\n"
