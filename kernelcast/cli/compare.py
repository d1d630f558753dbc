"""`kernelcast compare`: estimates of before and after, and a gate for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelcast.cli.completion import device_names
from kernelcast.cli.option_bundles import OutputOptions, bundled
from kernelcast.cli.terminal import show_line
from kernelcast.errors import KernelcastError

__all__ = ["compare"]


@bundled
def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE.json", help="From `estimate --json`.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER.json", help="The same, of after.")],
    fail_above: Annotated[
        float | None,
        typer.Option(
            help="Exit status 1 when a time grew by more percent, or is gone.", metavar="PERCENT"
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            help="GPU that --fail-above looks at; may be repeated.",
            metavar="D",
            autocompletion=device_names,
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a comment on a change.")
    ] = False,
    *,
    output: OutputOptions,
) -> None:
    """What changed between two files of estimates, and why.

    With --fail-above it is a gate: exit status 1 when a time grew too much.
    """
    from kernelcast.comparison.comparison import compared
    from kernelcast.comparison.records import read_records
    from kernelcast.report.comparison import (
        comparison_record,
        comparison_rows,
        comparison_table,
    )
    from kernelcast.report.data_table import as_markdown, as_text

    if fail_above is not None and not 0 <= fail_above < float("inf"):
        raise KernelcastError(f"--fail-above is a percentage, not {fail_above:g}")
    if device and fail_above is None:
        raise KernelcastError("--device says what --fail-above looks at: give that as well")
    result = compared(read_records(before), read_records(after))
    limit = None if fail_above is None else fail_above / 100
    over = () if limit is None else result.over(limit, device or ())
    table = comparison_table(result, over, limit)
    if markdown:
        show_line(as_markdown([table]))
    else:
        output.show(
            record=lambda: comparison_record(result, over, limit),
            rows=lambda: comparison_rows(result),
            report=lambda: as_text([table]),
        )
    if over:
        raise typer.Exit(1)
