"""The machine code of a fat binary's kernels: the cubins in it, else its PTX assembled."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.inputs.amd.translated_ptx import TranslatablePtx
from kernelcast.inputs.embedded_code import Units, open_units, ptx_text
from kernelcast.inputs.fat_binary import CodeEntry, CodeKind, payload
from kernelcast.inputs.native.cubins import AssembledSource, assembled_kernel, kernels_of
from kernelcast.inputs.native.sources import architecture_name
from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.simcore.isa.ir.kernel import Kernel, Module

__all__ = ["EmbeddedNative", "runs_on"]

_GENERATION = 10


@dataclass(frozen=True)
class EmbeddedNative(TranslatablePtx):
    """The machine code of the kernels of a file; `module`: what was loaded of it."""

    file: Path
    module: Module
    found: dict[tuple[str, int], Kernel] = field(default_factory=dict)

    def kernel(self, name: str, architecture: int) -> Kernel:
        """The kernel as the driver would choose it: machine code first, else newest PTX."""
        key = name, architecture
        if key not in self.found:
            with open_units(self.file, "", each=True) as units:
                module = self._module(units, name, architecture)
            for reason in module.rejected.get(name, ()):
                raise reason
            self.found[key] = module.kernels[name]
        return self.found[key]

    def _module(self, units: Units, name: str, architecture: int) -> Module:
        fitting = [entry for entry in units.entries if runs_on(entry, architecture)]
        fitting.sort(key=lambda entry: (entry.kind, entry.number, entry.variant), reverse=True)
        for entry in fitting:
            where = f"{self.file}[{entry.architecture} #{entry.container + 1}]"
            content = payload(units.stream, entry, str(self.file))
            if entry.kind is CodeKind.CUBIN:
                cubin = read_cubin(content, where)
                function = cubin.functions.get(name)
                if function is not None and function.is_entry:
                    return kernels_of(cubin, content, self._source(name), [name])
                continue
            text = ptx_text(content, where)
            if name in text and name in (ptx := read_ptx(text, where)).kernels:
                target = architecture_name(text, architecture)
                return assembled_kernel(text, target, where, ptx, name)
        raise InputError(f"{self.file}: no code of {name!r} runs on sm_{architecture}")

    def _source(self, name: str) -> AssembledSource | None:
        """What PTX says of the kernel's parameters, where there is PTX."""
        kernel = self.module.kernels.get(name)
        if kernel is None or kernel.machine is not None:
            return None
        facts = repr(kernel.parameters)
        return AssembledSource(facts, Module(str(self.file), {name: kernel}, {}))


def runs_on(entry: CodeEntry, architecture: int) -> bool:
    """Whether GPUs of an architecture run the code (CUDA C++ Programming Guide, compatibility).

    Machine code runs on the same generation, of the same minor number or a later one; code of
    sm_90a on sm_90 alone. PTX runs on anything that is newer.
    """
    if entry.kind is CodeKind.PTX:
        return entry.number <= architecture
    if entry.variant == "a":
        return entry.number == architecture
    same = entry.number // _GENERATION == architecture // _GENERATION
    return same and entry.number <= architecture
