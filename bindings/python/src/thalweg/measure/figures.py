"""The plots, as plotly figures in the form of dicts, {"data": ..., "layout": ...}: a page has hundreds, and objects of
plotly.graph_objects take 0.1 s each. `as_figure` makes one an object.

Colours are those of light displays; `PALETTE` names the ones for dark displays.
"""

import html as _html
import math as _math

from .report import FAMILIES, label_of, mib_per_second, speed_text
from .text import count_text, printable, seconds_text

__all__ = ["as_figure", "curve", "bars", "whole", "overlap", "model", "all_curves", "PALETTE", "SYMBOLS", "GLYPHS"]

INK, GRID, LIMIT = "#3a4656", "#d9dfe7", "#6d28d9"
PALETTE = {**{light: dark for _, light, dark in FAMILIES}, INK: "#c5cfdb", GRID: "#333d4b", LIMIT: "#c4b5fd"}
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "x", "star", "hexagon")
GLYPHS = "●■▲◆✚✖★⬢"
_DASHES = ("solid", "dash", "dot", "dashdot")
_LIMIT_NAME = "limit of the storage"
_ROW = 34  # pixels of a bar with its label


def _safe(text):
    return _html.escape(printable(str(text), False))


def _short(value):
    return float(f"{value:.5g}")


def _ticks(values):
    """Ticks of a logarithmic axis: 1, 2, 5 times powers of ten, or the powers alone where the axis is long."""
    low, high = _math.floor(_math.log10(min(values))), _math.ceil(_math.log10(max(values)))
    factors = (1, 2, 5) if high - low <= 3 else (1,)
    at = [factor * 10.0**power for power in range(low, high + 1) for factor in factors]
    return {"tickvals": at, "ticktext": [f"{value:,.0f}" if value >= 1 else f"{value:g}" for value in at]}


def _range(values, before=1.15, after=1.15):
    return [_math.log10(min(values) / before), _math.log10(max(values) * after)]


def _axis(**more):
    return {
        "gridcolor": GRID, "linecolor": GRID, "zeroline": False, "ticks": "", "fixedrange": True, "tickfont": {"color": INK},
        **more
    }


def _figure(data, margin=(52, 14, 24, 40), **layout):
    margin = dict(zip("lrtb", margin))
    return {"data": data, "layout": {
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "dragmode": False, "hovermode": "closest",
        "font": {"color": INK, "size": 12, "family": "system-ui, sans-serif"}, "showlegend": False, "margin": margin,
        **layout}}


def _title(text, standoff=6):
    return {"text": text, "font": {"color": INK}, "standoff": standoff}


def _scatter(x, y, mode, **more):
    return {"type": "scatter", "x": x, "y": y, "mode": mode, **more}


def as_figure(plot):
    """The plotly.graph_objects.Figure of a plot; checks all properties."""
    import plotly.graph_objects

    return plotly.graph_objects.Figure({"data": plot["data"], "layout": {**plot["layout"], "template": "none"}})


def _value(row, seconds, small):
    return seconds * 1e3 if small else mib_per_second(row, seconds)


def _shown(row, small):
    return seconds_text(row.median) if small else f"{speed_text(mib_per_second(row))} MiB/s"


def _told(row):
    """A row in words, for the pointer."""
    text = f"{speed_text(mib_per_second(row))} MiB/s, {seconds_text(row.median)}"
    if row.n > 1:
        text += f" ({seconds_text(row.low)} to {seconds_text(row.high)}, {count_text(row.n, 'time')})"
    return f"{_safe(row.cell.text)}<br>{text}{', simulated' if row.predicted else ''}"


def _ends(rows, small):
    return [sorted((_value(row, row.low or row.median, small), _value(row, row.high, small))) for row in rows]


def _errors(values, ends, colour, thickness, width):
    return {"type": "data", "array": [_short(high - value) for value, (_, high) in zip(values, ends)], "color": colour,
            "arrayminus": [_short(value - low) for value, (low, _) in zip(values, ends)], "width": width,
            "thickness": thickness}


# ---- Curves -----------------------------------------------------------------------------------------------------------


def _points(rows, one, small, name, **more):
    """A trace of rows."""
    return _scatter([_x(row.cell, one.kind) for row in rows], [_short(_value(row, row.median, small)) for row in rows], "lines+markers",
                    name=name, text=[_told(row) for row in rows], hovertemplate="<b>%{fullData.name}</b><br>%{text}<extra></extra>", **more)


def _curve_trace(report, method, phase, one, small):
    rows = [row for row in (report.find(method["id"], phase, cell) for cell in one.cells) if row and row.median > 0]
    if not rows:
        return None
    colour = FAMILIES[method["family"]][1]
    dash, symbol = (names[method["member"] % len(names)] for names in (_DASHES, SYMBOLS))
    errors = _errors([_value(row, row.median, small) for row in rows], _ends(rows, small), colour, 1, 0)
    return _points(rows, one, small, _safe(label_of(method)), meta=method["index"], error_y=errors,
                   line={"color": colour, "width": 3 if method["family"] == 0 else 1.8, "dash": dash},
                   marker={"color": colour, "size": 8, "symbol": [symbol + "-open" * row.predicted for row in rows]})


