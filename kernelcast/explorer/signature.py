"""Arguments and a launch guessed from a kernel's signature, for the page to show and edit."""

from __future__ import annotations

import re
from dataclasses import replace

from kernelcast.explorer.request import Argument, Request
from kernelcast.inputs.signatures import NamedParameter, signatures

__all__ = ["guessed"]

_OF_PTX = re.compile(r"\.entry\s+(?P<name>[\w$]+)\s*\((?P<parameters>[^)]*)\)")
_PTX_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^,]*?\s([\w$]+)\s*(?:\[\d+\])?$"
)
_TWO_DIMENSIONS = re.compile(r"(threadIdx|blockIdx|ctaid|tid)\.y|get_(global|local|group)_id\(1\)")
_LINE, _SQUARE = 1 << 20, 512


def guessed(request: Request) -> Request:
    """The request with what it leaves open: n, grid, thread block, and the arguments."""
    is_square = _TWO_DIMENSIONS.search(request.source) is not None
    block = request.block or ("16, 16" if is_square else "256")
    sides = ["x", "y", "z"][: block.count(",") + 1]
    grid = request.grid or ", ".join(f"ceil(n / block.{side})" for side in sides)
    shape = "n, n" if is_square else "n"
    arguments = request.arguments
    if arguments is None:
        arguments = tuple(_arguments(request, shape))
    size = request.size or (_SQUARE if is_square else _LINE)
    return replace(request, size=size, grid=grid, block=block, arguments=arguments)


def _arguments(request: Request, shape: str) -> list[Argument]:
    """The arguments of the first kernel; none while the text is not one."""
    if request.language != "ptx":
        found = next(iter(signatures(request.source).values()), ())
        return [_of_c(parameter, shape) for parameter in found]
    match = _OF_PTX.search(request.source)
    parameters = match["parameters"].split(",") if match else []
    return [_of_ptx(text.strip(), shape) for text in parameters if text.strip()]


def _of_c(parameter: NamedParameter, shape: str) -> Argument:
    kind = parameter.type or "f32"
    is_real = kind[0] in "fb"
    if parameter.is_pointer:
        lanes = f", {parameter.lanes}" if parameter.lanes > 1 else ""
        return Argument(
            parameter.name, f"{kind}[{shape}{lanes}]", "uniform" if is_real else "zeros"
        )
    return Argument(parameter.name, kind, "1.5" if is_real else "n")


def _of_ptx(text: str, shape: str) -> Argument:
    match = _PTX_PARAMETER.search(" ".join(text.split()))
    kind, name = match.groups() if match else ("u64", "x")
    if kind in ("u64", "b64", "s64"):
        return Argument(name, f"f32[{shape}]", "uniform")
    return Argument(name, kind, "1.5" if kind[0] == "f" else "n")
