"""PTX as a source of machine code: assembled once for each architecture that is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kernelcast.errors import InputError
from kernelcast.execution.runnable import LoadedModule
from kernelcast.inputs.amd.translated_ptx import TranslatablePtx
from kernelcast.inputs.native.cubins import assembled_kernel
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.ir.element_types import with_elements
from kernelcast.simcore.isa.ir.kernel import Kernel, Module

__all__ = ["AssembledPtx", "architecture_name", "ptx_module"]

_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([af]?)", re.MULTILINE)


@dataclass(frozen=True)
class AssembledPtx(TranslatablePtx):
    """The machine code of a PTX text. `module`: its kernels, for what it says of parameters."""

    text: Callable[[], str]
    module: Module
    modules: dict[int, list[Module]] = field(default_factory=dict)
    """What was assembled so far, by architecture: one module, or kernels that stand alone."""

    def kernel(self, name: str, architecture: int) -> Kernel:
        """The kernel as machine code of an architecture."""
        module = self._module(name, architecture)
        found: Mapping[str, Kernel] = module.kernels
        for reason in module.rejected.get(name, ()):
            raise reason
        if name not in found:
            raise InputError(f"{module.path}: the machine code has no kernel {name!r}")
        return found[name]

    def text_for(self, _architecture: int) -> str:
        """The PTX that machine code of an architecture is made of."""
        return self.text()

    def _module(self, name: str, architecture: int) -> Module:
        known = self.modules.setdefault(architecture, [])
        for module in known:
            if name in module.kernels or name in module.rejected:
                return module
        text = self.text_for(architecture)
        module = assembled_kernel(
            text, architecture_name(text, architecture), self.module.path, self.module, name
        )
        known.append(module)
        return module


def ptx_module(
    text: str,
    path: str,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Sequence[str]] | None = None,
) -> LoadedModule:
    """The kernels of a PTX text, which can also be had as machine code.

    `elements`: by kernel, what the source says that its pointers point to.
    """
    module = with_elements(read_ptx(text, path), elements or {})
    return LoadedModule(module, names or {}, AssembledPtx(lambda: text, module))


def architecture_name(text: str, architecture: int) -> str:
    """`sm_90a` where the PTX is for it: instructions of `a` are those of this architecture only."""
    target = _TARGET.search(text)
    suffix = target[2] if target is not None and int(target[1]) == architecture else ""
    return f"sm_{architecture}{suffix}"