def _x(cell, kind):
    return _short(cell.bytes / 2**20) if kind == "size" else cell.ranks


def _limit_trace(report, phase, one, small):
    rows = [row for row in (report.limit(phase, cell) for cell in one.cells) if row]
    return rows and _points(rows, one, small, _LIMIT_NAME, meta="limit", line={"color": LIMIT, "width": 2.5, "dash": "longdash"},
                            marker={"color": LIMIT, "size": 9, "symbol": "line-ew-open"})


def _curve_axes(traces, one, small):
    xs = sorted({x for trace in traces for x in trace["x"]}) or [1]
    ys = [y for trace in traces for y in trace["y"]] or [1]
    x = {"type": "log", "range": _range(xs), "tickvals": xs, "ticktext": [f"{value:g}" for value in xs], "showgrid": False}
    title = "MiB of the array" if one.kind == "size" else "ranks"
    return (_axis(**x, title=_title(title)),
            _axis(type="log", range=_range(ys), **_ticks(ys), title=_title("ms" if small else "MiB/s", 4)))


def _curve_traces(report, phase, one, small):
    traces = [_curve_trace(report, method, phase, one, small) for method in report.methods]
    return [trace for trace in [_limit_trace(report, phase, one, small), *traces] if trace]


def curve(report, phase, one, small):
    """One curve of a phase: a trace for each method, and the limit of the storage.

    Parameters
    ----------
    report : Report
    phase : str
    one : Series
    small : bool
        Draw milliseconds in place of MiB/s.

    Returns
    -------
    dict
        ``meta`` of a trace is the index of the method, or "limit".
    """
    traces = _curve_traces(report, phase, one, small)
    x, y = _curve_axes(traces, one, small)
    return _figure(traces, xaxis=x, yaxis=y)


