"use strict";
/* What every page does: data, tables that sort, charts in the colours of the page. */

function kernelcastData(name) {
  const element = document.getElementById("data-" + name);
  return element ? JSON.parse(element.textContent) : null;
}

const PALETTE = ["blue", "orange", "green", "purple", "red", "teal", "brown", "pink", "olive", "gray"];

const Theme = {
  color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  },
  /* A colour, so much of it as `share` says and of the background for the rest. */
  mixed(name, share) {
    if (share === undefined) return Theme.color(name);
    const channels = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
    const front = channels(Theme.color(name)), back = channels(Theme.color("page"));
    return "rgb(" + front.map((value, i) => Math.round(value * share + back[i] * (1 - share))) + ")";
  },
  /* A copy in which every `var:NAME` is that colour of the page. */
  painted(value) {
    if (typeof value === "string") {
      return value.startsWith("var:") ? Theme.mixed(...value.slice(4).split("@")) : value;
    }
    if (Array.isArray(value)) return value.map(Theme.painted);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, Theme.painted(v)]));
    }
    return value;
  },
};

const Charts = {
  /* plotly.js comes packed, for it is most of the page; resolves when it is there. */
  async load() {
    const packed = document.getElementById("library");
    if (!packed) return;
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    packed.remove();
  },
  specs: kernelcastData("charts") || {},
  layout(spec, width) {
    const text = Theme.color("text"), line = Theme.color("line");
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    const layout = Theme.painted(spec.layout);
    const base = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: text, family: getComputedStyle(document.body).fontFamily, size: 13 },
      colorway: PALETTE.map(Theme.color), height: spec.height,
      margin: { l: 60, r: 20, t: 20, b: 50 },
      hoverlabel: { bgcolor: Theme.color("panel"), bordercolor: line, font: { color: text }, align: "left" },
      modebar: { color: Theme.color("dim"), activecolor: Theme.color("accent"), bgcolor: "rgba(0,0,0,0)" },
    };
    const found = { ...base, ...layout };
    for (const name of ["xaxis", "yaxis"]) found[name] = { ...axis, ...(layout[name] || {}) };
    if (width < 560) {
      /* On a narrow page the legend goes below, two names a line, and long margins go. */
      const isTold = layout.showlegend ?? spec.traces.length > 1;
      const legend = isTold ? 10 + 20 * Math.ceil(spec.traces.filter((trace) => trace.showlegend !== false).length / 2) : 0;
      found.legend = { ...(found.legend || {}), orientation: "h", x: 0, yref: "container", y: 0, yanchor: "bottom" };
      found.font = { ...found.font, size: 11 };
      found.margin = { l: 45, r: 8, t: 16, b: 45 + legend };
      found.height = spec.height + legend;
    }
    return found;
  },
  draw(element) {
    const spec = Charts.specs[element.dataset.chart];
    if (!spec || !element.clientWidth || !window.Plotly) return;
    const layout = Charts.layout(spec, element.clientWidth);
    Plotly.react(element, Theme.painted(spec.traces), layout, {
      responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"],
    });
    element.dataset.drawn = "yes";
  },
  /* Draws what is seen now; what is hidden is drawn when it is shown. */
  drawAll(root) {
    for (const element of root.querySelectorAll("[data-chart]")) Charts.draw(element);
  },
};

function sortTable(table, column, ascending) {
  const body = table.tBodies[0];
  const key = (row) => {
    const cell = row.cells[column];
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    return cell.textContent.trim();
  };
  const rows = [...body.rows].map((row, at) => ({ row, at, key: key(row) }));
  rows.sort((a, b) => {
    /* Numbers before texts, cells without anything last, equal ones in their order. */
    if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1;
    const order = typeof a.key === "number" && typeof b.key === "number"
      ? a.key - b.key : String(a.key).localeCompare(String(b.key), "en", { numeric: true });
    return (ascending ? order : -order) || a.at - b.at;
  });
  body.append(...rows.map((item) => item.row));
}

function makeSortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const isNumber = heading.classList.contains("number");
      const now = heading.getAttribute("aria-sort");
      const next = now === "none" ? (isNumber ? "descending" : "ascending")
        : now === "ascending" ? "descending" : "ascending";
      for (const other of headings) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", next);
      sortTable(table, column, next === "ascending");
    });
  });
}

for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
Charts.ready = Charts.load().then(() => Charts.drawAll(document));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Charts.drawAll(document));
let drawnAt = innerWidth;
addEventListener("resize", () => {
  /* Layouts of narrow pages are others; plotly itself keeps to the width. */
  if ((drawnAt < 700) !== (innerWidth < 700)) {
    drawnAt = innerWidth;
    Charts.drawAll(document);
  }
});
addEventListener("beforeprint", () => {
  /* Paper is white, and nobody opens anything there but what is long: `data-long`. */
  document.documentElement.classList.add("paper");
  for (const item of document.querySelectorAll("details:not([open], [data-long])")) item.open = true;
  Charts.drawAll(document);
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("paper");
  Charts.drawAll(document);
});
