"""`kernelcast serve`: the explorer in a browser."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from kernelcast.cli.terminal import show_error

__all__ = ["serve"]


def serve(
    port: Annotated[int, typer.Option(help="Port on loopback.", min=1, max=65535)] = 8765,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Requests at once. Default: one a core.", min=1),
    ] = None,
    seconds: Annotated[float, typer.Option(help="What a request may take in all.", min=1.0)] = 30.0,
    trust: Annotated[
        bool, typer.Option("--trust", help="Execute pasted Python, as Triton's, with your rights.")
    ] = False,
) -> None:
    """Paste a kernel into a page, and see its estimate beside its code while you write.

    The page is on this machine's loopback only. Each request is computed in a process with limits
    of time, memory, and output, and reads no files.
    """
    from kernelcast.explorer.server import serve as serve_explorer

    show_error(f"the explorer is at http://127.0.0.1:{port}/ until Ctrl-C")
    serve_explorer(port, jobs or os.cpu_count() or 1, seconds=seconds, is_trusted=trust)
