"""The shell of a page: one HTML file with its style, scripts, charts and data, without a network.

    body = rendered("my_page.html", rows=rows)  # a template of ours, or `sortable_table(...)`
    text = page("Sweep of sor_red", body, charts={"times": chart}, data={"record": record})

In a body, `chart_figure("times", "Times by block size", ...)` is where the chart of that name goes.
What is shown may be anybody's text: templates escape it, scripts find data as JSON that no text can
end, and the page's own policy lets no script run but ours.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelcast.errors import KernelcastError

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = [
    "Cell",
    "Chart",
    "chart_figure",
    "headed",
    "page",
    "plotly_script",
    "rendered",
    "sortable_table",
]

_FOLDER = "templates"
_MISSING = "an HTML page needs the package plotly: pip install plotly"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as plotly.js takes it: traces and layout as plain dictionaries, `height` in pixels.

    Colours of text, axes and background are the page's, light or dark: a layout has none. A trace
    may name a colour of the page, `var:blue`, or a fainter one, `var:blue@0.5`; `PALETTE` of
    `page.js` lists them.
    """

    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict)
    height: int = 360

    def as_dict(self) -> dict[str, Any]:
        """The chart as JSON has it."""
        return {
            "traces": [dict(trace) for trace in self.traces],
            "layout": dict(self.layout),
            "height": self.height,
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: what is shown, and the value that it is sorted by where that is another.

    `href`: where a click leads within the page; `share`, 0 to 1, is drawn as a bar behind it.
    """

    text: str
    value: float | None = None
    href: str = ""
    share: float | None = None


def headed(title: str, parts: Iterable[Markup]) -> Markup:
    """Figures and tables of a page below its title, with margins, where the skip link leads."""
    from markupsafe import Markup

    body = Markup("\n").join(parts)
    return Markup('<main id="main">\n<h1>{}</h1>\n{}\n</main>').format(title, body)


def page(
    title: str,
    body: Markup,
    *,
    charts: Mapping[str, Chart] | None = None,
    data: Mapping[str, Any] | None = None,
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
) -> str:
    """The text of the file; a `body` that is no markup is escaped like all else.

    `charts` by the names that figures in the body have; `data` is read by scripts, as
    `kernelcastData("record")`; `scripts` and `styles` are names of files among the templates that
    come after the page's own.
    KernelcastError where plotly is not installed although there are charts.
    """
    from markupsafe import Markup

    drawn = {name: chart.as_dict() for name, chart in (charts or {}).items()}
    sources = [_text(name) for name in ("page.js", *scripts)]
    allowed = [*sources, plotly_script()] if drawn else sources
    return rendered(
        "page.html",
        title=title,
        style=Markup("\n".join(map(_text, ("style.css", *styles)))),
        policy=_policy(allowed),
        library=_packed(plotly_script()) if drawn else "",
        body=body,
        data=[
            (name, _inert_json(value)) for name, value in {**(data or {}), "charts": drawn}.items()
        ],
        scripts=[Markup(source) for source in sources],
    )


def rendered(template: str, **values: object) -> Markup:
    """A template of ours with values in it, which are escaped unless they are markup."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(**values))


def sortable_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    caption: str,
    *,
    name: str = "",
    as_cards: bool = False,
) -> Markup:
    """A table that a click on a heading sorts; columns that begin with `>` hold numbers.

    The first cell of a row is its heading. `name` is the table's id, for links. `as_cards`: on a
    narrow page each row is a card, with the names of columns before the values.
    """
    cells = [[item if isinstance(item, Cell) else Cell(item) for item in row] for row in rows]
    return rendered(
        "table.html", columns=columns, rows=cells, caption=caption, name=name, cards=as_cards
    )


def chart_figure(name: str, caption: str, description: str) -> Markup:
    """The place of a chart: `caption` stands below it, `description` is read in its stead."""
    return rendered("chart.html", name=name, caption=caption, description=description)


@cache
def plotly_script() -> str:
    """The text of plotly.js; KernelcastError where the package is not installed."""
    found = importlib.util.find_spec("plotly")
    if found is None or found.origin is None:
        raise KernelcastError(_MISSING)
    # the file is found without importing the package
    file = Path(found.origin).parent / "package_data" / "plotly.min.js"
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        raise KernelcastError(_MISSING) from None


@cache
def _packed(text: str) -> str:
    """Text as browsers unpack it: gzip, then base64."""
    return b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _inert_json(value: object) -> Markup:
    """JSON in which nothing can end a script or begin a comment."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _policy(scripts: Iterable[str]) -> str:
    """What a browser lets the page do: run these scripts, and fetch nothing."""
    hashes = (b64encode(hashlib.sha256(source.encode()).digest()).decode() for source in scripts)
    allowed = " ".join(f"'sha256-{item}'" for item in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    from jinja2 import DictLoader, Environment, StrictUndefined

    names = (item.name for item in (resources.files(__package__) / _FOLDER).iterdir())
    templates = {name: _text(name) for name in names if name.endswith(".html")}
    return Environment(
        loader=DictLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _text(name: str) -> str:
    return (resources.files(__package__) / _FOLDER / name).read_text(encoding="utf-8")
