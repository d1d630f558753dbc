"""Kernels of a program that pyopencl has built, with the buffers and arguments of its launches."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import InputError, LaunchError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import LoadedModule, RunnableKernel
from kernelcast.inputs.clang_source import ClangSource
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.llvm_ir import is_bitcode, is_spirv, read_ir
from kernelcast.inputs.opencl.source import compile_opencl
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.launch.launch import Argument

__all__ = ["OpenclKernel", "OpenclProgram", "opencl_program"]

_NAME = "OpenCL program"
_OF_VENDORS = ("-cl-nv-", "-cl-intel-", "-cl-amd-", "-cl-qcom-", "-cl-arm-")
"""Beginnings of options that only the vendor's own compiler knows."""


@dataclass(frozen=True)
class OpenclKernel:
    """One kernel, which takes what pyopencl's kernels take."""

    kernel: RunnableKernel
    context: Any

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    def run(
        self, args: Sequence[Any], *, queue: Any = None, write_back: bool = False, **options: Any
    ) -> KernelTrace:
        """Executes one launch on the CPU; `options` as `RunnableKernel.run` has them.

        Of pyopencl's buffers the contents are read through `queue`, by default one that is made;
        with `write_back` what the kernel left is written to them. None is a null pointer.
        LaunchError when a buffer cannot be read or the arguments do not fit.
        """
        contents = _Buffers(self.context, queue)
        arguments = [contents.argument(value, number) for number, value in enumerate(args, 1)]
        trace = self.kernel.run(args=arguments, **options)
        if write_back:
            contents.write_back()
        return trace


@dataclass(frozen=True)
class OpenclProgram(Mapping[str, OpenclKernel]):
    """The kernels of a program by name."""

    loaded: LoadedModule
    context: Any

    def __repr__(self) -> str:
        return repr(self.loaded)

    @property
    def module(self) -> Module:
        """The module of all kernels."""
        return self.loaded.module

    def __getitem__(self, name: str) -> OpenclKernel:
        """Raises why the kernel cannot run, or LaunchError when there is none of that name."""
        return OpenclKernel(self.loaded[name], self.context)

    def __iter__(self) -> Iterator[str]:
        return iter(self.loaded)

    def __len__(self) -> int:
        return len(self.loaded)

    def __contains__(self, name: object) -> bool:
        return name in self.loaded


def opencl_program(program: Any) -> OpenclProgram:
    """The kernels of a `pyopencl.Program`, from its source and build options, or from its IL.

    The source goes through clang: what the device's own compiler makes of it, nobody can see.
    CompilationError when clang refuses it; InputError when the program has neither source nor IL.
    """
    opencl = importlib.import_module("pyopencl")
    if not isinstance(program, opencl.Program):
        raise InputError(f"opencl_program takes a pyopencl.Program, got {type(program).__name__}")
    text = program.get_info(opencl.program_info.SOURCE)
    if text:
        source = ClangSource(_NAME, text.encode())
        bitcode = compile_opencl(source, CompilerOptions(options=_build_options(program, opencl)))
        return OpenclProgram(LoadedModule(read_ir(bitcode, _NAME)), program.context)
    for content in _intermediate(program, opencl):
        if is_bitcode(content) or is_spirv(content):
            return OpenclProgram(LoadedModule(read_ir(content, _NAME)), program.context)
    raise InputError(
        "this program has neither source nor IL that could be read, only machine code: build it "
        "from source"
    )


def _build_options(program: Any, opencl: Any) -> tuple[str, ...]:
    """The options that it was built with for its first device, without those of one vendor."""
    device = program.devices[0]
    text = program.get_build_info(device, opencl.program_build_info.OPTIONS)
    return tuple(option for option in shlex.split(text) if not option.startswith(_OF_VENDORS))


def _intermediate(program: Any, opencl: Any) -> Iterator[bytes]:
    """What may be IL: that of the program, which OpenCL 2.0 has not, and its binaries."""
    with suppress(opencl.Error, TypeError):  # an empty one is read as text
        yield bytes(program.get_info(opencl.program_info.IL))
    yield from (bytes(binary) for binary in program.get_info(opencl.program_info.BINARIES))


class _Buffers:
    """Copies of device memory, one for each buffer however often it is an argument."""

    def __init__(self, context: Any, queue: Any) -> None:
        self._opencl = importlib.import_module("pyopencl")
        self._context = context
        self._queue = queue
        self._copies: dict[int, tuple[Any, npt.NDArray[np.uint8]]] = {}

    def argument(self, value: Any, number: int) -> Argument:
        """What stands for an argument of pyopencl's."""
        if value is None:
            return 0
        if isinstance(value, self._opencl.Buffer):
            return self._copy(value, number)
        if type(value).__module__ == "pyopencl.array":
            return self._copy(value.data, number)
        if isinstance(value, np.void):
            return value.tobytes()
        argument: Argument = value
        return argument

    def write_back(self) -> None:
        for buffer, contents in self._copies.values():
            self._opencl.enqueue_copy(self._any_queue(), buffer, contents).wait()

    def _copy(self, buffer: Any, number: int) -> npt.NDArray[np.uint8]:
        known = self._copies.get(buffer.int_ptr)
        if known is not None:
            return known[1]
        contents = np.empty(buffer.size, np.uint8)
        try:
            self._opencl.enqueue_copy(self._any_queue(), contents, buffer).wait()
        except self._opencl.Error as error:
            raise LaunchError(f"argument {number}: its buffer cannot be read: {error}") from None
        self._copies[buffer.int_ptr] = buffer, contents
        return contents

    def _any_queue(self) -> Any:
        if self._queue is None:
            self._queue = self._opencl.CommandQueue(self._context)
        return self._queue
