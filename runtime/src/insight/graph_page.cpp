#include "flux/insight/graph_page.hpp"

namespace flux {
namespace {

constexpr std::string_view page = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Flux</title>
<link rel="icon" href="data:,">
<style>
:root {
  color-scheme: light dark;
  --ink: #1b1f24; --quiet: #667; --paper: #fff; --box: #f3f5f8; --way: #5b7fb8; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6ea; --quiet: #9aa; --paper: #15181c; --box: #22272e; --way: #7fa6e0; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header {
  display: flex; flex-wrap: wrap; gap: 0 1.5em; align-items: baseline; padding: .6em 1em;
  border-bottom: 1px solid var(--box);
}
h1 { font-size: 1.2em; margin: 0; }
h2 { font-size: 1em; margin: 1em 0 .3em; }
main { display: flex; flex-wrap: wrap; }
#drawing { flex: 3 1 24em; overflow: auto; padding: 1em; }
aside { flex: 1 1 20em; padding: 0 1em 1em; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .1em .6em .1em 0; vertical-align: top; font-weight: normal; }
th { color: var(--quiet); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.quiet { color: var(--quiet); }
.bad { color: var(--bad); font-weight: bold; }
svg text { fill: var(--ink); font-size: 12px; text-anchor: middle; pointer-events: none; }
svg text.rate { font-size: 11px; fill: var(--quiet); font-variant-numeric: tabular-nums; }
svg text.rate.bad { fill: var(--bad); }
.vertex rect { fill: var(--box); stroke: var(--way); rx: 5; cursor: pointer; }
.vertex.cold rect, .way.cold { stroke-dasharray: 3 3; }
.vertex:focus { outline: none; }
.vertex:focus rect, .vertex.chosen rect { stroke-width: 3; }
.way { fill: none; stroke: var(--way); stroke-opacity: .7; }
</style>
</head>
<body>
<header>
<h1 id="program">Flux</h1>
<span id="strategy" class="quiet"></span>
<span><b id="rate">–</b> flows a second</span>
<span><b id="progress">–</b> in progress</span>
<span id="failures"><b id="failed">–</b> failed a second</span>
<span id="trouble" class="bad" role="status"></span>
</header>
<main>
<div id="drawing"></div>
<aside>
<h2>Chosen</h2><div id="chosen" class="quiet">Choose a box of the graph to see more of it.</div>
<h2>Hot paths</h2><table id="paths"></table>
<h2>Constraints</h2><table id="constraints"></table>
<h2>Errors</h2><table id="errors"></table>
<h2>Flows in progress</h2><table id="flows"></table>
</aside>
</main>
<script>
"use strict";
const element = (id) => document.getElementById(id);
const layerHeight = 96, boxHeight = 54, gap = 26, sweeps = 8;
let before = null, drawn = null, chosen = null;

function text(of, value, kind) {
  if (of.textContent !== value) of.textContent = value;
  if (kind !== undefined && of.getAttribute("class") !== kind) of.setAttribute("class", kind);
}

function amount(number) {
  if (number >= 1e6) return (number / 1e6).toFixed(number >= 1e7 ? 0 : 1) + " M";
  if (number >= 1e4) return (number / 1e3).toFixed(0) + " k";
  return number >= 100 || number === Math.round(number) ? number.toFixed(0) : number.toFixed(1);
}

function duration(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (ns >= size) return (ns / size).toPrecision(ns >= 100 * size ? 3 : 2) + " " + unit;
  }
  return ns + " ns";
}

function shape(name, attributes, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.appendChild(made);
  return made;
}

// Ways that lead back are left out of the order, each vertex stands below all that come before it, and a way over
// several layers has a point in each.
function layOut(graph) {
  const points = new Map(graph.vertices.map((vertex) => [vertex.id, { vertex, next: [], last: [], layer: 0,
    width: Math.max(108, vertex.label.length * 7.2 + 24) }]));
  const ways = graph.ways.map((way) => ({ ...way, points: [] }));
  const leaving = new Map();
  for (const way of ways) leaving.set(way.from, [...(leaving.get(way.from) || []), way]);
  const order = [], state = new Map();
  function visit(id) {
    state.set(id, "open");
    for (const way of leaving.get(id) || []) {
      if (state.get(way.to) === "open") way.back = true;
      else if (!state.has(way.to)) visit(way.to);
    }
    state.set(id, "done");
    order.unshift(id);
  }
  const entered = new Set(ways.map((way) => way.to));
  for (const vertex of [...graph.vertices].sort((a, b) => entered.has(a.id) - entered.has(b.id))) {
    if (!state.has(vertex.id)) visit(vertex.id);
  }
  for (const id of order) {
    for (const way of leaving.get(id) || []) {
      const to = points.get(way.to);
      if (!way.back) to.layer = Math.max(to.layer, points.get(id).layer + 1);
    }
  }
  const layers = [];
  const stand = (point) => (layers[point.layer] ||= []).push(point);
  for (const id of order) stand(points.get(id));
  const join = (upper, lower) => { upper.next.push(lower); lower.last.push(upper); };
  for (const way of ways) {
    let from = points.get(way.from);
    const to = points.get(way.to);
    way.points.push(from);
    if (!way.back) {
      while (from.layer + 1 < to.layer) {
        const bend = { next: [], last: [], layer: from.layer + 1, width: 14 };
        stand(bend);
        join(from, bend);
        way.points.push(bend);
        from = bend;
      }
      join(from, to);
    }
    way.points.push(to);
  }
  arrange(layers);
  return { points, ways, layers };
}

function arrange(layers) {
  const mean = (neighbours) => neighbours.reduce((sum, each) => sum + each.x, 0) / neighbours.length;
  const spread = (layer) => {
    let x = -layer.reduce((sum, each) => sum + each.width + gap, 0) / 2;
    for (const point of layer) {
      point.x = x + point.width / 2;
      x += point.width + gap;
    }
  };
  layers.forEach(spread);
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      for (const point of layer) {
        const neighbours = down ? point.last : point.next;
        point.wish = neighbours.length ? mean(neighbours) : point.x;
      }
      layer.sort((a, b) => a.wish - b.wish);
      // Each as near to its wish as those on its left allow; then all together to the middle of their wishes.
      let right = -Infinity;
      for (const point of layer) {
        point.x = Math.max(point.wish, right + gap + point.width / 2);
        right = point.x + point.width / 2;
      }
      const off = layer.reduce((sum, each) => sum + each.wish - each.x, 0) / layer.length;
      for (const point of layer) point.x += off;
    }
  }
}

