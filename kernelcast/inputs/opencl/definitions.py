"""Definitions of OpenCL C's built-in functions for back ends of LLVM, which come without any."""

from __future__ import annotations

from importlib.resources import files

from kernelcast.inputs.clang_source import ClangSource

__all__ = ["opencl_definitions"]

_FOLDER = "builtins"


def opencl_definitions(target: str) -> ClangSource:
    """The definitions for `nvptx` or `amdgcn`: what that has its own means for, and the rest."""
    folder = files("kernelcast.inputs.opencl").joinpath(_FOLDER)
    names = ("vectors", target, "numbers", "memory")
    text = b"\n".join(folder.joinpath(f"{name}.cl").read_bytes() for name in names)
    return ClangSource(f"opencl/{_FOLDER}/{target}.cl", text)
