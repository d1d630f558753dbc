"""`kernelcast tools`: which assemblers and disassemblers of machine code are installed."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show, show_line

__all__ = ["tools"]


def tools(
    fetch_cuda12: Annotated[
        bool,
        typer.Option(
            "--fetch-cuda12",
            help="Download the tools for sm_50 to sm_72, which CUDA 13 has no more: 150 MB by pip.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """NVIDIA's assembler and disassembler: where they are, and for which architectures.

    kernelcast runs those that you have installed. `pip install 'kernelcast[native]'` brings those
    for sm_75 and newer ones; --fetch-cuda12 takes the older ones out of the wheel of Triton 3.4.0.
    Exit status 1 when one is missing.
    """
    from kernelcast.inputs.native.installed_tools import installed_tools
    from kernelcast.report.records import to_json
    from kernelcast.report.tools import tools_record, tools_table

    if fetch_cuda12:
        from kernelcast.inputs.native.older_tools import fetch_older_tools

        fetch_older_tools()
    found = installed_tools()
    if json:
        show_line(to_json(tools_record(found)))
    else:
        show(tools_table(found))
    if any(tool.path is None for tool in found):
        raise typer.Exit(1)
