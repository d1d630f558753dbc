"""`kernelcast cache`: what is kept between commands, and how much of it."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show, show_line

__all__ = ["app"]

app = typer.Typer(
    help="What is kept of earlier commands, so that nothing is done twice: traces, accesses, "
    "simulated memories, profiles and estimates. KERNELCAST_STORE=off takes and keeps nothing; "
    "KERNELCAST_STORE=4GB is a limit that goes before --limit; KERNELCAST_CACHE is the folder."
)


@app.callback(invoke_without_command=True)
def cache(
    context: typer.Context,
    limit: Annotated[
        str | None,
        typer.Option(
            help="How much may be kept from now on, as 4GB; what was not used for longest goes.",
            metavar="SIZE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show what is kept, and set how much that may be."""
    from kernelcast.store.results import parsed_limit, set_limit

    if context.invoked_subcommand is not None:
        return
    if limit is not None:
        set_limit(parsed_limit(limit, "--limit"))
    _show(json=json)


@app.command("show")
def show_cache(json: options.Json = False) -> None:
    """Show what is kept, as without a command."""
    _show(json=json)


@app.command("clear")
def clear_cache(json: options.Json = False) -> None:
    """Remove all results. Compiled code and sources that were read before stay."""
    from kernelcast.report.records import to_json
    from kernelcast.store.results import clear

    removed = clear()
    show_line(to_json({"removed": removed}) if json else f"{removed} results removed")


def _show(*, json: bool) -> None:
    from kernelcast.report.cache import cache_record, cache_table
    from kernelcast.report.records import to_json
    from kernelcast.store.contents import store_contents

    found = store_contents()
    if json:
        show_line(to_json(cache_record(found)))
    else:
        show(cache_table(found))