def all_curves(report, phase):
    """All curves of a phase in one plot with a legend, or the bars of one cell where the run has no curve. Returns a plotly Figure."""
    wanted = [(one, size == "small") for size, found in report.curves() for one in found]
    if not wanted:
        return as_figure(bars(report, phase, report.largest))
    from plotly.subplots import make_subplots

    across = min(2, len(wanted))
    down, seen = -(-len(wanted) // across), set()
    titles = [_safe(f"{phase}, {one.kind} scaling: {one.label}{', small' if small else ''}") for one, small in wanted]
    figure = make_subplots(down, across, subplot_titles=titles, vertical_spacing=0.25 / down).update_annotations(font_size=12)
    for i, (one, small) in enumerate(wanted):
        traces, place = _curve_traces(report, phase, one, small), {"row": i // across + 1, "col": i % across + 1}
        for trace in traces:
            figure.add_trace({**trace, "legendgroup": str(trace["meta"]), "showlegend": trace["meta"] not in seen}, **place)
            seen.add(trace["meta"])
        x, y = _curve_axes(traces, one, small)
        figure.update_xaxes(x, **place).update_yaxes(y, **place)
    return figure.update_layout({**_figure([])["layout"], "template": "none", "height": 400 * down + 40, "showlegend": True})


# ---- Bars -------------------------------------------------------------------------------------------------------------


def _bar(methods, values, texts, **more):
    return {"type": "bar", "x": list(map(_short, values)), "y": list(range(len(values))), "orientation": "h", "width": 0.34,
            "marker": {"color": [FAMILIES[method["family"]][1] for method in methods]}, "textposition": "none",
            "text": [f"<b>{_safe(label_of(method))}</b><br>{text}" for method, text in zip(methods, texts)],
            "hovertemplate": "%{text}<extra></extra>", **more}


def _bar_figure(methods, shown, traces, x_axis, title):
    """Horizontal bars with a label above each, so that a narrow display has room for both."""
    n = len(methods)
    labels = [f"{_safe(label_of(method))} <b>{text}</b>" for method, text in zip(methods, shown)]
    above = _scatter([0.0] * n, [place - 0.45 for place in range(n)], "text", xaxis="x2", text=labels, meta="labels",
                     textposition="middle right", textfont={"color": INK, "size": 12}, hoverinfo="skip", cliponaxis=False)
    return _figure([*traces, above], (8, 14, 24, 44), barmode="stack", height=_ROW * n + 70,
                   xaxis={**x_axis, "title": _title(title)},
                   yaxis=_axis(range=[n - 0.6, -0.85], showticklabels=False, showgrid=False),
                   xaxis2={"overlaying": "x", "range": [0, 1], "visible": False, "fixedrange": True})


def _add_limit(plot, at, text):
    line = {"color": LIMIT, "width": 2, "dash": "dash"}
    plot["layout"]["shapes"] = [{"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "layer": "below",
                                 "line": line}]
    plot["layout"]["annotations"] = [{"x": _math.log10(at), "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": "right",
                                      "showarrow": False, "text": text, "font": {"color": LIMIT, "size": 12}}]


def _found(report, phase, cell, key):
    found = [(method, report.find(method["id"], phase, cell)) for method in report.methods]
    found = sorted(((method, row) for method, row in found if row), key=lambda one: (key(one[1]), one[0]["index"]))
    return [method for method, _ in found], [row for _, row in found]


def bars(report, phase, cell):
    """All methods in one cell, the fastest first: MiB/s, in a small cell milliseconds; with the limit of the storage."""
    small = cell in report.small
    methods, rows = _found(report, phase, cell, lambda row: row.median)
    values, ends = [_value(row, row.median, small) for row in rows], _ends(rows, small)
    shown = [_shown(row, small) for row in rows]
    trace = _bar(methods, values, map(_told, rows), error_x=_errors(values, ends, INK, 1.2, 3))
    limit = report.limit(phase, cell)
    at = _value(limit, limit.median, small) if limit else None
    span = [end for pair in ends for end in pair if end > 0] + ([at] if at else []) or [1]
    unit = "milliseconds" if small else "MiB/s"
    axis = _axis(type="log", range=_range(span, 2, 1.1), **_ticks(span))
    plot = _bar_figure(methods, shown, [trace], axis, f"{unit} (logarithmic)")
    if at:
        _add_limit(plot, at, f"{_LIMIT_NAME}: {_shown(limit, small)} ")
    return plot


def whole(report, cell):
    """Time until one file has the array in its order, in one cell, the shortest first: write and merge."""
    found = [(method, report.whole(method, cell)) for method in report.methods]
    found = sorted(((method, times) for method, times in found if times), key=lambda one: (sum(one[1]), one[0]["index"]))
    methods, traces = [method for method, _ in found], []
    for i, (part, opacity) in enumerate((("write", 1.0), ("merge", 0.45))):
        texts = [f"{part} {seconds_text(times[i])}" for _, times in found]
        traces.append(_bar(methods, [times[i] * 1e3 for _, times in found], texts, name=part, opacity=opacity))
    shown = [seconds_text(sum(times)) for _, times in found]
    return _bar_figure(methods, shown, traces, _axis(rangemode="tozero"), "milliseconds: write, then, paler, merge")


def overlap(report, cell):
    """Share of a write that computation hides, in one cell, the largest first."""
    methods, rows = _found(report, "overlap", cell, lambda row: -row.hidden)
    shares = [100 * row.hidden for row in rows]
    errors = _errors(shares, [(100 * row.hidden_low, 100 * row.hidden_high) for row in rows], INK, 1.2, 3)
    shown = [f"{share:.0f} %" for share in shares]
    return _bar_figure(methods, shown, [_bar(methods, shares, shown, error_x=errors)], _axis(range=[0, 105]),
                       "% of the write that is hidden")


# ---- Model ------------------------------------------------------------------------------------------------------------


def model(report, points):
    """Predicted against measured seconds; hollow points were used for the fit. `points`: see `page.html`."""
    points = [point for point in points if point["predicted"] > 0 and point["measured"] > 0]
    span = [value * 1e3 for point in points for value in (point["predicted"], point["measured"])] or [1]
    ends = [_short(min(span) / 1.3), _short(max(span) * 1.3)]
    traces = [_scatter(ends, ends, "lines", line={"color": INK, "width": 1, "dash": "dot"}, hoverinfo="skip")]
    for used, symbol in ((True, "circle-open"), (False, "circle")):
        chosen = [point for point in points if bool(point["used_for_fit"]) == used]
        methods = [report.method(point["method"]) for point in chosen]
        x, y = ([_short(point[name] * 1e3) for point in chosen] for name in ("measured", "predicted"))
        traces.append(_scatter(
            x, y, "markers", text=list(map(_told_point, methods, chosen)), hovertemplate="%{text}<extra></extra>",
            marker={"color": [FAMILIES[method["family"]][1] for method in methods], "symbol": symbol, "size": 7}))
    axis = {"type": "log", "range": _range(ends, 1, 1), **_ticks(ends)}
    x_axis, y_axis = _axis(**axis, title=_title("measured, ms")), _axis(**axis, title=_title("predicted, ms", 4))
    return _figure(traces, xaxis=x_axis, yaxis=y_axis)


def _told_point(method, point):
    return (f"<b>{_safe(label_of(method))}</b><br>{_safe(point['phase'])}, {_safe(point['cell'].text)}<br>"
            f"predicted {seconds_text(point['predicted'])}, measured {seconds_text(point['measured'])}")