function draw(graph) {
  const { points, ways, layers } = layOut(graph);
  const all = layers.flat();
  const left = Math.min(...all.map((each) => each.x - each.width / 2)) - 10;
  const right = Math.max(...all.map((each) => each.x + each.width / 2)) + 10;
  const height = layers.length * layerHeight;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `${left} -6 ${right - left} ${height}`);
  svg.setAttribute("width", Math.max(right - left, 40));
  svg.setAttribute("height", height);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "The graph of the program");
  drawn = { vertices: new Map(), ways: new Map() };
  for (const way of ways) {
    let path = "";
    for (let at = 0; at + 1 < way.points.length; ++at) {
      const [from, to] = [way.points[at], way.points[at + 1]];
      const y1 = from.layer * layerHeight + (from.vertex ? boxHeight : boxHeight / 2);
      const y2 = to.layer * layerHeight + (to.vertex ? 0 : boxHeight / 2);
      const half = (y1 + y2) / 2;
      const [x1, x2] = [from.x.toFixed(1), to.x.toFixed(1)];
      path += (path ? "L" : "M") + `${x1} ${y1}C${x1} ${half} ${x2} ${half} ${x2} ${y2}`;
    }
    const line = shape("path", { d: path, class: "way cold" }, svg);
    drawn.ways.set(way.from + ">" + way.to, { line, title: shape("title", {}, line) });
  }
  for (const point of points.values()) {
    const group = shape("g", { class: "vertex cold", tabindex: 0, role: "button" }, svg);
    group.dataset.id = point.vertex.id;
    const y = point.layer * layerHeight;
    shape("rect", { x: point.x - point.width / 2, y, width: point.width, height: boxHeight }, group);
    shape("text", { x: point.x, y: y + 17 }, group).textContent = point.vertex.label;
    const rate = shape("text", { x: point.x, y: y + 32, class: "rate" }, group);
    const time = shape("text", { x: point.x, y: y + 46, class: "rate" }, group);
    const choose = () => {
      for (const other of drawn.vertices.values()) other.group.classList.remove("chosen");
      group.classList.add("chosen");
      chosen = point.vertex.id;
      if (before) tellChosen(before.graph, null);
    };
    group.addEventListener("click", choose);
    group.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
    drawn.vertices.set(point.vertex.id, { group, rate, time });
  }
  element("drawing").replaceChildren(svg);
}

