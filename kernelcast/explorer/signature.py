"""Arguments and a launch guessed from a kernel's signature, for the page to show and edit."""

from __future__ import annotations

import re

from kernelcast.explorer.request import Argument, Request

__all__ = ["guessed"]

_OF_C = re.compile(
    r"(?:__global__|\bkernel\b|__kernel)[^;{(]*?"
    r"(?:__launch_bounds__\s*\([^)]*\)[^;{(]*?)?\bvoid\s+"
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(?P<name>\w+)\s*\((?P<parameters>[^)]*)\)"
)
_OF_PTX = re.compile(r"\.entry\s+(?P<name>[\w$]+)\s*\((?P<parameters>[^)]*)\)")
_PTX_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^,]*?\s([\w$]+)\s*(?:\[\d+\])?$"
)
_QUALIFIERS = re.compile(
    r"\b(const|volatile|restrict|__restrict__|__restrict|__global|global|__constant|constant|struct"
    r"|__grid_constant__|__local|local)\b"
)
_ELEMENTS = (
    ("unsigned long long", "u64"), ("long long", "s64"), ("unsigned long", "u64"),
    ("unsigned int", "u32"), ("unsigned short", "u16"), ("unsigned char", "u8"),
    ("double", "f64"), ("float", "f32"), ("__half", "f16"), ("half", "f16"), ("size_t", "u64"),
    ("ulong", "u64"), ("long", "s64"), ("uint64_t", "u64"), ("int64_t", "s64"),
    ("uint32_t", "u32"), ("int32_t", "s32"), ("unsigned", "u32"), ("uint", "u32"), ("int", "s32"),
    ("short", "s16"), ("uchar", "u8"), ("char", "s8"), ("bool", "u8"),
)  # fmt: skip
_TWO_DIMENSIONS = re.compile(r"(threadIdx|blockIdx|ctaid|tid)\.y|get_(global|local|group)_id\(1\)")
_LINE, _SQUARE = 1 << 20, 512


def guessed(request: Request) -> Request:
    """The request with what it leaves open: n, grid, thread block, and the arguments."""
    from dataclasses import replace

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
    is_ptx = request.language == "ptx"
    match = (_OF_PTX if is_ptx else _OF_C).search(request.source)
    parameters = match["parameters"].split(",") if match else []
    read = _of_ptx if is_ptx else _of_c
    return [read(text.strip(), shape) for text in parameters if text.strip() not in ("", "void")]


def _of_c(text: str, shape: str) -> Argument:
    plain = _QUALIFIERS.sub(" ", text)
    name = (re.findall(r"\w+", plain) or ["x"])[-1]
    kind = next((ptx for spelled, ptx in _ELEMENTS if re.search(rf"\b{spelled}\b", plain)), "f32")
    if "*" in plain or "[" in plain:
        return Argument(name, f"{kind}[{shape}]", "uniform" if kind[0] == "f" else "zeros")
    return Argument(name, kind, "1.5" if kind[0] == "f" else "n")


def _of_ptx(text: str, shape: str) -> Argument:
    match = _PTX_PARAMETER.search(" ".join(text.split()))
    kind, name = match.groups() if match else ("u64", "x")
    if kind in ("u64", "b64", "s64"):
        return Argument(name, f"f32[{shape}]", "uniform")
    return Argument(name, kind, "1.5" if kind[0] == "f" else "n")
