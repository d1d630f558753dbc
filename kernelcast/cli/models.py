"""`kernelcast models`: which performance models are known, and what they assume."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show, show_line, show_result
from kernelcast.model_descriptions import describe_model, describe_models
from kernelcast.report import records, text

__all__ = ["app"]

app = typer.Typer(help="Performance models, with the publication of each.")


@app.callback(invoke_without_command=True)
def models(context: typer.Context, json: options.Json = False, csv: options.Csv = False) -> None:
    """List the performance models; `show NAME` prints what one assumes."""
    if context.invoked_subcommand is not None:
        return
    known = describe_models()
    show_result(
        json=json,
        csv=csv,
        record=lambda: records.models_record(known),
        rows=lambda: [("model", "summary"), *((model.name, model.summary) for model in known)],
        report=lambda: text.models_table(known),
    )


@app.command("show")
def show_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model's name.")],
    json: options.Json = False,
) -> None:
    """What one model computes, from which publication."""
    description = describe_model(name)
    if json:
        show_line(records.to_json(records.model_record(description)))
    else:
        show(text.model_report(description))