function rows(of, heads, lines) {
  const table = element(of);
  const cells = lines.length ? [heads, ...lines] : [["none so far"]];
  while (table.rows.length > cells.length) table.deleteRow(-1);
  cells.forEach((cell, at) => {
    const row = table.rows[at] || table.insertRow();
    while (row.cells.length > cell.length) row.deleteCell(-1);
    cell.forEach((value, column) => {
      const data = row.cells[column] || row.insertCell();
      text(data, String(value), (column === 0 ? "" : "number") + (at === 0 ? " quiet" : ""));
    });
  });
}

// What it was parked for, by its parts.
function parkedFor(vertex) {
  const parts = Object.entries(vertex.parked_for).filter(([, share]) => share >= 0.001);
  const told = parts.map(([reason, share]) => `${reason} ${(100 * share).toFixed(1)} %`).join(", ");
  return told ? ` (${told})` : "";
}

function times(vertex) {
  if (vertex.p50_ns === undefined) return "";
  const shares = Object.entries(vertex.shares).filter(([, share]) => share >= 0.001)
    .map(([kind, share]) => `${(100 * share).toFixed(1)} % ${kind}${kind === "parked" ? parkedFor(vertex) : ""}`)
    .join(", ");
  const [half, most] = [duration(vertex.p50_ns), duration(vertex.p99_ns)];
  return ` Half of its calls take at most ${half}, 99 % at most ${most}: ${shares}.`;
}

function bytes(count) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (count >= size) return (count / size).toPrecision(count >= 100 * size ? 4 : 2) + " " + unit;
  }
  return count === 1 ? "1 byte" : count + " bytes";
}

function given(vertex) {
  return (vertex.given || []).map((one) => ` From ${one.from} it is given ${bytes(one.p50_bytes)} at most half of the ` +
    `times, ${bytes(one.p99_bytes)} at most 99 % of them, and ${bytes(one.largest_bytes)} at most.`).join("");
}

function tellChosen(graph, rateOf) {
  const vertex = graph.vertices.find((each) => each.id === chosen);
  if (!vertex) return;
  const where = vertex.file ? ` (${vertex.file}:${vertex.line})` : "";
  const rate = rateOf ? `, ${amount(rateOf(vertex))} a second` : "";
  text(element("chosen"),
    `${vertex.label}${where}: ${vertex.count} flows came here${rate}; it failed ${vertex.failed} times.` +
    times(vertex) + given(vertex));
}

