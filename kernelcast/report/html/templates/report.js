"use strict";
/* The annotated source, the choice of the estimate that is looked into, and the record to save. */

const records = kernelcastData("records"), sources = kernelcastData("sources");
const program = kernelcastData("program");
const estimates = records.flatMap((record) => record.estimates);

const HEATS = [
  { name: "issue slots, used and lost", of: (c, i) => c.slots_issued[i] + c.slots_lost[i], needs: "slots_issued" },
  { name: "issue slots lost (stalls)", of: (c, i) => c.slots_lost[i], needs: "slots_lost" },
  { name: "issue slots used", of: (c, i) => c.slots_issued[i], needs: "slots_issued" },
  { name: "cycles in which warps are stalled", of: (c, i) => c.warp_cycles_stalled[i], needs: "warp_cycles_stalled" },
  { name: "executions by warps", of: (c, i) => c.warps[i], needs: "warps" },
  { name: "sectors asked of L1", of: (c, i) => c.sectors[i], needs: "sectors" },
  { name: "sectors beyond the fewest", of: (c, i) => c.sectors[i] - c.ideal_sectors[i], needs: "sectors" },
  { name: "DRAM transactions", of: (c, i) => c.dram_transactions[i], needs: "dram_transactions" },
  { name: "passes of shared memory and constants", of: (c, i) => c.passes[i], needs: "passes" },
  { name: "bank conflicts", of: (c, i) => c.passes[i] - c.ideal_passes[i], needs: "passes" },
];

const MOST_HOT = 5, LEAST_HOT = 0.02;

