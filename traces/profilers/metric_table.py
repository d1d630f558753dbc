"""What a profiler measured, whichever tool wrote it: kernel -> launches -> metric -> number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TypeVar

from kernelcast.errors import MetricsError

__all__ = ["KernelMetrics", "LaunchMetrics", "MetricTable", "ProfilerTool", "Size"]

Size = tuple[int, int, int]
_Value = TypeVar("_Value")


class ProfilerTool(Enum):
    """The layout of the file; PLAIN is `metric,value` with any tool's names."""

    PLAIN = "plain metric,value"
    NVPROF = "nvprof"
    NCU = "ncu"
    ROCPROF = "rocprof"


@dataclass(frozen=True)
class LaunchMetrics:
    """One launch, or the mean of `count` launches where the tool reports only that.

    `metrics` in SI units, percentages as fractions; `unavailable` names those without a value.
    `compute_capability` where the tool tells it.
    """

    metrics: Mapping[str, float]
    unavailable: frozenset[str] = frozenset()
    count: int = 1
    device: str = ""
    grid: Size | None = None
    thread_block: Size | None = None
    duration_s: float | None = None
    warp_width: int | None = None
    compute_capability: str = ""


@dataclass(frozen=True)
class KernelMetrics:
    """All launches of one kernel; `kernel` is the name as the tool printed it."""

    kernel: str
    tool: ProfilerTool
    launches: tuple[LaunchMetrics, ...]

    @property
    def launch_count(self) -> int:
        """Launches of the kernel, counted with repetitions."""
        return sum(launch.count for launch in self.launches)

    @cached_property
    def mean(self) -> Mapping[str, float]:
        """Mean over the launches that have the metric."""
        totals: dict[str, float] = {}
        counts: dict[str, int] = {}
        for launch in self.launches:
            for name, value in launch.metrics.items():
                totals[name] = totals.get(name, 0.0) + value * launch.count
                counts[name] = counts.get(name, 0) + launch.count
        return {name: total / counts[name] for name, total in totals.items()}

    @property
    def unavailable(self) -> frozenset[str]:
        """Metrics that were asked for and have no value in any launch."""
        named = frozenset[str]().union(*(launch.unavailable for launch in self.launches))
        return named - self.mean.keys()

    @property
    def grid(self) -> Size | None:
        """None when the tool does not tell, or when launches differ."""
        return self._same(lambda launch: launch.grid)

    @property
    def thread_block(self) -> Size | None:
        """The thread-block size; None where launches differ."""
        return self._same(lambda launch: launch.thread_block)

    @property
    def warp_width(self) -> int | None:
        """The warp width; None where launches differ."""
        return self._same(lambda launch: launch.warp_width)

    @property
    def duration_s(self) -> float | None:
        """Mean duration of a launch; None unless every launch has one."""
        durations = [launch.duration_s for launch in self.launches]
        if any(duration is None for duration in durations):
            return None
        weighted = [(launch.duration_s or 0.0) * launch.count for launch in self.launches]
        return sum(weighted) / self.launch_count

    def _same(self, read: Callable[[LaunchMetrics], _Value | None]) -> _Value | None:
        values = {read(launch) for launch in self.launches}
        return values.pop() if len(values) == 1 else None


@dataclass(frozen=True)
class MetricTable:
    """A profiler's file. `kernels` in the order of their first launch."""

    path: str
    tool: ProfilerTool
    kernels: tuple[KernelMetrics, ...] = field(default=())

    def kernel(self, name: str | None = None) -> KernelMetrics:
        """The kernel of that name: the whole name, the name without parameters, or a part of it.

        Without a name the file's only kernel. MetricsError lists the kernels when none or several
        fit, or when the kernel ran on several devices.
        """
        found = self._select(name)
        devices = sorted({launch.device for launch in found.launches})
        if len(devices) > 1:
            raise MetricsError(
                f"{self.path}: kernel {found.kernel} ran on several devices: {', '.join(devices)}"
            )
        return found

    def _select(self, name: str | None) -> KernelMetrics:
        if name is None or self.tool is ProfilerTool.PLAIN:
            candidates = list(self.kernels)
        else:
            candidates = (
                [kernel for kernel in self.kernels if kernel.kernel == name]
                or [kernel for kernel in self.kernels if _bare(kernel.kernel) == name]
                or [kernel for kernel in self.kernels if name in kernel.kernel]
            )
        if len(candidates) == 1:
            return candidates[0]
        asked = f"{len(candidates) or 'no'} kernels fit {name!r}" if name else "name a kernel"
        listed = ", ".join(kernel.kernel for kernel in self.kernels)
        raise MetricsError(f"{self.path}: {asked}; the file has {listed}")


def _bare(kernel: str) -> str:
    """`void ns::k<int>(float*) [clone .kd]` -> `ns::k`."""
    return kernel.split("(")[0].split("<")[0].removeprefix("void ").removesuffix(".kd").strip()
