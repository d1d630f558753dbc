"""`kernelcast layers`: up to which domain caches keep what neighbouring layers share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from kernelcast.cli import options
from kernelcast.cli.option_bundles import OutputOptions, bundled
from kernelcast.cli.rank import Kernel
from kernelcast.errors import KernelcastError
from kernelcast.ranking.variations import split_variations

__all__ = ["layers"]

Vary: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Wave shapes by thread block and folding: block=512x2x1,16x2x32, folding=none,2z; "
        "default: the kernel's own.",
        metavar="NAME=V1,V2,...",
    ),
]
Scale: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Sizes that grow together: x,y of a line, names of a file. Default: the sides of a "
        "plane of the domain.",
        metavar="NAME,...",
    ),
]


@bundled
def layers(
    kernel: Kernel,
    device: options.Devices = None,
    vary: Vary = None,
    scale: Scale = None,
    size: options.Size = None,
    *,
    output: OutputOptions,
) -> None:
    """The layer conditions of a kernel.

    What each cache must keep for reuse between layers, and the largest domain with which it does.
    """
    from kernelcast.address.layer_sizes import layer_table, scaled_kernel
    from kernelcast.report import layers as report

    targets = options.named_devices(device)
    names = [name.strip() for name in scale.split(",")] if scale else []
    found = layer_table(scaled_kernel(kernel, size, names), targets, split_variations(vary or ()))
    if not found.rows:
        raise KernelcastError("; ".join(dict.fromkeys(reason for _, reason in found.refused)))
    output.show(
        record=lambda: report.layers_record(found),
        rows=lambda: report.layers_rows(found),
        report=lambda: report.layers_table(found),
    )