const count = (value) => value.toLocaleString("en");
const percent = (share) => (100 * share).toFixed(share >= 0.0995 ? 0 : 1) + " %";
const sum = (values) => values.reduce((a, b) => a + b, 0);

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name in made && name !== "role") made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/* The lines of each view with the numbers of the instructions that belong to each. */
function views(code) {
  const all = code.text.map((_, i) => i);
  const isMachine = code.ptx_line.some(Boolean) || /\[\w+ .*\]$/.test(code.file[0] || "");
  const language = isMachine ? "Machine code" : code.text.some((text) => text.endsWith(";")) ? "PTX" : "LLVM IR";
  const found = [];
  const bySource = grouped(all.filter((i) => code.source_line[i]), (i) => code.source_file[i] + ":" + code.source_line[i]);
  if (bySource.size) {
    const byFile = grouped(all.filter((i) => code.source_line[i]), (i) => code.source_file[i]);
    const slots = code.slots_issued ? (i) => code.slots_issued[i] + code.slots_lost[i] : () => 1;
    const costs = new Map([...byFile].map(([file, of]) => [file, sum(of.map(slots))]));
    const files = [...byFile.keys()].sort((a, b) => costs.get(b) - costs.get(a));
    const lines = [];
    for (const file of files) {
      const texts = new Map(sources[file] || []);
      const numbers = new Set([...texts.keys(), ...all.filter((i) => code.source_file[i] === file && code.source_line[i]).map((i) => code.source_line[i])]);
      let before = 0;
      lines.push({ file: files.length > 1 || !texts.size ? file + (texts.size ? "" : " (not found here)") : "" });
      for (const number of [...numbers].sort((a, b) => a - b)) {
        lines.push({ number, text: texts.get(number) || "", of: bySource.get(file + ":" + number) || [], starts: before && number > before + 1, file: null });
        before = number;
      }
    }
    found.push({ name: "Source", title: files.map((file) => file.split("/").pop()).join(", "), lines });
  }
  if (isMachine && code.ptx_line.some(Boolean)) {
    const byLine = grouped(all.filter((i) => code.ptx_line[i]), (i) => code.ptx_line[i]);
    const lines = [...byLine.keys()].sort((a, b) => a - b).map((number) => (
      { number, text: code.ptx_text[byLine.get(number)[0]], of: byLine.get(number), file: null }));
    found.push({ name: "PTX", title: "PTX, lines that became machine code", lines: lines.filter((line) => line.text) });
  }
  const lines = all.map((i) => ({
    number: code.line[i], text: code.text[i], of: [i], file: null,
    starts: i > 0 && code.basic_block[i] !== code.basic_block[i - 1],
  }));
  found.push({ name: language, title: language + (isMachine && code.file[0] ? ", " + code.file[0].replace(/^.*\[(\w+) .*$/, "$1") : ""), lines });
  return found;
}

function grouped(values, key) {
  const found = new Map();
  for (const value of values) {
    const name = key(value);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(value);
  }
  return found;
}

const Listing = {
  estimate: 0, heat: null, panes: [], hidden: new Set(), chosen: null,

  get code() { return estimates[Listing.estimate].details.instructions; },

  show(estimate) {
    Listing.estimate = estimate;
    Listing.chosen = null;
    const place = document.getElementById("listing");
    place.replaceChildren();
    document.getElementById("chosen").replaceChildren();
    document.getElementById("panes").replaceChildren();
    const code = Listing.code;
    const controls = document.querySelector(".controls");
    controls.hidden = !code;
    if (!code) {
      Listing.panes = [];
      Listing.hottest();
      place.append(element("p", { className: "dim" }, "The model or the profile knows no instructions: nothing to show."));
      return;
    }
    const known = HEATS.filter((heat) => code[heat.needs] && code.text.some((_, i) => heat.of(code, i) > 0));
    const select = document.getElementById("heat");
    const before = Listing.heat && Listing.heat.name;
    select.replaceChildren(...known.map((heat) => element("option", { value: heat.name }, heat.name)));
    Listing.heat = known.find((heat) => heat.name === before) || known[0] || null;
    if (Listing.heat) select.value = Listing.heat.name;
    Listing.panes = views(code).map(Listing.pane);
    place.append(...Listing.panes.map((pane) => pane.element));
    Listing.switches();
    Listing.paint();
    document.getElementById("source-note").textContent =
      "Click a line, or reach it with the arrow keys and press Enter: the lines of the other views that belong to it are marked."
      + (code.left_out ? " " + count(code.left_out) + " lines that cost little are left out." : "");
  },

  pane(view) {
    const rows = [];
    const body = element("div", { role: "listbox", "aria-label": view.name });
    for (const line of view.lines) {
      if (line.file !== null) {
        if (line.file) body.append(element("div", { className: "file", role: "presentation" }, line.file));
        continue;
      }
      const hot = element("span", { className: "hot code" });
      const has = line.of.length > 0;
      const row = element("div", {
        className: "row code" + (line.starts ? " block" : "") + (has ? " has" : ""), role: "option",
        "aria-selected": "false", tabIndex: -1,
      }, element("span", { className: "no" }, String(line.number)), hot, element("span", { className: "txt" }, line.text));
      if (!has) row.setAttribute("aria-disabled", "true");
      const item = { row, hot, of: line.of, number: line.number, text: line.text };
      if (has) {
        rows.push(item);
        row.addEventListener("click", () => Listing.choose(pane, item));
        row.addEventListener("keydown", (event) => Listing.key(event, pane, item));
      }
      body.append(row);
    }
    if (rows.length) rows[0].row.tabIndex = 0;
    const scroller = element("div", { className: "lines" }, body);
    const box = element("section", { className: "pane", "aria-label": view.title }, element("h3", { title: view.title }, view.title), scroller);
    const pane = { name: view.name, element: box, scroller, rows };
    return pane;
  },

  switches() {
    const place = document.getElementById("panes");
    if (Listing.panes.length < 2) return;
    for (const pane of Listing.panes) {
      const box = element("input", { type: "checkbox", checked: !Listing.hidden.has(pane.name) });
      box.addEventListener("change", () => {
        if (box.checked) Listing.hidden.delete(pane.name); else Listing.hidden.add(pane.name);
        pane.element.hidden = !box.checked;
      });
      pane.element.hidden = !box.checked;
      place.append(element("label", {}, box, " " + pane.name), " ");
    }
  },

  paint() {
    const { code, heat } = Listing;
    if (!heat) return;
    const costs = code.text.map((_, i) => heat.of(code, i));
    const total = sum(costs) || 1;
    const color = Theme.color("heat");
    for (const pane of Listing.panes) {
      const shares = pane.rows.map((item) => sum(item.of.map((i) => costs[i])) / total);
      const most = Math.max(...shares, 1e-9);
      pane.rows.forEach((item, at) => {
        const share = shares[at];
        item.share = share;
        item.hot.textContent = share >= 0.0005 ? percent(share) : "";
        item.hot.style.background = share > 0 ? `rgba(${color}, ${(0.75 * share / most).toFixed(3)})` : "";
        item.row.classList.toggle("never", !item.of.some((i) => code.warps[i]));
      });
    }
    Listing.hottest();
  },

  choose(pane, item) {
    const wanted = new Set(item.of);
    Listing.chosen = { pane, item };
    for (const other of Listing.panes) {
      let hottest = null;
      for (const line of other.rows) {
        const marked = line.of.some((i) => wanted.has(i));
        line.row.classList.toggle("marked", marked);
        line.row.classList.toggle("chosen", line === item);
        line.row.setAttribute("aria-selected", String(marked));
        if (marked && (!hottest || line.share > hottest.share)) hottest = line;
      }
      if (hottest && other !== pane) Listing.into(other.scroller, hottest.row);
    }
    for (const line of pane.rows) line.row.tabIndex = line === item ? 0 : -1;
    Listing.tell(item);
  },

  /* Within the pane only: the page stays where it is. */
  into(scroller, row) {
    scroller.scrollTop = row.offsetTop - scroller.clientHeight / 3;
  },

  key(event, pane, item) {
    const at = pane.rows.indexOf(item);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (event.key === "Enter" || event.key === " ") Listing.choose(pane, item);
    else if (step || event.key === "Home" || event.key === "End") {
      const to = event.key === "Home" ? 0 : event.key === "End" ? pane.rows.length - 1
        : Math.min(Math.max(at + step, 0), pane.rows.length - 1);
      pane.rows[to].row.focus();
    } else return;
    event.preventDefault();
  },

  tell(item) {
    const { code } = Listing;
    const slots = estimates[Listing.estimate].details.slots;
    const of = (name) => code[name] ? sum(item.of.map((i) => code[name][i])) : 0;
    const facts = [["executions by warps", count(of("warps"))]];
    if (of("warps")) facts.push(["active threads a warp", (of("threads") / of("warps")).toFixed(1)]);
    if (slots) {
      facts.push(["issue slots used", percent(of("slots_issued") / slots.slots)]);
      facts.push(["issue slots lost", percent(of("slots_lost") / slots.slots)]);
    }
    if (of("requests")) {
      facts.push(["requests", count(of("requests"))]);
      facts.push(["sectors a request", (of("sectors") / of("requests")).toFixed(2)]);
      facts.push(["fewest that would do", (of("ideal_sectors") / of("requests")).toFixed(2)]);
      facts.push(["L1 hits", percent(of("l1_hits") / (of("sectors") || 1))]);
      facts.push(["L2 sectors", count(of("l2_sectors"))]);
      facts.push(["DRAM transactions", count(of("dram_transactions"))]);
    }
    if (of("passes")) {
      facts.push(["passes", count(of("passes"))]);
      facts.push(["lost to conflicts", count(of("passes") - of("ideal_passes"))]);
    }
    const waits = Listing.waits(item).slice(0, 6)
      .map(([reason, lost]) => `${reason} ${percent(lost / slots.slots)}`);
    const texts = item.of.length === 1 ? code.text[item.of[0]] : `${item.of.length} instructions`;
    document.getElementById("chosen").replaceChildren(
      element("b", { className: "code" }, texts),
      element("dl", {}, ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)))),
      waits.length ? element("div", {}, "Slots lost before it: " + waits.join(", ")) : "",
    );
  },

  /* The line that a place such as `sor.ptx:61 (STS.64, 11 %)` names. */
  find(place) {
    const match = /^(.*?):(\d+)\b/.exec(place);
    if (!match) return null;
    const [, file, line] = match, { code } = Listing;
    if (!code) return null;
    const ends = (name) => name === file || name.endsWith("/" + file) || file.endsWith("/" + name);
    const isOne = (i) => (code.source_line[i] === Number(line) && ends(code.source_file[i]))
      || (code.ptx_line[i] === Number(line)) || (code.line[i] === Number(line) && ends(code.file[i].replace(/\[.*$/, "")));
    const wanted = code.text.map((_, i) => i).filter(isOne);
    for (const pane of Listing.panes) {
      const item = pane.rows.find((row) => row.number === Number(line) && row.of.some((i) => wanted.includes(i)));
      if (item) return { pane, item };
    }
    return null;
  },

  open(found) {
    if (!found) return;
    Listing.choose(found.pane, found.item);
    Listing.into(found.pane.scroller, found.item.row);
  },

  /* The lines of the first view that cost most, each a way to it. */
  hottest() {
    const place = document.getElementById("hottest"), pane = Listing.panes[0];
    const found = pane ? [...pane.rows].sort((a, b) => b.share - a.share).slice(0, MOST_HOT).filter((item) => item.share >= LEAST_HOT) : [];
    place.replaceChildren(...found.map((item) => {
      const [wait] = Listing.waits(item);
      const line = element("button", { type: "button", className: "link code" }, item.number + ": " + item.text.trim());
      line.addEventListener("click", () => Listing.open({ pane, item }));
      return element("li", {}, element("b", {}, percent(item.share)), " ", line, wait ? element("span", { className: "dim" }, ", mostly " + wait[0]) : "");
    }));
  },

  /* Slots lost before the instructions of a line, by reason, the most first. */
  waits(item) {
    const lost = new Map();
    for (const i of item.of) {
      for (const [reason, slots] of Object.entries((Listing.code.stalls || [])[i] || {})) lost.set(reason, (lost.get(reason) || 0) + slots);
    }
    return [...lost].sort((a, b) => b[1] - a[1]);
  },
};

