"use strict";
/* Nothing of an answer becomes markup: all texts are set as text. */
const at = (id) => document.getElementById(id);
const COLOURS = 8, WAIT_MS = 500;
let timer = 0, running = null, args = null;

function state() {
  const chosen = [...at("devices").selectedOptions].map((item) => item.value);
  return {
    language: at("language").value, source: at("source").value, devices: chosen,
    size: at("size").value ? Number(at("size").value) : null,
    grid: at("grid").value, block: at("block").value, arguments: args,
  };
}

function packed(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unpacked(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (sign) => sign.charCodeAt(0))));
}

function put(found) {
  at("language").value = found.language || "cuda";
  at("source").value = found.source || "";
  for (const item of at("devices").options) item.selected = (found.devices || []).includes(item.value);
  at("size").value = found.size || "";
  at("grid").value = found.grid || "";
  at("block").value = found.block || "";
  args = found.arguments || null;
  showArguments();
}

function showArguments() {
  const made = (args || []).map((argument) => {
    const label = document.createElement("label");
    label.append(argument.name);
    for (const key of ["type", "value"]) {
      const input = document.createElement("input");
      input.value = argument[key];
      input.size = 10;
      input.ariaLabel = `${argument.name} ${key}`;
      input.addEventListener("input", () => { argument[key] = input.value; changed(); });
      label.append(input);
    }
    return label;
  });
  at("arguments").replaceChildren(...made);
}

function colourOf(line, order) {
  return order.has(line) ? `c${order.get(line) % COLOURS}` : "";
}

function showListing(listing) {
  const order = new Map();
  for (const item of listing) if (item.line && !order.has(item.line)) order.set(item.line, order.size);
  at("listing").replaceChildren(...listing.map((item) => {
    const span = document.createElement("span");
    span.textContent = item.text;
    span.className = colourOf(item.line, order);
    if (item.line) {
      span.dataset.line = item.line;
      span.addEventListener("mouseenter", () => light(item.line));
    }
    return span;
  }));
  at("lines").replaceChildren(...at("source").value.split("\n").map((_, number) => {
    const row = document.createElement("div");
    row.className = colourOf(number + 1, order);
    row.dataset.line = number + 1;
    return row;
  }));
}

function light(line) {
  for (const item of document.querySelectorAll(".lit")) item.classList.remove("lit");
  for (const item of document.querySelectorAll(`[data-line="${line}"]`)) item.classList.add("lit");
}

function showEstimates(estimates) {
  at("estimates").hidden = !estimates.length;
  at("estimates").tBodies[0].replaceChildren(...estimates.map((item) => {
    const row = document.createElement("tr");
    for (const text of [item.device, item.time, item.between || "", item.limited_by, item.model]) {
      row.insertCell().textContent = text;
    }
    return row;
  }));
  showRoofline(estimates.filter((item) => item.bytes > 0 && item.flops > 0));
}

function short(value) {
  for (const [size, unit] of [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size) return `${Number((value / size).toPrecision(3))} ${unit}`;
  }
  return String(Number(value.toPrecision(3)));
}

function decades(from, to) {
  const found = [];
  for (let power = Math.ceil(from); power <= to; power += 1) found.push(power);
  return found;
}

// Heights of labels that do not lie on one another, the highest first.
function apart(heights) {
  const order = heights.map((_, number) => number).sort((one, other) => heights[one] - heights[other]);
  const found = [...heights];
  order.forEach((number, place) => {
    if (place) found[number] = Math.max(found[number], found[order[place - 1]] + 14);
  });
  return found;
}