function show(graph, flows) {
  const signature = graph.vertices.map((vertex) => vertex.id).join();
  if (!drawn || drawn.signature !== signature) {
    draw(graph);
    drawn.signature = signature;
  }
  const old = before ? before.graph : graph;
  const seconds = Math.max((graph.at_ms - old.at_ms) / 1000, 1e-3);
  const last = new Map(old.vertices.map((vertex) => [vertex.id, vertex]));
  const lastWays = new Map(old.ways.map((way) => [way.from + ">" + way.to, way.count]));
  const rate = (vertex) => (vertex.count - (last.get(vertex.id) || vertex).count) / seconds;
  const flowRate = (graph.started - old.started) / seconds;
  const failRate = (graph.failed - old.failed) / seconds;
  text(element("program"), graph.program);
  document.title = graph.program + " – Flux " + graph.flux;
  text(element("strategy"), graph.strategy);
  text(element("rate"), amount(flowRate));
  text(element("progress"), amount(graph.started - graph.ended));
  text(element("failed"), amount(failRate), failRate > 0 ? "bad" : "");
  for (const vertex of graph.vertices) {
    const of = drawn.vertices.get(vertex.id);
    const errors = vertex.failed ? `, ✗ ${amount(vertex.failed)}` : "";
    text(of.rate, `${amount(rate(vertex))}/s${errors}`, vertex.failed ? "rate bad" : "rate");
    text(of.time, vertex.p50_ns === undefined ? "" : `${duration(vertex.p50_ns)} · ${duration(vertex.p99_ns)}`);
    of.group.classList.toggle("cold", vertex.count === 0);
  }
  const most = Math.max(1e-9, ...graph.ways.map((way) => way.count - (lastWays.get(way.from + ">" + way.to) || 0)));
  for (const way of graph.ways) {
    const { line, title } = drawn.ways.get(way.from + ">" + way.to);
    const now = way.count - (lastWays.get(way.from + ">" + way.to) ?? way.count);
    const width = (1 + 6 * Math.max(now, 0) / most).toFixed(1);
    if (line.getAttribute("stroke-width") !== width) line.setAttribute("stroke-width", width);
    line.classList.toggle("cold", way.count === 0);
    text(title, `${way.count} flow${way.count === 1 ? "" : "s"}`);
  }
  const all = Math.max(graph.ended, 1);
  rows("paths", ["path", "share", "flows"], graph.paths.slice(0, 8).map((path) =>
    [(path.labels || ["path " + path.number]).join(" → ") + (path.exit === "done" ? "" : " — " + path.exit),
     (100 * path.count / all).toFixed(1) + " %", path.count]));
  const ms = (ns) => (ns / 1e6).toFixed(1) + " ms";
  rows("constraints", ["constraint", "waits", "waited to read", "to change", "taken to read", "to change"],
    [...graph.constraints].sort((a, b) => b.waited_ns - a.waited_ns).map((one) =>
    [one.name, one.waited, ms(one.waited_ns_to_read), ms(one.waited_ns - one.waited_ns_to_read), one.taken_to_read,
     one.taken - one.taken_to_read]));
  rows("errors", ["error", "unhandled", "times"], graph.errors.map((one) =>
    [(one.name || "outside of nodes") + ": " + one.meaning, one.unhandled, one.times]));
  const at = new Map();
  for (const flow of flows.flows) {
    const key = `${flow.source}: ${flow.node || "before the first node"}`;
    const known = at.get(key) || { count: 0, longest: 0 };
    at.set(key, { count: known.count + 1, longest: Math.max(known.longest, flow.seen_ms) });
  }
  rows("flows", ["where", "longest seen", "flows"], [...at].sort((a, b) => b[1].count - a[1].count).slice(0, 12).map(
    ([where, one]) => [where, (one.longest / 1000).toFixed(1) + " s", one.count]));
  tellChosen(graph, rate);
  before = { graph };
}

async function update() {
  if (document.hidden && before) return;
  try {
    const [graph, flows] = await Promise.all(["graph.json", "flows"].map((path) => fetch(path).then((answer) => {
      if (!answer.ok) throw new Error("status " + answer.status);
      return answer.json();
    })));
    const begin = performance.now();
    show(graph, flows);
    window.lastUpdateMs = performance.now() - begin;
    text(element("trouble"), "");
  } catch (problem) {
    text(element("trouble"), "no answer: " + problem.message);
  }
}

update();
setInterval(update, 1000);
</script>
</body>
</html>
)html";

} // namespace

std::string_view graph_page() noexcept
{
    return page;
}

} // namespace flux
