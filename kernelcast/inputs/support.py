"""Which kernels of a file run, and what keeps the others from it.

A kernel is supported when it is lowered, prepared for the reference engine, and compiled to code
of the CPU for a small launch with made-up arguments. Nothing is executed: arguments that a kernel
can work with are not known.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kernelcast.errors import KernelcastError, SourceError
from kernelcast.execution.code import AMD_EXECUTED
from kernelcast.execution.runnable import LoadedModule
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.embedded_code import Units, open_units
from kernelcast.inputs.fat_binary import CodeKind
from kernelcast.inputs.source_file import COMPILED_SUFFIXES, has_units, load_source
from kernelcast.ptx_frontend.amdgcn.lowering.generations import is_rdna
from kernelcast.ptx_frontend.sass.lowering.flow import INSTRUCTION_BYTES
from kernelcast.simcore.isa.ir.kernel import Kernel, Module, Parameter
from kernelcast.simcore.launch.launch import Argument, Launch, LocalBytes

__all__ = [
    "FileSupport",
    "KernelSupport",
    "Missing",
    "check_file",
    "count_units",
    "merged_support",
    "small_launch",
]

_WARP_WIDTH, _WAVEFRONT = 32, 64
"""Lanes of a warp, and of a wavefront of AMD's GPUs but those of RDNA."""
_THREADS = 2 * _WARP_WIDTH
_POINTER_BYTES = 8
_BUFFER_BYTES = 4096
_PLAIN_CODE = 0
_MACHINE_CODE = re.compile(r"\[(sm_\d+) [^\]]*\]$")
"""The end of what places in machine code call its file."""
_SASS_OPCODE = re.compile(r"SASS instruction '([^']+)'")


@dataclass(frozen=True, slots=True)
class Missing:
    """One reason; `place` is `file:line:column`, empty when it has none.

    Of machine code: the `address` in the kernel, and the `opcode`, where the reason is one.
    """

    message: str
    place: str = ""
    address: int | None = None
    opcode: str = ""


@dataclass(frozen=True, slots=True)
class KernelSupport:
    """`engine` is the fastest one that runs the kernel; empty when something is `missing`.

    `code`: the architecture of the machine code that was checked, `sm_80`; empty of a source.
    """

    name: str
    engine: str
    missing: tuple[Missing, ...] = ()
    code: str = ""

    @property
    def is_supported(self) -> bool:
        """Whether nothing is missing to run the kernel."""
        return not self.missing


@dataclass(frozen=True, slots=True)
class FileSupport:
    """`unreadable` says why a file gave no kernels at all, `damaged` why parts of it gave none.

    `note`: what else there is to say of it.
    """

    path: str
    kernels: tuple[KernelSupport, ...] = ()
    unreadable: Missing | None = None
    damaged: tuple[Missing, ...] = ()
    note: str = ""

    @property
    def is_supported(self) -> bool:
        """Whether the file was read and all of its kernels run."""
        kernels = all(kernel.is_supported for kernel in self.kernels)
        return self.unreadable is None and not self.damaged and kernels


def check_file(
    path: str | os.PathLike[str],
    options: CompilerOptions | None = None,
    *,
    is_native: bool = False,
    share: tuple[int, int] = (0, 1),
) -> FileSupport:
    """Every kernel of a file that `load_source` reads; a file that it does not is no error.

    Those of the `options` count that apply to such a file. `is_native`: the machine code in a file
    goes before its PTX, and that for one of AMD's GPUs, if it is the architecture, before a source
    that it is made of. `share` (n, m): of a file of many translation units, every m-th from n on.
    """
    file, name = Path(path), str(path)
    chosen = _applicable(file, options or CompilerOptions(), is_native=is_native)
    try:
        if has_units(file):
            kinds = (CodeKind.CUBIN, CodeKind.PTX) if is_native else (CodeKind.PTX, CodeKind.CUBIN)
            with open_units(file, chosen.architecture, kinds=kinds) as units:
                return _checked_units(name, units, share)
        loaded = load_source(file, _without_target(file, chosen) if is_native else chosen)
    except KernelcastError as error:
        return FileSupport(name, unreadable=_missing(error))
    makes_code = loaded.native is not None and loaded.native.makes_amd_code
    if is_native and makes_code and chosen.architecture in AMD_EXECUTED:
        kernels = tuple(_checked_code(loaded, chosen.architecture))
        return FileSupport(name, kernels, note=loaded.note)
    return FileSupport(name, tuple(_checked_module(loaded.module)), note=loaded.note)


def count_units(path: Path, options: CompilerOptions) -> int:
    """The translation units that `check_file` looks at; 1 for all that has none."""
    try:
        if has_units(path):
            with open_units(path, _applicable(path, options).architecture) as units:
                return len(units.entries)
    except KernelcastError:
        pass
    return 1


def merged_support(parts: Sequence[FileSupport]) -> FileSupport:
    """The support of a file whose translation units were checked in shares."""
    kernels: dict[str, KernelSupport] = {}
    for kernel in (kernel for part in parts for kernel in part.kernels):
        known = kernels.get(kernel.name)
        if known is None or (kernel.is_supported and not known.is_supported):
            kernels[kernel.name] = kernel
    damaged = dict.fromkeys(reason for part in parts for reason in part.damaged)
    unreadable = next((part.unreadable for part in parts if part.unreadable), None)
    if kernels and unreadable is not None:
        damaged[unreadable], unreadable = None, None
    note = next((part.note for part in parts if part.note), "")
    return FileSupport(parts[0].path, tuple(kernels.values()), unreadable, tuple(damaged), note)