function showRoofline(points) {
  at("roofline").hidden = !points.length;
  if (!points.length) return;
  const intensity = points.map((item) => item.flops / item.bytes);
  const knees = points.map((item) => item.peak_flops_per_s / item.bandwidth_bytes_per_s);
  const x0 = Math.log10(Math.min(...intensity, ...knees) / 4), x1 = Math.log10(Math.max(...intensity, ...knees) * 4);
  const rates = points.map((item) => item.flops / item.time_s);
  const y0 = Math.log10(Math.min(...rates, ...points.map((item) => 10 ** x0 * item.bandwidth_bytes_per_s)));
  const y1 = Math.log10(Math.max(...points.map((item) => item.peak_flops_per_s)) * 1.5);
  const x = (value) => 60 + 600 * (Math.log10(value) - x0) / (x1 - x0);
  const y = (value) => 220 - 200 * (Math.log10(value) - y0) / (y1 - y0);
  const parts = [];
  const add = (name, attributes, text = "") => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    part.textContent = text;
    parts.push(part);
  };
  add("path", { class: "roof axis", d: "M60 20 V220 H660" });
  add("text", { x: 260, y: 252 }, "operations a byte of DRAM");
  add("text", { x: 4, y: 9 }, "operations/s");
  for (const power of decades(x0, x1)) {
    add("text", { x: x(10 ** power), y: 235, "text-anchor": "middle" }, short(10 ** power));
  }
  for (const power of decades(y0, y1)) {
    add("text", { x: 54, y: y(10 ** power) + 4, "text-anchor": "end" }, short(10 ** power));
  }
  const labels = apart(points.map((_, number) => y(rates[number]) + 4));
  points.forEach((item, number) => {
    const knee = knees[number], begin = 10 ** x0, end = 10 ** x1;
    const peak = `${item.device}: ${short(item.peak_flops_per_s)}`;
    add("text", { x: 656, y: y(item.peak_flops_per_s) - 5, "text-anchor": "end" }, peak);
    add("path", { class: "roof", d: `M${x(begin)} ${y(begin * item.bandwidth_bytes_per_s)} L${x(knee)} ${y(item.peak_flops_per_s)} H${x(end)}` });
    add("circle", { class: "point", r: 5, cx: x(intensity[number]), cy: y(rates[number]) });
    add("text", { x: x(intensity[number]) + 9, y: labels[number] }, item.device);
  });
  at("roofline").replaceChildren(...parts);
}

function say(text, isError) {
  at("status").textContent = text;
  at("status").className = isError ? "error" : "";
}

async function ask() {
  const asked = state();
  if (!asked.source.trim() || !asked.devices.length) return;
  if (running) running.abort();
  running = new AbortController();
  say("estimating ...", false);
  try {
    const response = await fetch("/answer", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked), signal: running.signal,
    });
    show(await response.json());
  } catch (error) {
    if (error.name !== "AbortError") say("the explorer does not answer", true);
  }
}

function show(found) {
  if (found.arguments) {
    if (!args) { args = found.arguments; showArguments(); }
    for (const key of ["size", "grid", "block"]) if (!at(key).value) at(key).value = found[key];
    history.replaceState(null, "", `#${packed(state())}`);
  }
  showListing(found.listing || []);
  showEstimates(found.estimates || []);
  if (found.error) say(found.error, true);
  else say(`${found.kernel}: ${found.code}`, false);
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(() => { history.replaceState(null, "", `#${packed(state())}`); ask(); }, WAIT_MS);
}

function forget() {
  args = null;
  for (const key of ["size", "grid", "block"]) at(key).value = "";
  showArguments();
  changed();
}

async function begin() {
  const found = await (await fetch("/begin")).json();
  for (const name of found.devices) at("devices").add(new Option(name, name));
  found.examples.forEach((item, number) => at("example").add(new Option(item.name, number)));
  for (const id of ["language", "devices", "size", "grid", "block"]) at(id).addEventListener("input", changed);
  at("source").addEventListener("input", changed);
  at("source").addEventListener("scroll", () => {
    at("lines").style.transform = `translate(${-at("source").scrollLeft}px, ${-at("source").scrollTop}px)`;
  });
  at("guess").addEventListener("click", forget);
  at("example").addEventListener("input", () => {
    const chosen = found.examples[Number(at("example").value)];
    if (chosen) { put({ ...chosen, devices: state().devices }); changed(); }
  });
  let first = { ...found.examples[0], devices: ["a100-40gb", "h100-sxm"] };
  try { if (location.hash.length > 1) first = unpacked(location.hash.slice(1)); } catch { say("the address is damaged", true); }
  put(first);
  ask();
}

begin();
