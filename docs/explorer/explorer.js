// The performance explorer: four choices, the figures of that product, and bars of all block sizes. It reads the JSON
// in the page, loads nothing, and keeps the choice in the address after '#'.
"use strict";
(function () {
  const measured = JSON.parse(document.getElementById("explorer-data").textContent);
  const form = document.getElementById("explorer-choice");
  const element = (id) => document.getElementById("explorer-" + id);
  const names = ["device", "pattern", "block", "precision"];
  const precisionNames = { double: "double", single: "single (values=float)" };
  const choice = {};

  const unique = (list) => [...new Set(list)];
  const record = () => measured.find((m) => m.device === choice.device && m.pattern === choice.pattern);
  const isOurs = (row) => row.type === "baijcompound";

  // What can be chosen for each name, as [value, text], once those before it are chosen.
  const options = {
    device: () => [...new Map(measured.map((m) => [m.device, m.deviceName]))],
    pattern: () => measured.filter((m) => m.device === choice.device).map((m) => [m.pattern, m.patternName]),
    block: () => unique(record().rows.map((r) => r.block)).sort((a, b) => a - b).map((b) => [String(b), b + " x " + b]),
    precision: () => unique(record().rows.filter((r) => isOurs(r) && String(r.block) === choice.block)
      .map((r) => r.precision)).map((p) => [p, precisionNames[p]]),
  };
  const defaults = { block: "3" };

  // Takes what is wanted where it was measured, and the first that was where not.
  function choose(wanted) {
    for (const name of names) {
      const there = options[name]().map(([value]) => value);
      choice[name] = [wanted[name], choice[name], defaults[name], there[0]].find((v) => there.includes(v));
    }
  }

  function fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    return Object.fromEntries(names.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
  }

  function toAddress() {
    const address = "#" + new URLSearchParams(names.map((name) => [name, choice[name]]));
    if (location.hash !== address) history.replaceState(null, "", address);
  }

  function showOptions() {
    for (const name of names) {
      const select = form.elements[name];
      select.replaceChildren(...options[name]().map(([value, text]) => new Option(text, value)));
      select.value = choice[name];
    }
  }

  const number = (value, digits) => value.toFixed(digits);
  const gbs = (row) => number(row.gbs, row.gbs < 100 ? 1 : 0);
  const percent = (row) => number(100 * row.share, 0) + " %";
  const rowsOfChoice = () => record().rows.filter((r) => String(r.block) === choice.block);
  const rateName = () => (record().onDevice ? "copy rate" : "plain read");
  const typeName = (row) => row.type + (row.precision === "single" ? ", single" : "");

  function showFigures() {
    const row = rowsOfChoice().find((r) => isOurs(r) && r.precision === choice.precision);
    element("gbs-name").textContent = "GB/s, baijcompound";
    element("gbs").textContent = gbs(row);
    element("share-name").textContent = "of the " + rateName();
    element("share").textContent = percent(row);
    element("times-name").textContent = "times " + record().reference;
    element("times").textContent = number(row.times, 2);
  }

  function tableRow(cells, head) {
    const line = document.createElement("tr");
    cells.forEach((text, i) => {
      const cell = document.createElement(head || i === 0 ? "th" : "td");
      if (cell.tagName === "TH") cell.scope = head ? "col" : "row";
      cell.textContent = text;
      line.append(cell);
    });
    return line;
  }

  function showTypes() {
    const head = document.createElement("thead");
    head.append(tableRow(["type", "GB/s", "% " + (record().onDevice ? "copy" : "read"), "times " + record().reference,
      "microseconds", "spread %"], true));
    const body = document.createElement("tbody");
    body.append(...rowsOfChoice().map((r) => tableRow([typeName(r), gbs(r), number(100 * r.share, 0),
      number(r.times, 2), number(r.us, r.us < 1000 ? 1 : 0), number(100 * r.spread, 1)])));
    element("types").replaceChildren(head, body);
    const single = rowsOfChoice().some((r) => r.precision === "single");
    element("note").textContent = record().share + " Spread: the interquartile range over the median; where it is " +
      "large, more than 100 % is possible." +
      (single ? " Single: values stored in single precision, vectors in double; compared with the same product in " +
        "double." : "");
  }

  function showFacts() {
    const row = rowsOfChoice()[0];
    const facts = [...record().facts, ["matrix", row.matrix],
      [rateName(), gbs({ gbs: row.rate }) + " GB/s, spread " + number(100 * row.rateSpread, 0) + " %"]];
    element("facts").replaceChildren(...facts.flatMap(([name, text]) => {
      const term = document.createElement("dt"), definition = document.createElement("dd");
      term.textContent = name;
      const inner = name === "command" ? definition.appendChild(document.createElement("code")) : definition;
      inner.textContent = text;
      return [term, definition];
    }));
  }

  function svg(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // A round step that gives at most eight lines.
  function stepOf(most) {
    const power = 10 ** Math.floor(Math.log10(most / 8));
    return [1, 2, 5, 10].map((s) => s * power).find((s) => most / s <= 8);
  }

  const seriesOf = (row) => (isOurs(row) ? "ours" : row.type === record().reference ? "reference" : "other");

  function showLegend(shown) {
    const kinds = unique(shown.map((r) => seriesOf(r) + "|" + typeName(r))).map((s) => s.split("|"));
    element("legend").replaceChildren(...[...kinds, ["rate", rateName()]].map(([kind, name]) => {
      const item = document.createElement("li"), key = item.appendChild(document.createElement("i"));
      if (kind === "rate") key.className = "rate";
      else key.style.background = "var(--bar-" + kind + ")";
      item.append(name);
      return item;
    }));
  }

  function showChart() {
    const shown = record().rows.filter((r) => !isOurs(r) || r.precision === choice.precision);
    const blocks = unique(shown.map((r) => r.block)).sort((a, b) => a - b);
    const width = Math.max(280, element("chart").clientWidth), height = 270;
    const left = 44, right = 4, top = 16, bottom = 40, tall = height - top - bottom;
    const most = 1.06 * Math.max(...shown.map((r) => Math.max(r.gbs, r.rate)));
    const step = stepOf(most), y = (value) => top + tall * (1 - value / most);
    const wide = (width - left - right) / blocks.length;
    const title = "GB/s by block size: " + record().deviceName + ", " + record().patternName + ", " +
      precisionNames[choice.precision];
    element("caption").textContent = title;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": "explorer-title" });
    picture.append(svg("title", { id: "explorer-title" }, title));
    const at = blocks.indexOf(Number(choice.block));
    picture.append(svg("rect", { class: "chosen", x: left + at * wide, y: top, width: wide, height: tall + 22,
      rx: 4 }));
    for (let value = 0; value <= most; value += step) {
      picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
      picture.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" },
        String(+value.toPrecision(6))));
    }
    picture.append(svg("text", { x: 0, y: 10 }, "GB/s"));
    picture.append(svg("text", { x: left + (width - left) / 2, y: height - 4, "text-anchor": "middle" }, "block size"));
    blocks.forEach((block, i) => {
      const bars = shown.filter((r) => r.block === block), x = left + i * wide, thick = 0.8 * wide / bars.length;
      const group = svg("g", { class: "group" });
      group.append(svg("rect", { class: "hit", x, y: top, width: wide, height: tall + 22 }));
      bars.forEach((r, k) => {
        const bar = svg("rect", { class: seriesOf(r), x: x + 0.1 * wide + k * thick, y: y(r.gbs),
          width: Math.max(1, thick - 1), height: top + tall - y(r.gbs) });
        bar.append(svg("title", {}, `${typeName(r)}, ${block} x ${block}: ${gbs(r)} GB/s`));
        group.append(bar);
      });
      const rate = y(bars[0].rate);
      group.append(svg("line", { class: "rate", x1: x + 0.06 * wide, x2: x + 0.94 * wide, y1: rate, y2: rate }));
      group.append(svg("text", { x: x + wide / 2, y: top + tall + 16, "text-anchor": "middle",
        "font-weight": i === at ? "bold" : "normal" }, String(block)));
      group.addEventListener("click", () => take({ block: String(block) }));
      picture.append(group);
    });
    element("chart").replaceChildren(picture);
    showLegend(shown);
  }

  function show() {
    showOptions();
    showFigures();
    showTypes();
    showFacts();
    showChart();
  }

  function take(wanted) {
    choose(wanted);
    show();
    toAddress();
  }

  element("interactive").hidden = false;
  document.querySelector(".explorer-tables").open = false;
  choose(fromAddress());
  show();
  form.addEventListener("change", (event) => take({ [event.target.name]: event.target.value }));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => take(fromAddress()));
  window.addEventListener("resize", showChart);
})();