def _checked_units(path: str, units: Units, share: tuple[int, int]) -> FileSupport:
    """One unit after the other, so that only one is in memory."""
    first, step = share
    found: list[FileSupport] = [FileSupport(path)]
    for entry in units.entries[first::step]:
        try:
            found.append(FileSupport(path, tuple(_checked_module(units.module(entry)))))
        except KernelcastError as error:
            found.append(FileSupport(path, damaged=(_missing(error),)))
    merged = merged_support(found)
    if merged.damaged and not merged.kernels:
        return FileSupport(path, unreadable=merged.damaged[0])
    return merged


def _without_target(file: Path, options: CompilerOptions) -> CompilerOptions:
    """The options for a source that code for AMD's GPUs is made of, whichever it is for."""
    is_source_for_all = file.suffix in (".cl", ".ptx", ".ll")
    if is_source_for_all and options.architecture in AMD_EXECUTED:
        return replace(options, architecture="")
    return options


def _checked_code(loaded: LoadedModule, architecture: str) -> Iterator[KernelSupport]:
    """The kernels as machine code of one of AMD's architectures."""
    assert loaded.native is not None
    for name in loaded.module.kernels:
        try:
            kernel = loaded.native.amd_kernel(name, architecture)
        except KernelcastError as error:
            yield KernelSupport(name, "", (_missing(error),), architecture)
        else:
            yield _checked(kernel)
    for name, reasons in loaded.module.rejected.items():
        yield KernelSupport(name, "", tuple(map(_missing, reasons)))


def _checked_module(module: Module) -> list[KernelSupport]:
    checked = [_checked(kernel) for kernel in module.kernels.values()]
    for kernel, reasons in module.rejected.items():
        missing = tuple(map(_missing, reasons))
        place = next(filter(None, map(_machine_place, reasons)), None)
        checked.append(KernelSupport(kernel, "", missing, place[0] if place else ""))
    return checked


def _applicable(
    path: Path, options: CompilerOptions, *, is_native: bool = False
) -> CompilerOptions:
    if path.suffix in COMPILED_SUFFIXES:
        return options
    if is_native and options.architecture in AMD_EXECUTED:
        return CompilerOptions(options.architecture)
    return CompilerOptions() if path.suffix == ".ptx" else CompilerOptions(options.architecture)


def _missing(error: Exception) -> Missing:
    if not isinstance(error, KernelcastError):
        return Missing(repr(error))
    if not isinstance(error, SourceError):
        return Missing(error.message)
    place = _machine_place(error)
    if place is None:
        return Missing(error.message, error.span.place if error.span else "")
    opcode = _SASS_OPCODE.match(error.message)
    at = f"{error.span.file} at {place[1]:#x}" if error.span else ""
    return Missing(error.message, at, place[1], opcode[1] if opcode else "")


def _machine_place(error: Exception) -> tuple[str, int] | None:
    """The architecture and the address in the kernel, where machine code is refused."""
    span = error.span if isinstance(error, SourceError) else None
    code = _MACHINE_CODE.search(span.file) if span is not None else None
    if span is None or code is None:
        return None
    return code[1], (span.line - 1) * INSTRUCTION_BYTES


def _checked(kernel: Kernel) -> KernelSupport:
    """A defect of an engine is reported like all else: it must not hide the other kernels."""
    code = "" if kernel.machine is None else kernel.machine.architecture
    try:
        engine = _prepare(kernel, small_launch(kernel))
    except KernelcastError as error:
        return KernelSupport(kernel.name, "", (_missing(error),), code)
    except Exception as error:
        message = f"an engine fails to prepare it: {type(error).__name__}: {error}"
        return KernelSupport(kernel.name, "", (Missing(message.splitlines()[0]),), code)
    return KernelSupport(kernel.name, engine, code=code)


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


def _width(kernel: Kernel) -> int:
    architecture = "" if kernel.machine is None else kernel.machine.architecture
    is_wide = architecture in AMD_EXECUTED and not is_rdna(architecture)
    return _WAVEFRONT if is_wide else _WARP_WIDTH


def _prepare(kernel: Kernel, launch: Launch) -> str:
    """The engine that `auto` would take, after every engine has prepared the kernel."""
    # the engines take a while to import: only who checks pays
    from kernelcast.simcore.engine.jit.codegen.launch_facts import launch_facts
    from kernelcast.simcore.engine.jit.runtime.generated_code import generate
    from kernelcast.simcore.engine.jit.runtime.run import can_run
    from kernelcast.simcore.engine.reference.prepared_kernel import PreparedKernel
    from kernelcast.simcore.host.llvm import emit_object
    from kernelcast.simcore.launch.launch_memory import LaunchMemory
    from kernelcast.simcore.launch.local_arrays import shared_bytes

    PreparedKernel(kernel)
    memory = LaunchMemory(kernel, launch)
    if not can_run(kernel):
        return "reference"
    facts = launch_facts(kernel, launch, memory, _width(kernel), shared_bytes(kernel, launch))
    source = generate(kernel, facts, dict(memory.symbols), records=True)
    emit_object(source.ir, _PLAIN_CODE)
    return "jit"
