"""Trace x Device -> TimedKernel, for the models that simulate an SM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelcast.simcore.host.shared_tables import SharedTables
from kernelcast.simcore.profile.derived import ProfileSource
from kernelcast.simcore.profile.instruction_counts import instruction_counts

if TYPE_CHECKING:
    from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

__all__ = ["timed_warps", "walk_tables"]


def timed_warps(source: ProfileSource) -> TimedKernel | None:
    """The kernel as the timing model takes it, or None where something is missing.

    It needs paths of warps, timing facts, and tensor units for what the kernel computes.
    """
    trace, device = source.trace, source.device
    if trace.paths is None or device.timing is None:
        return None
    operations = instruction_counts(trace).tensor_operations
    if device.missing_tensor_units(operations or ()):
        return None
    # the compiled simulators, which profiles that come from files do without
    from kernelcast.simcore.timing.kernel.from_trace import timed_kernel

    return timed_kernel(trace, device, source.memory, source.tables)


def walk_tables(source: ProfileSource) -> SharedTables:
    """What walks of the launch have in common, on this GPU and on others."""
    return source.tables
