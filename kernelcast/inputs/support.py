"""Which kernels of a file run, and what keeps the others from it.

A kernel is supported when it is lowered, prepared for the reference engine, and compiled to native
code for a small launch with made-up arguments. Nothing is executed: arguments that a kernel can
work with are not known.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelcast.errors import KernelcastError, SourceError
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.source_file import COMPILED_SUFFIXES, load_source
from kernelcast.simcore.isa.ir.kernel import Kernel, Parameter
from kernelcast.simcore.launch.launch import Argument, Launch, LocalBytes

__all__ = ["FileSupport", "KernelSupport", "Missing", "check_file", "small_launch"]

_WARP_WIDTH = 32
_THREADS = 2 * _WARP_WIDTH
_POINTER_BYTES = 8
_BUFFER_BYTES = 4096
_PLAIN_CODE = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """One reason; `place` is `file:line:column`, empty when it has none."""

    message: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class KernelSupport:
    """`engine` is the fastest one that runs the kernel; empty when something is `missing`."""

    name: str
    engine: str
    missing: tuple[Missing, ...] = ()

    @property
    def is_supported(self) -> bool:
        """Whether nothing is missing to run the kernel."""
        return not self.missing


@dataclass(frozen=True, slots=True)
class FileSupport:
    """`unreadable` says why a file gave no kernels at all."""

    path: str
    kernels: tuple[KernelSupport, ...] = ()
    unreadable: Missing | None = None

    @property
    def is_supported(self) -> bool:
        """Whether the file was read and all of its kernels run."""
        return self.unreadable is None and all(kernel.is_supported for kernel in self.kernels)


def check_file(path: str | os.PathLike[str], options: CompilerOptions | None = None) -> FileSupport:
    """Every kernel of a file that `load_source` reads; a file that it does not is no error.

    Those of the `options` count that apply to such a file.
    """
    name = str(path)
    try:
        module = load_source(
            Path(path), _applicable(Path(path), options or CompilerOptions())
        ).module
    except KernelcastError as error:
        return FileSupport(name, unreadable=_missing(error))
    checked = {kernel.name: _checked(kernel) for kernel in module.kernels.values()}
    for kernel, reasons in module.rejected.items():
        checked[kernel] = KernelSupport(kernel, "", tuple(map(_missing, reasons)))
    return FileSupport(name, tuple(checked.values()))


def _applicable(path: Path, options: CompilerOptions) -> CompilerOptions:
    if path.suffix in COMPILED_SUFFIXES:
        return options
    return CompilerOptions() if path.suffix == ".ptx" else CompilerOptions(options.architecture)


def _missing(error: Exception) -> Missing:
    if isinstance(error, SourceError):
        return Missing(error.message, error.span.place if error.span else "")
    return Missing(str(error) if isinstance(error, KernelcastError) else repr(error))


def _checked(kernel: Kernel) -> KernelSupport:
    """A defect of an engine is reported like all else: it must not hide the other kernels."""
    try:
        engine = _prepare(kernel, small_launch(kernel))
    except KernelcastError as error:
        return KernelSupport(kernel.name, "", (_missing(error),))
    except Exception as error:
        message = f"an engine fails to prepare it: {type(error).__name__}: {error}"
        return KernelSupport(kernel.name, "", (Missing(message.splitlines()[0]),))
    return KernelSupport(kernel.name, engine)


def small_launch(kernel: Kernel) -> Launch:
    """A launch that `kernel` accepts; what may be a pointer gets a buffer."""
    threads = (_THREADS, 1, 1)
    if kernel.max_threads is not None:
        threads = (min(_THREADS, math.prod(kernel.max_threads)), 1, 1)
    arguments = tuple(_argument(parameter) for parameter in kernel.parameters)
    x, y, z = kernel.required_cluster or (1, 1, 1)
    launch = Launch((2 * x, y, z), kernel.required_threads or threads, arguments)
    launch.check(kernel)
    return launch


def _argument(parameter: Parameter) -> Argument:
    if parameter.is_struct:
        return bytes(parameter.size)
    if parameter.type.is_float:
        return 1.0
    if parameter.is_local_array:
        return LocalBytes(_BUFFER_BYTES)
    if parameter.size == _POINTER_BYTES:
        return np.zeros(_BUFFER_BYTES, np.uint8)
    return 1


def _prepare(kernel: Kernel, launch: Launch) -> str:
    """The engine that `auto` would take, after every engine has prepared the kernel."""
    # the engines take a while to import: only who checks pays
    from kernelcast.simcore.engine.jit.codegen.launch_facts import launch_facts
    from kernelcast.simcore.engine.jit.runtime.generated_code import generate
    from kernelcast.simcore.engine.jit.runtime.run import can_run
    from kernelcast.simcore.engine.reference.prepared_kernel import PreparedKernel
    from kernelcast.simcore.host.llvm import emit_object
    from kernelcast.simcore.launch.local_arrays import shared_bytes
    from kernelcast.simcore.launch.memory_spaces import LaunchMemory

    PreparedKernel(kernel)
    memory = LaunchMemory(kernel, launch)
    if not can_run(kernel):
        return "reference"
    facts = launch_facts(kernel, launch, _WARP_WIDTH, shared_bytes(kernel, launch))
    source = generate(kernel, facts, dict(memory.symbols), records=True)
    emit_object(source.ir, _PLAIN_CODE)
    return "jit"
