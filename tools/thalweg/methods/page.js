/* Draws the plots of the page from its data (page_plots.cpp) with Chart.js. The tables of the page need none of this. */
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const GROUPS = ["efficient", "moderate", "inefficient"];
  const SHAPES = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "rectRounded", "cross"];
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  const off = new Set(); // hidden methods
  const charts = new Map();
  let phase = 0, colours = "family", lit = null;

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const groupOf = (method) => data.groups[phase][method.id];
  const colourOf = (method) => colours === "group" ? style("--" + (groupOf(method) || "soft")) : style("--family-" + method.family);
  const shapeOf = (method) => SHAPES[method.member % SHAPES.length];
  const dashOf = (method) => DASHES[method.member % DASHES.length];
  const number = (value) => value >= 99.95 ? Math.round(value).toString() : value.toPrecision(3);

  // Measurements: table[phase][method][cell] = {y, low, high}.
  const table = data.phases.map(() => data.methods.map(() => new Map()));
  for (const [p, m, c, y, low, high] of data.points) table[p][m].set(c, { y, low, high });

  const errorBars = {
    id: "errorBars",
    afterDatasetsDraw(chart) {
      const context = chart.ctx, area = chart.chartArea, flat = chart.options.indexAxis === "y";
      context.save();
      chart.data.datasets.forEach((set, i) => {
        if (!set.bars || !chart.isDatasetVisible(i)) return;
        context.strokeStyle = set.barColour || set.borderColor;
        context.lineWidth = 1.2;
        chart.getDatasetMeta(i).data.forEach((element, j) => {
          const point = set.bars[j];
          if (!point || !(point.low > 0)) return;
          const scale = flat ? chart.scales.x : chart.scales.y;
          const from = scale.getPixelForValue(point.low), to = scale.getPixelForValue(point.high), cap = 3;
          context.globalAlpha = set.faded ? 0.15 : 0.9;
          context.beginPath();
          if (flat) {
            context.moveTo(from, element.y); context.lineTo(to, element.y);
            for (const x of [from, to]) { context.moveTo(x, element.y - cap); context.lineTo(x, element.y + cap); }
          } else if (element.x >= area.left - 1 && element.x <= area.right + 1) {
            context.moveTo(element.x, from); context.lineTo(element.x, to);
            for (const y of [from, to]) { context.moveTo(element.x - cap, y); context.lineTo(element.x + cap, y); }
          }
          context.stroke();
        });
      });
      context.restore();
    },
  };

  const transparent = (colour, alpha) => {
    const value = parseInt(colour.slice(1), 16);
    return `rgba(${value >> 16}, ${(value >> 8) & 255}, ${value & 255}, ${alpha})`;
  };

  // Ticks at 1, 2 and 5 times powers of ten, as many as fit.
  const decades = (scale) => {
    const few = Math.log10(scale.max / scale.min) > 2.5, ticks = [];
    for (let power = Math.floor(Math.log10(scale.min)); power <= Math.log10(scale.max); ++power)
      for (const digit of few ? [1] : [1, 2, 5]) {
        const value = digit * 10 ** power;
        if (value >= scale.min * 0.999 && value <= scale.max * 1.001) ticks.push({ value });
      }
    scale.ticks = ticks;
  };

  const logAxis = (title, more) => ({
    type: "logarithmic",
    title: { display: true, text: title, color: style("--soft") },
    grid: { color: style("--line"), borderColor: style("--line") },
    afterBuildTicks: decades,
    ticks: { color: style("--soft"), callback: (value) => Number(value).toLocaleString("en") },
    ...more,
  });

  const tooltip = (lines) => ({
    backgroundColor: style("--head"), titleColor: "#fff", bodyColor: "#e6eef7", padding: 10, boxPadding: 4, usePointStyle: true,
    callbacks: lines,
  });

  const common = () => ({
    responsive: true, maintainAspectRatio: false, animation: false, resizeDelay: 60,
    font: { family: "system-ui, sans-serif" },
  });

  const sizeText = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    for (; bytes >= 1024 && unit < 5; ++unit) bytes /= 1024;
    return `${Number(bytes.toPrecision(3))} ${units[unit]}`;
  };

  function dataset(method, m, series) {
    const x = (cell) => series.scaling === "size" ? data.cells[cell].bytes : data.cells[cell].ranks;
    const points = series.cells.filter((cell) => table[phase][m].has(cell))
      .map((cell) => ({ x: x(cell), cell, ...table[phase][m].get(cell) }));
    const faded = lit !== null && lit !== method.id, colour = colourOf(method);
    return {
      label: method.title, method: method.id, data: points, bars: points, faded,
      borderColor: faded ? transparent(colour, 0.18) : colour, barColour: colour,
      backgroundColor: faded ? transparent(colour, 0.1) : method.ours ? colour : style("--card"),
      borderWidth: method.ours ? 3 : 1.6, borderDash: dashOf(method), pointBorderWidth: 1.6,
      pointStyle: shapeOf(method), pointRadius: method.ours ? 5 : 4, pointHoverRadius: 8, hidden: off.has(method.id),
      order: lit === method.id ? -1 : method.ours ? 0 : 1,
    };
  }

  // Range over all curves of the phase, so that neighbouring plots are comparable.
  function speedRange() {
    let least = Infinity, most = 0;
    for (const series of data.series)
      for (const points of table[phase])
        for (const cell of series.cells) {
          const point = points.get(cell);
          if (point) { least = Math.min(least, point.low); most = Math.max(most, point.high); }
        }
    return most > 0 ? { min: least / 1.2, max: most * 1.2 } : {};
  }

  function scalingConfig(series) {
    const sets = data.methods.map((method, m) => dataset(method, m, series)).filter((set) => set.data.length > 0);
    const places = [...new Set(series.cells.map((c) => series.scaling === "size" ? data.cells[c].bytes : data.cells[c].ranks))];
    const range = speedRange();
    const edge = Math.pow(places[places.length - 1] / places[0], 0.06);
    return {
      type: "line",
      data: { datasets: sets },
      plugins: [errorBars],
      options: {
        ...common(), parsing: false,
        interaction: { mode: "nearest", intersect: false, axis: "xy" },
        scales: {
          x: logAxis(series.scaling === "size" ? "bytes of the array" : "MPI ranks", {
            min: places[0] / edge, max: places[places.length - 1] * edge,
            afterBuildTicks: (scale) => { scale.ticks = places.map((value) => ({ value })); },
            ticks: { color: style("--soft"), callback: (value) => series.scaling === "size" ? sizeText(value) : value },
          }),
          y: logAxis(`${data.phases[phase]}, MiB/s`, range),
        },
        plugins: {
          legend: { display: false },
          tooltip: tooltip({
            title: (items) => items.length ? data.cells[items[0].raw.cell].text : "",
            label: (item) => `${item.dataset.label}: ${number(item.raw.y)} MiB/s`,
            afterLabel: (item) => `${number(item.raw.low)} to ${number(item.raw.high)}` +
              (data.groups[phase][item.dataset.method] ? `, ${data.groups[phase][item.dataset.method]}` : ""),
          }),
        },
      },
    };
  }

  function barsConfig(cell) {
    const found = data.methods.map((method, m) => ({ method, point: table[phase][m].get(cell) }))
      .filter((one) => one.point && !off.has(one.method.id)).sort((a, b) => b.point.y - a.point.y);
    const narrow = document.documentElement.clientWidth < 560;
    return {
      type: "bar",
      data: {
        labels: found.map((one) => narrow ? one.method.id : one.method.title),
        datasets: [{
          data: found.map((one) => one.point.y), bars: found.map((one) => one.point), barColour: style("--ink"),
          backgroundColor: found.map((one) => transparent(colourOf(one.method), lit && lit !== one.method.id ? 0.2 : 0.85)),
          borderWidth: 0, barPercentage: 0.72, categoryPercentage: 0.95,
        }],
      },
      plugins: [errorBars],
      options: {
        ...common(), indexAxis: "y",
        scales: {
          x: { beginAtZero: true, title: { display: true, text: `${data.phases[phase]}, MiB/s (linear)`, color: style("--soft") }, grid: { color: style("--line") }, ticks: { color: style("--soft"), maxTicksLimit: narrow ? 4 : 10 } },
          y: { grid: { display: false }, ticks: { color: style("--ink"), autoSkip: false, font: { size: narrow ? 9 : 12 } } },
        },
        plugins: {
          legend: { display: false },
          tooltip: tooltip({
            label: (item) => `${number(found[item.dataIndex].point.y)} MiB/s (${number(found[item.dataIndex].point.low)} to ${number(found[item.dataIndex].point.high)})`,
            afterLabel: (item) => groupOf(found[item.dataIndex].method) || "",
          }),
        },
      },
    };
  }

  function validationConfig() {
    const all = data.validation.flatMap((point) => [point.predicted, point.measured]);
    const least = Math.min(...all) / 1.3, most = Math.max(...all) * 1.3;
    const kinds = data.families.flatMap((family, f) => [false, true].map((tuned) => ({ family, f, tuned })));
    const sets = kinds.map(({ family, f, tuned }) => {
      const points = data.validation.filter((point) => point.family === f && point.tuned === tuned);
      const colour = style("--family-" + f);
      return {
        type: "scatter", label: family, tuned, pointStyle: SHAPES[f % 4], pointRadius: 5,
        data: points.map((point) => ({ x: point.measured, y: point.predicted, point })),
        borderColor: colour, backgroundColor: tuned ? "transparent" : transparent(colour, 0.65), borderWidth: 1.5,
      };
    }).filter((set) => set.data.length > 0);
    // One entry per family, although points used for tuning are separate.
    const named = (item) => sets[item.datasetIndex].type === "scatter" &&
      sets.findIndex((set) => set.label === item.text) === item.datasetIndex;
    sets.push({
      type: "line", label: "right", data: [{ x: least, y: least }, { x: most, y: most }], borderColor: style("--soft"),
      borderDash: [6, 5], borderWidth: 1.3, pointRadius: 0, order: 9,
    });
    return {
      type: "scatter", data: { datasets: sets },
      options: {
        ...common(), parsing: false,
        scales: { x: logAxis("measured, s", { min: least, max: most }), y: logAxis("predicted, s", { min: least, max: most }) },
        plugins: {
          legend: { onClick: () => {}, labels: { color: style("--ink"), usePointStyle: true, boxWidth: 9, filter: named } },
          tooltip: tooltip({
            label: (item) => item.raw.point
              ? [`${item.raw.point.method}, ${item.raw.point.phase}`, item.raw.point.cell, `measured ${item.raw.x.toPrecision(3)} s, predicted ${item.raw.y.toPrecision(3)} s`]
              : "right",
          }),
        },
      },
    };
  }

  // ---- Legend: by group of the phase, each entry a switch ----

  const svg = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };

  const OUTLINES = { // of half a width of 4.5 around 17, 7
    circle: "M12.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0", rect: "M13 3h8v8h-8z", triangle: "M17 2l5 9h-10z", rectRot: "M17 1.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
    crossRot: "M13 3l8 8M21 3l-8 8", star: "M17 2v10M12 7h10M13.5 3.5l7 7M20.5 3.5l-7 7", rectRounded: "M15 3h4a2 2 0 0 1 2 2v4a2 2 0 0 1 -2 2h-4a2 2 0 0 1 -2 -2v-4a2 2 0 0 1 2 -2z", cross: "M17 2v10M12 7h10",
  };

  function sample(method) {
    const colour = colourOf(method), width = method.ours ? 3 : 1.6;
    const picture = svg("svg", { width: 34, height: 14, viewBox: "0 0 34 14", "aria-hidden": "true" });
    picture.append(svg("line", { x1: 0, y1: 7, x2: 34, y2: 7, stroke: colour, "stroke-width": width, "stroke-dasharray": dashOf(method).join(" ") }));
    picture.append(svg("path", { d: OUTLINES[shapeOf(method)], stroke: colour, "stroke-width": 1.6, fill: method.ours ? colour : style("--back") }));
    return picture;
  }

  function setShown(methods, shown) {
    for (const method of methods) shown ? off.delete(method.id) : off.add(method.id);
    drawAll();
  }

  function legendEntry(method) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.method = method.id;
    button.setAttribute("aria-pressed", String(!off.has(method.id)));
    button.append(sample(method), document.createTextNode(method.title));
    button.addEventListener("click", () => { setShown([method], off.has(method.id)); focusLegend(method.id); });
    button.addEventListener("pointerenter", () => light(method.id));
    button.addEventListener("pointerleave", () => light(null));
    return button;
  }

  function focusLegend(id) {
    for (const button of document.querySelectorAll("#legend button")) if (button.dataset.method === id) button.focus();
  }

  function drawLegend() {
    const legend = document.getElementById("legend");
    const shown = data.methods.filter((_, m) => table[phase][m].size > 0);
    legend.replaceChildren(...GROUPS.map((group) => {
      const members = shown.filter((method) => groupOf(method) === group);
      if (members.length === 0) return null;
      const box = document.createElement("div"), head = document.createElement("h4"), name = document.createElement("span");
      const all = document.createElement("button"), any = members.some((method) => !off.has(method.id));
      name.className = `badge ${group}`;
      name.textContent = group;
      all.type = "button";
      all.textContent = any ? "hide all" : "show all";
      all.setAttribute("aria-label", `${all.textContent} ${group} methods`);
      all.addEventListener("click", () => setShown(members, !any));
      head.append(name, all);
      box.append(head, ...members.map(legendEntry));
      return box;
    }).filter((box) => box !== null));
  }

  // ---- Drawing ----

  const figures = [...document.querySelectorAll("figure[data-plot]")];

  function configOf(figure) {
    const kind = figure.dataset.plot, pick = figure.querySelector("select");
    if (kind === "validation") return validationConfig();
    if (kind === "bars") return barsConfig(Number(pick.value));
    return scalingConfig(data.series[Number(pick.value)]);
  }

  function describe(figure, config) {
    const canvas = figure.querySelector("canvas"), title = figure.querySelector("h3");
    if (!title) return;
    const pick = figure.querySelector("select");
    const n = config.type === "bar" ? config.data.labels.length : config.data.datasets.filter((set) => !set.hidden).length;
    canvas.setAttribute("aria-label", `${title.textContent}, ${data.phases[phase]}, ${pick.selectedOptions[0].textContent}: ${n} methods`);
  }

  function draw(figure) {
    const config = configOf(figure), old = charts.get(figure);
    describe(figure, config);
    if (old && old.config.type === config.type) {
      old.data = config.data;
      old.options = config.options;
      old.update("none");
    } else {
      if (old) old.destroy();
      charts.set(figure, new Chart(figure.querySelector("canvas"), config));
    }
  }

  function drawAll() {
    drawLegend();
    figures.forEach(draw);
  }

  function light(id) {
    lit = id;
    figures.filter((figure) => figure.dataset.plot !== "validation").forEach(draw);
  }

  function fillPick(figure) {
    const kind = figure.dataset.plot, pick = figure.querySelector("select");
    if (!pick) return;
    const choices = kind === "bars"
      ? data.cells.map((cell, i) => [i, cell.text])
      : data.series.map((series, i) => [i, series.label, series.scaling]).filter((one) => one[2] === kind);
    for (const [value, text] of choices) pick.add(new Option(text, value));
    if (kind === "bars") {
      pick.selectedIndex = data.cells.reduce((best, cell, i) => cell.ranks >= data.cells[best].ranks ? i : best, 0);
      figure.querySelector(".pick span").textContent = "Cell";
    }
    pick.setAttribute("aria-label", `${figure.querySelector("h3").textContent}: which ${kind === "bars" ? "cell" : "curve"}`);
    figure.querySelector(".pick").hidden = false;
    pick.addEventListener("change", () => draw(figure));
  }

  const controls = document.getElementById("controls");
  if (controls) {
    controls.addEventListener("change", (event) => {
      if (event.target.name === "phase") phase = Number(event.target.value);
      if (event.target.name === "colours") colours = event.target.value;
      drawAll();
    });
    controls.addEventListener("submit", (event) => event.preventDefault());
  }
  figures.forEach(fillPick);
  if (document.getElementById("legend")) drawAll();
  else figures.forEach(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.documentElement.dataset.plots = String(charts.size); // told to who looks whether all were drawn
})();
