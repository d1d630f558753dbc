"""Arrays in shared memory that get their sizes from a launch: OpenCL's `__local` arguments."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.analysis.control_flow import max_live_registers
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.schedule.register_estimate import estimated_registers, fewest_registers
from kernelcast.simcore.launch.launch import Argument, Launch, LocalBytes
from kernelcast.traces.trace import ResourceNeeds

__all__ = [
    "placed_arguments",
    "resource_needs",
    "shared_bytes",
]

_ALIGNMENT = 16
"""Alignment of the dynamic shared memory and its arrays: that of the widest vectors."""


def shared_bytes(kernel: Kernel, launch: Launch) -> int:
    """Shared memory per thread block: static variables, the dynamic array, `__local` arguments."""
    return _layout(kernel, launch)[1]


def placed_arguments(kernel: Kernel, launch: Launch) -> tuple[Argument, ...]:
    """What the parameters hold: of a `__local` array its address in shared memory, not its size."""
    return _layout(kernel, launch)[0]


def _layout(kernel: Kernel, launch: Launch) -> tuple[tuple[Argument, ...], int]:
    end = kernel.shared_bytes
    if launch.dynamic_shared_bytes:
        end = _aligned(end) + launch.dynamic_shared_bytes
    placed: list[Argument] = []
    for argument, parameter in zip(launch.arguments, kernel.parameters, strict=True):
        if parameter.is_local_array:
            assert isinstance(argument, (int, np.integer, LocalBytes))  # as the launch has checked
            placed.append(_aligned(end))
            end = _aligned(end) + int(argument)
        else:
            placed.append(argument)
    return tuple(placed), end


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def resource_needs(kernel: Kernel, launch: Launch) -> ResourceNeeds:
    """Registers, shared and local memory that a launch of the kernel needs."""
    return ResourceNeeds(
        live_registers=_registers(kernel),
        shared_bytes=shared_bytes(kernel, launch) - _system_bytes(kernel),
        local_bytes=kernel.local_bytes,
        registers=launch.registers or _assembled_registers(kernel),
        max_registers=kernel.max_registers,
        fewest_registers=None if _keeps_order(kernel) else fewest_registers(kernel),
        compiled_registers=kernel.compiled_registers,
        scalar_registers=0 if kernel.machine is None else kernel.machine.scalar_registers,
    )


def _keeps_order(kernel: Kernel) -> bool:
    """Whether no pre-pass changes the order of the instructions."""
    return kernel.machine is not None or kernel.is_as_written or kernel.is_for_debugging


def _registers(kernel: Kernel) -> int:
    """Registers per thread: as an assembler would take, or the most that live in the source."""
    return max_live_registers(kernel) if _keeps_order(kernel) else estimated_registers(kernel)


def _system_bytes(kernel: Kernel) -> int:
    """Shared memory that is not the kernel's; none of a source form."""
    return 0 if kernel.machine is None else kernel.machine.system_shared_bytes


def _assembled_registers(kernel: Kernel) -> int | None:
    """What the assembler of machine code took; None for a source form."""
    return kernel.machine.registers or None if kernel.machine is not None else None
