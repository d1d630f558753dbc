"""A profiler's file -> the TopDown analysis of its kernels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from kernelcast.errors import MetricsError
from kernelcast.models.topdown import (
    ApplicationTopDown,
    Invocation,
    KernelTopDown,
    issue_width,
    topdown_from_counters,
)
from kernelcast.simcore.device.device import Device
from kernelcast.traces.profilers.metric_table import KernelMetrics, LaunchMetrics, MetricTable
from kernelcast.traces.profilers.metrics import read_metrics

__all__ = ["MeasuredGpu", "measured_topdown"]

_Weight: TypeAlias = Callable[[LaunchMetrics], float]

_ELAPSED_CYCLES = (
    "sm__cycles_elapsed.max",
    "gpc__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "elapsed_cycles_sm",
)


@dataclass(frozen=True, slots=True)
class MeasuredGpu:
    """Where the file was measured: a device's name or, where only that is known, its capability."""

    name: str
    compute_capability: str
    ipc_max: float

    @classmethod
    def of_device(cls, device: Device) -> MeasuredGpu:
        """The GPU of a device file; ModelNotApplicable where its IPC_MAX is not known."""
        capability = device.architecture.compute_capability
        return cls(device.name, capability, issue_width(capability).ipc_max)

    @classmethod
    def of_capability(cls, compute_capability: str) -> MeasuredGpu:
        """Any GPU of a compute capability; ModelNotApplicable where its IPC_MAX is not known."""
        ipc_max = issue_width(compute_capability).ipc_max
        return cls(f"compute capability {compute_capability}", compute_capability, ipc_max)


def measured_topdown(
    path: str | os.PathLike[str],
    gpu: MeasuredGpu | None = None,
    kernel: str | None = None,
    *,
    is_strict: bool = False,
) -> ApplicationTopDown:
    """All kernels of an nvprof or ncu file, or the one that `kernel` names.

    Without `gpu` the file must tell the compute capability, as ncu does. Launches weigh by their
    times, else by their cycles, else the same. Strict: as `topdown_from_counters`. MetricsError
    names the file and what is missing, and refuses another compute capability than the file's.
    """
    table = read_metrics(path)
    kernels = table.kernels if kernel is None else (table.kernel(kernel),)
    _check_one_device(table, kernels)
    gpu = _checked(gpu, table, kernels)
    weight, assumptions = _weighting([item for found in kernels for item in found.launches])
    try:
        analysed = tuple(
            KernelTopDown(name, tuple(_invocations(name, found, gpu, weight, is_strict)))
            for found in kernels
            for name in (found.kernel or kernel or Path(path).stem,)
        )
    except MetricsError as error:
        raise MetricsError(f"{table.path}: {error.message}") from None
    return ApplicationTopDown(analysed, assumptions)


def _invocations(
    name: str, found: KernelMetrics, gpu: MeasuredGpu, weight: _Weight, is_strict: bool
) -> Iterator[Invocation]:
    for launch in found.launches:
        result = topdown_from_counters(
            name,
            gpu.name,
            gpu.ipc_max,
            launch.metrics,
            unavailable=launch.unavailable,
            is_strict=is_strict,
        )
        yield Invocation(result, weight(launch), launch.count)


def _check_one_device(table: MetricTable, kernels: Sequence[KernelMetrics]) -> None:
    devices = sorted({launch.device for found in kernels for launch in found.launches})
    if len(devices) > 1:
        raise MetricsError(f"{table.path}: kernels of several devices: {', '.join(devices)}")


def _checked(
    gpu: MeasuredGpu | None, table: MetricTable, kernels: Sequence[KernelMetrics]
) -> MeasuredGpu:
    """The GPU that was named, or the file's."""
    measured = {launch.compute_capability for found in kernels for launch in found.launches} - {""}
    if gpu is None and len(measured) == 1:
        return MeasuredGpu.of_capability(measured.pop())
    if gpu is None:
        raise MetricsError(
            f"{table.path} does not tell the GPU of its metrics: "
            "name a device or a compute capability"
        )
    for other in sorted(measured - {gpu.compute_capability}):
        raise MetricsError(
            f"{table.path} was measured at compute capability {other}: "
            f"{gpu.name} has {gpu.compute_capability}"
        )
    return gpu


def _weighting(launches: Sequence[LaunchMetrics]) -> tuple[_Weight, tuple[str, ...]]:
    """What the launches can be weighed by, and what that assumes."""
    if all(launch.duration_s for launch in launches):
        return _seconds, ()
    for name in _ELAPSED_CYCLES:
        if all(launch.metrics.get(name) for launch in launches):
            return partial(_cycles, name), (f"launches weigh by {name}",)
    if len(launches) == 1:
        return _same, ()
    return _same, ("all launches weigh the same: the file has no times (gpu__time_duration.sum)",)


def _seconds(launch: LaunchMetrics) -> float:
    assert launch.duration_s is not None
    return launch.duration_s


def _cycles(name: str, launch: LaunchMetrics) -> float:
    return launch.metrics[name]


def _same(_launch: LaunchMetrics) -> float:
    return 1.0
