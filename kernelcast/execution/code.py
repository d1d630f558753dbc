"""Which code of a kernel is executed: its source form, or the machine code of each device."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar

from kernelcast.errors import (
    CompilationError,
    InputError,
    KernelcastError,
    LaunchError,
    UnsupportedInstruction,
    nearest,
)
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = [
    "OLDEST_ARCHITECTURE",
    "Code",
    "CodePlan",
    "NativeSource",
    "as_written",
    "code_named",
    "machine_architecture",
    "machine_code_name",
    "planned",
    "source_form",
]

_VARIABLE = "KERNELCAST_CODE"
AMD_EXECUTED = ("gfx803", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
"""AMD's architectures whose machine code is executed."""
OLDEST_ARCHITECTURE = 70
"""The first architecture whose machine code is executed (Volta)."""
_HOLDS_FUNCTIONS = "a variable of its module holds addresses of functions, which codes do not share"
_NO_CODE = "the source was executed, no machine code"
_NO_MACHINE_CODE = (InputError, CompilationError, UnsupportedInstruction)


class Code(Enum):
    """AUTO: machine code where tools and front end allow, else the source.

    NATIVE: the machine code of each device, or an error. SOURCE: PTX or LLVM IR, in the order and
    with the registers of what an assembler would make of it. AS_WRITTEN: the same in its own order.
    """

    AUTO = "auto"
    NATIVE = "native"
    SOURCE = "source"
    AS_WRITTEN = "as-written"


def code_named(name: Code | str | None) -> Code:
    """The code of that name; None is what `KERNELCAST_CODE` says, by default AUTO."""
    chosen = name if name is not None else os.environ.get(_VARIABLE) or Code.AUTO
    if isinstance(chosen, Code):
        return chosen
    known = [item.value for item in Code]
    if chosen not in known:
        where = "" if name is not None else f"{_VARIABLE}: "
        raise KernelcastError(
            f"{where}unknown code {chosen!r}{nearest(chosen, known)}; known: {', '.join(known)}"
        )
    return Code(chosen)


@once_per_kernel
def as_written(kernel: Kernel) -> Kernel:
    """The kernel, whose instructions timing takes in their own order."""
    return replace(kernel, is_as_written=True)


class NativeSource(ABC):
    """Where the machine code of a module's kernels comes from."""

    @abstractmethod
    def kernel(self, name: str, architecture: int) -> Kernel:
        """The kernel as machine code of an architecture, 80 for sm_80.

        InputError when the tools are missing, CompilationError when the assembler refuses the
        source, UnsupportedInstruction when the machine code cannot be executed.
        """

    makes_amd_code: ClassVar[bool] = False
    """Whether there is an `amd_kernel`."""

    def amd_kernel(self, _name: str, architecture: str) -> Kernel:
        """The kernel as machine code of one of AMD's architectures; raises as `kernel` does."""
        raise InputError(f"there is no code of {architecture}")

    def remark(self, _name: str, _architecture: int | str) -> str:
        """What is to be said of a kernel's machine code that is not all the vendor's, or empty."""
        return ""

    def registers(self, _name: str, _architecture: str) -> int | None:
        """The registers per thread that a compiler takes for an architecture, `gfx90a`.

        None where that is not known; CompilationError when it refuses the source.
        """
        return None


@once_per_kernel
def _compiled_variants(_kernel: Kernel) -> dict[tuple[tuple[str, int], ...], Kernel]:
    """Kernels that differ from one in what is known of their registers."""
    return {}


def source_form(kernel: Kernel, native: NativeSource | None, plan: CodePlan, code: Code) -> Kernel:
    """The kernel as it is executed where no machine code is.

    It knows the registers of its code for the devices of the `plan` that execute it; why a device's
    are not known is added to the notes.
    """
    if kernel.machine is None and code is Code.AS_WRITTEN:
        return as_written(kernel)
    if native is None or kernel.machine is not None:
        return kernel
    counts: dict[str, int] = {}
    for device in plan.source:
        architecture = device.architecture.compute_capability
        if architecture in counts:
            continue
        try:
            count = native.registers(kernel.name, architecture)
        except _NO_MACHINE_CODE as error:
            plan.notes[device.name] = f"registers are estimated: {_first_line(error)}"
            continue
        if count is not None:
            counts[architecture] = count
    known = tuple(sorted(counts.items()))
    if not known:
        return kernel
    return _compiled_variants(kernel).setdefault(known, replace(kernel, compiled_registers=known))


