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
  /* A copy in which every `var:NAME` is that colour of the page. */
  painted(value) {
    if (typeof value === "string") {
      return value.startsWith("var:") ? Theme.color(value.slice(4)) : value;
    }
    if (Array.isArray(value)) return value.map(Theme.painted);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, Theme.painted(v)]));
    }
    return value;
  },
};

const Charts = {
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
      /* On a narrow page the legend goes below, and long margins go. */
      found.legend = { ...(found.legend || {}), orientation: "h", x: 0, y: -0.25, yanchor: "top" };
      found.font = { ...found.font, size: 11 };
      found.margin = { l: 45, r: 8, t: 16, b: 45 };
      found.height = spec.height + 40;
    }
    return found;
  },
  draw(element) {
    const spec = Charts.specs[element.dataset.chart];
    if (!spec || !element.clientWidth) return;
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
Charts.drawAll(document);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Charts.drawAll(document));
addEventListener("beforeprint", () => {
  for (const item of document.querySelectorAll("details:not([open])")) item.open = true;
  Charts.drawAll(document);
});
