"""Machine code of a module's kernels for each of AMD's architectures, generated when asked for.

The definitions that kernels need of AMD's device libraries are ours (`library`), as LLVM IR that
clang has made of the sources beside it: who has bitcode needs no clang.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from kernelcast.errors import InputError, nearest
from kernelcast.execution.code import NativeSource
from kernelcast.inputs.amd.retarget import retargeted
from kernelcast.inputs.compile_cache import CompileCache
from kernelcast.ptx_frontend.amdgcn.code_object import KernelMetadata, read_code_object
from kernelcast.ptx_frontend.amdgcn.lowering.kernel import lowered_kernel
from kernelcast.ptx_frontend.amdgcn.lowering.local_arguments import with_places
from kernelcast.ptx_frontend.amdgcn.text import read_kernel
from kernelcast.simcore.host.amd_code import (
    AMD_ARCHITECTURES,
    AmdCode,
    generate_amd_code,
    llvm_version,
)
from kernelcast.simcore.isa.ir.kernel import Kernel, Module

__all__ = ["GeneratedCode", "code_of_ir", "library_modules"]

_TRIPLE = re.compile(rb'^target triple = "amdgcn-', re.MULTILINE)
_OF_LIBRARY = re.compile(r"@__ocml_(\w+?)_f(?:32|64)\b")
_BODY = re.MULTILINE | re.DOTALL
_OTHER_LIBRARY = "functions of a library of ours, not of the vendor's, which may be shorter"
_LIBRARY = Path(__file__).parent / "library"


@cache
def library_modules() -> tuple[str, ...]:
    """The modules of the device library, text."""
    return tuple(file.read_text() for file in sorted(_LIBRARY.glob("*.ll")))


@dataclass(frozen=True)
class GeneratedCode(NativeSource):
    """The code of the kernels of `ir`, a module for AMD's target; `path` stands in messages.

    `ir` may be a function that makes it. `module`: what the same kernels are in the intermediate
    representation.
    """

    makes_amd_code = True
    ir: str | Callable[[], str]
    path: str
    module: Module
    made: dict[tuple[str, str], AmdCode] = field(default_factory=dict)
    """What was generated so far, by kernel and architecture."""
    features: str = ""
    """Features of the target, as LLVM writes them: `-unaligned-access-mode`."""
    lowered: dict[tuple[str, str], Kernel] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """The module; CompilationError where a compiler makes none of the source."""
        return self.ir if isinstance(self.ir, str) else self.ir()

    def code(self, kernel: str, architecture: str) -> AmdCode:
        """The machine code of a kernel, from the cache when nothing has changed.

        InputError for an architecture that code is not generated for, CompilationError where LLVM
        has no code for the kernel.
        """
        if architecture not in AMD_ARCHITECTURES:
            close = nearest(architecture, AMD_ARCHITECTURES)
            known = ", ".join(AMD_ARCHITECTURES)
            raise InputError(f"no code is generated for {architecture!r}{close}; known: {known}")
        known_code = self.made.get((kernel, architecture))
        if known_code is None:
            known_code = self.made[kernel, architecture] = self._kept(kernel, architecture)
        return known_code

    def kernel(self, name: str, _architecture: int) -> Kernel:
        """Refuses NVIDIA's architectures: the code is for AMD's."""
        raise InputError(f"{self.path}: {name} has no form that an assembler takes")

    def amd_kernel(self, name: str, architecture: str) -> Kernel:
        """The kernel as machine code of one of AMD's architectures.

        UnsupportedInstruction where some of it is not executed.
        """
        known = self.lowered.get((name, architecture))
        if known is None:
            text = self.code(name, architecture).assembly
            code = read_kernel(text, name, f"{self.path} [{architecture} code]")
            resources = self.resources(name, architecture)
            source = with_places(self.module.kernels[name], resources)
            known = lowered_kernel(code, source, resources, architecture)
            self.lowered[name, architecture] = known
        return known

    def library_functions(self, name: str) -> tuple[str, ...]:
        """The functions of the device library that the kernel calls, without their types."""
        body = re.search(rf"^define [^\n]*@{re.escape(name)}\(.*?^}}", self.text, _BODY)
        found = _OF_LIBRARY.findall(body[0]) if body is not None else []
        return tuple(sorted(set(found)))

    def remark(self, name: str, _architecture: int | str) -> str:
        """Which functions of it are those of a library of ours."""
        functions = self.library_functions(name)
        return f"{_OTHER_LIBRARY}: {', '.join(functions)}" if functions else ""

    def registers(self, name: str, architecture: str) -> int | None:
        """Vector registers of the code; None for architectures that none is generated for."""
        if architecture not in AMD_ARCHITECTURES:
            return None
        return self.resources(name, architecture).lane_registers

    def resources(self, kernel: str, architecture: str) -> KernelMetadata:
        """Registers and memory of that code."""
        return read_code_object(self.code(kernel, architecture).object).kernel(kernel)

    def _kept(self, kernel: str, architecture: str) -> AmdCode:
        ir, libraries = retargeted(self.text), [retargeted(text) for text in library_modules()]
        cache_entry = CompileCache(
            ("amd code", 1, ir, libraries, kernel, architecture, llvm_version(), self.features),
            "amdgcn",
        )
        stored = cache_entry.read()
        if stored is not None:
            texts = json.loads(stored)
            return AmdCode(bytes.fromhex(texts["object"]), texts["assembly"])
        made = generate_amd_code(ir, libraries, architecture, kernel, self.path, self.features)
        texts = {"object": made.object.hex(), "assembly": made.assembly}
        cache_entry.write(json.dumps(texts).encode())
        return made


def code_of_ir(content: bytes, path: str, module: Module) -> GeneratedCode | None:
    """Where code of LLVM IR for AMD's GPUs comes from; None for bitcode and other targets."""
    if _TRIPLE.search(content) is None:
        return None
    return GeneratedCode(content.decode("utf-8", "surrogateescape"), path, module)
