"""A launch of which nothing is executed but what decides paths and addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kernelcast.simcore.engine.jit.runtime.run import PreparedLaunch
from kernelcast.simcore.isa.analysis.slices import address_slice, control_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.traces.stream import AccessSink
from kernelcast.traces.trace import Trace

__all__ = ["SlicedLaunch"]


class SlicedLaunch:
    """A launch in which only paths and addresses are computed.

    Buffers are neither read nor written; that no path depends on them is the caller's to know
    (simcore/sampling/plan.py).
    """

    def __init__(self, kernel: Kernel, launch: Launch, warp_width: int, limits: Limits) -> None:
        self._limits = limits
        self._control = PreparedLaunch(kernel, launch, warp_width, control_slice(kernel).pcs)
        self._addresses = PreparedLaunch(kernel, launch, warp_width, address_slice(kernel).pcs)

    def counts(self, progress: Callable[[float], None] | None) -> Trace:
        """Instructions of the whole grid, exactly; no accesses."""
        return self._control.run(self._limits, progress)

    def stream(self, ranges: Sequence[tuple[int, int]], sinks: Sequence[AccessSink]) -> None:
        """The accesses of the thread blocks of all ranges (first, end), in their order."""
        self._addresses.run_ranges(ranges, self._limits, sinks)
