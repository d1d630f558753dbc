"""The kernels of an application, each with its launches, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kernelcast.models.topdown.parts import TopDown
from kernelcast.models.topdown.weighting import weighted_mean
from kernelcast.simcore.timing.launch.hot_lines import HotLine

__all__ = ["ApplicationTopDown", "Invocation", "KernelTopDown"]

_LEAST_PERCENT = 0.05
"""The least percentage of a hot line that is printed: less is 0.0."""


@dataclass(frozen=True)
class Invocation:
    """One launch, or the mean of `count` launches; `weight` is the time of one, in any unit."""

    result: TopDown
    weight: float = 1.0
    count: int = 1

    @property
    def total_weight(self) -> float:
        """The time of all its launches, in the unit of `weight`."""
        return self.weight * self.count


@dataclass(frozen=True)
class KernelTopDown:
    """One kernel's invocations, at least one, in the order of the launches."""

    kernel: str
    invocations: tuple[Invocation, ...]

    @property
    def weight(self) -> float:
        """The time of all launches of the kernel."""
        return math.fsum(invocation.total_weight for invocation in self.invocations)

    @property
    def launch_count(self) -> int:
        """The number of launches of the kernel."""
        return sum(invocation.count for invocation in self.invocations)

    @cached_property
    def mean(self) -> TopDown:
        """Weighted by time."""
        return _mean(self.kernel, self.invocations)


@dataclass(frozen=True)
class ApplicationTopDown:
    """An application's kernels, at least one.

    `assumptions` are those of the weights; of a simulation there are `hot_lines`, and the
    `bottleneck` with what the launch would gain without it.
    """

    kernels: tuple[KernelTopDown, ...]
    assumptions: tuple[str, ...] = ()
    hot_lines: tuple[HotLine, ...] = ()
    bottleneck: str = ""

    @cached_property
    def total(self) -> TopDown:
        """The only kernel, or all of them weighted by time."""
        if len(self.kernels) == 1:
            return self.kernels[0].mean
        invocations = [item for kernel in self.kernels for item in kernel.invocations]
        return _mean(f"all {len(self.kernels)} kernels", invocations)

    def __str__(self) -> str:
        lines = [
            f"    {line.place} ({line.mnemonic}): {line.percent:.1f} % of warps' cycles, mostly "
            f"{line.reason.ncu}" + (f", for {line.load}" if line.load else "")
            for line in self.hot_lines
            if line.percent >= _LEAST_PERCENT
        ]
        hot = ["  where warps wait", *lines] if lines else []
        assumed = [f"  assumed: {item}" for item in (*self.assumptions, *self.total.assumptions)]
        limited = [f"  limited by {self.bottleneck}"] if self.bottleneck else []
        return "\n".join([str(self.total), *limited, *hot, *assumed])

    def share(self, kernel: KernelTopDown) -> float:
        """The kernel's share of the time of all kernels."""
        return kernel.weight / math.fsum(item.weight for item in self.kernels)


def _mean(kernel: str, invocations: Sequence[Invocation]) -> TopDown:
    return weighted_mean(
        kernel,
        [invocation.result for invocation in invocations],
        [invocation.total_weight for invocation in invocations],
    )
