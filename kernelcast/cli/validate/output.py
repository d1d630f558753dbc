"""The forms in which `kernelcast validate` shows what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show_error, show_line, show_result
from kernelcast.errors import KernelcastError
from kernelcast.partial_files import ReplacedFile
from kernelcast.report.data_table import DataTable, as_html, as_markdown, as_text

if TYPE_CHECKING:
    from kernelcast.validation.report import ValidationReport

__all__ = ["NEGATIVE", "ValidationOutput"]

NEGATIVE = 1
"""The exit status of a comparison that is not good enough."""

_OUTPUT = "Output"
_Markdown: TypeAlias = Annotated[
    bool, typer.Option("--markdown", help="Print Markdown.", rich_help_panel=_OUTPUT)
]
_Html: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write a page with tables and plot.", rich_help_panel=_OUTPUT
    ),
]
_Plot: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Draw predicted over measured: PNG or SVG.", rich_help_panel=_OUTPUT
    ),
]


@dataclass(frozen=True, slots=True)
class ValidationOutput:
    """One form on standard output; a page and a plot in files besides."""

    json: options.Json = False
    csv: options.Csv = False
    markdown: _Markdown = False
    html: _Html = None
    plot: _Plot = None

    def check(self) -> None:
        """Raises KernelcastError where a file cannot be written, before anything is executed."""
        from kernelcast.report.plots.estimates import check_target

        if self.plot is not None:
            check_target(self.plot)
        if self.html is not None and not self.html.parent.is_dir():
            raise KernelcastError(f"{self.html}: there is no folder {self.html.parent}")

    def show(
        self,
        title: str,
        tables: Sequence[DataTable],
        record: Callable[[], Mapping[str, Any]],
        rows: Callable[[], Iterable[Sequence[object]]],
        report: ValidationReport | None = None,
    ) -> None:
        """`report` has the points of the plot."""
        self._write_files(title, tables, report)
        if self.markdown:
            show_line(as_markdown(tables))
            return
        show_result(
            json=self.json, csv=self.csv, record=record, rows=rows, report=lambda: as_text(tables)
        )

    def end_with(self, problems: Sequence[str]) -> None:
        """Exit status 1 after a line for each, if there is any."""
        for problem in problems:
            show_error(problem)
        if problems:
            raise typer.Exit(NEGATIVE)

    def _write_files(
        self, title: str, tables: Sequence[DataTable], report: ValidationReport | None
    ) -> None:
        if self.plot is None and self.html is None:
            return
        from kernelcast.report.plots.estimates import save
        from kernelcast.report.plots.validation import validation_plot, validation_svg

        has_points = report is not None and bool(report.times)
        if self.plot is not None:
            if report is None or not has_points:
                raise KernelcastError("there is nothing to plot: no measured times")
            save(validation_plot(report), self.plot)
        if self.html is not None:
            picture = validation_svg(report) if report is not None and has_points else ""
            try:
                with ReplacedFile(self.html) as stream:
                    stream.write(as_html(title, tables, picture).encode())
            except OSError as error:
                raise KernelcastError(f"{self.html}: {error.strerror}") from None