/* All facts of a device, made when somebody wants to see them: a page of many devices stays small. */
function showFacts(place) {
  if (place.querySelector("table")) return;
  const details = estimates[Number(place.dataset.facts)].details;
  const heading = (name, isNumber) => element("th", { scope: "col", "aria-sort": "none", className: isNumber ? "number" : "" },
    element("button", { type: "button" }, name));
  const head = element("tr", {}, ...["fact", "value", "source", "matters", "reference"].map((name) => heading(name, name === "value")));
  const rows = details.facts.map((fact) => {
    const isNumber = typeof fact.value === "number";
    const value = element("td", { className: "number" }, (isNumber ? fact.value.toLocaleString("en", { maximumSignificantDigits: 6 }) : String(fact.value)) + " " + fact.unit);
    if (isNumber) value.dataset.value = fact.value;
    return element("tr", {}, element("th", { scope: "row" }, fact.name), value, element("td", {}, fact.source),
      element("td", {}, details.decisive_facts.includes(fact.name) ? "yes" : ""), element("td", {}, fact.reference));
  });
  const table = element("table", { className: "sortable" }, element("caption", {}, "Facts of " + details.device.title + ", and where they are from"),
    element("thead", {}, head), element("tbody", {}, ...rows));
  place.append(element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Facts of " + details.device.title }, table));
  makeSortable(table);
}

function showEstimate(number) {
  for (const part of document.querySelectorAll(".of-estimate")) {
    part.hidden = Number(part.dataset.estimate) !== number;
  }
  Listing.show(number);
  Charts.drawAll(document);
}

document.getElementById("estimate")?.addEventListener("change", (event) => showEstimate(Number(event.target.value)));
for (const link of document.querySelectorAll('a[href^="#details-"]')) {
  /* From the table of a program's kernels to the sections of one. */
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const number = link.hash.slice("#details-".length), choice = document.getElementById("estimate");
    if (choice) choice.value = number;
    showEstimate(Number(number));
    document.getElementById("why").scrollIntoView();
  });
}
document.getElementById("heat").addEventListener("change", (event) => {
  Listing.heat = HEATS.find((heat) => heat.name === event.target.value);
  Listing.paint();
});
for (const link of document.querySelectorAll("[data-place]")) {
  link.addEventListener("click", () => Listing.open(Listing.find(link.dataset.place)));
}
for (const place of document.querySelectorAll("[data-facts]")) {
  place.addEventListener("toggle", () => showFacts(place));
}
document.getElementById("download").addEventListener("click", () => {
  const whole = program ? { ...program, launches_explained: records } : records.length === 1 ? records[0] : records;
  const text = JSON.stringify(whole, null, 2);
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "estimates.json" });
  link.click();
  URL.revokeObjectURL(link.href);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Listing.paint());
showEstimate(0);
