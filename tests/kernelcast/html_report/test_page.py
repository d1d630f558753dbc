"""The shell of pages: nothing that is shown can become markup, a script or a request."""

from __future__ import annotations

import json
import re

import pytest

from kernelcast.report.html.page import Cell, Chart, chart_figure, page, rendered, sortable_table

NAUGHTY = "</script><script>alert('&')</script><!--\u2028"


def test_text_is_escaped_wherever_it_is() -> None:
    table = sortable_table((NAUGHTY, f">{NAUGHTY}"), [(NAUGHTY, Cell(NAUGHTY, 1.0))], NAUGHTY)
    figure = chart_figure(NAUGHTY, NAUGHTY, NAUGHTY)
    chart = Chart([{"type": "bar", "name": NAUGHTY}], {"title": {"text": NAUGHTY}})
    text = page(NAUGHTY, table + figure, charts={"one": chart}, data={"record": {NAUGHTY: NAUGHTY}})
    assert "alert('&')" not in text
    assert "<!--" not in text
    assert text.count("<script") == text.count("</script>") == 4  # two of data, plotly.js, ours


def test_a_body_that_is_no_markup_is_text() -> None:
    assert "&lt;b&gt;" in page("x", "<b>")  # type: ignore[arg-type]


def test_data_come_through_as_they_are() -> None:
    found = re.findall(
        '<script type="application/json" id="data-record">(.*?)</script>',
        page("x", sortable_table(("a",), [], ""), data={"record": {NAUGHTY: [1.5, None]}}),
    )
    assert [json.loads(item) for item in found] == [{NAUGHTY: [1.5, None]}]


def test_a_page_without_charts_has_no_plotly() -> None:
    text = page("x", sortable_table(("a",), [("b",)], "c"))
    assert "library" not in re.sub("<script>.*?</script>", "", text, flags=re.DOTALL)
    assert len(text) < 20_000


def test_a_table_says_what_its_headings_are_of() -> None:
    rows = [(Cell("x", href="#there"), Cell("2 %", 0.02, share=0.02))]
    text = str(sortable_table(("a", ">b"), rows, "caption", name="name"))
    assert '<table class="sortable" id="name">' in text
    assert "<caption>caption</caption>" in text
    assert text.count('<th scope="col" aria-sort="none"') == 2
    assert '<th scope="row"><a href="#there">x</a></th>' in " ".join(text.split()).replace(
        " >", ">"
    )
    assert 'data-value="0.02"' in text
    assert 'style="width: 2.0%"' in text


def test_a_template_that_lacks_a_value_is_an_error() -> None:
    with pytest.raises(Exception, match="'caption' is undefined"):
        rendered("chart.html", name="x", description="y")
