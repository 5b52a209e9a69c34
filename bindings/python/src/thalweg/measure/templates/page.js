/* Draws the plots of the page: plotly figures from the element "data", shared controls, one legend for all. */
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 60rem)");
  const all = (what, root = document) => [...root.querySelectorAll(what)];
  const shown = new Set(); // indexes of methods
  document.documentElement.classList.add("scripted");

  const coloured = (plot) => {
    let text = JSON.stringify(plot);
    if (dark.matches) for (const [light, other] of Object.entries(data.palette)) text = text.replaceAll(`"${light}"`, `"${other}"`);
    return JSON.parse(text);
  };
  const visible = (trace) => !Number.isInteger(trace.meta) || shown.has(trace.meta);

  const draw = (figure) => {
    const pick = figure.querySelector("select"), canvas = figure.querySelector(".canvas");
    const plot = coloured(data.plots[figure.dataset.plot][pick ? pick.selectedIndex : 0]);
    for (const trace of plot.data) trace.visible = visible(trace);
    if (plot.layout.height) canvas.style.height = plot.layout.height + "px";
    Plotly.react(canvas, plot.data, plot.layout, { displayModeBar: false, responsive: true, doubleClick: false, showTips: false });
  };
  const drawAll = () => all(".plot").filter((one) => one.offsetParent).forEach(draw);

  const phase = () => Number(document.querySelector("input[name=phase]:checked").value);
  const show = () => {
    for (const button of all("#legend button")) button.setAttribute("aria-pressed", String(shown.has(Number(button.dataset.method))));
    drawAll();
  };
  const choose = () => {
    const chosen = document.querySelector("input[name=choice]:checked");
    if (chosen) {
      shown.clear();
      for (const method of data.choices[chosen.value].methods[phase()]) shown.add(method);
    }
    show();
  };
  const turn = () => {
    const parts = all(".phase");
    parts.forEach((part, i) => { part.hidden = i !== phase(); });
    const legend = document.getElementById("legend"), first = parts[phase()].querySelector(".plots");
    if (narrow.matches && first) first.after(legend);
    else document.querySelector(".board").append(legend);
    choose();
  };
  const light = (method) => {
    for (const node of all(".plot .scatterlayer .trace")) {
      const trace = node.__data__[0].trace;
      node.style.opacity = method === null || trace.meta === method || !Number.isInteger(trace.meta) ? "" : "0.15";
    }
  };

  for (const figure of all(".plot")) figure.addEventListener("change", () => draw(figure));
  for (const button of all("#legend button")) {
    const method = Number(button.dataset.method);
    button.addEventListener("click", () => {
      if (!shown.delete(method)) shown.add(method);
      for (const input of all("input[name=choice]")) input.checked = false;
      show();
    });
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => light(method));
    for (const event of ["mouseleave", "blur"]) button.addEventListener(event, () => light(null));
  }
  for (const input of all("input[name=phase]")) input.addEventListener("change", turn);
  for (const input of all("input[name=choice]")) input.addEventListener("change", choose);
  dark.addEventListener("change", drawAll);
  if (document.getElementById("legend")) {
    narrow.addEventListener("change", turn);
    turn();
  }
})();
