"""What a launch of a kernel occupies on an SM, known before it runs."""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.control_flow import max_live_registers
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.local_arrays import shared_bytes
from kernelcast.traces.trace import ResourceNeeds

__all__ = ["resource_needs"]


def resource_needs(kernel: Kernel, launch: Launch) -> ResourceNeeds:
    """Registers, shared and local memory that a launch of the kernel needs."""
    return ResourceNeeds(
        live_registers=max_live_registers(kernel),
        shared_bytes=shared_bytes(kernel, launch),
        local_bytes=kernel.local_bytes,
        registers=launch.registers,
        max_registers=kernel.max_registers,
    )
