"""`kernelcast devices`: which GPUs are known, and where each value comes from."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import device_names
from kernelcast.cli.terminal import show_result
from kernelcast.report import devices as devices_report
from kernelcast.report import records, text
from kernelcast.simcore.device.file import load_observations

__all__ = ["app"]


class _Commands(TyperGroup):
    """Takes the name of a GPU for `show` of it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        named = args if args[0] in self.commands else ["show", *args]
        return super().resolve_command(ctx, named)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names of GPUs beside `show`, which completes them."""
        (name, *_) = self.commands["show"].params
        return [*super().shell_complete(ctx, incomplete), *name.shell_complete(ctx, incomplete)]


app = typer.Typer(cls=_Commands, help="GPUs that are known, with the source of every value.")


@app.callback(invoke_without_command=True)
def devices(
    context: typer.Context,
    verbose: options.Verbose = 0,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """List the GPUs that are known; `devices NAME` prints one with its sources."""
    if context.invoked_subcommand is not None:
        return
    known = [kc.device(name) for name in kc.devices()]
    show_result(
        json=json,
        csv=csv,
        record=lambda: records.devices_record(known),
        rows=lambda: records.device_list_rows(known),
        report=lambda: text.devices_table(known, verbose),
    )


@app.command("show")
def show_device(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="GPU, by name or device file.", autocompletion=device_names
        ),
    ],
    verbose: options.Verbose = 0,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """One GPU: its main values; -v every value with unit and source, observations, and curves."""
    device, observations = kc.device(name), load_observations(name)
    show_result(
        json=json,
        csv=csv,
        record=lambda: devices_report.device_record(device, observations),
        rows=lambda: devices_report.device_rows(device, observations),
        report=lambda: devices_report.device_table(device, observations, is_complete=bool(verbose)),
    )
