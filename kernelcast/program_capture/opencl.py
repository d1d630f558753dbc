"""Programs of OpenCL: compiled as the program asks for it, once more for each global offset."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from kernelcast.errors import CompilationError, InputError, KernelcastError
from kernelcast.inputs.clang_source import ClangSource
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.opencl.source import compile_opencl
from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.code import Function, ProgramCode
from kernelcast.program_capture.protocol import Status

__all__ = ["Offset", "OpenclPrograms"]

Offset = tuple[int, int, int]
_NO_OFFSET: Offset = (0, 0, 0)
_OF_VENDORS = ("-cl-nv-", "-cl-intel-", "-cl-amd-", "-cl-qcom-", "-cl-arm-", "-cl-kernel-arg-info")
"""Beginnings of options that change nothing here, or that only a vendor's compiler knows."""
_INCLUDE = "-I"
_WITH_OFFSET = (
    "#define get_global_offset(d) ((size_t)((d) == 0 ? {0}ul : (d) == 1 ? {1}ul : (d) == 2 ? {2}ul "
    ": 0ul))\n"
    "#define get_global_id(d) ((size_t)(get_global_id(d) + get_global_offset(d)))\n"
)
"""What stands before a source: a name in its own definition is the built-in function."""


@dataclass(frozen=True, slots=True)
class _Source:
    """What a program was built of."""

    path: str
    text: bytes
    options: tuple[str, ...]
    is_il: bool


@dataclass
class OpenclPrograms:
    """The programs that were built, by the numbers of their modules."""

    _sources: dict[int, _Source] = field(default_factory=dict)
    _with_offset: dict[tuple[int, Offset], int] = field(default_factory=dict)
    _count: int = 0

    def build(self, code: ProgramCode, payload: bytes, *, is_il: bool) -> int:
        """The module of options, a folder and a source, with zero bytes between.

        InputError or another error of kernelcast's when it cannot be compiled.
        """
        options, folder, text = payload.split(b"\0", 2)
        self._count += 1
        source = _Source(
            f"program {self._count}", text, _options(options.decode(), folder.decode()), is_il
        )
        number = code.load(_compiled(source, _NO_OFFSET))
        self._sources[number] = source
        return number

    def function(self, code: ProgramCode, module: int, offset: Offset, name: str) -> Function:
        """A kernel for launches with a global offset."""
        if offset == _NO_OFFSET:
            return code.function(module, name)
        key = module, offset
        if key not in self._with_offset:
            source = self._sources[module]
            if source.is_il:
                raise CallError(Status.NOT_SUPPORTED, "a global offset needs the program's source")
            try:
                self._with_offset[key] = code.load(_compiled(source, offset))
            except KernelcastError as error:
                raise CallError(Status.INVALID_IMAGE, str(error)) from None
        return code.function(self._with_offset[key], name)


def _compiled(source: _Source, offset: Offset) -> bytes:
    if source.is_il:
        return source.text
    options = CompilerOptions(options=source.options)
    text = source.text
    if offset != _NO_OFFSET:
        text = _WITH_OFFSET.format(*offset).encode() + f'# 1 "{source.path}"\n'.encode() + text
    return compile_opencl(ClangSource(source.path, text), options)


def _options(text: str, folder: str) -> tuple[str, ...]:
    """The options for clang; folders of headers are those of the program, its own one last."""
    try:
        given = shlex.split(text)
    except ValueError as error:
        raise CompilationError(f"options {text!r}: {error}") from None
    found: list[str] = []
    rest = iter(given)
    for option in rest:
        if option.startswith(_INCLUDE):
            name = option.removeprefix(_INCLUDE) or next(rest, "")
            found.append(f"{_INCLUDE}{Path(folder, name)}")
        elif option in ("-D", "-U"):
            found.append(option + next(rest, ""))
        elif not option.startswith(_OF_VENDORS):
            found.append(option)
    if not folder:
        raise InputError("the program's folder is gone")
    return (*found, f"{_INCLUDE}{folder}")
