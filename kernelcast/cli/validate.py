"""`kernelcast validate`: predicted against measured."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show, show_line, show_stages
from kernelcast.report import records, validation

__all__ = ["validate"]


class Suite(Enum):
    """What can be validated."""

    THESIS = "thesis"


def validate(
    suite: Annotated[Suite, typer.Argument(help="Which published measurements.")],
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Executes published cases end to end and compares the predictions with measured times.

    thesis: SOR, LMSOR and SGEMM of Konstantinidis' thesis on its seven GPUs, at full size; takes
    about two minutes.
    """
    from kernelcast.thesis_validation import validate_thesis  # loads the engine: only when asked

    with show_stages() as progress:
        table = {Suite.THESIS: validate_thesis}[suite](progress=progress)
    if json:
        show_line(records.to_json(validation.thesis_record(table)))
    elif csv:
        show_line(records.to_csv(validation.thesis_rows(table)))
    elif markdown:
        show_line(validation.thesis_markdown(table))
    else:
        show(validation.thesis_report(table))