def machine_architecture(device: Device) -> int | str | None:
    """The architecture whose machine code the device runs, 80 for 8.0; None if that is not read.

    Of AMD's GPUs it is the name, `gfx90a`.
    """
    name = device.architecture.compute_capability
    if name in AMD_EXECUTED:
        return name
    major, dot, minor = device.architecture.compute_capability.partition(".")
    if device.architecture.vendor.lower() != "nvidia" or not dot:
        return None
    if not (major.isdigit() and minor.isdigit()):
        return None
    number = int(major) * 10 + int(minor)
    return number if number >= OLDEST_ARCHITECTURE else None


def machine_code_name(device: Device) -> str | None:
    """What traces call the machine code that a device runs, `sm_80`; None if that is not read."""
    architecture = machine_architecture(device)
    return f"sm_{architecture}" if isinstance(architecture, int) else architecture


@dataclass(slots=True)
class CodePlan:
    """Which devices run which code. `source`: those that run the source form.

    `machine`: (kernel, its devices) for each architecture. `notes`: why a device runs no machine
    code although that was to be tried, or what is not the vendor's of it, by its name.
    """

    source: list[Device] = field(default_factory=list)
    machine: list[tuple[Kernel, list[Device]]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def without_devices(self) -> CodePlan:
        """A plan of the same code for no device: no memory is simulated."""
        return CodePlan([], [(kernel, []) for kernel, _ in self.machine], self.notes)


def planned(
    kernel: Kernel, native: NativeSource | None, devices: Sequence[Device], code: Code
) -> CodePlan:
    """The code of each device; without devices it is the source.

    With NATIVE it raises why a device has no machine code; LaunchError without devices.
    """
    if code is Code.NATIVE and not devices and kernel.machine is None:
        raise LaunchError("machine code is that of a GPU: name one, as --device or `devices`")
    plan = CodePlan()
    is_machine_code = kernel.machine is not None and native is None
    if code is Code.AUTO and any(symbol.holds_functions for symbol in kernel.symbols.values()):
        note = f"{_NO_CODE}: {_HOLDS_FUNCTIONS}"
        plan.notes = dict.fromkeys((device.name for device in devices), note)
        code = Code.SOURCE
    if code in (Code.SOURCE, Code.AS_WRITTEN) or is_machine_code:
        plan.source = list(devices)
        return plan
    by_architecture: dict[int | str, list[Device]] = {}
    for device in devices:
        architecture = _executed(device, native, code)
        if architecture is not None:
            by_architecture.setdefault(architecture, []).append(device)
        else:
            plan.source.append(device)
    for architecture, group in by_architecture.items():
        try:
            plan.machine.append((_made(kernel, native, architecture), group))
            _note_remark(plan, native, kernel.name, architecture, group)
        except _NO_MACHINE_CODE as error:
            _fall_back(plan, kernel, group, error, code)
    return plan


def _executed(device: Device, native: NativeSource | None, code: Code) -> int | str | None:
    """The architecture whose code a device executes; None for the source, LaunchError for none."""
    architecture = machine_architecture(device)
    of_amd = isinstance(architecture, str)
    is_made = architecture is not None and (not of_amd or (native and native.makes_amd_code))
    if is_made:
        return architecture
    if code is Code.NATIVE:
        sources = "made of HIP, OpenCL C, PTX and LLVM IR for AMD's GPUs only"
        why = sources if of_amd else "not read"
        raise LaunchError(f"machine code of {device.title} is {why}: --code source")
    return None


def _made(kernel: Kernel, native: NativeSource | None, architecture: int | str) -> Kernel:
    if native is None:
        raise InputError("the kernel has no form that an assembler takes")
    if isinstance(architecture, str):
        return native.amd_kernel(kernel.name, architecture)
    return native.kernel(kernel.name, architecture)


def _note_remark(
    plan: CodePlan,
    native: NativeSource | None,
    kernel: str,
    architecture: int | str,
    devices: Sequence[Device],
) -> None:
    """Notes what of machine code is not the vendor's own."""
    remark = native.remark(kernel, architecture) if native is not None else ""
    for device in devices if remark else ():
        plan.notes[device.name] = remark


def _fall_back(
    plan: CodePlan,
    kernel: Kernel,
    devices: Sequence[Device],
    error: KernelcastError,
    code: Code,
) -> None:
    if code is Code.NATIVE:
        raise error
    plan.source.extend(devices)
    what = _NO_CODE
    if kernel.machine is not None:
        what = f"machine code of {kernel.code} was executed, not its own"
    for device in devices:
        plan.notes[device.name] = f"{what}: {_first_line(error)}"


def _first_line(error: KernelcastError) -> str:
    return error.message.splitlines()[0]
