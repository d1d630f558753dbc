"""`kernelcast support`: which kernels run, and what keeps the others from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show_line, show_progress

__all__ = ["support"]


def support(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="PTX, CUDA C++, HIP, OpenCL C, LLVM IR, SPIR-V, cubins, fat binaries, libraries, "
            "executables, folders, or patterns: 'a/**/*.ptx'.",
        ),
    ],
    arch: Annotated[
        str,
        typer.Option(
            help="Architecture, such as sm_80: of CUDA C++, of PTX from OpenCL C, of fat binaries; "
            "gfx90a: of HIP."
        ),
    ] = "",
    include: Annotated[
        list[Path] | None, typer.Option("--include", "-I", help="Folder of headers for sources.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Option for NVRTC or clang, such as --option=-DN=4.")
    ] = None,
    machine_code: Annotated[
        bool,
        typer.Option(
            "--machine-code",
            help="Where a file has both, check its machine code, not its PTX; with --arch gfx90a "
            "that of a source.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Which kernels can be executed. Exit status 1 when one cannot, or a file cannot be read.

    Of folders, the .ptx, .fatbin and .cubin files are read.
    """
    # loads both engines: only when asked
    from kernelcast.inputs.compiler_options import CompilerOptions
    from kernelcast.inputs.support_survey import find_files, survey
    from kernelcast.report.records import to_json
    from kernelcast.report.support import support_record, support_report

    found = find_files(files)
    compilation = CompilerOptions(arch, tuple(option or ()), tuple(include or ()))
    with show_progress("checking") as progress:
        result = survey(found, compilation, progress=progress, is_native=machine_code)
    show_line(to_json(support_record(result)) if json else support_report(result))
    if not result.is_all_supported:
        raise typer.Exit(1)
